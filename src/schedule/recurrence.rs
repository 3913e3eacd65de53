//! The openings and closings of windows, by whatever rule they come again.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::cron::{CronExpr, Fields};
use super::field::STAR;
use super::firing::floor;
use super::local::{DAY, Local, date_of};
use super::month_day::MonthDay;
use super::pair::{CronPair, Edge, matches, time_matches};

const HOUR: i64 = 3600;
const MINUTES_A_DAY: i64 = 24 * 60;

/// The firings of one day up to which those of some weeks are looked through.
const MOST_A_DAY: u32 = 4;

/// The months that are searched for a time before it is said that none comes: five years, as for cron expressions.
const MONTHS: i64 = 60;

/// When one end of a window comes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Recurrence {
    /// As Kubernetes fires a CronJob.
    Cron(CronExpr),
    /// Once a month, which no CronJob can say.
    Monthly(Monthly),
    /// So many minutes after another one, whatever the clock on the wall does meanwhile.
    Later(Box<Recurrence>, u32),
    /// At no time, where a gate closes by one job and no other opens.
    Never,
}

/// A local time that comes once for each month.
///
/// A time that a change of the clocks skips does not come, and one that exists twice comes twice, as with cron
/// expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Monthly {
    /// The day.
    pub(super) day: MonthDay,
    /// The minutes from the midnight at which that day begins, by the local clock; a day and more for later days.
    pub(super) minutes: i64,
}

impl Monthly {
    /// Returns the local time for a month: days since 1970-01-01 and the minute of that day. `month` counts from
    /// January of the year 0.
    fn in_month(self, month: i64) -> (i64, i64) {
        let day = self.day.in_month(month.div_euclid(12), month.rem_euclid(12) as u32 + 1);
        (day + self.minutes.div_euclid(MINUTES_A_DAY), self.minutes.rem_euclid(MINUTES_A_DAY))
    }

    fn next_second(self, after: i64, local: &mut Local<'_>) -> Option<i64> {
        let civil = local.civil(after);
        // Four weeks behind its day, a time may belong to the month before last.
        let first = civil.year * 12 + i64::from(civil.month) - 3;
        let mut instants = (first..first + MONTHS).flat_map(|month| {
            let (day, minute) = self.in_month(month);
            local.instants(day, minute * 60).into_iter().flatten()
        });
        instants.find(|at| *at > after)
    }
}

/// Returns in seconds how far back two firings of an expression are found; an hour where so many may be found in days
/// that it is better to begin nearby.
fn fields_distance(fields: &Fields) -> i64 {
    let count = |mask: u64| (mask & !STAR).count_ones();
    let a_day = count(fields.hour) * count(fields.minute);
    if a_day > MOST_A_DAY {
        return HOUR;
    }
    let is_every = |mask: u64| mask & STAR != 0;
    match (is_every(fields.day_of_month), is_every(fields.day_of_week)) {
        (true, true) => 3 * DAY,
        (_, false) => 15 * DAY,
        (false, true) => 64 * DAY,
    }
}

impl fmt::Display for Monthly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, minute) = (self.minutes.div_euclid(MINUTES_A_DAY), self.minutes.rem_euclid(MINUTES_A_DAY));
        write!(f, "{}", self.day)?;
        if days > 0 {
            write!(f, " + {days}d")?;
        }
        write!(f, " {:02}:{:02}", minute / 60, minute % 60)
    }
}

impl Recurrence {
    /// Returns the fields of a cron expression; `None` for `@every`, and for what is no cron expression.
    pub(super) fn fields(&self) -> Option<&Fields> {
        match self {
            Recurrence::Cron(expr) => expr.fields(),
            Recurrence::Monthly(_) | Recurrence::Later(..) | Recurrence::Never => None,
        }
    }

    /// Returns in seconds how far to go back from any instant to find two of its times, for most.
    pub(super) fn usual_distance(&self) -> i64 {
        match self {
            Recurrence::Cron(expr) => expr.fields().map_or(HOUR, fields_distance),
            Recurrence::Never => HOUR,
            Recurrence::Monthly(_) => 64 * DAY,
            Recurrence::Later(of, _) => of.usual_distance(),
        }
    }

    /// Returns whether it comes at local times, which `@every` and what comes after another one do not.
    pub fn has_times(&self) -> bool {
        matches!(self, Recurrence::Monthly(_)) || self.fields().is_some()
    }

    /// Returns the minutes of a day, in days since 1970-01-01, at which it comes by the local clock.
    pub(super) fn minutes_of(&self, day: i64) -> Vec<i64> {
        match self {
            Recurrence::Cron(expr) => {
                let own = expr.fields().filter(|fields| matches(fields, day));
                own.map_or_else(Vec::new, |fields| {
                    (0..MINUTES_A_DAY).filter(|minute| time_matches(fields, *minute)).collect()
                })
            }
            Recurrence::Monthly(own) => {
                let (year, month, _) = date_of(day);
                let month = year * 12 + i64::from(month) - 1;
                let times = (month - 2..=month).map(|month| own.in_month(month));
                times.filter(|(at, _)| *at == day).map(|(_, minute)| minute).collect()
            }
            Recurrence::Later(..) | Recurrence::Never => Vec::new(),
        }
    }

    /// Returns the first time strictly after a second, in seconds since 1970.
    pub(super) fn next_second(&self, after: i64, local: &mut Local<'_>) -> Option<i64> {
        match self {
            Recurrence::Cron(expr) => expr.next_second(after, local),
            Recurrence::Monthly(own) => own.next_second(after, local),
            Recurrence::Later(of, minutes) => {
                let later = i64::from(*minutes) * 60;
                of.next_second(after - later, local)?.checked_add(later)
            }
            Recurrence::Never => None,
        }
    }

    /// Returns the times strictly after a second, each searched from the one before.
    pub(super) fn seconds<'a>(&'a self, after: i64, zone: &'a TimeZone) -> impl Iterator<Item = i64> + 'a {
        let (mut local, mut last) = (Local::new(zone), Some(after));
        std::iter::from_fn(move || {
            last = self.next_second(last?, &mut local);
            last
        })
    }

    /// Returns the times strictly after an instant, each searched from the one before; endless for most.
    pub fn times<'a>(&'a self, after: Timestamp, zone: &'a TimeZone) -> impl Iterator<Item = Timestamp> + 'a {
        self.seconds(floor(after), zone).map_while(|second| Timestamp::from_second(second).ok())
    }
}

impl fmt::Display for Recurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recurrence::Cron(expr) => expr.fmt(f),
            Recurrence::Monthly(own) => own.fmt(f),
            Recurrence::Later(of, minutes) => write!(f, "{of} + {minutes}m"),
            Recurrence::Never => f.write_str("never"),
        }
    }
}

/// When a window opens and closes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WindowEdges {
    /// When it opens.
    pub open: Recurrence,
    /// When it closes.
    pub close: Recurrence,
}

impl WindowEdges {
    /// Returns the expressions of a pair of CronJobs; `None` where there are none.
    pub fn cron(&self) -> Option<CronPair> {
        match (&self.open, &self.close) {
            (Recurrence::Cron(open), Recurrence::Cron(close)) => {
                Some(CronPair { open: open.clone(), close: close.clone() })
            }
            _ => None,
        }
    }

    /// Returns both so many minutes later.
    #[must_use]
    pub fn later(self, minutes: u32) -> WindowEdges {
        let later = |of: Recurrence| match minutes {
            0 => of,
            _ => Recurrence::Later(Box::new(of), minutes),
        };
        WindowEdges { open: later(self.open), close: later(self.close) }
    }

    /// Returns one of the two.
    pub(super) fn of(&self, edge: Edge) -> &Recurrence {
        match edge {
            Edge::Open => &self.open,
            Edge::Close => &self.close,
        }
    }
}

impl From<CronPair> for WindowEdges {
    fn from(pair: CronPair) -> WindowEdges {
        WindowEdges { open: Recurrence::Cron(pair.open), close: Recurrence::Cron(pair.close) }
    }
}
