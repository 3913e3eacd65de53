//! A split of further apps where others were divided before, so that the sides are live.
//!
//! The sides prune, and so does the old Flux Kustomization, which would lose the apps. So it takes
//! three steps again: all of them are kept from pruning; the apps are divided and change hands in one
//! commit, which nobody answers by deleting; then `migrate` lets them prune as they did. Each step
//! can be reverted by itself.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::inventory::{deletions, inventories};
use crate::plan::migrate;
use crate::plan::outcome::EntryOutcome;
use crate::plan::prepare::{is_prepared, prepare};
use crate::plan::{Builder, Input};
use crate::proof::Obligation;
use crate::repo::{EntryPoint, FluxKustomization, RepoPath};

/// Gives the Flux Kustomizations that apply sides of an entry point of a cluster.
pub fn applied_sides<'a>(input: &Input<'a>, whole: &RepoPath, cluster: &str) -> Vec<&'a FluxKustomization> {
    let names = input.spec.types.iter().map(|change_type| change_type.name.value.as_str());
    let sides: BTreeSet<RepoPath> = names.filter_map(|name| input.side(whole, cluster, name)).collect();
    let is_side = |path: &RepoPath| sides.contains(path);
    input.model.flux.iter().filter(|one| one.path.as_ref().is_some_and(is_side)).collect()
}

/// Makes of a trial, in which an entry point was divided, the next step of the three.
pub fn step<'a>(
    input: &Input<'_>,
    before: &Builder<'a>,
    trial: &mut Builder<'a>,
    entry: &EntryPoint,
    outcome: EntryOutcome,
) -> EntryOutcome {
    let live = applied_sides(input, &entry.path, &entry.cluster);
    let all: Vec<&FluxKustomization> = input.model.flux_of(entry).chain(live).collect();
    if all.iter().all(|one| is_prepared(one)) {
        return hand_over(input, trial, entry, outcome);
    }
    *trial = before.clone();
    for one in all {
        if let Err(reason) = prepare(trial, one) {
            return outcome.refused(
                format!("Flux Kustomization {} can't be prepared: {reason}", one.name),
                "set `prune: false` and `deletionPolicy: Orphan` there by hand, let that reach the cluster, then split again",
            );
        }
    }
    let mut outcome = outcome.untouched(
        "its sides are live, so first nothing of it prunes: commit this, let it reach the clusters, then give the same command again",
    );
    outcome.after.clear();
    outcome
}

/// Lets the sides take over what was divided, where no cluster deletes anything by that.
fn hand_over(
    input: &Input<'_>,
    trial: &mut Builder<'_>,
    entry: &EntryPoint,
    mut outcome: EntryOutcome,
) -> EntryOutcome {
    let divided = trial.now().clone();
    let model = input.model.again(&divided);
    let next = Input { snapshot: &divided, model: &model, ..*input };
    let (renamed, rewritten) = match migrate::take_over(&next, trial, &entry.path) {
        Ok(done) => done,
        Err((reason, remedy)) => return outcome.refused(reason, remedy),
    };
    let after = trial.now();
    let model = input.model.again(after);
    let (old, new) = (
        inventories(input.model, input.snapshot, input.renderer),
        inventories(&model, after, input.renderer),
    );
    if let Some(deletion) = deletions(&old, &new).first() {
        return outcome.refused(
            format!("a cluster may delete {deletion}"),
            "give that Flux Kustomization `prune: false` and `deletionPolicy: Orphan`, let that reach the cluster, then split again",
        );
    }
    let wrong = migrate::verify::wrong(input, after, (&old, &new), &rewritten, &renamed);
    if let Some((cluster, mismatch)) = wrong.first() {
        return outcome.refused(
            format!("{cluster} would not get the same: {mismatch}"),
            "give its sides the fields that the old Flux Kustomization has, let that reach the cluster, then split again",
        );
    }
    outcome.reason =
        format!("{}; its sides take over at once, and none prunes before `migrate`", outcome.reason);
    let is_applied = |path: &RepoPath| model.flux.iter().any(|one| one.path.as_ref() == Some(path));
    outcome.taken_over = parts(input, &entry.path).into_iter().filter(is_applied).collect();
    outcome.renamed = renamed;
    outcome
}

/// Gives the sides of an entry point and itself.
fn parts(input: &Input<'_>, whole: &RepoPath) -> BTreeSet<RepoPath> {
    let sides = input.sides().into_iter().filter(|(_, (of, _))| of == whole).map(|(side, _)| side);
    sides.chain([whole.clone()]).collect()
}

/// What must be true where live sides have taken over: all parts together give what they gave.
pub fn obligations(
    input: &Input<'_>,
    path: &RepoPath,
    builds: Vec<Option<Value>>,
    outcomes: &[EntryOutcome],
) -> Option<Vec<Obligation>> {
    let outcome = outcomes
        .iter()
        .filter(|one| !one.taken_over.is_empty())
        .find(|one| one.before == *path || parts(input, &one.before).contains(path))?;
    if outcome.before != *path {
        return Some(Vec::new());
    }
    let stands = |part: &RepoPath| part != path && input.model.graph.has(part);
    let beside: Vec<RepoPath> = parts(input, path).into_iter().filter(stands).collect();
    let all = |build| Obligation {
        beside: beside.clone(),
        after: outcome.taken_over.clone(),
        build,
        renamed: outcome.renamed.clone(),
        ..Obligation::same(path.clone())
    };
    Some(builds.into_iter().map(all).collect())
}
