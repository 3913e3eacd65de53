//! What an entry point brings to a cluster, and what it needs there first.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::{EntryPoint, Input, Role, Sides};
use crate::path::RepoPath;
use crate::plan::gate::Lone;
use crate::render::Object;
use crate::repo::FluxKustomization;
use crate::repo::manifest::{ObjectId, manifests, objects};

pub(super) fn is_namespace(object: &Object) -> bool {
    ObjectId::of(&object.value).is_namespace()
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

    /// Returns whether something else lands before its type and needs a Namespace of it.
    pub(super) fn is_needed(&self, uses: &Uses<'_>, rest: usize) -> bool {
        let is_before = |uses: &Earliest<'_>| uses.is_before(rest, self.path);
        self.makes.iter().any(|made| match has_variable(made) {
            true => is_before(&uses.all),
            false => is_before(&uses.variable) || uses.by_name.get(made.as_str()).is_some_and(is_before),
        })
    }
}

fn has_variable(name: &str) -> bool {
    name.contains("${")
}

/// Returns for each what waits for it, as positions.
pub(super) fn waiting(input: &Input<'_>, all: &[Landing<'_>]) -> Vec<BTreeSet<usize>> {
    let mut named: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (position, one) in all.iter().enumerate() {
        for flux in &one.flux {
            named.entry((input.namespace(flux), &flux.name)).or_default().push(position);
        }
    }
    let mut found = vec![BTreeSet::new(); all.len()];
    for (position, one) in all.iter().enumerate() {
        for (namespace, name) in one.flux.iter().flat_map(|flux| flux.waits_for()) {
            let key = (input.spec.flux.namespace_of(namespace), name);
            for other in named.get(&key).into_iter().flatten() {
                found[*other].insert(position);
            }
        }
    }
    found
}

/// How early namespaces are needed, by name: those of a variable may be any.
#[derive(Default)]
pub(super) struct Uses<'l> {
    by_name: BTreeMap<&'l str, Earliest<'l>>,
    variable: Earliest<'l>,
    all: Earliest<'l>,
}

impl<'l> Uses<'l> {
    pub(super) fn of(all: &'l [Landing<'_>]) -> Uses<'l> {
        let mut found = Uses::default();
        for one in all {
            for (position, name) in &one.uses {
                found.by_name.entry(name).or_default().add(*position, one.path);
                found.all.add(*position, one.path);
                if has_variable(name) {
                    found.variable.add(*position, one.path);
                }
            }
        }
        found
    }
}

/// The earliest position with the entry point that has it, and the earliest one of any other.
#[derive(Default)]
struct Earliest<'l> {
    first: Option<(usize, Option<&'l RepoPath>)>,
    other: Option<usize>,
}

impl<'l> Earliest<'l> {
    fn add(&mut self, position: usize, path: Option<&'l RepoPath>) {
        let Some((first, of)) = self.first else {
            self.first = Some((position, path));
            return;
        };
        let is_first = position < first;
        if of != path {
            let later = if is_first { first } else { position };
            self.other = Some(self.other.map_or(later, |other| other.min(later)));
        }
        if is_first {
            self.first = Some((position, path));
        }
    }

    /// Returns whether an entry point other than this one comes before a position.
    fn is_before(&self, position: usize, than: Option<&RepoPath>) -> bool {
        match self.first {
            Some((first, of)) if of != than => first < position,
            _ => self.other.is_some_and(|other| other < position),
        }
    }
}

/// Returns the namespaces that an object needs.
fn namespaces(object: &Value) -> Vec<String> {
    let all = [&object["metadata"]["namespace"], &object["spec"]["targetNamespace"]];
    all.into_iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the namespaces that the files of an entry point name which does not build.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_of_others_is_found_in_any_order() {
        let paths = ["a", "b", "c"].map(|path| RepoPath::parse(path).unwrap());
        let mut dice = 3_u64;
        for _ in 0..500 {
            let (mut earliest, mut all) = (Earliest::default(), Vec::new());
            for _ in 0..4 {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let path = Some(dice >> 33).filter(|at| at % 4 < 3).map(|at| &paths[at as usize % 4]);
                let position = (dice >> 40) as usize % 4;
                earliest.add(position, path);
                all.push((position, path));
                for own in paths.iter().map(Some).chain([None]) {
                    for limit in 0..4 {
                        let expected = all.iter().any(|(at, path)| *at < limit && *path != own);
                        assert_eq!(earliest.is_before(limit, own), expected, "{all:?} {own:?} {limit}");
                    }
                }
            }
        }
    }
}
