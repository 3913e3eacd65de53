//! A split of further apps where others were divided before, so that the sides are live.
//!
//! The sides prune, and so does the old Flux Kustomization, which would lose the apps. So it takes
//! three steps again: all of them are kept from pruning; the apps are divided and change hands in one
//! commit, which nobody answers by deleting; then `migrate` lets them prune as they did. Each step
//! can be reverted by itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::EntryPoint;
use crate::delivery::inventory::{deletions, inventories};
use crate::delivery::{Input, Sides};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::prepare::{is_orphaning, prepare, without_policy};
use crate::plan::migrate::verify::{Wrong, left_waiting, wrong};
use crate::plan::migrate::{self, effective};
use crate::plan::outcome::EntryOutcome;
use crate::plan::problem::{OF_ITS_OWN, Problem};
use crate::proof::Obligation;
use crate::repo::FluxKustomization;
use crate::repo::flux::each_written;

/// Returns the Flux Kustomizations that apply sides of an entry point of a cluster.
pub fn applied_sides<'a>(input: &Input<'a>, whole: &RepoPath, cluster: &str) -> Vec<&'a FluxKustomization> {
    input.model.flux_at_any(input.sides_in(whole, cluster).values())
}

/// Makes of a trial, in which an entry point was divided, the next step of the three.
///
/// `base` is the repository as the clusters are taken to have it: a step that is not in there yet
/// must not share a commit with the next one.
pub fn step<'a>(
    input: &Input<'_>,
    base: Option<&Input<'_>>,
    before: &Builder<'a>,
    trial: &mut Builder<'a>,
    entry: &EntryPoint,
    outcome: EntryOutcome,
) -> EntryOutcome {
    let live = applied_sides(input, &entry.path, &entry.cluster);
    let all: Vec<&FluxKustomization> = input.model.flux_of(entry).chain(live).collect();
    // Only the policy tells one of these from a successor that is to prune again.
    let stop = all.iter().find_map(|one| elsewhere(input, one).or_else(|| without_policy(one)));
    if let Some(stop) = stop {
        return outcome.refused(stop);
    }
    if all.iter().all(|one| is_orphaning(one)) {
        if let Some(one) = all.iter().find(|one| !base.is_some_and(|base| was_prepared(base, one))) {
            return outcome.refused(Problem::new(
                format!("Flux Kustomization {} has `prune: false` here and not yet in HEAD", one.name),
                "commit this step by itself\nwait until the cluster has applied it\nrun the same command again",
            ));
        }
        return match effective::any_overridden(input, &all) {
            Some(stop) => outcome.refused(stop),
            None => hand_over(input, before, trial, entry, outcome),
        };
    }
    *trial = before.clone();
    for one in each_written(all.iter().copied()) {
        if let Err(stop) = prepare(trial, one) {
            return outcome.refused(stop);
        }
    }
    if let Some(stop) = overridden(input, trial, &all) {
        return outcome.refused(stop);
    }
    let mut outcome = outcome.untouched(
        "step 1 of 2: its sides are live and must not prune. Commit this, wait until the clusters have applied it, run this again",
    );
    outcome.after.clear();
    outcome
}

/// Stops where the same file builds another folder elsewhere by variables: sides take over one folder at a time.
fn elsewhere(input: &Input<'_>, one: &FluxKustomization) -> Option<Problem> {
    let mut twins = input.model.flux_in_file(&one.file).iter().filter(|other| other.is_written_as(one));
    let twin = twins.find(|other| other.path != one.path)?;
    Some(Problem::lasting(
        format!(
            "Flux Kustomization {} has live sides. By its variables, its file also builds {} in cluster {}",
            one.name,
            twin.path.as_ref().map_or("what Git does not show", RepoPath::as_str),
            twin.cluster
        ),
        OF_ITS_OWN,
        one.place("path"),
    ))
}

/// Stops where something else decides what those that were prepared just now delete: the next step would
/// wait for good.
fn overridden(input: &Input<'_>, trial: &Builder<'_>, all: &[&FluxKustomization]) -> Option<Problem> {
    let model = input.again(trial.now());
    let next = Input { snapshot: trial.now(), model: &model, ..*input };
    let is_one = |flux: &&FluxKustomization| {
        all.iter().any(|one| (&one.file, one.document, &one.name) == (&flux.file, flux.document, &flux.name))
    };
    let files: BTreeSet<&RepoPath> = all.iter().map(|one| &one.file).collect();
    let prepared: Vec<&FluxKustomization> =
        files.into_iter().flat_map(|file| model.flux_in_file(file)).filter(is_one).collect();
    effective::any_overridden(&next, &prepared)
}

/// Returns whether a Flux Kustomization is prepared in the base as well.
fn was_prepared(base: &Input<'_>, one: &FluxKustomization) -> bool {
    let mut named = base.model.flux_named(&one.cluster, &one.name);
    named.any(|other| other.namespace == one.namespace && is_orphaning(other))
}

/// Lets the sides take over what was divided, where no cluster deletes anything by that.
fn hand_over(
    input: &Input<'_>,
    before: &Builder<'_>,
    trial: &mut Builder<'_>,
    entry: &EntryPoint,
    mut outcome: EntryOutcome,
) -> EntryOutcome {
    let divided = trial.now().clone();
    let model = input.again(&divided);
    let next = Input { snapshot: &divided, model: &model, ..*input };
    let migrate::TakenOver { renamed, rewritten, notes } = match migrate::take_over(&next, trial, &entry.path)
    {
        Ok(done) => done,
        Err(stop) => return outcome.refused(stop),
    };
    let after = trial.now();
    let model = input.again(after);
    // What other entry points did in the same run is not this one's doing.
    let again = (!before.is_unchanged()).then(|| input.again(before.now()));
    let old = inventories(again.as_ref().unwrap_or(input.model), before.now(), input.renderer);
    let new = inventories(&model, after, input.renderer);
    if let Some(deletion) = deletions(&old, &new).first() {
        return outcome.refused(Problem::new(
            format!("a cluster may delete {deletion}"),
            "give that Flux Kustomization `prune: false` and `deletionPolicy: Orphan`\nwait until the cluster has applied that\nsplit again",
        ));
    }
    let mut wrong = wrong(input, after, (&old, &new), &rewritten, &renamed, &BTreeMap::new());
    wrong.extend(left_waiting(again.as_ref().unwrap_or(input.model), &model));
    if let Some(Wrong { cluster, text, .. }) = wrong.first() {
        return outcome.refused(Problem::new(
            format!("{cluster} would get other objects: {text}"),
            "give its sides the fields of the old Flux Kustomization\nwait until the cluster has applied that\nsplit again",
        ));
    }
    outcome.reason =
        format!("{}. Its sides apply it at once, and none prunes before `migrate`", outcome.reason);
    let next = Input { snapshot: after, model: &model, ..*input };
    outcome.taken_over =
        parts(&input.sides(), &entry.path).into_iter().filter(|part| next.is_applied(part)).collect();
    outcome.renamed = renamed;
    outcome.notes = notes;
    outcome
}

/// Returns the sides of an entry point and itself.
fn parts(sides: &Sides, whole: &RepoPath) -> BTreeSet<RepoPath> {
    sides.of_whole(whole).map(|(side, _)| side).chain([whole]).cloned().collect()
}

/// What must be true where live sides have taken over: all parts together give what they gave.
pub fn obligations(
    input: &Input<'_>,
    sides: &Sides,
    path: &RepoPath,
    builds: Vec<Value>,
    outcomes: &[EntryOutcome],
) -> Option<Vec<Obligation>> {
    let whole = sides.get(path).map_or(path, |(whole, _)| whole);
    let outcome = outcomes.iter().find(|one| !one.taken_over.is_empty() && one.before == *whole)?;
    if outcome.before != *path {
        return Some(Vec::new());
    }
    let stands = |part: &RepoPath| part != path && input.model.graph.has(part);
    let beside: Vec<RepoPath> = parts(sides, path).into_iter().filter(stands).collect();
    let all = |build| Obligation {
        beside: beside.clone(),
        after: outcome.taken_over.clone(),
        build,
        ..Obligation::same(path.clone())
    };
    Some(builds.into_iter().map(all).collect())
}
