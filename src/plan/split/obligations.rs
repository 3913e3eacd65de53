//! What must be true of the entry points when some of them were divided.

use serde_json::Value;

use crate::delivery::EntryPoint;
use crate::delivery::{Input, Sides, build, builds};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::outcome::EntryOutcome;
use crate::plan::split::later;
use crate::plan::{Plan, gate};
use crate::proof::{Mismatch, Obligation, Renames, first_mismatch};
use crate::render::Request;
use crate::repo::FluxKustomization;

/// Every old entry point must go on rendering what it did, and the sides must add up to it.
pub fn all(input: &Input<'_>, plan: &Plan, outcomes: &[EntryOutcome]) -> Vec<Obligation> {
    if plan.changes.is_empty() {
        return Vec::new();
    }
    // A side that nothing in Git builds yet is what a split makes; it may take in another app.
    let sides = input.sides();
    let is_made = |entry: &&EntryPoint| entry.flux.is_empty() && sides.contains_key(&entry.path);
    let entries = input.model.all_entries().iter().filter(|entry| !is_made(entry));
    let mut found: Vec<Obligation> =
        entries.flat_map(|entry| of_entry(input, &sides, &entry.path, outcomes)).collect();
    found.extend(elsewhere(input));
    let gates = gate::GateFolders::of(input).unwrap_or_default();
    let mut renames = Renames::default();
    outcomes.iter().for_each(|outcome| renames.extend(&outcome.renamed));
    for obligation in &mut found {
        obligation.free.extend(gates.free(input, &obligation.before));
        if renames.is_empty() {
            continue;
        }
        let of = input.model.entry(&obligation.before).into_iter();
        obligation.renamed = renames.of(of.flat_map(EntryPoint::clusters));
    }
    found
}

/// What must be true of the folders that another revision of this repository is read at: it gets what is moved here once
/// that is there. What does not build here says nothing of that one.
fn elsewhere(input: &Input<'_>) -> Vec<Obligation> {
    let all = input.model.foreign().filter(|(one, path)| one.other.is_some() && input.model.graph.has(path));
    let all: Vec<(&FluxKustomization, RepoPath)> = all.collect();
    let requests: Vec<Request> =
        all.iter().map(|(one, path)| Request::flux(path.clone(), &one.effective["spec"])).collect();
    let built = input.renderer.render(input.snapshot, &requests);
    let builds = all.into_iter().zip(built).filter(|(_, built)| built.is_ok());
    builds
        .map(|((one, path), _)| Obligation {
            flux_may_change: true,
            build: build(one),
            ..Obligation::same(path)
        })
        .collect()
}

/// What must be true of one entry point, for each way in which a cluster builds it.
fn of_entry(input: &Input<'_>, sides: &Sides, path: &RepoPath, outcomes: &[EntryOutcome]) -> Vec<Obligation> {
    let mut found = Vec::new();
    let entry = input.model.entry(path);
    let builds = entry.map_or_else(|| vec![Value::Null], |entry| builds(input.model, entry));
    if let Some(found) = later::obligations(input, sides, path, builds.clone(), outcomes) {
        return found;
    }
    for build in builds {
        found.push(Obligation {
            flux_may_change: true,
            build: build.clone(),
            ..Obligation::same(path.clone())
        });
        let outcomes = outcomes.iter().filter(|outcome| outcome.before == *path);
        for outcome in outcomes.filter(|outcome| outcome.remaining.is_empty() && !outcome.after.is_empty()) {
            let after = outcome.after.iter().map(|(_, path)| path.clone()).collect();
            found.push(Obligation {
                after,
                build: build.clone(),
                ..Obligation::same(outcome.before.clone())
            });
        }
    }
    found
}

/// Holds one entry point to its promise, as its controller builds it.
pub fn mismatch(
    original: &Input<'_>,
    sides: &Sides,
    trial: &Builder<'_>,
    entry: &EntryPoint,
    outcome: &EntryOutcome,
) -> Option<Mismatch> {
    let obligations = of_entry(original, sides, &entry.path, std::slice::from_ref(outcome));
    first_mismatch(original.snapshot, trial.now(), &obligations, original.renderer)
}
