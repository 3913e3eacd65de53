//! Entry points that a Namespace alone does not divide.
//!
//! By the default rules a Namespace belongs to the first type, since everything needs it. Where nothing else
//! of an entry point does, a side for it would gain nothing: the entry point stays whole, and a gate holds
//! it back with its Namespace. A rule that says more than `kind: Namespace`, or an annotation, asks for it
//! all the same.
//!
//! A Namespace that waits must be one that nothing needs earlier: on a fresh cluster the API server refuses
//! what is in it, and a gated Flux Kustomization that waits for the refused one never comes to create it.
//! And what something earlier waits for can't be held back, so only its sides can be.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::classify::{Classified, Reason};
use crate::delivery::{EntryPoint, Role};
use crate::delivery::{Input, Sides, Typed, divided};
use crate::path::RepoPath;
use crate::plan::gate;
use crate::render::Object;
use crate::repo::manifest::{manifests, objects};
use crate::repo::{FluxKustomization, flux};

/// The entry points that stay whole, each with the position of the type of all but its Namespaces.
#[derive(Clone, Debug, Default)]
pub struct Lone {
    wholes: BTreeMap<RepoPath, usize>,
}

impl Lone {
    /// Finds them. Builds only what could be one, and the rest of its clusters where there is any.
    pub fn of(input: &Input<'_>, sides: &Sides) -> Lone {
        let carriers = gate::carriers(input).unwrap_or_default();
        let divided = divided(input.model, sides);
        let may_be = |entry: &&EntryPoint| {
            entry.role == Role::Apps
                && entry.through.is_none()
                && input.knows_cluster(entry)
                && !sides.contains_key(&entry.path)
                && !divided.contains(&entry.path)
                && !carriers.contains_key(&entry.path)
                && !entry.clusters().any(|cluster| input.adds_objects(entry, cluster))
        };
        let entries: Vec<&EntryPoint> = input.model.entry_points.iter().filter(may_be).collect();
        input.prepare(entries.iter().map(|entry| &entry.path));
        let mut found = Lone::default();
        for entry in &entries {
            let typed = input.typed_entry(input.snapshot, entry);
            if let Some(rest) = typed.ok().and_then(|typed| alone(input, &typed)) {
                found.wholes.insert(entry.path.clone(), rest);
            }
        }
        let clusters = entries.iter().filter(|entry| found.wholes.contains_key(&entry.path));
        let clusters: BTreeSet<&str> = clusters.flat_map(|entry| entry.clusters()).collect();
        for cluster in clusters {
            found.leave_needed(input, sides, cluster);
        }
        found
    }

    /// Gives the position of the type with which an entry point stays whole, if it does.
    pub fn rest(&self, path: &RepoPath) -> Option<usize> {
        self.wholes.get(path).copied()
    }

    /// Gives the Namespaces of an entry point that stays whole the type of its other objects.
    #[must_use]
    pub fn settle(&self, path: &RepoPath, mut typed: Typed) -> Typed {
        if let Some(rest) = self.rest(path) {
            for classified in typed.types.iter_mut().filter(|classified| classified.change_type != rest) {
                *classified = Classified { change_type: rest, reason: Reason::Whole };
            }
        }
        typed
    }

    /// Takes those out of which something earlier needs a Namespace, or for which it waits.
    fn leave_needed(&mut self, input: &Input<'_>, sides: &Sides, cluster: &str) {
        let mut all: Vec<Landing<'_>> = input
            .model
            .entries_of(cluster)
            .map(|entry| Landing::of(input, sides, self, cluster, entry))
            .collect();
        // What applies another source's objects is held back by nothing.
        let others = input.model.flux_of_cluster(cluster).filter(|flux| flux.path.is_none());
        all.extend(others.map(Landing::foreign));
        loop {
            let mut changed = false;
            for index in 0..all.len() {
                let earliest = all.iter().filter(|other| other.waits_for(input, &all[index]));
                let earliest = earliest.map(|other| other.first).min().unwrap_or(usize::MAX);
                if earliest < all[index].first {
                    all[index].land_by(earliest);
                    changed = true;
                }
            }
            let is_needed = |one: &&Landing<'_>| {
                let mut others = all.iter().filter(|other| other.path != one.path);
                one.rest.is_some_and(|rest| one.first < rest || others.any(|other| other.needs(one, rest)))
            };
            match all.iter().find(is_needed).and_then(|one| one.path.cloned()) {
                Some(path) => {
                    self.wholes.remove(&path);
                    for one in all.iter_mut().filter(|one| one.path == Some(&path)) {
                        (one.rest, one.first) = (None, 0);
                    }
                }
                None if !changed => return,
                None => {}
            }
        }
    }
}

/// Gives the type of all objects but Namespaces, where these are of the first by the default rule alone and
/// all others have one later type.
fn alone(input: &Input<'_>, typed: &Typed) -> Option<usize> {
    let [first, rest] = typed.present()[..] else { return None };
    // Windows belong to what those apply that are applied by it.
    if typed.ids().any(|id| id.group == flux::GROUP) {
        return None;
    }
    let is_lone = |(object, classified): (&Object, &Classified)| {
        let is_default = match &classified.reason {
            Reason::Namespace => true,
            Reason::Rule(position) => input.spec.is_default(&input.spec.rules[*position]),
            _ => false,
        };
        is_namespace(object) && is_default
    };
    let mut early = typed.objects.iter().zip(&typed.types).filter(|(_, one)| one.change_type == first);
    early.all(is_lone).then_some(rest)
}

fn is_namespace(object: &Object) -> bool {
    object.value["kind"] == "Namespace" && object.value["apiVersion"] == "v1"
}

/// What an entry point brings to a cluster, and how early.
struct Landing<'a> {
    path: Option<&'a RepoPath>,
    /// Its Flux Kustomizations in the cluster.
    flux: Vec<&'a FluxKustomization>,
    /// The position of the type of its first objects, or of what waits for them.
    first: usize,
    /// The type of all but Namespaces, where these alone would be divided from them.
    rest: Option<usize>,
    /// The Namespaces that it makes.
    makes: BTreeSet<String>,
    /// The namespaces of what it brings, by the position of the type.
    uses: BTreeSet<(usize, String)>,
}

impl<'a> Landing<'a> {
    fn of(
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

    fn foreign(flux: &'a FluxKustomization) -> Landing<'a> {
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

    fn waits_for(&self, input: &Input<'_>, other: &Landing<'_>) -> bool {
        let named = self.flux.iter().flat_map(|flux| flux.waits_for());
        let mut named = named.map(|(namespace, name)| (input.spec.flux.namespace_of(namespace), name));
        named.any(|(namespace, name)| {
            other.flux.iter().any(|flux| input.namespace(flux) == namespace && flux.name == name)
        })
    }

    /// Lets it land no later than what waits for it: nothing can hold it back then.
    fn land_by(&mut self, position: usize) {
        self.first = position;
        if self.rest.is_none() {
            self.uses = std::mem::take(&mut self.uses)
                .into_iter()
                .map(|(own, name)| (own.min(position), name))
                .collect();
        }
    }

    /// Tells whether something of it lands before a type and needs a Namespace of the other.
    fn needs(&self, other: &Landing<'_>, rest: usize) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::Known;
    use crate::delivery::Model;
    use crate::plan::split::{Selection, split};
    use crate::render::{Embedded, Limits};
    use crate::repo::{File, Snapshot};
    use crate::template::Templates;

    const SPEC: &str = "apiVersion: gitops-windows/v1
types: { rt: {}, rw: { window: week } }
windows: { week: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 4 * * SUN } }
clusters: { edge: {} }
";

    fn flux(name: &str, more: &str) -> String {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{ name: {name}, namespace: flux-system }}
spec: {{ interval: 5m, prune: true, path: ./apps/{name}, sourceRef: {{ kind: GitRepository, name: flux-system }}{more} }}
---
"
        )
    }

    fn object(kind: &str, namespace: &str, name: &str) -> String {
        let group = if kind == "Deployment" { "apps/v1" } else { "v1" };
        let space = if namespace.is_empty() { String::new() } else { format!(", namespace: {namespace}") };
        format!(
            "apiVersion: {group}
kind: {kind}
metadata: {{ name: {name}{space} }}
---
"
        )
    }

    /// Tells of each entry point what a split makes of it, in a repository with the entry point `shop`, which
    /// has a Namespace and a Deployment, and another one with what is given.
    fn ways(rules: &str, depends: [&str; 2], other: &str) -> Vec<String> {
        let shop = object("Namespace", "", "shop") + &object("Deployment", "shop", "web");
        let files = [
            ("clusters/edge/apps.yaml", flux("shop", depends[0]) + &flux("other", depends[1])),
            ("apps/shop/kustomization.yaml", "resources: [all.yaml]\n".to_owned()),
            ("apps/shop/all.yaml", shop),
            ("apps/other/kustomization.yaml", "resources: [all.yaml, more.yaml]\n".to_owned()),
            ("apps/other/all.yaml", other.to_owned()),
            // With Flux Kustomizations in its only file it would be a bootstrap folder.
            ("apps/other/more.yaml", "# nothing\n".to_owned()),
        ];
        let mut snapshot = Snapshot::default();
        for (path, text) in files {
            snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.into_bytes()));
        }
        let path = RepoPath::parse("windows.yaml").unwrap();
        let spec = crate::spec::parse(&path, format!("{SPEC}{rules}").as_bytes()).unwrap().spec;
        let renderer = Embedded::new(Limits::default());
        let model = Model::read(&snapshot, &RepoPath::top(), &Known::default(), &renderer);
        let input = Input { spec: &spec, snapshot: &snapshot, model: &model, renderer: &renderer };
        let templates = Templates::new(BTreeMap::new()).unwrap();
        let plan = split(&input, None, &templates, &Selection::All).unwrap();
        let gates = gate::Gates::of(&input).unwrap().unwrap();
        let held: Vec<String> = gates.clusters[0].whole.iter().map(|target| target.name.clone()).collect();
        let ways =
            plan.entries.iter().map(|one| format!("{}: {}", one.before.name().unwrap(), one.way.as_str()));
        ways.chain([format!("held whole: {}", held.join(", "))]).collect()
    }

    fn settings(namespace: &str) -> String {
        object("ConfigMap", namespace, "settings") + &object("Deployment", namespace, "api")
    }

    const WHOLE: [&str; 3] = ["other: projection", "shop: untouched", "held whole: shop"];
    const DIVIDED: [&str; 3] = ["other: projection", "shop: projection", "held whole: "];

    #[test]
    fn a_namespace_alone_divides_nothing() {
        assert_eq!(ways("", ["", ""], &settings("elsewhere")), WHOLE);
    }

    #[test]
    fn what_applies_flux_kustomizations_is_held_back_by_nothing() {
        let tenant =
            object("Namespace", "", "tenant") + &object("Deployment", "tenant", "api") + &flux("more", "");
        let ways = ways("", ["", ""], &tenant);
        assert_eq!(ways, ["other: projection", "shop: untouched", "held whole: shop"]);
    }

    #[test]
    fn a_spec_may_ask_for_it() {
        let rules =
            |rule: &str| format!("rules: [{rule}, {{ kind: ConfigMap, type: rt }}, {{ type: rw }}]\n");
        assert_eq!(ways(&rules("{ kind: Namespace, type: rt }"), ["", ""], &settings("elsewhere")), WHOLE);
        let asks = rules("{ kind: Namespace, name: '*', type: rt }");
        assert_eq!(ways(&asks, ["", ""], &settings("elsewhere")), DIVIDED);
    }

    #[test]
    fn what_lands_earlier_elsewhere_needs_its_namespace() {
        assert_eq!(ways("", ["", ""], &settings("shop")), DIVIDED);
        let late = object("Deployment", "shop", "api") + &object("ConfigMap", "elsewhere", "settings");
        assert_eq!(ways("", ["", ""], &late), WHOLE);
        let target = ", targetNamespace: shop";
        assert_eq!(ways("", ["", target], &settings("elsewhere")), DIVIDED);
    }

    #[test]
    fn what_something_earlier_waits_for_is_divided() {
        let waits = ", dependsOn: [{ name: shop }]";
        assert_eq!(ways("", ["", waits], &settings("elsewhere")), DIVIDED);
        let all_late = object("Deployment", "elsewhere", "api");
        let held = ["other: untouched", "shop: untouched", "held whole: other, shop"];
        assert_eq!(ways("", ["", waits], &all_late), held);
    }

    #[test]
    fn two_that_wait_for_each_others_namespace_stay_whole() {
        let other = object("Namespace", "", "elsewhere") + &object("Deployment", "shop", "api");
        let held = ["other: untouched", "shop: untouched", "held whole: other, shop"];
        assert_eq!(ways("", ["", ", dependsOn: [{ name: shop }]"], &other), held);
    }
}
