//! What an entry point brings to a cluster, and what it needs there first.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::delivery::{EntryPoint, Input, Role, Sides};
use crate::path::RepoPath;
use crate::plan::gate::Lone;
use crate::render::Object;
use crate::repo::FluxKustomization;
use crate::repo::manifest::{manifests, objects};

pub(super) fn is_namespace(object: &Object) -> bool {
    object.value["kind"] == "Namespace" && object.value["apiVersion"] == "v1"
}

/// What an entry point brings to a cluster, and how early.
pub(super) struct Landing<'a> {
    pub(super) path: Option<&'a RepoPath>,
    /// Its Flux Kustomizations in the cluster.
    flux: Vec<&'a FluxKustomization>,
    /// The position of the type of its first objects, or of what waits for them.
    pub(super) first: usize,
    /// The type of all but Namespaces, where these alone would be divided from them.
    pub(super) rest: Option<usize>,
    /// The Namespaces that it makes.
    makes: BTreeSet<String>,
    /// The namespaces of what it brings, by the position of the type.
    uses: BTreeSet<(usize, String)>,
}

impl<'a> Landing<'a> {
    pub(super) fn of(
        input: &Input<'a>,
        sides: &Sides,
        lone: &Lone,
        cluster: &str,
        entry: &'a EntryPoint,
    ) -> Landing<'a> {
        let flux: Vec<&FluxKustomization> = input.model.flux_in(entry, cluster).collect();
        let typed = input.typed_entry(input.snapshot, entry).ok();
        let side = sides.get(&entry.path).map(|(_, position)| *position);
        // What carries a gate or Flux Kustomizations is never held back.
        let fixed = if entry.role == Role::Apps { side } else { Some(0) };
        let rest = lone.rest(&entry.path);
        let (mut makes, mut uses) = (BTreeSet::new(), BTreeSet::new());
        let mut first = fixed.or(rest).unwrap_or(usize::MAX);
        match &typed {
            Some(typed) => {
                for (object, classified) in typed.objects.iter().zip(&typed.types) {
                    if is_namespace(object) {
                        makes.extend(object.value["metadata"]["name"].as_str().map(str::to_owned));
                    }
                    let position = fixed.or(rest).unwrap_or(classified.change_type);
                    first = first.min(position);
                    uses.extend(namespaces(&object.value).into_iter().map(|name| (position, name)));
                }
            }
            None => {
                first = fixed.unwrap_or(0);
                uses.extend(written(input, entry).into_iter().map(|name| (first, name)));
            }
        }
        let mut landing = Landing { path: Some(&entry.path), flux, first, rest, makes, uses };
        landing.add_flux();
        landing
    }

    pub(super) fn foreign(flux: &'a FluxKustomization) -> Landing<'a> {
        let mut landing = Landing {
            path: None,
            flux: vec![flux],
            first: 0,
            rest: None,
            makes: BTreeSet::new(),
            uses: BTreeSet::new(),
        };
        landing.add_flux();
        landing
    }

    /// A Flux Kustomization is there before what it applies, and may put that into a namespace.
    fn add_flux(&mut self) {
        for flux in &self.flux {
            self.uses.extend((!flux.namespace.is_empty()).then(|| (0, flux.namespace.clone())));
            let target = flux.spec("targetNamespace").as_str();
            self.uses.extend(target.map(|target| (self.first, target.to_owned())));
            if self.rest.is_some() {
                self.makes.extend(target.map(str::to_owned));
            }
        }
    }

    pub(super) fn waits_for(&self, input: &Input<'_>, other: &Landing<'_>) -> bool {
        let named = self.flux.iter().flat_map(|flux| flux.waits_for());
        let mut named = named.map(|(namespace, name)| (input.spec.flux.namespace_of(namespace), name));
        named.any(|(namespace, name)| {
            other.flux.iter().any(|flux| input.namespace(flux) == namespace && flux.name == name)
        })
    }

    /// Lets it land no later than what waits for it: nothing can hold it back then.
    pub(super) fn land_by(&mut self, position: usize) {
        self.first = position;
        if self.rest.is_none() {
            self.uses = std::mem::take(&mut self.uses)
                .into_iter()
                .map(|(own, name)| (own.min(position), name))
                .collect();
        }
    }

    /// Tells whether something of it lands before a type and needs a Namespace of the other.
    pub(super) fn needs(&self, other: &Landing<'_>, rest: usize) -> bool {
        let has_variable = |name: &str| name.contains("${");
        let mut early = self.uses.iter().filter(|(position, _)| *position < rest);
        early.any(|(_, name)| {
            let is_same = |made: &String| made == name || has_variable(made) || has_variable(name);
            other.makes.iter().any(is_same)
        })
    }
}

/// Gives the namespaces that an object needs.
fn namespaces(object: &Value) -> Vec<String> {
    let all = [&object["metadata"]["namespace"], &object["spec"]["targetNamespace"]];
    all.into_iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Gives the namespaces that the files of an entry point name which does not build.
fn written(input: &Input<'_>, entry: &EntryPoint) -> Vec<String> {
    let folders = input.model.graph.reach(&entry.path);
    let files = folders.iter().flat_map(|folder| input.snapshot.list(folder));
    let values = files.filter_map(|file| manifests(input.snapshot.file(&file)?)).flatten();
    let mut found = Vec::new();
    for manifest in values {
        // A kustomization gives its objects a namespace too.
        found.extend(manifest.value["namespace"].as_str().map(str::to_owned));
        found.extend(objects(&manifest.value).into_iter().flat_map(namespaces));
    }
    found
}
