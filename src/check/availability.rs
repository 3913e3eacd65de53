//! How much time freezes leave to the types that have windows.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::check::SpecLintOptions;
use crate::check::code::{CLOSED_FOR_LONG, LITTLE_TIME, LONG_FREEZE, OLD_ZONES};
use crate::delivery::fleet::{GateSchedule, Schedules};
use crate::diagnostic::{Diagnostic, Place};
use crate::schedule::zone::database_release;
use crate::schedule::{Interval, moment};
use crate::spec::exceptions::is_endless;
use crate::spec::{ChangeType, Freeze, Spec};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// How far ahead is looked.
const AHEAD: i64 = 366 * DAY;

/// The range in which time is counted, and the shortest stretch that counts: as GKE asks of windows and exclusions
/// (Google Cloud, "Configure maintenance windows and exclusions").
const RANGE: i64 = 32 * DAY;
const STRETCH: i64 = 4 * HOUR;

/// The most days of a freeze: what GKE gives an exclusion of all upgrades is less.
const MOST_FROZEN: u32 = 90;

/// Finds freezes that last long, types that they leave little time, and a time zone database that is old.
pub(super) fn findings(
    spec: &Spec,
    schedules: &Schedules,
    now: Timestamp,
    options: SpecLintOptions,
) -> Vec<Diagnostic> {
    let zone = spec.told_zone();
    let told = |at: Timestamp| moment(at, &zone);
    let mut found: Vec<Diagnostic> =
        spec.freezes.iter().filter_map(|freeze| long_freeze(freeze, now, options)).collect();
    for change_type in spec.gated_types() {
        let times = Times { spec, schedules, change_type, now, options };
        found.extend(times.closed_for_long(&told));
        found.extend(times.little_time(&told));
    }
    found.extend(old_zones(spec, schedules, now));
    found
}

/// Finds a freeze that lasts for more days than one should.
fn long_freeze(freeze: &Freeze, now: Timestamp, options: SpecLintOptions) -> Option<Diagnostic> {
    let Interval { open, close } = freeze.interval;
    let most = options.most_days_frozen.unwrap_or(MOST_FROZEN);
    let name = &freeze.name.value;
    let is_endless = is_endless(freeze.interval);
    // Who has just stopped everything knows it.
    let is_new = is_endless && now.as_second() < open.as_second() + DAY;
    let days = (close.as_second() - open.as_second()) / DAY;
    if close <= now || is_new || days <= i64::from(most) {
        return None;
    }
    let message = if is_endless {
        format!("freeze `{name}` has no end, so it closes until somebody removes it")
    } else {
        format!("freeze `{name}` lasts {days} days, more than {most}")
    };
    let help = format!("give it an earlier end, or remove it: `gitops-windows freeze remove {name}`");
    Some(LONG_FREEZE.finding(message).at(freeze.name.place.clone()).help(help))
}

/// Finds a time zone database of the year before last, or older, that some window relies on.
fn old_zones(spec: &Spec, schedules: &Schedules, now: Timestamp) -> Option<Diagnostic> {
    let release = database_release()?;
    let year: i16 = release.get(..4)?.parse().ok()?;
    let zones = schedules.distinct().iter().flat_map(|schedule| &schedule.zones);
    let changes = |zone: &TimeZone| zone.following(now).next().is_some();
    if now.to_zoned(TimeZone::UTC).year() <= year + 1 || !zones.into_iter().any(changes) {
        return None;
    }
    let message = format!("the time zones are of {release}: later decisions about clocks are not known");
    let place =
        spec.time_zone.as_ref().map_or_else(|| Place::file(spec.path.clone()), |zone| zone.place.clone());
    Some(OLD_ZONES.finding(message).at(place).help("update gitops-windows, then run `gitops-windows sync`"))
}

/// The times of one type, wherever freezes may take some.
struct Times<'a> {
    spec: &'a Spec,
    schedules: &'a Schedules,
    change_type: &'a ChangeType,
    now: Timestamp,
    options: SpecLintOptions,
}

/// The worst that was found, and in how many clusters there is something.
struct Worst<'a> {
    seconds: i64,
    range: Interval,
    freeze: Option<&'a Freeze>,
    cluster: &'a str,
    others: usize,
}

impl<'a> Times<'a> {
    /// Finds the longest time that a type stays closed since freezes take what windows would give.
    fn closed_for_long(&self, told: &dyn Fn(Timestamp) -> String) -> Vec<Diagnostic> {
        let limit = self.options.most_days_closed.map_or(RANGE, |days| i64::from(days) * DAY);
        let mut worst: BTreeMap<&str, Worst<'_>> = BTreeMap::new();
        for (cluster, schedule) in self.frozen() {
            let end = self.end(schedule);
            let mut since = schedule.closed_since(self.now);
            let mut own: BTreeMap<&str, Worst<'_>> = BTreeMap::new();
            for open in schedule.intervals(self.now, end) {
                let closed = since.map(|since| Interval { open: since, close: open.open });
                since = Some(open.close);
                let Some(range) = closed.filter(|closed| length(*closed) > limit) else { continue };
                let Some(freeze) = self.taker(cluster, range) else { continue };
                let found = Worst { seconds: length(range), range, freeze: Some(freeze), cluster, others: 0 };
                let known = own.get(freeze.name.value.as_str());
                if known.is_none_or(|known| known.seconds < found.seconds) {
                    own.insert(&freeze.name.value, found);
                }
            }
            for (name, found) in own {
                match worst.get_mut(name) {
                    Some(known) if known.seconds >= found.seconds => known.others += 1,
                    Some(known) => *known = Worst { others: known.others + 1, ..found },
                    None => drop(worst.insert(name, found)),
                }
            }
        }
        let tell = |worst: &Worst<'_>| {
            let freeze = worst.freeze?;
            let message = format!(
                "freeze `{}` keeps type `{}` closed for {} days, from {} to {}{}",
                freeze.name.value,
                self.change_type.name.value,
                worst.seconds / DAY,
                told(worst.range.open),
                told(worst.range.close),
                self.whom(worst)
            );
            let help = "open it in between: end the freeze sooner, or add an override after it";
            Some(CLOSED_FOR_LONG.finding(message).at(freeze.name.place.clone()).help(help))
        };
        worst.values().filter_map(tell).collect()
    }

    /// Finds the least time that a type has in some 32 days, where that is asked for. GKE wants 48 hours for its own upgrades;
    /// a weekly window of six hours gives 24 to 30, is the usual one here, and is nothing to complain of.
    fn little_time(&self, told: &dyn Fn(Timestamp) -> String) -> Option<Diagnostic> {
        let least = i64::from(self.options.least_open?.minutes()) * 60;
        let mut worst: Option<Worst<'_>> = None;
        for (cluster, schedule) in self.distinct() {
            let whole = Interval { open: self.now, close: self.end(schedule) };
            let open = schedule.intervals(whole.open, whole.close);
            let open: Vec<Interval> = open.filter_map(|one| one.clip(whole.open, whole.close)).collect();
            let Some((seconds, begin)) = scarcest(&open, whole).filter(|(seconds, _)| *seconds < least)
            else {
                continue;
            };
            let range = Interval { open: begin, close: later(begin, RANGE) };
            let freeze = self.taker(cluster, range);
            match &mut worst {
                Some(known) if known.seconds <= seconds => known.others += 1,
                worst => {
                    let others = worst.as_ref().map_or(0, |known| known.others + 1);
                    *worst = Some(Worst { seconds, range, freeze, cluster, others });
                }
            }
        }
        let worst = worst?;
        let message = format!(
            "type `{}` is open {} hours in 32 days from {}, less than {}{}. Shorter stretches than 4 hours don't count",
            self.change_type.name.value,
            worst.seconds / HOUR,
            told(worst.range.open),
            least / HOUR,
            self.whom(&worst)
        );
        let (place, help) = match worst.freeze {
            Some(freeze) => (&freeze.name.place, format!("end freeze `{}` sooner", freeze.name.value)),
            None => {
                (&self.change_type.name.place, "open it more often, or for 4 hours and longer".to_owned())
            }
        };
        Some(LITTLE_TIME.finding(message).at(place.clone()).help(help))
    }

    /// Returns each distinct schedule of the type once, with the first cluster that has it.
    fn distinct(&self) -> impl Iterator<Item = (&'a str, &'a GateSchedule)> {
        let name = self.change_type.name.value.as_str();
        let mut seen = BTreeSet::new();
        self.spec.clusters.keys().filter_map(move |cluster| {
            let position = self.schedules.of(cluster, name).filter(|position| seen.insert(*position))?;
            Some((cluster.as_str(), &self.schedules.distinct()[position]))
        })
    }

    /// Returns those from which freezes take something.
    fn frozen(&self) -> impl Iterator<Item = (&'a str, &'a GateSchedule)> {
        self.distinct().filter(|(cluster, _)| !self.freezes(cluster).is_empty())
    }

    fn freezes(&self, cluster: &str) -> Vec<&'a Freeze> {
        self.spec.freezes_of(cluster, &self.change_type.name.value)
    }

    /// Returns the freeze that takes most of a range in which windows alone would open.
    fn taker(&self, cluster: &str, range: Interval) -> Option<&'a Freeze> {
        let taken = |freeze: &Freeze| freeze.interval.clip(range.open, range.close).map_or(0, length);
        let freeze = self.freezes(cluster).into_iter().max_by_key(|freeze| taken(freeze))?;
        let windows = self.windows_of(cluster)?;
        let mut open = windows.intervals(range.open, range.close);
        (taken(freeze) > 0 && open.any(|one| one.clip(range.open, range.close).is_some())).then_some(freeze)
    }

    /// Returns when the windows of the type in a cluster are open, whatever freezes say.
    fn windows_of(&self, cluster: &str) -> Option<GateSchedule> {
        let windows = self.spec.windows_of(cluster, &self.change_type.name.value);
        GateSchedule::new(&windows, self.spec.later(cluster)).ok()
    }

    /// Returns up to when is looked at a schedule: what comes after the end of its table is told elsewhere.
    fn end(&self, schedule: &GateSchedule) -> Timestamp {
        let end = later(self.now, AHEAD);
        schedule.bounds().map_or(end, |table| end.min(table.close)).max(self.now)
    }

    /// Says in which clusters, where that is not everywhere.
    fn whom(&self, worst: &Worst<'_>) -> String {
        match worst.others {
            0 if self.distinct().count() == 1 => String::new(),
            0 => format!(" (cluster {})", worst.cluster),
            others => format!(" (cluster {}, and {others} more with other times)", worst.cluster),
        }
    }
}

/// Returns the least time that is open in 32 days of a range, counting stretches of four hours and more, and when these
/// days begin; `None` in a shorter range.
fn scarcest(open: &[Interval], whole: Interval) -> Option<(i64, Timestamp)> {
    let open: Vec<Interval> = open.iter().filter(|one| length(**one) >= STRETCH).copied().collect();
    let last = whole.close.as_second() - RANGE;
    // The least is where a stretch has just ended, or where one is about to begin at the end.
    let ends = open.iter().flat_map(|one| [one.close.as_second(), one.open.as_second() - RANGE]);
    let starts = ends.chain([whole.open.as_second()]);
    let starts = starts.filter(|start| (whole.open.as_second()..=last).contains(start));
    let counted = |start: i64| -> i64 {
        let first = open.partition_point(|one| one.close.as_second() <= start);
        let within = open[first..].iter().take_while(|one| one.open.as_second() < start + RANGE);
        within.map(|one| one.close.as_second().min(start + RANGE) - one.open.as_second().max(start)).sum()
    };
    let least = starts.map(|start| (counted(start), start)).min()?;
    Some((least.0, Timestamp::from_second(least.1).ok()?))
}

fn length(interval: Interval) -> i64 {
    interval.close.as_second().saturating_sub(interval.open.as_second())
}

fn later(at: Timestamp, seconds: i64) -> Timestamp {
    at.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(from: i64, to: i64) -> Interval {
        let at = |hour: i64| Timestamp::from_second(hour * HOUR).unwrap();
        Interval { open: at(from), close: at(to) }
    }

    #[test]
    fn short_stretches_do_not_count() {
        let year = hours(0, 24 * 365);
        let daily = |length: i64| (0..365).map(|day| hours(day * 24, day * 24 + length)).collect::<Vec<_>>();
        assert_eq!(scarcest(&daily(3), year).map(|(seconds, _)| seconds), Some(0));
        assert_eq!(scarcest(&daily(4), year).map(|(seconds, _)| seconds / HOUR), Some(4 * 32));
        assert_eq!(scarcest(&[], year), Some((0, Timestamp::UNIX_EPOCH)));
        assert_eq!(scarcest(&[], hours(0, 24 * 31)), None);
    }

    #[test]
    fn the_scarcest_days_are_where_a_freeze_is() {
        let year = hours(0, 24 * 365);
        let mut daily: Vec<Interval> = (0..365).map(|day| hours(day * 24, day * 24 + 8)).collect();
        daily.drain(100..130);
        let (seconds, start) = scarcest(&daily, year).unwrap();
        assert_eq!((seconds / HOUR, start.as_second() / HOUR), (2 * 8, 97 * 24 + 8));
    }
}
