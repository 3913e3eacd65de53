//! Entry points that apply other entry points' Flux Kustomizations, and run something themselves.

use std::collections::BTreeSet;

use crate::delivery::EntryPoint;
use crate::delivery::parent::reason;
use crate::delivery::{Input, children};
use crate::path::RepoPath;
use crate::plan::gate::Lone;
use crate::plan::split::Selection;
use crate::plan::split::run::Run;
use crate::plan::{EntryOutcome, Problem};

/// Refuses an entry point that would be divided although some of these, whose Flux Kustomizations it
/// applies, have sides.
pub(super) fn refused(
    run: &Run<'_>,
    entry: &EntryPoint,
    outcomes: &[EntryOutcome],
    children: &BTreeSet<&RepoPath>,
) -> Option<EntryOutcome> {
    let has_sides = |outcome: &&EntryOutcome| !outcome.after.is_empty() && children.contains(&outcome.before);
    let child = outcomes
        .iter()
        .find(has_sides)
        .filter(|_| run.lone.rest(&entry.path).is_none() && is_mixed(run.input, entry, run.selection))?;
    let outcome = EntryOutcome::of(entry);
    Some(outcome.refused(Problem::new(
        format!(
            "it applies objects, and Flux Kustomizations of divided entry points, such as {}",
            child.before
        ),
        "move its own objects into an entry point of their own\nor leave it undivided: windows then hold for the entry points that it applies",
    )))
}

/// Returns the entry points that are not divided and have objects of several types.
pub fn divisible<'a>(input: &Input<'a>) -> Vec<&'a EntryPoint> {
    let sides = input.sides();
    let is_suspended =
        |entry: &EntryPoint| entry.clusters().all(|cluster| input.model.is_suspended(&entry.path, cluster));
    let mixed = input.wholes(&sides).filter(|entry| !is_suspended(entry));
    let mixed: Vec<&EntryPoint> = mixed.filter(|entry| is_mixed(input, entry, &Selection::All)).collect();
    // Namespaces alone are divided from the rest only where something needs them earlier.
    let lone = Lone::among(input, &sides, |entry| mixed.iter().any(|one| one.path == entry.path));
    mixed.into_iter().filter(|entry| lone.rest(&entry.path).is_none()).collect()
}

/// Returns whether an entry point is meant and would be divided: it is no mere parent, and has objects
/// of several types.
fn is_mixed(input: &Input<'_>, entry: &EntryPoint, selection: &Selection) -> bool {
    let Some(kustomization) = input.model.graph.get(&entry.path) else { return false };
    let (apps, _) = children(input.model, entry, kustomization);
    let is_meant = selection.names_entry(input.model.name_of(entry), &entry.path)
        || apps.iter().any(|child| selection.names(child));
    is_meant
        && input.knows_cluster(entry)
        && input
            .typed_entry(input.snapshot, entry)
            .is_ok_and(|typed| typed.present().len() > 1 && reason(input.model, &typed.objects).is_none())
}
