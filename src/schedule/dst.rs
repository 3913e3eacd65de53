//! What the changes of the clocks do to the firings of an expression.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::firing::floor;
use super::interval::last_at_or_before;
use super::local::{DAY, Local, date_of};
use super::recurrence::Recurrence;

/// How a firing differs from what the expression says in local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClockEffect {
    /// The local time does not exist that day, so nothing fires.
    Skipped,
    /// The local time exists, but Kubernetes passes over it: where midnight does not exist, the search for
    /// the day can step over it.
    Missed,
    /// The local time comes twice, and so does the firing.
    Repeated,
    /// A firing on a day that does not match: where midnight does not exist, the search for the hour can
    /// run into the next day.
    Extra,
}

/// One local time at which a change of the clocks matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClockHit {
    /// The local time.
    pub local: DateTime,
    /// What happens to it.
    pub effect: ClockEffect,
    /// When the clocks change.
    pub transition: Timestamp,
}

/// Returns every local time in the days around each change of the clocks in `from..to` at which one end of a window
/// does not come exactly once as it says.
///
/// Cron expressions fire as [`CronExpr::next_after`](super::CronExpr::next_after) says; `@every` has no local times and so no hits.
pub fn clock_hits(expr: &Recurrence, zone: &TimeZone, from: Timestamp, to: Timestamp) -> Vec<ClockHit> {
    if !expr.has_times() {
        return Vec::new();
    }
    let mut hits = Vec::new();
    let mut before = i64::from(zone.to_offset(from).seconds());
    for transition in zone.following(from).take_while(|transition| transition.timestamp() < to) {
        let after = i64::from(transition.offset().seconds());
        if after != before {
            hits.extend(hits_at(expr, zone, transition.timestamp(), before, after));
        }
        before = after;
    }
    hits
}

fn hits_at(
    expr: &Recurrence,
    zone: &TimeZone,
    transition: Timestamp,
    before: i64,
    after: i64,
) -> Vec<ClockHit> {
    let at = floor(transition);
    // The days of the change with the day before and the day after.
    let first = (at + before.min(after)).div_euclid(DAY) - 1;
    let last = (at + before.max(after)).div_euclid(DAY) + 1;
    let (start, end) = (first * DAY - before, (last + 1) * DAY - after);
    let mut local = Local::new(zone);

    let mut fired: BTreeMap<i64, u32> = BTreeMap::new();
    let previous = Timestamp::from_second(start - 1).ok().and_then(|at| last_at_or_before(expr, at, zone));
    let mut from = previous.map_or(start - 1, floor);
    while let Some(next) = expr.next_second(from, &mut local)
        && next < end
    {
        if next >= start {
            *fired.entry(next + local.offset(next)).or_default() += 1;
        }
        from = next;
    }

    let mut hits = Vec::new();
    let mut hit =
        |second: i64, effect| hits.extend(civil(second).map(|local| ClockHit { local, effect, transition }));
    for day in first..=last {
        for minute in expr.minutes_of(day) {
            let second = day * DAY + minute * 60;
            let exists = [before, after].into_iter().any(|offset| local.offset(second - offset) == offset);
            match fired.remove(&second) {
                None if exists => hit(second, ClockEffect::Missed),
                None => hit(second, ClockEffect::Skipped),
                Some(1) => {}
                Some(_) => hit(second, ClockEffect::Repeated),
            }
        }
    }
    for second in fired.into_keys() {
        hit(second, ClockEffect::Extra);
    }
    hits.sort_unstable();
    hits
}

/// Makes a date and time of seconds since 1970 on the local clock.
fn civil(second: i64) -> Option<DateTime> {
    let (year, month, day) = date_of(second.div_euclid(DAY));
    let midnight = DateTime::new(i16::try_from(year).ok()?, month as i8, day as i8, 0, 0, 0, 0).ok()?;
    midnight.checked_add(Span::new().seconds(second.rem_euclid(DAY))).ok()
}
