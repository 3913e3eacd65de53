//! The commands for Flux Kustomizations that are not in Git.

use crate::diagnostic::{Diagnostic, Place};
use crate::live::LiveKustomization;
use crate::plan::migrate::depends::may_wait;
use crate::plan::migrate::standing::{Move, heir_name};
use crate::plan::{Command, Input};
use crate::repo::RepoPath;
use crate::repo::flux::artifact_path;

/// What people run to move one entry point of one cluster, in order.
///
/// Git alone does not say how far the cluster is, so without its own word all steps are given; with
/// it only what is left of the next one.
pub fn commands(input: &Input<'_>, one: &Move<'_>, live: Option<&[LiveKustomization]>) -> Vec<Command> {
    let namespace = input.spec.flux.namespace.as_str();
    let cluster = one.cluster.as_str();
    let applies = |path: &RepoPath| {
        let same = |live: &&LiveKustomization| artifact_path(&live.path).is_some_and(|own| own == *path);
        live.unwrap_or_default().iter().find(same)
    };
    let entry = input.model.entry_points.iter().find(|entry| entry.path == one.whole);
    let planned =
        entry.map_or_else(|| one.whole.name().unwrap_or("apps"), |entry| input.model.name_of(entry));
    let old_live = applies(&one.whole);
    let (home, old) =
        old_live.map_or((namespace, planned), |live| (live.namespace.as_str(), live.name.as_str()));
    let new = |position: usize, side: &RepoPath| {
        applies(side).map_or_else(|| heir_name(input, old, position), |live| live.name.clone())
    };
    let mut prepare = vec![Command::prepare(old, home, cluster)];
    let mut hand_over = Vec::new();
    for (position, side) in one.sides.iter().filter(|(_, side)| applies(side).is_none()) {
        let earlier = one
            .sides
            .range(..position)
            .filter(|(earlier, _)| may_wait(input, cluster, Some(*position), **earlier));
        let named = |(earlier, side): (&usize, &RepoPath)| {
            let elsewhere = applies(side).filter(|live| live.namespace != namespace);
            elsewhere.map_or_else(|| new(*earlier, side), |live| format!("{}/{}", live.namespace, live.name))
        };
        let depends_on: Vec<String> = earlier.map(named).collect();
        hand_over.push(Command::take_over(&new(*position, side), input.spec, cluster, side, &depends_on));
    }
    hand_over.push(Command::let_go(old, home, cluster));
    let finish = one
        .sides
        .iter()
        .filter(|(_, side)| !applies(side).is_some_and(|live| live.prune))
        .map(|(position, side)| {
            let namespace = applies(side).map_or(namespace, |live| live.namespace.as_str());
            Command::prune(&new(*position, side), namespace, cluster)
        })
        .collect::<Vec<_>>();
    match (live, old_live) {
        (None, _) => {
            prepare.extend(hand_over);
            prepare.extend(finish);
            prepare
        }
        (Some(_), Some(old)) if old.prune || old.deletion_policy != "Orphan" => prepare,
        (Some(_), Some(_)) => hand_over,
        (Some(_), None) if one.sides.values().any(|side| applies(side).is_none()) => {
            hand_over.pop();
            hand_over
        }
        (Some(_), None) => finish,
    }
}

/// Says that there is a better way.
pub fn advice(input: &Input<'_>, one: &Move<'_>) -> Diagnostic {
    let entry = input.model.entry_points.iter().find(|entry| entry.path == one.whole);
    let name = entry.map_or_else(|| one.whole.name().unwrap_or("apps"), |entry| input.model.name_of(entry));
    Diagnostic::note(format!(
        "no Flux Kustomization in Git applies {} in cluster {}, so each step is a command for you; wait after each until the cluster is ready",
        one.whole, one.cluster
    ))
    .at(Place::file(one.whole.clone()))
    .help(format!(
        "the commands know no other field of it; to carry all of them over, commit what `flux export kustomization {name} --namespace {}` prints, and migrate that",
        input.spec.flux.namespace
    ))
}
