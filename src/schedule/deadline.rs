//! How late the CronJobs of a gate may start after an outage of their controller.
//!
//! After an outage the controller starts the last missed run of each CronJob, whatever the others do. So an
//! outage over an opening and a closing would start both at the same moment, and the slower pod would decide.
//! `startingDeadlineSeconds` is all that Kubernetes has against it: a run that is at least so old is dropped. It
//! also counts when a CronJob is switched on, or its schedule is edited, as runs since its last one were missed.
//!
//! * **Opening**: five minutes less than the shortest time from an opening to the next closing. An opening may
//!   try for five minutes (`activeDeadlineSeconds`), so one that starts late has ended when its window is over.
//! * **Closing**: five minutes less than the shortest time from a closing to the next opening. A closing that
//!   starts late is then done when a later window opens. Without a deadline an outage from before a closing into
//!   the next window would start both Jobs. A closing may try for all of that shortest time; one that hangs for
//!   longer would keep the next from starting (`concurrencyPolicy: Forbid`).
//!
//! With windows that are all equally long, and equally far apart, each Job so starts exactly as long as it is
//! right, but for these five minutes. Two such times may differ by an hour or two, as the clocks change in one of
//! them and not in the other. Then the shorter one leaves a rest: a missed opening is not made up for in the last
//! two hours of a longer window, and a missed closing not in the last two hours before an opening. The longer one
//! would do more harm: it would start both Jobs in the first hours of the windows, or open when the window is over.
//!
//! Where closed times differ by more (weekdays, and the weekend in between), the shortest would leave a gate open
//! for the rest of the longest. There the closing gets the *longest*: what has to be closed is closed, and where
//! both Jobs start, the window is open, so that the worst is a window that stays closed. The lint
//! [`UnevenTimes`](super::lint::LintCode::UnevenTimes) says so and how to write windows for which all is right:
//! each window of a type has its own CronJobs and so its own deadlines.

use jiff::{Span, Timestamp};

use super::firing::floor;
use super::interval::{Timeline, last_at_or_before};
use super::resolve::years_after;

/// The years that are looked at.
const YEARS: i64 = 10;

/// The most openings, and closings, of one window that are looked at: five years of hourly ones.
const MOST: usize = 50_000;

/// By how much times may differ, in seconds, that are equal on the local clock: an hour less as the clocks go
/// forward, and an hour more as they go back.
const CLOCKS: u32 = 2 * 3600;

/// How long an opening may try, and how long before the next closing or opening a late Job must start, in seconds.
const TRYING: u32 = 300;

/// Where those years begin: fixed, so that the same window always gets the same deadline.
pub fn reference() -> Timestamp {
    Timestamp::from_second(1_767_225_600).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// How late one CronJob may start, and how long its Job may try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Deadline {
    /// `startingDeadlineSeconds` of the CronJob.
    pub starting: u32,
    /// `activeDeadlineSeconds` of its Jobs.
    pub active: u32,
}

/// The deadlines of the two CronJobs of a window; `None` for one that never fires or that nothing follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Deadlines {
    /// Of the CronJob that opens.
    pub open: Option<Deadline>,
    /// Of the CronJob that closes.
    pub close: Option<Deadline>,
}

/// How long something lasts, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    /// The shortest time that it lasts.
    pub(super) shortest: u32,
    /// The longest time that it lasts, or until the same Job runs again.
    pub(super) longest: u32,
}

impl Times {
    /// Returns whether they differ by no more than the clocks make them.
    pub(super) fn are_even(self) -> bool {
        self.longest - self.shortest <= CLOCKS
    }
}

/// What follows the openings and closings of one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lasting {
    /// How long it is open; `None` for a window that never opens, or after which nothing closes.
    pub(super) open: Option<Times>,
    /// How long it is closed; `None` for a window that never closes, or after which nothing opens.
    pub(super) closed: Option<Times>,
}

impl Lasting {
    fn deadlines(self) -> Deadlines {
        let trying = |times: Times| TRYING.min(times.shortest / 2);
        let open =
            |times: Times| Deadline { starting: times.shortest - trying(times), active: trying(times) };
        let close = |times: Times| Deadline {
            starting: if times.are_even() { times.shortest - trying(times) } else { times.longest },
            active: times.shortest,
        };
        Deadlines { open: self.open.map(open), close: self.closed.map(close) }
    }
}

/// Returns the deadlines of each window of a type, in their order.
///
/// Times are measured to the next closing or opening of any of them, as all of them act on the same gate, in the
/// ten years from 2026-01-01T00:00:00Z; of a window that opens more often than hourly in a part of them.
///
/// # Example
///
/// ```
/// use gitops_windows::schedule::{CronExpr, Deadline, Timeline, Window, WindowForm, deadlines};
/// use jiff::tz::TimeZone;
///
/// let form = WindowForm::OpenFor { open: CronExpr::parse("0 22 * * SAT")?, length: "4h".parse()? };
/// let window = Window { zone: Some(TimeZone::UTC), form };
/// let found = deadlines(&Timeline::new([&window])?);
/// assert_eq!(found[0].open, Some(Deadline { starting: 4 * 3600 - 300, active: 300 }));
/// let closed = (7 * 24 - 4) * 3600;
/// assert_eq!(found[0].close, Some(Deadline { starting: closed - 300, active: closed }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn deadlines(timeline: &Timeline) -> Vec<Deadlines> {
    lasting(timeline).into_iter().map(Lasting::deadlines).collect()
}

/// Measures the windows of a type.
pub(super) fn lasting(timeline: &Timeline) -> Vec<Lasting> {
    let start = reference();
    let before = start.checked_sub(Span::new().seconds(1)).unwrap_or(start);
    let mut to = floor(years_after(start, YEARS));
    let mut firings: Vec<[Vec<i64>; 2]> = Vec::new();
    for (pair, zone) in timeline.gates() {
        firings.push([&pair.open, &pair.close].map(|expr| {
            let last = last_at_or_before(expr, before, zone).unwrap_or(before);
            let after = expr.seconds(floor(last), zone).skip_while(|at| *at < floor(start));
            let found: Vec<i64> = after.take(MOST).take_while(|at| *at < to).collect();
            if let (MOST, Some(last)) = (found.len(), found.last()) {
                to = *last;
            }
            found
        }));
    }
    let all = |edge: usize| {
        let mut all: Vec<i64> = firings.iter().flat_map(|pair| &pair[edge]).copied().collect();
        all.sort_unstable();
        all
    };
    let (opens, closes) = (all(0), all(1));
    let times = |own: &[i64], same: &[i64], other: &[i64]| {
        let next =
            |firings: &[i64], at: i64| firings.get(firings.partition_point(|next| *next <= at)).copied();
        let mut found: Option<Times> = None;
        for at in own.iter().copied().take_while(|at| *at < to) {
            let Some(ends) = next(other, at).filter(|ends| *ends <= to) else { break };
            let again = next(same, at).unwrap_or(ends);
            let (Ok(ends), Ok(again)) = (u32::try_from(ends - at), u32::try_from(again.min(ends) - at))
            else {
                break;
            };
            let known = found.get_or_insert(Times { shortest: ends, longest: 0 });
            *known = Times { shortest: known.shortest.min(ends), longest: known.longest.max(again) };
        }
        // What the same Job repeats before anything else happens is never shorter than what is left then.
        found.map(|times| Times { longest: times.longest.max(times.shortest), ..times })
    };
    firings
        .iter()
        .map(|[open, close]| Lasting {
            open: times(open, &opens, &closes),
            closed: times(close, &closes, &opens),
        })
        .collect()
}
