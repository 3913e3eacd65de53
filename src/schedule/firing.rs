//! When a cron expression fires next: robfig/cron's search, step by step.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::cron::{CronExpr, Fields, Rule};
use super::local::{Civil, DAY, Local, days_of, weekday};
use super::moment::Moment;

/// The years that robfig/cron searches before it says that an expression never fires.
const SEARCH_YEARS: i64 = 5;

/// Go's zero time, 0001-01-01T00:00:00Z, by which robfig/cron says that nothing comes.
const NOTHING: i64 = -62_135_596_800;

impl CronExpr {
    /// Returns the first firing strictly after an instant; `None` where there is none within five years, or
    /// none that a [`Timestamp`] can hold.
    ///
    /// Equal to robfig/cron v3.0.1 `SpecSchedule.Next` (`spec.go`), in Go's local time:
    ///
    /// * Months and days step in local time, hours and minutes in real time. So a local time that a change
    ///   of the clocks skips does not fire that day, and one that repeats fires twice.
    /// * Where midnight does not exist, a day that is reached by stepping months begins at the hour that
    ///   does, and so do the days after it in that search.
    /// * Where the clocks skip a whole day (Pacific/Apia, 2011-12-30), robfig/cron steps on one spot for ever
    ///   if it searches for a day beyond it. That is `None` here; the controller would hang.
    /// * `@every` counts from the instant, whose fraction of a second is dropped.
    ///
    /// The work is bounded by the days of five years.
    ///
    /// # Example
    ///
    /// ```
    /// use gitops_windows::schedule::{CronExpr, zone};
    ///
    /// let berlin = zone::parse("Europe/Berlin")?;
    /// let close = CronExpr::parse("30 2 * * SUN")?;
    /// // 02:30 does not exist on 2027-03-28, so that Sunday is left out.
    /// let next = close.next_after("2027-03-22T00:00:00Z".parse()?, &berlin);
    /// assert_eq!(next, Some("2027-04-04T00:30:00Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let next = self.next_second(floor(after), &mut Local::new(zone))?;
        Timestamp::from_second(next).ok()
    }

    /// Returns the firings strictly after an instant, each searched from the one before.
    ///
    /// The iterator is endless for most expressions; it ends where [`CronExpr::next_after`] is `None`.
    pub fn firings<'a>(&'a self, after: Timestamp, zone: &'a TimeZone) -> Firings<'a> {
        Firings { seconds: self.firing_seconds(floor(after), zone) }
    }

    /// Returns the firings strictly after a moment, each searched from the one before, also beyond the year 9999.
    pub fn moments<'a>(
        &'a self,
        after: Moment,
        zone: &'a TimeZone,
    ) -> impl Iterator<Item = Moment> + use<'a> {
        self.firing_seconds(after.second, zone).map(|second| Moment { second })
    }

    /// Returns the first day of the calendar on which an expression that [`CronExpr::next_after`] does not find
    /// within its five years fires after all: 29 February, eight years apart around 1900, 2100, 2200.
    ///
    /// `None` for an expression that fires within five years, or never.
    pub fn beyond_search(&self, after: Moment, zone: &TimeZone) -> Option<Moment> {
        let mut local = Local::new(zone);
        if self.next_second(after.second, &mut local).is_some() {
            return None;
        }
        let later = after.second.checked_add(SEARCH_YEARS * 365 * DAY)?;
        self.next_second(later, &mut local).map(|second| Moment { second })
    }

    pub(super) fn firing_seconds<'a>(&'a self, after: i64, zone: &'a TimeZone) -> FiringSeconds<'a> {
        FiringSeconds { expr: self, local: Local::new(zone), last: Some(after) }
    }

    /// Returns the first firing strictly after a second, in seconds since 1970; may be after the year 9999.
    pub(super) fn next_second(&self, after: i64, local: &mut Local<'_>) -> Option<i64> {
        let next = match &self.rule {
            Rule::Fields(fields) => next_of_fields(fields, after, local),
            Rule::Every(delay) => after.checked_add(*delay),
        };
        next.filter(|next| *next != NOTHING)
    }
}

/// The firings of a [`CronExpr`], from [`CronExpr::firings`].
#[derive(Debug)]
pub struct Firings<'a> {
    seconds: FiringSeconds<'a>,
}

impl Iterator for Firings<'_> {
    type Item = Timestamp;

    fn next(&mut self) -> Option<Timestamp> {
        self.seconds.next().and_then(|second| Timestamp::from_second(second).ok())
    }
}

#[derive(Debug)]
pub(super) struct FiringSeconds<'a> {
    expr: &'a CronExpr,
    local: Local<'a>,
    last: Option<i64>,
}

impl Iterator for FiringSeconds<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        self.last = self.expr.next_second(self.last?, &mut self.local);
        self.last
    }
}

/// Drops the fraction of a second towards the past.
pub(super) fn floor(instant: Timestamp) -> i64 {
    instant.as_second() - i64::from(instant.subsec_nanosecond() < 0)
}

/// The search of robfig/cron v3.0.1 `spec.go`, `Next`, with its labels: `wrap` is its `WRAP`.
///
/// Each field that does not match is stepped until it does; when it wraps to its first value, the fields
/// above are looked at again. `added` says that the lower parts were already set to their first values.
/// Where the offset is constant, whole runs of steps are made at once.
fn next_of_fields(fields: &Fields, after: i64, local: &mut Local<'_>) -> Option<i64> {
    let mut t = after.checked_add(1)?;
    let mut added = false;
    let mut civil = local.civil(t);
    let last_year = civil.year + SEARCH_YEARS;
    'wrap: loop {
        if civil.year > last_year {
            return None;
        }

        while fields.month & (1 << civil.month) == 0 {
            if !added {
                added = true;
                t = local.instant(days_of(civil.year, civil.month, 1), 0);
                civil = local.civil(t);
            }
            t = next_month(t, &mut civil, local);
            if civil.month == 1 {
                continue 'wrap;
            }
        }

        while !fields.day_matches(civil.day, civil.weekday()) {
            if !added {
                added = true;
                t = local.instant(civil.days, 0);
                civil = local.civil(t);
            }
            let next = next_day(t, &mut civil, fields, local);
            if next == t {
                return None;
            }
            t = next;
            if civil.day == 1 {
                continue 'wrap;
            }
        }

        if fields.hour & (1 << civil.hour()) == 0 {
            if !added {
                added = true;
                t = local.instant(civil.days, civil.hour() * 3600);
            }
            loop {
                t = step(t, 3600, 24, fields.hour, local);
                let hour = (t + local.offset(t)).rem_euclid(DAY) / 3600;
                if hour == 0 {
                    civil = local.civil(t);
                    continue 'wrap;
                }
                if fields.hour & (1 << hour) != 0 {
                    break;
                }
            }
        }

        if fields.minute & (1 << minute(t, local)) == 0 {
            if !added {
                added = true;
                // Go cuts the real time here, not the local one: they differ where an offset has seconds.
                t -= t.rem_euclid(60);
            }
            loop {
                t = step(t, 60, 60, fields.minute, local);
                let minute = minute(t, local);
                if minute == 0 {
                    civil = local.civil(t);
                    continue 'wrap;
                }
                if fields.minute & (1 << minute) != 0 {
                    break;
                }
            }
        }

        // The seconds field of a CronJob is always 0.
        while (t + local.offset(t)).rem_euclid(60) != 0 {
            added = true;
            let rest = 60 - (t + local.offset(t)).rem_euclid(60);
            t += if local.holds(t + rest) { rest } else { 1 };
            if (t + local.offset(t)).rem_euclid(60) == 0 {
                civil = local.civil(t);
                continue 'wrap;
            }
        }
        return Some(t);
    }
}

/// Go's `AddDate(0, 1, 0)`.
fn next_month(t: i64, civil: &mut Civil, local: &mut Local<'_>) -> i64 {
    let (year, month) = if civil.month == 12 { (civil.year + 1, 1) } else { (civil.year, civil.month + 1) };
    let days = days_of(year, month, i64::from(civil.day));
    let next = t + (days - civil.days) * DAY;
    if civil.day == 1 && local.holds(t) && local.holds(next) && local.holds(days * DAY + civil.second_of_day)
    {
        *civil = Civil { days, year, month, ..*civil };
        return next;
    }
    let next = local.instant(days, civil.second_of_day);
    *civil = local.civil(next);
    next
}

/// Go's `AddDate(0, 0, 1)` and robfig's way back to midnight where the clocks changed.
///
/// From midnight on, days of the same month that don't match are passed over while the offset is constant.
fn next_day(t: i64, civil: &mut Civil, fields: &Fields, local: &mut Local<'_>) -> i64 {
    let mut t = t;
    if civil.second_of_day == 0 {
        // Every month has 28 days; beyond them a step may lead into the next one.
        while local.holds(t) && civil.day < 28 {
            let next = t + DAY;
            if !(local.holds(next) && local.holds((civil.days + 1) * DAY)) {
                break;
            }
            t = next;
            civil.days += 1;
            civil.day += 1;
            if fields.day_matches(civil.day, weekday(civil.days)) {
                return t;
            }
        }
    }
    t = local.instant(civil.days + 1, civil.second_of_day);
    *civil = local.civil(t);
    let hour = civil.hour();
    if hour != 0 {
        t += if hour > 12 { 24 - hour } else { -hour } * 3600;
        *civil = local.civil(t);
    }
    t
}

fn minute(t: i64, local: &mut Local<'_>) -> i64 {
    (t + local.offset(t)).rem_euclid(3600) / 60
}

/// Steps by `unit` seconds to the next value in `bits` or to the wrap to 0, in one go where the offset is
/// constant, and once otherwise.
fn step(t: i64, unit: i64, count: i64, bits: u64, local: &mut Local<'_>) -> i64 {
    let value = (t + local.offset(t)).rem_euclid(unit * count) / unit;
    let later = bits & (u64::MAX << (value + 1)) & ((1 << count) - 1);
    let steps = if later == 0 { count - value } else { i64::from(later.trailing_zeros()) - value };
    let target = t + steps * unit;
    if local.holds(target) { target } else { t + unit }
}
