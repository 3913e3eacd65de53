//! One round of a split: every entry point is planned, and nothing is proven beyond it.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{self, EntryPoint, Input, Role, Sides, UNCLEAR, UNMAPPED, children};
use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::migrate::{clear_umbrellas, dead_end};
use crate::plan::outcome::{EntryOutcome, Way};
use crate::plan::problem::Problem;
use crate::plan::split::parent::refused;
use crate::plan::split::promise::Promise;
use crate::plan::split::run::Run;
use crate::plan::split::step::Step;
use crate::plan::split::{Selection, admission, obligations};
use crate::plan::{Plan, Report};
use crate::repo::{Snapshot, umbrella};

/// What earlier rounds found of entry points.
#[derive(Default)]
pub struct Known {
    /// Those that did not come out right, or were refused before anything was built of them: each way to
    /// divide them is proven before the next one is tried.
    pub doubted: BTreeSet<RepoPath>,
    /// Those that are left as they are, with the reason.
    pub refused: BTreeMap<RepoPath, Problem>,
    /// The clusters whose gates stay as they stand, since nothing brings them up to date.
    pub stuck: BTreeSet<String>,
}

/// A plan of which it is not known yet whether it comes out right.
pub struct Draft<'a> {
    /// The plan.
    pub plan: Plan,
    /// The files after it.
    pub(super) builder: Builder<'a>,
    /// What became of each entry point, and of what newly came to divided ones.
    pub(super) outcomes: Vec<EntryOutcome>,
    pub(super) came: Vec<EntryOutcome>,
    /// What must be true of its sides beside the plan's obligations.
    pub promises: Vec<Promise>,
    /// The entry points that it divides.
    pub divided: BTreeSet<RepoPath>,
    /// The entry points that were refused without a look at what they build.
    pub unseen: BTreeSet<RepoPath>,
}

impl<'a> Run<'a> {
    /// Plans every entry point that is meant, each as what is known of it says, and no gate yet. `seen` gets each that
    /// is divided, with the tree after its step.
    pub fn draft(&self, known: &Known, seen: &mut dyn FnMut(&RepoPath, &Snapshot)) -> Draft<'a> {
        let mut builder = Builder::new(self.original.snapshot);
        let (mut outcomes, mut commands, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
        let (mut promises, mut divided, mut unseen) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for entry in self.entries() {
            let new = || EntryOutcome::of(entry);
            if entry.role == Role::Bootstrap {
                if *self.selection == Selection::All
                    && self.input.knows_cluster(entry)
                    && (!entry.flux.is_empty() || self.input.model.delivered.is_bringing(&entry.path))
                {
                    let reason = "windows belong to the Flux Kustomizations that are applied there";
                    outcomes.push(new().untouched(reason));
                }
                continue;
            }
            let trusts = !known.doubted.contains(&entry.path);
            let stopped = known.refused.get(&entry.path).map(|problem| new().refused(problem.clone()));
            let of_parent = || refused(self, entry, &outcomes, self.parents.get(&entry.path)?);
            let Step { outcome, promise, command } = match stopped.or_else(of_parent) {
                Some(outcome) => outcome.into(),
                None => {
                    let step = self.step(&mut builder, entry, trusts);
                    if trusts && step.outcome.way == Way::Refused {
                        unseen.insert(entry.path.clone());
                    }
                    step
                }
            };
            if matches!(outcome.way, Way::Plain | Way::Projection) {
                seen(&entry.path, builder.now());
                divided.insert(entry.path.clone());
            }
            commands.extend(command);
            promises.extend(promise);
            outcomes.push(outcome);
        }
        let came = admission::split(self, &mut builder);
        if came.iter().any(|outcome| outcome.way != Way::Refused) {
            // Sides that are live list the parts, so what stood above them goes as it does with the last step of others.
            let original = &self.original.model.graph;
            let is_new = |folder: &RepoPath| {
                original.get(folder).is_none_or(|found| umbrella::original(&found.text).is_none())
            };
            clear_umbrellas(self.original, &mut builder, &is_new);
        }
        self.told(&mut outcomes, &came);
        let mut plan = self.plan(&builder, &outcomes, &came);
        let all = outcomes.clone();
        remarks.extend(outcomes.iter().flat_map(|outcome| &outcome.notes).map(Diagnostic::note));
        // Where an app is used somewhere, those that do not use it have nothing to say.
        if !outcomes.iter().all(EntryOutcome::is_beside) {
            outcomes.retain(|outcome| !outcome.is_beside());
        }
        plan.report = Report::EntryPoints(outcomes);
        plan.commands = commands;
        plan.remarks = remarks;
        Draft { plan, builder, outcomes: all, came, promises, divided, unseen }
    }

    /// Returns what a builder changes, and what must be true of it.
    pub(super) fn plan(
        &self,
        builder: &Builder<'_>,
        outcomes: &[EntryOutcome],
        came: &[EntryOutcome],
    ) -> Plan {
        let mut plan = builder.finish();
        plan.obligations = obligations::all(self.original, &plan, outcomes);
        admission::hold(self.original, &mut plan, came);
        plan
    }

    /// Returns the entry points that may be divided and those that apply them; what applies others' Flux
    /// Kustomizations comes after them.
    fn entries(&self) -> impl Iterator<Item = &EntryPoint> {
        let carries =
            |entry: &EntryPoint| entry.role == Role::Gate || self.carriers.contains_key(&entry.path);
        let meant = self.input.model.all_entries().iter().filter(move |entry| {
            !self.sides.contains_key(&entry.path)
                && (!carries(entry) || is_named(self.input, entry, self.selection))
        });
        let (last, first): (Vec<_>, Vec<_>) = meant.partition(|entry| self.parents.contains_key(&entry.path));
        first.into_iter().chain(last)
    }

    /// Adds what became of everything else, and sorts it as people read it.
    fn told(&self, outcomes: &mut Vec<EntryOutcome>, came: &[EntryOutcome]) {
        let is_new = |outcome: &EntryOutcome| came.iter().any(|one| one.before == outcome.before);
        outcomes.retain(|outcome| !outcome.is_untouched() || !is_new(outcome));
        outcomes.extend(came.iter().cloned());
        outcomes.sort_by(|a, b| a.before.cmp(&b.before));
        // Where a newcomer is named, those that do not list it have nothing to say.
        if came.is_empty() || *self.selection == Selection::All {
            let split_before = handed_over(self.input, self.sides).into_iter();
            outcomes.extend(split_before.filter(|outcome| !is_new(outcome)));
        }
        outcomes.extend(unplaced(self.input));
    }
}

/// Entry points of which only the sides are left are named, so that a second split says why it does
/// nothing.
fn handed_over(input: &Input<'_>, sides: &Sides) -> Vec<EntryOutcome> {
    let mut found: BTreeMap<RepoPath, EntryOutcome> = BTreeMap::new();
    for (entry, (whole, position)) in input.entries_of_sides(sides) {
        if input.model.entry(whole).is_some() {
            continue;
        }
        let outcome = found
            .entry(whole.clone())
            .or_insert_with(|| EntryOutcome::new(&entry.named_clusters(), whole).untouched("split already"));
        outcome.after.push((input.spec.types[*position].name.value.clone(), entry.path.clone()));
    }
    found.into_values().collect()
}

/// Returns whether an app of an entry point is meant by its name.
///
/// What carries a gate stays real-time as a whole unless somebody asks for one of its apps; then the
/// gate goes to the first side, so that windows can be changed while they are closed.
fn is_named(input: &Input<'_>, entry: &EntryPoint, selection: &Selection) -> bool {
    let Some(kustomization) = input.model.graph.get(&entry.path) else { return false };
    let (children, _) = children(input.model, entry, kustomization);
    *selection != Selection::All && children.iter().any(|child| selection.names(child))
}

/// Flux Kustomizations whose paths are not this repository's are named, lest they seem forgotten.
fn unplaced(input: &Input<'_>) -> Vec<EntryOutcome> {
    let foreign = input.model.foreign();
    foreign
        .filter(|(one, path)| {
            one.source_kind() != "GitRepository" || one.other.is_some() || input.model.is_unclear(one, path)
        })
        // What applies a side is divided.
        .filter(|(one, path)| one.other.is_none() || delivery::by_place(input.spec, path, &one.cluster).is_none())
        .map(|(kustomization, path)| {
            let cluster = kustomization.cluster.clone();
            let (kind, name) = (kustomization.source_kind(), kustomization.source_name());
            let problem = match &kustomization.unmapped {
                _ if kustomization.other.is_some() => dead_end::elsewhere(kustomization),
                Some(unmapped) => Problem::new(
                    format!("{kind} {name} maps to no folder. Why: {}", unmapped.reason),
                    UNMAPPED,
                )
                .at(unmapped.place.clone().unwrap_or_else(|| kustomization.place("path"))),
                None if kind == "GitRepository" => Problem::new(
                    format!("GitRepository {name} may be this repository or another one"),
                    UNCLEAR,
                )
                .at(kustomization.place("sourceRef")),
                None => Problem::new(
                    format!(
                        "Flux Kustomization {} builds it from {kind} {name}, which is not this repository",
                        kustomization.name
                    ),
                    match kind {
                        "OCIRepository" => {
                            "split it in the repository that the artifact is made from\nif that is this one, name the pushed folder as `path` under `flux.source`"
                        }
                        _ => "split it in the repository that the artifact is made from",
                    },
                ),
            };
            EntryOutcome::new(&cluster, &path).refused(problem)
        })
        .collect()
}
