//! What a pair of CronJobs had suspended as CronJobs with a table took its place: these resume only what they suspended.

use jiff::{Span, Timestamp};

use crate::delivery::begun::{States, begun, closer};
use crate::delivery::{History, Model, Waiting};
use crate::repo::Appeared;

/// Finds out of each Flux Kustomization whether its CronJobs leave it suspended at an instant: they got their table while the
/// pair before them was closed, and no opening has passed since. After that, people have seen it.
pub fn left_suspended(
    model: &Model,
    waiting: &[Waiting<'_>],
    at: Timestamp,
    history: &dyn History,
) -> Vec<bool> {
    let closed: Vec<Option<Timestamp>> = waiting.iter().map(|one| closed_since(model, one, at)).collect();
    let Some(since) = closed.iter().flatten().min() else { return vec![false; waiting.len()] };
    let Some(states) = history.states(*since).filter(|states| states.len() > 1) else {
        return vec![false; waiting.len()];
    };
    let past = States { states, history };
    let all = waiting.iter().zip(closed);
    all.map(|(one, closed)| closed.is_some_and(|since| is_left(&past, one, since, at))).collect()
}

/// Returns since when a table has it closed that it waits for: before the interval that is open at an instant, where one is.
fn closed_since(
    model: &Model,
    Waiting { cluster, target, schedule }: &Waiting<'_>,
    at: Timestamp,
) -> Option<Timestamp> {
    closer(model, cluster, target)?.table.as_ref()?;
    let second = Span::new().seconds(1);
    let open = schedule.intervals(at, at.checked_add(second).ok()?).next().map(|interval| interval.open);
    let before = open.map_or(Ok(at), |open| open.checked_sub(second)).ok()?;
    schedule.closed_since(before)
}

fn is_left(past: &States<'_>, waiting: &Waiting<'_>, since: Timestamp, at: Timestamp) -> bool {
    let Waiting { cluster, target, .. } = waiting;
    let model = |position: usize| past.history.model(past.states[position].commit.as_deref()?);
    // Whether a table counts; `None` where nothing closes it.
    let has_table = |position: usize| Some(closer(&*model(position)?, cluster, target)?.table.is_some());
    // Mostly the table is older, and no more has to be read.
    if has_table(0) == Some(true) {
        return false;
    }
    let last = past.states.len() - 1;
    let tabled = (0..last).rev().take_while(|position| has_table(*position) == Some(true)).last();
    let first = tabled.unwrap_or(last);
    let Some(before) = first.checked_sub(1).filter(|before| has_table(*before) == Some(false)) else {
        return false;
    };
    let Appeared::At(came) = past.states[first].since else { return false };
    // The pair may never have closed it.
    let is_unclosed = || {
        let older = model(before)?;
        let schedule = older.closings.schedule(cluster, target)?;
        let own = [Waiting { cluster, target: target.clone(), schedule: &schedule }];
        let mut unclosed = begun(&older, &own, came, past.history).into_iter().flatten();
        Some(unclosed.any(|begun| begun.assumed().is_none()))
    };
    (since..=at).contains(&came)
        && past.was_closed(first, cluster, target) == Some(true)
        && is_unclosed() == Some(false)
}
