//! What would keep an entry point from ever being handed over, found before it is divided.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::inventories_of;
use crate::plan::migrate::depends::Succession;
use crate::plan::migrate::standing::{Move, Stage, moves, twin};
use crate::plan::migrate::{steps, verify};
use crate::plan::stop::Stop;
use crate::plan::{Builder, Input};
use crate::repo::{FluxKustomization, Kustomization, RepoPath, built};

/// The fields of a kustomization that may change a Flux Kustomization which it lists.
const CHANGING: [&str; 7] = [
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "components",
    "transformers",
    "replacements",
    "vars",
];

/// Gives the entry points among these whose hand-over nothing but an edit by hand would let go on,
/// each with what is in the way: tried with the code that would do it.
pub fn hindered(input: &Input<'_>, wholes: &BTreeSet<RepoPath>) -> BTreeMap<RepoPath, Stop> {
    let mut active: Vec<Move<'_>> = moves(input);
    active.retain(|one| wholes.contains(&one.whole));
    let mut hindered: BTreeMap<RepoPath, Stop> =
        active.iter().filter_map(|one| Some((one.whole.clone(), twin(input, one)?))).collect();
    active.retain(|one| one.stage == Stage::Restructured);
    hindered.extend(overridden(input, &active));
    active.retain(|one| !hindered.contains_key(&one.whole));
    let tried = |some: &[&Move<'_>]| {
        let succession = Succession::of(input, some);
        steps(input, &mut Builder::new(input.snapshot), some, &succession, &mut Vec::new())
    };
    while let Err(halt) = tried(&active.iter().collect::<Vec<_>>()) {
        let of_cluster = |one: &&Move<'_>| one.cluster == halt.cluster;
        let mut stops: BTreeMap<RepoPath, Stop> = match &halt.whole {
            Some(whole) => BTreeMap::from([(whole.clone(), halt.stop.clone())]),
            // Somebody who names several of them is in the way of those that he is for each alone.
            None => {
                let alone = |one: &Move<'_>| Some((one.whole.clone(), tried(&[one]).err()?.stop));
                active.iter().filter(of_cluster).filter_map(alone).collect()
            }
        };
        if stops.is_empty() {
            stops =
                active.iter().filter(of_cluster).map(|one| (one.whole.clone(), halt.stop.clone())).collect();
        }
        let count = active.len();
        active.retain(|one| one.cluster != halt.cluster || !stops.contains_key(&one.whole));
        hindered.extend(stops.into_iter().filter(|(_, stop)| stop.is_lasting));
        if active.len() == count {
            break;
        }
    }
    hindered
}

/// Gives the moves of which an old Flux Kustomization is kept from deleting in its file, and not in what
/// the cluster gets.
fn overridden(input: &Input<'_>, active: &[Move<'_>]) -> Vec<(RepoPath, Stop)> {
    let graph = &input.model.graph;
    let files: BTreeSet<&RepoPath> = active.iter().flat_map(|one| &one.old).map(|old| &old.file).collect();
    let lists: BTreeSet<&RepoPath> = files.iter().flat_map(|file| graph.referrers(file)).collect();
    let changes = |folder: &RepoPath| {
        let of = |kustomization: &Kustomization| {
            CHANGING.iter().any(|field| kustomization.root.get(field).is_some())
        };
        graph.get(folder).is_some_and(of)
    };
    let may_change = |parent: &FluxKustomization| {
        let Some(path) = &parent.path else { return false };
        let folders = built(graph, path);
        let takes_in = folders.iter().any(|folder| lists.contains(folder))
            || !graph.has(path) && files.iter().any(|file| file.is_within(path));
        takes_in
            && (!parent.spec("patches").is_null()
                || !parent.spec("components").is_null()
                || folders.iter().any(changes))
    };
    let inventories = inventories_of(input.model, input.snapshot, input.renderer, &may_change);
    let found = active.iter().filter_map(|one| Some((one, verify::overridden(one, &inventories)?)));
    found.map(|(one, stop)| (one.whole.clone(), stop)).collect()
}
