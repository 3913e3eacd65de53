//! Where each entry point of each cluster stands on its way, read from Git alone.

use std::collections::BTreeMap;

use crate::delivery::{EntryPoint, Input, unapplied};
use crate::path::RepoPath;
use crate::plan::Stage;
use crate::plan::edit::prepare::{is_prepared, is_remembering};
use crate::plan::migrate::dead_end;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::part;
use crate::plan::migrate::precondition::state;
use crate::plan::migrate::rest::rest;
use crate::plan::problem::Problem;
use crate::repo::FluxKustomization;

/// Finds everything that was divided, in the clusters of the spec.
pub fn moves<'a>(input: &Input<'a>) -> Vec<Move<'a>> {
    let model = input.model;
    let mut wholes: BTreeMap<RepoPath, BTreeMap<usize, RepoPath>> = BTreeMap::new();
    let all = input.sides();
    for (side, (whole, position)) in all.iter().filter(|(side, _)| model.graph.has(side)) {
        wholes.entry(whole.clone()).or_default().insert(*position, side.clone());
    }
    // What another source has is no entry point of this repository, and its sides may stand here all the same.
    let foreign: Vec<(&FluxKustomization, RepoPath)> = model.foreign().collect();
    for (other, whole) in &foreign {
        let sides = input.standing_sides(whole, &other.cluster);
        if !sides.is_empty() {
            wholes.entry(whole.clone()).or_default().extend(sides);
        }
    }
    let unapplied = unapplied(input);
    for one in &unapplied {
        wholes.entry(one.whole.clone()).or_insert_with(|| one.sides.clone());
    }
    let mut found = Vec::new();
    for (whole, sides) in wholes {
        let lost = unapplied.iter().find(|one| one.whole == whole);
        let entry = model.entry(&whole);
        let applies = |path: &RepoPath| model.flux_at(path).collect::<Vec<_>>();
        let (old, new) = (
            applies(&whole),
            sides.iter().map(|(position, side)| (*position, applies(side))).collect::<BTreeMap<_, _>>(),
        );
        let is_meant = |path: &RepoPath| *path == whole || sides.values().any(|side| side == path);
        let others: Vec<&FluxKustomization> =
            foreign.iter().filter(|(_, path)| is_meant(path)).map(|(other, _)| *other).collect();
        // A part of an app may be called like a side; only what Flux applies is an entry point.
        if entry.is_none() && lost.is_none() && others.is_empty() && new.values().all(Vec::is_empty) {
            continue;
        }
        let rest = entry.filter(|_| !old.is_empty()).map(|entry| rest(input, entry));
        let mut clusters: Vec<String> =
            entry.into_iter().flat_map(EntryPoint::clusters).map(str::to_owned).collect();
        let all = old.iter().chain(new.values().flatten()).chain(&others);
        clusters.extend(all.map(|one| one.cluster.clone()));
        clusters.extend(lost.map(|one| one.cluster.clone()));
        clusters.sort();
        clusters.dedup();
        for cluster in clusters.into_iter().filter(|cluster| input.spec.clusters.contains_key(cluster)) {
            let mine = |one: &&FluxKustomization| one.cluster == cluster;
            let mut one = Move {
                whole: whole.clone(),
                sides: sides.clone(),
                old: old.iter().copied().filter(mine).collect(),
                new: new
                    .iter()
                    .map(|(position, several)| (*position, several.iter().copied().filter(mine).collect()))
                    .collect(),
                foreign: others.iter().copied().filter(mine).collect(),
                rest: None,
                stage: Stage::NotInGit,
                cluster: cluster.clone(),
            };
            one.stage = match &rest {
                Some(Err(reason)) if !one.old.is_empty() => {
                    Stage::Stuck(Problem::new(reason, "mend that, then run `gitops-windows migrate` again"))
                }
                Some(Ok(rest)) => {
                    one.rest = Some(rest.clone());
                    stage(input, &one, entry)
                }
                _ => stage(input, &one, entry),
            };
            if let (Stage::NotInGit, Some(lost)) = (&one.stage, lost) {
                one.stage = Stage::Stuck(dead_end::left(lost));
            }
            found.push(one);
        }
    }
    found.sort_by(|a, b| (&a.cluster, &a.whole).cmp(&(&b.cluster, &b.whole)));
    found
}

fn stage(input: &Input<'_>, one: &Move<'_>, entry: Option<&EntryPoint>) -> Stage {
    if let Some(stop) = state::problem(input, one) {
        return Stage::Stuck(stop);
    }
    let empty = one.new.iter().filter(|(_, several)| several.is_empty());
    let missing: Vec<usize> = empty.map(|(position, _)| *position).collect();
    let overlaps = one.rest.as_ref().is_some_and(|rest| rest.overlaps);
    if !one.old.is_empty() && overlaps {
        return if one.old.iter().all(|old| is_prepared(old)) {
            Stage::Restructured
        } else {
            Stage::Unprepared
        };
    }
    if missing.len() == one.new.len() {
        if let Some(above) = entry.and_then(|entry| entry.through.as_ref()) {
            return Stage::Stuck(part::of_another(input, &one.whole, above));
        }
        if one.old.is_empty() {
            let stop = one.foreign.first().map(|other| dead_end::elsewhere(other));
            let stop = stop.or_else(|| dead_end::outside(input, one));
            return stop.map_or(Stage::NotInGit, Stage::Stuck);
        }
    }
    if !missing.is_empty() {
        return Stage::Stuck(dead_end::incomplete(input, one, &missing));
    }
    if one.all().any(is_remembering) { Stage::HandedOver } else { Stage::Finished }
}
