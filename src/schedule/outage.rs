//! What the CronJobs of a gate do when their controller comes back after an outage.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::cron::CronExpr;
use super::firing::floor;
use super::interval::{Timeline, last_at_or_before, next_in_chain};
use super::local::Local;
use super::resolve::years_after;
use super::window::{Window, WindowError};

/// The years over which the lengths of a window's intervals are looked at.
const YEARS: i64 = 10;

/// Where those years begin: fixed, so that the same window always gets the same deadline.
pub fn reference() -> Timestamp {
    Timestamp::from_second(1_767_225_600).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Gives `startingDeadlineSeconds` of a window's opening CronJob: the shortest time from any of its openings
/// to the next closing, in ten years from 2026-01-01T00:00:00Z.
///
/// With it, an opening that was missed is only made up for while the window is still open: the controller
/// drops a run that is at least this old. A closing gets no deadline: it is made up for however late.
/// `None` for a window that never opens or never closes.
///
/// # Errors
///
/// Those of [`Window::pair`].
pub fn open_deadline_seconds(window: &Window) -> Result<Option<u32>, WindowError> {
    let timeline = Timeline::new([window])?;
    Ok(open_deadlines(&timeline).into_iter().next().flatten())
}

/// Gives [`open_deadline_seconds`] for each window of a type, in their order: to the next closing of any of
/// them, as that closes them all.
pub fn open_deadlines(timeline: &Timeline) -> Vec<Option<u32>> {
    let (from, to) = (reference(), years_after(reference(), YEARS));
    let closes = |after: Timestamp| {
        timeline.gates().filter_map(|(pair, zone)| next_in_chain(&pair.close, after, zone)).min()
    };
    let shortest = |expr: &CronExpr, zone: &TimeZone| {
        let mut least: Option<i64> = None;
        let mut close = closes(from)?;
        for open in expr.firings(from, zone).take_while(|open| *open < to) {
            if close <= open {
                close = closes(open)?;
            }
            let length = close.as_second() - open.as_second();
            least = Some(least.map_or(length, |known| known.min(length)));
        }
        least.and_then(|seconds| u32::try_from(seconds).ok())
    };
    timeline.gates().map(|(pair, zone)| shortest(&pair.open, zone)).collect()
}

/// Gives a `startingDeadlineSeconds` that the closing CronJob of each window may have: the longest time from
/// any of its closings to the next opening of any window, in ten years from 2026-01-01T00:00:00Z.
///
/// A closing that was missed is then still made up for as long as the gate has to be closed, but no longer when
/// a later window is open. Without it, after an outage that covers a closing and ends in the next window, the
/// missed closing and the missed opening start together ([`AfterOutage::Race`]). What remains is the hour by
/// which closed times differ. `None` for a window that never closes, or after which nothing opens.
///
/// The price: should a new time zone database make the closed time longer, an outage that ends in what was
/// added leaves the gate open until the next closing.
pub fn close_deadlines(timeline: &Timeline) -> Vec<Option<u32>> {
    let (from, to) = (reference(), years_after(reference(), YEARS));
    let opens = |after: Timestamp| {
        timeline.gates().filter_map(|(pair, zone)| next_in_chain(&pair.open, after, zone)).min()
    };
    let longest = |expr: &CronExpr, zone: &TimeZone| {
        let mut most: Option<i64> = None;
        let mut open = opens(from)?;
        for close in expr.firings(from, zone).take_while(|close| *close < to) {
            if open <= close {
                open = opens(close)?;
            }
            let length = open.as_second() - close.as_second();
            most = Some(most.map_or(length, |known| known.max(length)));
        }
        most.and_then(|seconds| u32::try_from(seconds).ok())
    };
    timeline.gates().map(|(pair, zone)| longest(&pair.close, zone)).collect()
}

/// The state of a gate after an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AfterOutage {
    /// It is open.
    Open,
    /// It is closed.
    Closed,
    /// A missed opening and a missed closing are started at the same moment, and the one whose pod is slower
    /// decides.
    Race,
}

/// `startingDeadlineSeconds` of the two CronJobs of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Deadlines {
    /// Of the CronJob that opens.
    pub open: Option<u32>,
    /// Of the CronJob that closes.
    pub close: Option<u32>,
}

impl Timeline {
    /// Says how the gate stands when the CronJob controller comes back at `end` after having been away since
    /// `start`, with a deadline pair for each window.
    ///
    /// Runs scheduled before `start` were made, and those from `start` up to `end` (inclusive) were not.
    /// Each CronJob then starts what [`missed_run`] gives, under `concurrencyPolicy: Forbid` and with all
    /// earlier Jobs finished.
    pub fn after_outage(&self, start: Timestamp, end: Timestamp, deadlines: &[Deadlines]) -> AfterOutage {
        let before = start.checked_sub(Span::new().seconds(1)).unwrap_or(start);
        let (mut opens, mut closes) = (false, false);
        for (index, (pair, zone)) in self.gates().enumerate() {
            let deadline = deadlines.get(index).copied().unwrap_or_default();
            let starts = |expr: &CronExpr, deadline: Option<u32>| {
                let last = last_at_or_before(expr, before, zone).unwrap_or(before);
                missed_run(expr, zone, last, end, deadline).is_some()
            };
            opens |= starts(&pair.open, deadline.open);
            closes |= starts(&pair.close, deadline.close);
        }
        match (opens, closes) {
            (true, true) => AfterOutage::Race,
            (true, false) => AfterOutage::Open,
            (false, true) => AfterOutage::Closed,
            (false, false) if self.is_open(before) => AfterOutage::Open,
            (false, false) => AfterOutage::Closed,
        }
    }
}

/// Gives the scheduled time of the run that the controller starts at `now` for a CronJob whose last run was
/// scheduled for `last`; `None` where it starts none.
///
/// Equal to Kubernetes 1.34 `pkg/controller/cronjob/utils.go`, `mostRecentScheduleTime`, and the deadline check
/// of `syncCronJob`. It means to start the most recent missed run, but guesses where to look from the distance
/// of the first two: where distances vary (closing on weekdays, and the weekend in between) the guess can lie
/// *behind* the most recent run, and then none is started.
pub fn missed_run(
    expr: &CronExpr,
    zone: &TimeZone,
    last: Timestamp,
    now: Timestamp,
    deadline: Option<u32>,
) -> Option<Timestamp> {
    let (mut earliest, now) = (floor(last), floor(now));
    if let Some(deadline) = deadline {
        earliest = earliest.max(now - i64::from(deadline));
    }
    let mut local = Local::new(zone);
    let first = expr.next_second(earliest, &mut local)?;
    if now < first {
        return None;
    }
    // Without a second firing the distance is not positive and the controller gives up.
    let second = expr.next_second(first, &mut local)?;
    let mut most_recent = Some(first);
    if now >= second {
        let between = second - first;
        let missed = (now - first) / between + 1;
        most_recent = None;
        let mut from = first + (missed - 2) * between;
        while let Some(next) = expr.next_second(from, &mut local)
            && next <= now
        {
            most_recent = Some(next);
            from = next;
        }
    }
    let too_late = |run: i64| deadline.is_some_and(|deadline| run + i64::from(deadline) < now);
    most_recent.filter(|run| !too_late(*run)).and_then(|run| Timestamp::from_second(run).ok())
}
