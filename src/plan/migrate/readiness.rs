//! What keeps each move from its next step before anything is planned.

use std::collections::BTreeMap;

use crate::delivery::Input;
use crate::delivery::inventory::{Inventory, deletes_anyway, prunes};
use crate::plan::migrate::standing::{Key, Move, moves};
use crate::plan::migrate::{MigrateOptions, confirm, effective, is_under_way, rules};
use crate::plan::problem::Problem;
use crate::plan::{BACK, Stage};
use crate::repo::FluxKustomization;

/// How much of what a live cluster lacks is told.
const MISSING: usize = 5;

/// Gives the moves that can't take their next step as things stand, each with the first reason: in the
/// tree, in the revision that clusters are taken to have, or in what live clusters say.
///
/// `before` is what the tree's Flux Kustomizations apply.
pub fn stopped(
    input: &Input<'_>,
    base: &Input<'_>,
    found: &[Move<'_>],
    before: &[Inventory],
    options: &MigrateOptions,
) -> BTreeMap<Key, Problem> {
    let bases: BTreeMap<Key, Move<'_>> = moves(base).into_iter().map(|one| (one.key(), one)).collect();
    let restructured = found.iter().filter(|one| one.stage == Stage::Restructured);
    let stood: Vec<&Move<'_>> = restructured.filter_map(|one| bases.get(&one.key())).collect();
    let parents = effective::of_parents(base, &stood);
    let outdated = rules::outdated(input, found);
    let reason = |one: &Move<'_>| {
        let stood = bases.get(&one.key());
        stuck_or_ahead(one, stood, options)
            .or_else(|| unbuilt(one, before))
            .or_else(|| outdated.get(&one.whole).filter(|_| is_under_way(one)).cloned())
            .or_else(|| finished_early(one, base, options))
            .or_else(|| overridden(one, input, before))
            .or_else(|| Some(overridden(stood?, base, &parents)?.still(&options.base)))
            .or_else(|| not_live(one, input, before, options))
    };
    found.iter().filter_map(|one| Some((one.key(), reason(one)?))).collect()
}

/// A step that can't be taken at all, or one that clusters don't have yet.
fn stuck_or_ahead(one: &Move<'_>, stood: Option<&Move<'_>>, options: &MigrateOptions) -> Option<Problem> {
    let step = match &one.stage {
        Stage::Stuck(stop) => return Some(stop.clone()),
        Stage::Restructured => "restructured",
        Stage::HandedOver => "handed over",
        _ => return None,
    };
    if let Some(stop) = stood
        .filter(|_| one.stage == Stage::Restructured)
        .and_then(|stood| reverted_at_once(one, stood, options))
    {
        return Some(stop);
    }
    (stood.map(|stood| &stood.stage) != Some(&one.stage)).then(|| {
        Problem::new(
            format!("it is {step} here and not yet in {}", options.base),
            "commit this step by itself and let it reach the cluster; only then comes the next one",
        )
    })
}

/// A hand-over that was taken back while what took over still deletes what it loses.
fn reverted_at_once(one: &Move<'_>, stood: &Move<'_>, options: &MigrateOptions) -> Option<Problem> {
    let stays = |new: &FluxKustomization| {
        one.all().any(|other| (&other.name, &other.namespace) == (&new.name, &new.namespace))
    };
    let gone = stood.new.values().flatten().filter(|new| !stays(new));
    let gone: Vec<(&str, String)> =
        gone.filter_map(|new| Some((new.name.as_str(), deleting(new)?))).collect();
    let (_, with) = gone.first()?;
    let names: Vec<&str> = gone.iter().map(|(name, _)| *name).collect();
    let step = if stood.stage == Stage::Finished { "finished" } else { "handed over" };
    Some(Problem::new(
        format!(
            "it is restructured here and {step} in {}: {} would go with `{with}`, and delete what they apply",
            options.base,
            names.join(" and ")
        ),
        format!(
            "take back the commit that did this; then {BACK} `gitops-windows join`, if the split is to go too"
        ),
    ))
}

/// Gives what makes a Flux Kustomization delete what it applies when it goes.
fn deleting(one: &FluxKustomization) -> Option<String> {
    let policy = one.spec("deletionPolicy").as_str().unwrap_or_default();
    if deletes_anyway(policy) {
        return Some(format!("deletionPolicy: {policy}"));
    }
    (policy != "Orphan" && prunes(one.spec("prune"))).then(|| "prune: true".to_owned())
}

/// A side that took over and does not build: nothing would look after its objects.
fn unbuilt(one: &Move<'_>, before: &[Inventory]) -> Option<Problem> {
    if one.stage != Stage::HandedOver {
        return None;
    }
    one.all().find_map(|flux| {
        let message = Inventory::find(before, &one.cluster, flux)?.objects.as_ref().err()?;
        Some(Problem::new(
            format!("{} does not build: {message}", flux.path.as_ref()?),
            "mend it, let that reach the cluster, then go on",
        ))
    })
}

/// Steps that went into one commit: the old Flux Kustomization goes before the cluster was told to keep
/// what it applies.
fn finished_early(one: &Move<'_>, base: &Input<'_>, options: &MigrateOptions) -> Option<Problem> {
    if one.stage != Stage::Finished || !one.old.is_empty() {
        return None;
    }
    let old = base.applying(|path| *path == one.whole).find(|old| old.cluster == one.cluster)?;
    Some(Problem::new(
        format!(
            "it is finished here, and {} still has {}, which would delete what it applies when it goes",
            options.base, old.name
        ),
        "commit the steps one by one, each when the one before has reached the cluster",
    ))
}

fn overridden(one: &Move<'_>, input: &Input<'_>, inventories: &[Inventory]) -> Option<Problem> {
    (one.stage == Stage::Restructured).then(|| effective::overridden(input, one, inventories)).flatten()
}

/// What the live cluster lacks, where it was asked.
fn not_live(
    one: &Move<'_>,
    input: &Input<'_>,
    before: &[Inventory],
    options: &MigrateOptions,
) -> Option<Problem> {
    let live = options.live.get(&one.cluster).filter(|_| is_under_way(one))?;
    let missing = confirm::missing(input, one, before, live, options);
    if missing.is_empty() {
        return None;
    }
    let more = missing.len().saturating_sub(MISSING);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let some = missing.iter().take(MISSING).map(String::as_str).collect::<Vec<_>>().join("; ");
    Some(Problem::new(
        format!("the live cluster is not ready: {some}{more}"),
        "wait until it is, then run this again; `flux get kustomizations` shows how far it is",
    ))
}
