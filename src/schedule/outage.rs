//! What the CronJobs of a gate do when their controller comes back after an outage.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::cron::CronExpr;
use super::deadline::{Deadline, Deadlines};
use super::firing::floor;
use super::interval::{Timeline, last_at_or_before};
use super::local::Local;
use super::recurrence::Recurrence;

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
        for (index, (edges, zone)) in self.gates().enumerate() {
            let deadline = deadlines.get(index).copied().unwrap_or_default();
            let starts = |edge: &Recurrence, deadline: Option<Deadline>| {
                // No CronJob runs at times that none can say.
                let Recurrence::Cron(expr) = edge else { return false };
                let last = last_at_or_before(edge, before, zone).unwrap_or(before);
                missed_run(expr, zone, last, end, deadline.map(|deadline| deadline.starting)).is_some()
            };
            opens |= starts(&edges.open, deadline.open);
            closes |= starts(&edges.close, deadline.close);
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
