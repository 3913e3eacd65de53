//! Whether a gate that does not come to a cluster has ever come.

use std::collections::BTreeSet;

use jiff::{Span, Timestamp};

use crate::delivery::Model;
use crate::delivery::begun::{History, State};
use crate::path::RepoPath;
use crate::repo::Appeared;

/// An instant before all commits; git takes no shorter number for one.
const OLDEST: i64 = 100_000_000;

/// How many states of a branch are asked at most.
const MOST_ASKED: usize = 100;

/// Tells since when files of a gate are there where every state that has it keeps it out, so that no cluster can have it
/// from an earlier one; `None` where one let it in, or that is not known.
pub(super) fn never_let_in(
    history: &dyn History,
    files: &BTreeSet<RepoPath>,
    is_let_in: &dyn Fn(&Model) -> bool,
) -> Option<Appeared> {
    let mut first: Option<Timestamp> = None;
    for appeared in history.appeared(files, Timestamp::from_second(OLDEST).ok()?).into_values() {
        match appeared {
            Appeared::At(since) => first = Some(first.map_or(since, |first| first.min(since))),
            Appeared::Nowhere => {}
            Appeared::Before | Appeared::Unknown => return None,
        }
    }
    let Some(first) = first else { return Some(Appeared::Nowhere) };
    // Several commits may be of one second.
    let states = history.states(first.checked_sub(Span::new().seconds(1)).ok()?)?;
    let lets_in = |state: &State| {
        let commit = state.commit.as_ref();
        commit.is_some_and(|commit| history.model(commit).is_none_or(|model| is_let_in(&model)))
    };
    let is_known = states.len() <= MOST_ASKED && !states.iter().rev().any(lets_in);
    is_known.then_some(Appeared::At(first))
}
