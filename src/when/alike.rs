//! Entry points that no split divides, as all of their objects wait alike.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::classify::{Context, Reason, classify};
use crate::delivery::fleet::Undivided;
use crate::delivery::parent;
use crate::delivery::{Input, TypedError};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::plan::gate::{Lone, needed};
use crate::repo::field::is_constant;
use crate::repo::manifest::{manifests, objects};
use crate::repo::{FluxKustomization, Target, built};
use crate::spec::{Matcher, Placed, Rule};
use crate::when::note::{is_ungated, is_unheld};
use crate::when::{Answer, Line};

impl Answer {
    /// Finds the entry points of which every object has a window, or none, and those that apply Flux Kustomizations alone.
    ///
    /// Only those are built whose files do not show objects of both sorts already.
    #[must_use]
    pub fn with_types(mut self, input: &Input<'_>) -> Answer {
        let is_parent = |line: &Line| line.undivided == Some(Undivided::Parent);
        let is_open = |line: &&mut Line| is_unheld(line) && (line.undivided.is_none() || is_parent(line));
        let open: Vec<&mut Line> = self.lines.iter_mut().filter(is_open).collect();
        let folders: BTreeSet<RepoPath> = open.iter().filter_map(|line| line.folder.clone()).collect();
        let parents: BTreeSet<RepoPath> =
            open.iter().filter(|line| is_parent(line)).filter_map(|line| line.folder.clone()).collect();
        let seen: BTreeMap<&RepoPath, Seen> =
            folders.iter().map(|folder| (folder, Seen::of(input, folder))).collect();
        let is_open = |folder: &&RepoPath| seen[folder].sorts.len() < 2 && seen[folder].verdict().is_none();
        let alike: BTreeSet<&RepoPath> =
            folders.iter().filter(|folder| parents.contains(*folder) || is_open(folder)).collect();
        input.prepare(alike.iter().copied());
        let mut lone: Option<Lone> = None;
        let mut is_lone = |folder: &RepoPath| {
            lone.get_or_insert_with(|| Lone::of(input, &input.sides())).rest(folder).is_some()
        };
        for line in open {
            let entry = line.folder.as_ref().filter(|folder| alike.contains(folder));
            let entry = entry.and_then(|folder| input.model.entry(folder));
            let typed = entry.map(|entry| input.typed_entry(input.snapshot, entry));
            // Some build only with what their Flux Kustomizations say.
            let is_failing = typed.as_ref().is_some_and(|typed| typed.as_ref().is_err_and(TypedError::fails));
            let fails =
                |entry| input.typed_as_applied(entry, &line.cluster).is_err_and(|error| error.fails());
            line.is_failing |= is_failing && entry.is_some_and(fails);
            let typed = typed.and_then(Result::ok);
            let shown = line.folder.as_ref().and_then(|folder| seen.get(folder)).and_then(Seen::verdict);
            line.undivided = typed.map_or(line.undivided.or(shown), |typed| {
                if typed.objects.is_empty() {
                    return Some(Undivided::Empty);
                }
                // With an app beside them, Flux Kustomizations are objects like others.
                if parent::reason(input.model, &typed.objects).is_some() {
                    return Some(Undivided::Parent);
                }
                // No split parts Namespaces alone from the rest.
                let mut is_lone =
                    || Lone::may_be(input, &typed) && line.folder.as_ref().is_some_and(&mut is_lone);
                verdict(input, typed.present()).or_else(|| is_lone().then_some(Undivided::Gated))
            });
            let own = line.folder.as_ref().and_then(|folder| input.model.entry(folder));
            let is_of_root = own.is_some_and(|entry| entry.through.is_some());
            if line.undivided == Some(Undivided::Gated) && is_of_root {
                line.undivided = Some(Undivided::Root);
            }
        }
        self.note_needed(input);
        self
    }

    /// Notes what depends on that of which every object has a window and that no gate suspends.
    fn note_needed(&mut self, input: &Input<'_>) {
        let target = |line: &Line| {
            let own = line.kustomization.as_ref()?;
            Some(GateTarget { namespace: own.namespace.clone(), name: own.name.clone() })
        };
        // Only what something waits for is looked into: that takes builds.
        let is_awaited = |cluster: &str, target: &GateTarget| {
            let waits = input.model.flux_of_cluster(cluster).flat_map(FluxKustomization::waits_for);
            waits.map(|(space, name)| GateTarget::new(input, space, name)).any(|one| one == *target)
        };
        let is_free = |line: &Line| is_ungated(line) && line.undivided == Some(Undivided::Gated);
        let is_asked = |line: &Line| {
            is_free(line) && target(line).is_some_and(|target| is_awaited(&line.cluster, &target))
        };
        if !self.lines.iter().any(is_asked) {
            return;
        }
        let needed = needed(input);
        for line in self.lines.iter_mut().filter(|line| is_free(line)) {
            let (Some(of_cluster), Some(target)) = (needed.get(&line.cluster), target(line)) else {
                continue;
            };
            line.needed_by = of_cluster.get(&target).map(|by| by.shown(input.spec));
        }
    }
}

/// Returns whether all of these types have a window, or none; `None` where some do, or there is nothing.
fn verdict(input: &Input<'_>, types: Vec<usize>) -> Option<Undivided> {
    let sorts: BTreeSet<bool> =
        types.into_iter().map(|position| input.spec.types[position].is_real_time()).collect();
    match sorts.into_iter().collect::<Vec<_>>()[..] {
        [true] => Some(Undivided::RealTime),
        [false] => Some(Undivided::Gated),
        _ => None,
    }
}

/// What the files of an entry point show of its objects.
#[derive(Default)]
struct Seen {
    /// Whether there are real-time objects, and others.
    sorts: BTreeSet<bool>,
    /// Whether a build would show nothing else.
    is_all: bool,
    /// Whether there is a real-time Namespace: it alone makes no sort.
    has_namespace: bool,
}

impl Seen {
    fn of(input: &Input<'_>, entry: &RepoPath) -> Seen {
        let (root, graph) = (input.spec.folder(), &input.model.graph);
        let is_by_kind = |rule: &Placed<Rule>| {
            let Matcher { kind, api_group, .. } = rule.matcher.clone();
            rule.matcher == Matcher { kind, api_group, ..Matcher::default() }
        };
        let mut seen =
            Seen { is_all: graph.has(entry) && input.spec.rules.iter().all(is_by_kind), ..Seen::default() };
        if input.spec.rules.iter().any(|rule| rule.matcher.app.is_some() || rule.matcher.is_values) {
            return seen;
        }
        for list in built(graph, entry).iter().filter_map(|folder| graph.get(folder)) {
            seen.is_all &= list.keys().all(keeps_kinds);
            for reference in list.resources() {
                let Target::Path(path) = &reference.target else {
                    seen.is_all = false;
                    continue;
                };
                if graph.has(&graph.real(path)) {
                    continue;
                }
                let Some(documents) = input.snapshot.file(path).and_then(manifests) else {
                    seen.is_all = false;
                    continue;
                };
                let below = path.relative_to(&root);
                let context = Context { path: Some(&below), ..Context::default() };
                for object in documents.iter().flat_map(|document| objects(&document.value)) {
                    match classify(input.spec, object, context) {
                        Ok(own) if own.reason != Reason::Gate => {
                            let is_real_time = input.spec.types[own.change_type].is_real_time();
                            match is_real_time && object["kind"] == "Namespace" {
                                true => seen.has_namespace = true,
                                false => drop(seen.sorts.insert(is_real_time)),
                            }
                        }
                        Ok(_) => {}
                        Err(_) => seen.is_all = false,
                    }
                }
            }
        }
        seen
    }

    /// Says what no build could say otherwise.
    fn verdict(&self) -> Option<Undivided> {
        match self.sorts.iter().collect::<Vec<_>>()[..] {
            [] if self.is_all && self.has_namespace => Some(Undivided::RealTime),
            [true] if self.is_all => Some(Undivided::RealTime),
            [false] if self.is_all && !self.has_namespace => Some(Undivided::Gated),
            _ => None,
        }
    }
}

/// Returns whether a field of a kustomization neither makes nor removes objects, nor changes a kind.
fn keeps_kinds(key: &str) -> bool {
    is_constant(key) || ["images", "replicas"].iter().any(|field| field.eq_ignore_ascii_case(key))
}
