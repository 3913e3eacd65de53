//! The preconditions of the next step.

use std::collections::BTreeMap;

use crate::plan::Stage;
use crate::plan::migrate::moving::{Key, Move};
use crate::plan::migrate::precondition::subject::Subject;
use crate::plan::migrate::precondition::{build, live, order, pace, pruning, reversal, rules, unfetched};
use crate::plan::problem::Problem;

/// A precondition of the next step.
pub type Precondition = fn(&Subject<'_>, &Move<'_>) -> Option<Problem>;

/// All of them, in the order in which people are told, one at a time.
pub const PRECONDITIONS: [Precondition; 10] = [
    stuck,
    reversal::check,
    pace::check,
    build::check,
    unfetched::check,
    rules::check,
    order::check,
    pruning::here,
    pruning::in_base,
    live::check,
];

/// Returns the moves that can't take their next step as things stand, each with the first reason.
pub fn stopped(subject: &Subject<'_>) -> BTreeMap<Key, Problem> {
    let reason = |one: &Move<'_>| PRECONDITIONS.iter().find_map(|precondition| precondition(subject, one));
    subject.found.iter().filter_map(|one| Some((one.key(), reason(one)?))).collect()
}

/// A state that no step leads out of.
fn stuck(subject: &Subject<'_>, one: &Move<'_>) -> Option<Problem> {
    let Stage::Stuck(problem) = &one.stage else { return None };
    let is_whole = one.new.values().all(Vec::is_empty) && subject.input.model.entry(&one.whole).is_some();
    Some(if is_whole {
        problem.clone().or("take the split back with `gitops-windows join`")
    } else {
        problem.clone()
    })
}
