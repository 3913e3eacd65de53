//! What would keep an entry point from ever being handed over, found before it is divided.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::Stage;
use crate::plan::edit::Builder;
use crate::plan::migrate::depends::Succession;
use crate::plan::migrate::effective::Parents;
use crate::plan::migrate::hand_over::hand_over;
use crate::plan::migrate::lists::Lists;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::standing::moves;
use crate::plan::migrate::steps::steps;
use crate::plan::migrate::{effective, held, unequal};
use crate::plan::problem::{Nature, Problem};

/// Returns the entry points among these whose hand-over nothing but an edit by hand would let go on,
/// each with what is in the way: tried with the code that would do it. `refused` are those that can't be divided.
pub fn hindered(
    input: &Input<'_>,
    wholes: &BTreeSet<RepoPath>,
    refused: &BTreeSet<RepoPath>,
) -> BTreeMap<RepoPath, Problem> {
    let mut active: Vec<Move<'_>> = moves(input);
    let mut hindered = unequal::problems(input, &active, refused);
    hindered.retain(|whole, _| wholes.contains(whole));
    active.retain(|one| wholes.contains(&one.whole));
    hindered.extend(active.iter().filter_map(|one| Some((one.whole.clone(), stuck(one)?))));
    active.retain(|one| one.stage == Stage::Restructured);
    let parents = Parents::of(input, &active.iter().collect::<Vec<_>>());
    let overridden = effective::all_overridden(input, &active, &parents).into_iter();
    hindered.extend(overridden.map(|(one, problem)| (one.whole.clone(), problem)));
    active.retain(|one| !hindered.contains_key(&one.whole));
    // Working out what gates hold back takes time in a fleet, and so do steps that end at the first stop.
    let held = held(input);
    let tried = |some: &[&Move<'_>]| {
        let succession = Succession::with(input, held.clone(), some);
        steps(input, &mut Builder::new(input.snapshot), some, &succession, &mut Vec::new())
    };
    // Mostly nothing is in the way of all together, and then of none alone.
    if tried(&active.iter().collect::<Vec<_>>()).is_ok() {
        return hindered;
    }
    let all = Succession::with(input, held.clone(), &active.iter().collect::<Vec<_>>());
    active.retain(|one| {
        let mut builder = Builder::new(input.snapshot);
        let stop = hand_over(input, &mut builder, &mut Lists::default(), one, &all, &mut Vec::new()).err();
        let is_free = stop.is_none();
        let lasting = stop.filter(|stop| stop.nature == Nature::Lasting);
        hindered.extend(lasting.map(|stop| (one.whole.clone(), stop)));
        is_free
    });
    while let Err(halt) = tried(&active.iter().collect::<Vec<_>>()) {
        let of_cluster = |one: &&Move<'_>| one.cluster == halt.cluster;
        let mut stops: BTreeMap<RepoPath, Problem> =
            halt.wholes.iter().map(|whole| (whole.clone(), halt.problem.clone())).collect();
        if stops.is_empty() {
            // Somebody who names several of them is in the way of those that he is for each alone.
            let alone = |one: &Move<'_>| Some((one.whole.clone(), tried(&[one]).err()?.problem));
            stops = active.iter().filter(of_cluster).filter_map(alone).collect();
        }
        if stops.is_empty() {
            stops = active
                .iter()
                .filter(of_cluster)
                .map(|one| (one.whole.clone(), halt.problem.clone()))
                .collect();
        }
        let count = active.len();
        active.retain(|one| one.cluster != halt.cluster || !stops.contains_key(&one.whole));
        hindered.extend(stops.into_iter().filter(|(_, stop)| stop.nature == Nature::Lasting));
        if active.len() == count {
            break;
        }
    }
    hindered
}

/// What a move is stuck at, if an edit by hand must come before anything else.
fn stuck(one: &Move<'_>) -> Option<Problem> {
    let Stage::Stuck(stop) = &one.stage else { return None };
    (stop.nature == Nature::Lasting).then(|| stop.clone())
}
