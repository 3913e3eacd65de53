//! What another schedule makes of the state at the merge, and of the next opening.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::delivery::fleet::GateSchedule;
use crate::pr::clock::Clock;
use crate::pr::finding::window::WindowChange;
use crate::pr::tree::Tree;
use crate::schedule::{Interval, OpenTimes};

/// How many stretches of a table are told one by one.
const MOST: usize = 3;

/// Says of each type of a cluster whether another schedule closes or opens it at the merge, or moves what comes next.
///
/// A pair of CronJobs does nothing before its next run, so of one only what comes next is told.
pub(super) fn effects(clock: &Clock<'_>, cluster: &str) -> Vec<WindowChange> {
    let Some(spec) = clock.after.spec else { return Vec::new() };
    let types = spec.gated_types().map(|one| one.name.value.as_str());
    let effect = |name: &str| {
        let (old, new) = (schedule(&clock.before, cluster, name)?, schedule(&clock.after, cluster, name)?);
        let have_tables = old.bounds().is_some() && new.bounds().is_some();
        if old.is_same(new) {
            return None;
        }
        let (was, is) = (old.times(clock.now), new.times(clock.now));
        let next = |opens: &str, old: Option<Timestamp>, new: Option<Timestamp>, never: &str| match new {
            Some(new) => {
                format!("{opens} {new}{}", old.map(|old| format!(" instead of {old}")).unwrap_or_default())
            }
            None => format!("{never}{}", old.map(|old| format!("; {old} was next")).unwrap_or_default()),
        };
        let what = match (was.open, is.open) {
            (true, false) if have_tables => {
                let next = is.next_open.map(|at| format!("opens next {at}"));
                let next = next.unwrap_or_else(|| "opens no more".to_owned());
                let until = was.next_close.map(|at| format!("; it was open until {at}"));
                format!("is closed {} and {next}{}", arrival(clock, cluster, name), until.unwrap_or_default())
            }
            (false, true) if have_tables => {
                let until = is.next_close.map(|at| format!(", until {at}")).unwrap_or_default();
                format!("is open {}{until}", arrival(clock, cluster, name))
            }
            (false, false) if was.next_open != is.next_open => {
                next("opens next", was.next_open, is.next_open, "opens no more")
            }
            (true, true) if was.next_close != is.next_close => {
                next("is open until", was.next_close, is.next_close, "closes no more")
            }
            _ => return None,
        };
        Some(WindowChange { message: format!("with this, type `{name}` {what}"), place: None })
    };
    types.filter_map(effect).collect()
}

/// Says from when on the jobs that close a type in a cluster go by another table.
fn arrival(clock: &Clock<'_>, cluster: &str, change_type: &str) -> String {
    match clock.after.applied_by_gate(cluster, change_type, clock.now) {
        Some(at) => format!("from {at} on at the latest"),
        None => "once its CronJobs have it".to_owned(),
    }
}

fn schedule<'t>(tree: &'t Tree<'_>, cluster: &str, change_type: &str) -> Option<&'t GateSchedule> {
    let schedules = tree.schedules();
    schedules.distinct().get(schedules.of(cluster, change_type)?)
}

/// Says which times the tables in the CronJobs of a cluster take and give, where no spec says why.
pub(super) fn of_tables(clock: &Clock<'_>, cluster: &str) -> Vec<WindowChange> {
    let tables = |tree: &Tree<'_>| -> BTreeMap<String, OpenTimes> {
        let jobs = tree.world.model.closings.of(cluster).iter();
        let closing = jobs.filter(|job| job.is_running && job.action.holds());
        closing.filter_map(|job| Some((job.name.clone(), job.table.clone()?))).collect()
    };
    let (olds, news) = (tables(&clock.before), tables(&clock.after));
    let mut found = Vec::new();
    for (name, new) in &news {
        let Some(old) = olds.get(name) else { continue };
        let end = old.bounds().close.max(new.bounds().close);
        let (closed, opened) = (old.beyond(new, clock.now, end), new.beyond(old, clock.now, end));
        for (what, stretches) in
            [("closes", closed), ("opens", opened)].into_iter().filter(|(_, all)| !all.is_empty())
        {
            let one = |one: &Interval| format!("from {} until {}", one.open, one.close);
            let told: Vec<String> = stretches.iter().take(MOST).map(one).collect();
            let more = stretches.len().saturating_sub(MOST);
            let more = if more == 0 { String::new() } else { format!(", and {more} times more") };
            let message = format!("CronJob {name} {what} {}{more}, other than before", told.join(", "));
            found.push(WindowChange { message, place: None });
        }
    }
    found
}
