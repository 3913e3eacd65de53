//! Which run of a CronJob its controller makes when it comes back after an outage.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::cron::CronExpr;
use super::firing::floor;
use super::local::Local;

/// Returns the scheduled time of the run that the controller starts at `now` for a CronJob whose last run was
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
