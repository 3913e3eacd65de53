//! Windows as triggers after each of which something is allowed for a fixed time, as in Flux Operator's schedules.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::cron::CronExpr;
use super::deadline::reference;
use super::field::{DAY_OF_WEEK, HOUR, render};
use super::interval::Interval;
use super::open_times::OpenTimes;
use super::pair::CronPair;
use super::recurrence::{Recurrence, WindowEdges};
use super::resolve::years_after;

/// The years in which slots must be open just as their window is.
const YEARS: i64 = 10;

/// How long a part of a window is that is divided, in minutes. An hour that comes twice, as the clocks go back, so has a
/// closed time between its two triggers.
const PART: i64 = 30;

/// The most parts: those of a week.
const MOST: usize = 7 * 48;

/// The bits of all weekdays.
const EVERY_DAY: u64 = 127;

/// A trigger, and for how many minutes something is open from then on, whatever the clock on the wall does meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// When it begins.
    pub cron: CronExpr,
    /// How long it lasts.
    pub minutes: u32,
}

impl Slot {
    /// Returns when it begins and ends.
    pub fn edges(&self) -> WindowEdges {
        let open = Recurrence::Cron(self.cron.clone());
        WindowEdges { close: Recurrence::Later(Box::new(open.clone()), self.minutes), open }
    }

    /// Returns whether no trigger comes while the one before lasts, or as it ends.
    fn is_apart(&self, zone: &TimeZone, from: Timestamp, to: Timestamp) -> bool {
        let firings: Vec<Timestamp> = self.cron.firings(from, zone).take_while(|at| *at < to).collect();
        let length = i64::from(self.minutes) * 60;
        firings.windows(2).all(|two| two[1].as_second() - two[0].as_second() > length)
    }
}

/// Returns slots of at least `shortest` minutes that are open exactly when a window is; `None` where there are none.
///
/// A window that always lasts equally long is one slot. One that the changes of the clocks make longer and shorter is
/// divided by the clock on the wall. Either way they are compared with the window for ten years.
///
/// # Example
///
/// ```
/// use gitops_windows::schedule::{CronExpr, CronPair, slots, zone};
///
/// let pair = CronPair { open: CronExpr::parse("0 22 * * SAT")?, close: CronExpr::parse("0 4 * * SUN")? };
/// let all = |zone| slots(&pair, &zone, 4).unwrap_or_default();
/// let told = |zone| all(zone).iter().map(|one| format!("{} for {}m", one.cron, one.minutes)).collect::<Vec<_>>();
/// assert_eq!(told(zone::parse("UTC")?), ["0 22 * * SAT for 360m"]);
/// assert_eq!(told(zone::parse("Europe/Berlin")?), [
///     "0 0-3 * * SUN for 30m",
///     "0 22,23 * * SAT for 30m",
///     "30 0-3 * * SUN for 30m",
///     "30 22,23 * * SAT for 30m",
/// ]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn slots(pair: &CronPair, zone: &TimeZone, shortest: u32) -> Option<Vec<Slot>> {
    // `@every` counts from whenever it is asked.
    pair.open.fields()?;
    let (from, to) = (reference(), years_after(reference(), YEARS));
    let window = OpenTimes::new([(pair.clone(), zone.clone())], Vec::new(), Vec::new());
    let open: Vec<Interval> = window.cut(from, to).collect();
    let is_right = |slots: &Vec<Slot>| {
        let edges = slots.iter().map(|slot| (slot.edges(), zone.clone()));
        slots.iter().all(|slot| slot.minutes >= shortest && slot.is_apart(zone, from, to))
            && OpenTimes::new(edges, Vec::new(), Vec::new()).cut(from, to).eq(open.iter().copied())
    };
    // What lies across the ends of the ten years is cut.
    let whole = open.iter().filter(|one| one.open > from && one.close < to);
    let first = whole.clone().next()?;
    let minutes = u32::try_from((first.close.as_second() - first.open.as_second()) / 60).ok()?;
    let one = vec![Slot { cron: pair.open.clone(), minutes }];
    if is_right(&one) {
        return Some(one);
    }
    by_the_clock(whole, zone).filter(is_right)
}

/// Divides intervals into parts by local time, and says which weekdays have them.
fn by_the_clock<'i>(intervals: impl Iterator<Item = &'i Interval>, zone: &TimeZone) -> Option<Vec<Slot>> {
    let mut parts: BTreeSet<(i8, u32, i8, i8)> = BTreeSet::new();
    for interval in intervals {
        let (mut at, end) = (zone.to_datetime(interval.open), zone.to_datetime(interval.close));
        while at < end {
            let next = at.checked_add(PART.minutes()).ok()?.min(end);
            let minutes = u32::try_from(at.duration_until(next).as_secs() / 60).ok()?;
            parts.insert((at.minute(), minutes, at.hour(), at.weekday().to_sunday_zero_offset()));
            if parts.len() > MOST {
                return None;
            }
            at = next;
        }
    }
    let mut days: BTreeMap<(i8, u32, i8), u64> = BTreeMap::new();
    for (minute, minutes, hour, day) in parts {
        *days.entry((minute, minutes, hour)).or_default() |= 1 << day;
    }
    let mut hours: BTreeMap<(i8, u32, u64), u64> = BTreeMap::new();
    for ((minute, minutes, hour), days) in days {
        *hours.entry((minute, minutes, days)).or_default() |= 1 << hour;
    }
    let slot = |((minute, minutes, days), hours): ((i8, u32, u64), u64)| {
        let days = if days == EVERY_DAY { "*".to_owned() } else { render(days, &DAY_OF_WEEK) };
        let cron = CronExpr::parse(&format!("{minute} {} * * {days}", render(hours, &HOUR))).ok()?;
        Some(Slot { cron, minutes })
    };
    hours.into_iter().map(slot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::zone;

    fn told(open: &str, close: &str, zone: &str) -> String {
        let pair = CronPair { open: CronExpr::parse(open).unwrap(), close: CronExpr::parse(close).unwrap() };
        let found = slots(&pair, &zone::parse(zone).unwrap(), 3);
        let lines =
            found.map(|all| all.iter().map(|one| format!("{} {}m\n", one.cron, one.minutes)).collect());
        lines.unwrap_or_else(|| "none\n".to_owned())
    }

    #[test]
    fn each_window_is_said_exactly_or_not_at_all() {
        let mut all = String::new();
        for (open, close, zone) in [
            ("0 22 * * SAT", "0 4 * * SUN", "Asia/Kolkata"),
            ("0 20 * * SAT", "0 23 * * SAT", "Europe/Berlin"),
            ("0 22 * * SAT", "15 4 * * SUN", "America/New_York"),
            ("0 22 * * MON-FRI", "0 6 * * TUE-SAT", "Europe/Berlin"),
            ("0 0 * * *", "0 6 * * *", "Europe/Berlin"),
            // A part that is too short, a closing that does not come each year, and one that comes at two distances.
            ("0 22 * * SAT", "1 4 * * SUN", "Europe/Berlin"),
            ("0 22 * * SAT", "30 2 * * SUN", "Europe/Berlin"),
            ("0 22 * * SAT", "0 4 * * SUN,MON", "Europe/Berlin"),
            // Half an hour that comes twice.
            ("0 22 * * SAT", "0 4 * * SUN", "Australia/Lord_Howe"),
            // Days of the month and months.
            ("0 20 15 * *", "0 23 15 * *", "Europe/Berlin"),
            ("0 22 1 * *", "0 4 2 * *", "Europe/Berlin"),
            ("@every 8h", "0 4 * * *", "UTC"),
        ] {
            all += &format!("{open} to {close} {zone}:\n{}", told(open, close, zone));
        }
        insta::assert_snapshot!(all);
    }
}
