//! What the CronJobs of windows can't make up for after an outage of their controller.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::super::cron::CronExpr;
use super::super::deadline::{Lasting, Times, deadlines, lasting};
use super::super::field::{self, DAY_OF_WEEK};
use super::super::interval::{Interval, Timeline, next_in_chain};
use super::super::local::DAY;
use super::super::outage::missed_run;
use super::super::pair::CronPair;
use super::super::recurrence::{Recurrence, WindowEdges};
use super::super::resolve::years_after;
use super::super::window::WindowForm;
use super::one::{One, near};
use super::{Lint, LintCode, MOST_DATES};

/// The longest outage, counted from the first closing that it misses, that is thought likely.
const LONGEST_OUTAGE: i64 = 5 * DAY;

/// The most closings, and intervals of a year, that are looked at.
const MOST_CLOSINGS: usize = 60;
const MOST_INTERVALS: usize = 400;

/// Windows whose deadlines are not right after every opening and closing, and closings that get lost.
///
/// Windows about which worse was told are passed over.
pub(super) fn outages(windows: &[One<'_>], lints: &mut Vec<Lint>) {
    // A table, which alone has days of the month, knows nothing of outages.
    let is_of_table = windows.iter().any(|one| one.edges.cron().is_none());
    if is_of_table || lints.iter().any(|lint| lint.code.is_fatal()) {
        return;
    }
    let timeline = timeline(windows);
    let late = deadlines(&timeline);
    for (position, one) in windows.iter().enumerate() {
        let deadline = late.get(position).and_then(|late| late.close).map(|close| close.starting);
        let dates = lost_closings(one, &timeline, deadline);
        let shifts =
            lints.iter().any(|lint| lint.window == Some(one.index) && lint.code == LintCode::ClockGap);
        let uneven = lasting(&timeline).get(position).copied().filter(|_| !shifts).and_then(uneven);
        if dates.is_empty() && uneven.is_none() {
            continue;
        }
        let remedy = halves(windows, position)
            .unwrap_or_else(|| "write a window for each, with equal times between its closings".into());
        let (open_key, close_key) = one.window.keys();
        if !dates.is_empty() {
            lints.push(one.finding(
                LintCode::LostClosing,
                close_key,
                format!(
                    "`{}` fires at uneven distances. After an outage over several closings, Kubernetes may start none, and the window stays open",
                    one.edges.close
                ),
                dates,
                remedy.clone(),
            ));
        }
        if let Some((closes, times)) = uneven {
            let (shortest, longest) = (told(times.shortest), told(times.longest));
            let (key, message) = match closes {
                true => (
                    close_key,
                    format!(
                        "after a long outage the window may stay closed. Its closed times differ: {shortest} to {longest}"
                    ),
                ),
                false => (
                    open_key,
                    format!(
                        "after a long outage the window may stay closed. Its open times differ: {shortest} to {longest}. A missed opening is repeated only in the first {shortest}"
                    ),
                ),
            };
            lints.push(one.finding(LintCode::UnevenTimes, key, message, Vec::new(), remedy));
        }
    }
}

fn timeline(windows: &[One<'_>]) -> Timeline {
    Timeline::of_pairs(windows.iter().map(|one| (one.edges.clone(), one.zone.clone())))
}

/// Returns closed times, or else open ones, that differ by more than the clocks make them, where an outage over the
/// shortest is likely.
fn uneven(lasting: Lasting) -> Option<(bool, Times)> {
    let likely = |times: &Times| !times.are_even() && i64::from(times.shortest) <= LONGEST_OUTAGE;
    let closed = lasting.closed.filter(likely).map(|times| (true, times));
    closed.or_else(|| lasting.open.filter(likely).map(|times| (false, times)))
}

fn told(seconds: u32) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, minutes) => format!("{minutes}m"),
        (hours, 0) => format!("{hours}h"),
        (hours, minutes) => format!("{hours}h{minutes}m"),
    }
}

/// Closings at uneven distances, which the controller's guess may pass over after an outage.
fn lost_closings(one: &One<'_>, timeline: &Timeline, deadline: Option<u32>) -> Vec<Date> {
    let Recurrence::Cron(close) = &one.edges.close else { return Vec::new() };
    let firings: Vec<Timestamp> = close.firings(one.options.from, &one.zone).take(MOST_CLOSINGS).collect();
    let changes = one.changes();
    let next_open = |at: Timestamp| {
        timeline.gates().filter_map(|(edges, zone)| next_in_chain(&edges.open, at, zone)).min()
    };
    let opens: Vec<Option<Timestamp>> = firings.iter().map(|at| next_open(*at)).collect();
    let second = |index: usize| firings.get(index).map(|at| at.as_second());
    // Whether the closing `last` may not be made up for after an outage since after `first`. It matters until
    // something opens or closes again, or the deadline passes; what the controller guesses changes as a run passes
    // the deadline, and with each distance of two runs.
    let lost = |first: usize, last: usize| {
        let (begin, missed, run) = (*firings.get(first)?, second(first + 1)?, second(last)?);
        let late = deadline.map_or(i64::MAX, |deadline| run + i64::from(deadline) - 1);
        let end = (*opens.get(last)?)?.as_second().min(second(last + 1)?) - 1;
        let end = end.min(late).min(missed + LONGEST_OUTAGE);
        let mut ends = vec![end];
        for index in first + 1..=last {
            let (at, next) = (second(index)?, second(index + 1)?);
            ends.extend(deadline.map(|deadline| at + i64::from(deadline) - 1));
            ends.extend((1..=9).map(|times| at + times * (next - at)));
        }
        let calm = |now: Timestamp| !changes.iter().any(|change| near(*change, begin, now));
        let lost = ends.into_iter().filter(|now| (run + 1..=end).contains(now)).any(|now| {
            let now = Timestamp::from_second(now).unwrap_or(begin);
            let started = missed_run(close, &one.zone, begin, now, deadline);
            started.map(Timestamp::as_second) != Some(run) && calm(now)
        });
        lost.then(|| firings[last])
    };
    let mut dates: Vec<Date> = (0..firings.len())
        .flat_map(|first| (first + 1..first + 9).map(move |last| (first, last)))
        .filter_map(|(first, last)| lost(first, last))
        .map(|at| one.date(at))
        .collect();
    dates.sort_unstable();
    dates.dedup();
    dates.truncate(MOST_DATES);
    dates
}

/// Finds windows that together do what one window does, and for which all deadlines are right: one for the
/// weekdays that are followed by the same closed time each. They are tried over a year before they are told.
fn halves(windows: &[One<'_>], position: usize) -> Option<String> {
    let one = windows.get(position)?;
    let from = one.options.from;
    let until = years_after(from, 1);
    let all = timeline(windows);
    let local = |at: Timestamp| one.zone.to_datetime(at);
    let mut groups: BTreeMap<i64, [BTreeSet<u32>; 2]> = BTreeMap::new();
    let timeline = one.timeline();
    let intervals: Vec<Interval> = timeline.intervals(from, until).take(MOST_INTERVALS).collect();
    for interval in intervals.iter().filter(|interval| interval.open > from && interval.close < until) {
        let next = local(all.next_open(interval.close)?);
        let closed = next.duration_since(local(interval.close)).as_secs();
        let group = groups.entry(closed).or_default();
        for (days, at) in group.iter_mut().zip([interval.open, interval.close]) {
            days.insert(local(at).weekday().to_sunday_zero_offset() as u32);
        }
    }
    let on = |expr: &CronExpr, days: &BTreeSet<u32>| {
        let words: Vec<&str> = expr.as_str().split_whitespace().collect();
        let [minute, hour, date, month, _] = words.as_slice() else { return None };
        let bits = days.iter().map(|day| 1_u64 << day).sum();
        let days = field::render(bits, &DAY_OF_WEEK);
        CronExpr::parse(&format!("{minute} {hour} {date} {month} {days}")).ok()
    };
    let own = one.edges.cron()?;
    let pairs: Vec<CronPair> = groups
        .values()
        .map(|[open, close]| Some(CronPair { open: on(&own.open, open)?, close: on(&own.close, close)? }))
        .collect::<Option<_>>()?;
    let rest = windows.iter().enumerate().filter(|(index, _)| *index != position);
    let rest: Vec<(WindowEdges, TimeZone)> =
        rest.map(|(_, other)| (other.edges.clone(), other.zone.clone())).collect();
    let new = pairs.iter().map(|pair| (WindowEdges::from(pair.clone()), one.zone.clone()));
    let candidate = Timeline::of_pairs(new.chain(rest));
    let same = candidate
        .intervals(from, until)
        .take(MOST_INTERVALS)
        .eq(all.intervals(from, until).take(MOST_INTERVALS));
    let right = lasting(&candidate).iter().take(pairs.len()).all(|lasting| uneven(*lasting).is_none());
    if pairs.len() < 2 || pairs.len() > 7 || !same || !right {
        return None;
    }
    let written = |pair: &CronPair| match &one.window.form {
        WindowForm::OpenFor { length, .. } => format!("`open: {}, for: {length}`", pair.open),
        _ => format!("`open: {}, close: {}`", pair.open, pair.close),
    };
    let written: Vec<String> = pairs.iter().map(written).collect();
    Some(format!("write {} windows: {}", pairs.len(), written.join(" and ")))
}
