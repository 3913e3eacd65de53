//! When a gate is open that goes by a table: all windows together, without freezes, and with overrides.

use std::collections::VecDeque;

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::interval::{Interval, Timeline};
use super::local::DAY;
use super::recurrence::WindowEdges;
use super::settle::Settle;

/// How far ahead an opening or a closing is looked for, as Kubernetes does: five years.
const AHEAD: i64 = 5 * 366 * DAY;

/// How far back the last one is looked for: 29 February comes after eight years at most.
const BACK: i64 = 9 * 366 * DAY;

/// How much is worked out at once, at first and at most.
const STEPS: (i64, i64) = (16 * DAY, 512 * DAY);

/// A stretch of time that a freeze takes away or an override gives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stretch {
    /// From its first instant until the first one after it.
    pub interval: Interval,
    /// Why, for people.
    pub reason: String,
}

/// The exact times at which a gate is open that asks a table, and no job that may have run or not.
///
/// Each window is open from its own opening until its own closing, whatever other windows do, so several are a
/// union. An override opens as well, and a freeze closes whatever else is open. Outside of `bounds` nothing is open,
/// nor is a window before its first opening.
///
/// ```
/// use gitops_windows::schedule::{CronExpr, CronPair, Interval, OpenTimes, Stretch, zone};
///
/// let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
/// let pair = CronPair { open: CronExpr::parse("0 22 * * SAT")?, close: CronExpr::parse("0 2 * * SUN")? };
/// let interval = Interval { open: at("2026-12-18T00:00:00Z"), close: at("2026-12-20T00:30:00Z") };
/// let freeze = Stretch { interval, reason: "year-end".into() };
/// let times = OpenTimes::new([(pair, zone::parse("UTC")?)], vec![freeze], Vec::new());
/// let found: Vec<_> = times.cut(at("2026-12-12T00:00:00Z"), at("2026-12-21T00:00:00Z")).collect();
/// assert_eq!(found[0].open, at("2026-12-12T22:00:00Z"));
/// assert_eq!(found[1], Interval { open: at("2026-12-20T00:30:00Z"), close: at("2026-12-20T02:00:00Z") });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTimes {
    windows: Vec<Timeline>,
    freezes: Vec<Stretch>,
    overrides: Vec<Stretch>,
    bounds: Interval,
    /// How long before its end each open time lets nothing new in.
    settle: Settle,
    /// What counts in its place until it has arrived.
    former: Option<Former>,
}

/// A table that another one follows which has not arrived yet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Former {
    older: Box<OpenTimes>,
    /// The one that follows, whole.
    own: Box<OpenTimes>,
    /// From the first instant on it may have arrived, and at the last one it has.
    arrives: Interval,
}

impl Former {
    /// Works out a range at once: what either table has while nobody knows which one counts.
    fn between(&self, from: Timestamp, to: Timestamp) -> Vec<Interval> {
        let mut all = self.older.between(from, to);
        let arrives = self.arrives.clip(from, to);
        all.extend(arrives.into_iter().flat_map(|part| self.own.between(part.open, part.close)));
        all
    }
}

/// What a table does that arrives at some time while a gate is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changing {
    /// It opens what is closed.
    Opens,
    /// It closes what is open.
    Closes,
}

impl OpenTimes {
    /// Makes the times of windows, freezes and overrides, without bounds.
    pub fn new(
        windows: impl IntoIterator<Item = (impl Into<WindowEdges>, TimeZone)>,
        freezes: Vec<Stretch>,
        overrides: Vec<Stretch>,
    ) -> OpenTimes {
        OpenTimes {
            windows: windows.into_iter().map(|window| Timeline::of_pairs([window])).collect(),
            freezes,
            overrides,
            bounds: Interval { open: Timestamp::MIN, close: Timestamp::MAX },
            settle: Settle::NONE,
            former: None,
        }
    }

    /// Makes the times of intervals, less those of others, without bounds.
    pub fn of_intervals(
        open: impl IntoIterator<Item = Interval>,
        taken: impl IntoIterator<Item = Interval>,
    ) -> OpenTimes {
        let stretch = |interval: Interval| Stretch { interval, reason: String::new() };
        let windows: [(WindowEdges, TimeZone); 0] = [];
        OpenTimes::new(
            windows,
            taken.into_iter().map(stretch).collect(),
            open.into_iter().map(stretch).collect(),
        )
    }

    /// Returns when it is open between two instants and another one is not.
    pub fn beyond(&self, other: &OpenTimes, from: Timestamp, to: Timestamp) -> Vec<Interval> {
        OpenTimes::of_intervals(self.cut(from, to), other.cut(from, to)).cut(from, to).collect()
    }

    /// Keeps what lies in a stretch of time, as a table does that has a beginning and an end.
    #[must_use]
    pub fn within(self, bounds: Interval) -> OpenTimes {
        OpenTimes { bounds, ..self }
    }

    /// Lets nothing new in so long before the end of each open time.
    #[must_use]
    pub fn settling(self, settle: Settle) -> OpenTimes {
        OpenTimes { settle, ..self }
    }

    /// Returns how long before the end of each open time it lets nothing new in.
    pub fn settle(&self) -> Settle {
        self.settle
    }

    /// Returns until when the open time lets something new in that is open at an instant or, where none is, opens next; `None`
    /// where it does not close within five years.
    pub fn lets_in_until(&self, at: Timestamp) -> Option<Timestamp> {
        let close = self.next_close(at)?;
        let open = match self.is_open(at) {
            _ if self.settle == Settle::NONE => return Some(close),
            true => self.began(at),
            false => self.next_open(at)?,
        };
        Some(self.settle.until(Interval { open, close }))
    }

    /// Lets another table count in its place until it has arrived, which is at some time in an interval: until then, what
    /// either has may be open.
    #[must_use]
    pub fn after(self, former: OpenTimes, arrives: Interval) -> OpenTimes {
        let (from, own) = (arrives.close, self.clone());
        // What both have is one.
        let joined = |own: Vec<Stretch>, older: &[Stretch]| -> Vec<Stretch> {
            let part = |one: &Stretch, open, close| {
                Some(Stretch { interval: one.interval.clip(open, close)?, reason: one.reason.clone() })
            };
            let gone = older.iter().filter(|one| !own.contains(one) && !one.reason.is_empty());
            let gone: Vec<Stretch> = gone.filter_map(|one| part(one, Timestamp::MIN, from)).collect();
            let stays = |one: &Stretch| older.contains(one);
            let later = |one: Stretch| if stays(&one) { Some(one) } else { part(&one, from, Timestamp::MAX) };
            gone.into_iter().chain(own.into_iter().filter_map(later)).collect()
        };
        let bounds = Interval {
            open: self.bounds.open.min(former.bounds.open),
            close: self.bounds.close.max(former.bounds.close.min(from)),
        };
        OpenTimes {
            windows: self.windows,
            freezes: joined(self.freezes, &former.freezes),
            overrides: joined(self.overrides, &former.overrides),
            bounds,
            settle: self.settle,
            former: Some(Former { older: Box::new(former), own: Box::new(own), arrives }),
        }
    }

    /// Returns the instant before which another table may count in its place.
    pub fn changes(&self) -> Option<Timestamp> {
        self.former.as_ref().map(|former| former.arrives.close)
    }

    /// Says what a table does that arrives at some time from an instant on until it closes next; `None` where it is closed then,
    /// or open all the time whichever table counts.
    pub fn changing(&self, at: Timestamp) -> Option<Changing> {
        let former = self.former.as_ref()?;
        let end = self.next_close(at).unwrap_or(Timestamp::MAX).min(former.arrives.close);
        let is_open = |table: &OpenTimes, from: Timestamp| {
            let all = Interval { open: from, close: end };
            from >= end || table.between(from, end) == [all]
        };
        let is_known = at >= end || !self.is_open(at);
        match (is_open(&former.older, at), is_open(&former.own, at.max(former.arrives.open))) {
            _ if is_known => None,
            (true, true) => None,
            _ if former.older.is_open(at) => Some(Changing::Closes),
            _ => Some(Changing::Opens),
        }
    }

    /// Returns the stretch of time outside of which nothing is open.
    pub fn bounds(&self) -> Interval {
        self.bounds
    }

    /// Returns what is taken away.
    pub fn freezes(&self) -> &[Stretch] {
        &self.freezes
    }

    /// Returns what is given.
    pub fn overrides(&self) -> &[Stretch] {
        &self.overrides
    }

    /// Leaves out the freezes in which another table is open, and the overrides in which it is closed, though no freeze that
    /// it keeps takes them; the bounds are those of that table.
    #[must_use]
    pub fn keeping(&self, table: &OpenTimes) -> OpenTimes {
        let bounds = Interval { open: self.bounds.open, close: table.bounds.close };
        let within = |one: &Stretch| one.interval.clip(bounds.open, bounds.close);
        let is_kept =
            |one: &&Stretch| within(one).is_none_or(|own| table.cut(own.open, own.close).next().is_none());
        let freezes: Vec<Stretch> = self.freezes.iter().filter(is_kept).cloned().collect();
        let is_given = |one: &&Stretch| {
            let Some(own) = within(one) else { return true };
            let wanted = OpenTimes::of_intervals([own], freezes.iter().map(|freeze| freeze.interval));
            wanted.beyond(table, own.open, own.close).is_empty()
        };
        let overrides = self.overrides.iter().filter(is_given).cloned().collect();
        let (windows, settle) = (self.windows.clone(), self.settle);
        OpenTimes { windows, freezes, overrides, bounds, settle, former: None }
    }

    /// Returns whether the gate is open at an instant.
    pub fn is_open(&self, at: Timestamp) -> bool {
        !self.between(at, after(at, 1)).is_empty()
    }

    /// Returns the freeze that holds at an instant: of several the one that lasts longest.
    pub fn freeze_at(&self, at: Timestamp) -> Option<&Stretch> {
        let own = self.freezes.iter().filter(|freeze| freeze.interval.contains(at));
        let own = own.max_by_key(|freeze| freeze.interval.close)?;
        // One that goes may be gone already.
        let is_going = self.changes().is_some_and(|by| at < by) && self.is_open(at);
        (!is_going).then_some(own)
    }

    /// Returns the freeze that takes time between two instants in which a window or an override is open: of several the
    /// one that ends last.
    pub fn delay(&self, at: Timestamp, until: Timestamp) -> Option<&Stretch> {
        let takes = |freeze: &&Stretch| {
            let Some(Interval { open, close }) = freeze.interval.clip(at, until) else { return false };
            let given = self.overrides.iter().any(|given| given.interval.clip(open, close).is_some());
            given || self.windows.iter().any(|window| opened(window, open, close).next().is_some())
        };
        self.freezes.iter().filter(takes).max_by_key(|freeze| freeze.interval.close)
    }

    /// Returns the override that holds at an instant, frozen or not: of several the one that lasts longest.
    pub fn override_at(&self, at: Timestamp) -> Option<&Stretch> {
        let own = self.overrides.iter().filter(|given| given.interval.contains(at));
        own.max_by_key(|given| given.interval.close)
    }

    /// Returns the position of the window that is open at an instant, frozen or not.
    pub fn window_at(&self, at: Timestamp) -> Option<usize> {
        if let Some(former) = self.former.as_ref().filter(|former| at < former.arrives.close) {
            let own = || former.own.window_at(at).filter(|_| at >= former.arrives.open);
            return former.older.window_at(at).or_else(own);
        }
        self.windows.iter().position(|window| opened(window, at, after(at, 1)).next().is_some())
    }

    /// Returns the first instant after `at` at which the gate turns from closed to open; `None` where none comes within
    /// five years.
    pub fn next_open(&self, at: Timestamp) -> Option<Timestamp> {
        let mut intervals = self.cut(at, after(at, AHEAD));
        let first = intervals.next()?;
        if first.open > at { Some(first.open) } else { intervals.next().map(|next| next.open) }
    }

    /// Returns the first instant after `at` at which the gate turns from open to closed; `None` as above.
    pub fn next_close(&self, at: Timestamp) -> Option<Timestamp> {
        let end = after(at, AHEAD);
        self.cut(at, end).next().map(|first| first.close).filter(|close| *close < end)
    }

    /// Returns the instant since which the gate, closed at `at`, is closed; `None` where it is open, or was open at no
    /// time in nine years.
    pub fn closed_since(&self, at: Timestamp) -> Option<Timestamp> {
        if self.is_open(at) {
            return None;
        }
        looking_back(at).find_map(|from| self.between(from, at).last().map(|last| last.close))
    }

    /// Returns the intervals that are open at some time in `from..to`, in order, neither overlapping nor touching.
    ///
    /// They are not cut: the first begins when it really began, at [`Timestamp::MIN`] where that is longer ago than nine
    /// years, and the last ends when it really ends, at [`Timestamp::MAX`] where that is later than in five years.
    pub fn intervals(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = Interval> + '_ {
        self.cut(from, to).map(move |mut interval| {
            if interval.open == from && self.is_open(from) {
                interval.open = self.began(from);
            }
            if interval.close == to && self.is_open(to) {
                let end = after(to, AHEAD);
                let close = self.cut(to, end).next().map(|next| next.close);
                interval.close = close.filter(|close| *close < end).unwrap_or(Timestamp::MAX);
            }
            interval
        })
    }

    /// As [`intervals`](OpenTimes::intervals), cut to `from..to`. Worked out as it is asked for.
    pub fn cut(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = Interval> + '_ {
        let (from, to) = (from.max(self.bounds.open), to.min(self.bounds.close));
        let (mut at, mut step) = (from, STEPS.0);
        let mut found: VecDeque<Interval> = VecDeque::new();
        std::iter::from_fn(move || {
            // What comes next may go on where the last one ends.
            while found.len() < 2 && at < to {
                let end = after(at, step).min(to);
                for next in self.between(at, end) {
                    match found.back_mut() {
                        Some(last) if last.close == next.open => last.close = next.close,
                        _ => found.push_back(next),
                    }
                }
                (at, step) = (end, (step * 2).min(STEPS.1));
            }
            found.pop_front()
        })
    }

    /// Returns when the interval began that is open at an instant.
    fn began(&self, at: Timestamp) -> Timestamp {
        for from in looking_back(at) {
            match self.between(from, at).last() {
                Some(last) if last.close == at && last.open == from => {}
                Some(last) if last.close == at => return last.open,
                _ => return at,
            }
        }
        Timestamp::MIN
    }

    /// Works out a range at once, cut to it.
    fn between(&self, from: Timestamp, to: Timestamp) -> Vec<Interval> {
        match &self.former {
            Some(former) if from < former.arrives.close => {
                let until = former.arrives.close;
                let mut all = former.between(from, to.min(until));
                if until < to {
                    all.extend(self.own_between(until, to));
                }
                merged(all)
            }
            _ => self.own_between(from, to),
        }
    }

    fn own_between(&self, from: Timestamp, to: Timestamp) -> Vec<Interval> {
        let (from, to) = (from.max(self.bounds.open), to.min(self.bounds.close));
        let windows = self.windows.iter().flat_map(|window| opened(window, from, to));
        let given = self.overrides.iter().map(|given| given.interval);
        let mut open = merged(windows.chain(given).filter_map(|one| one.clip(from, to)).collect());
        let frozen = merged(self.freezes.iter().filter_map(|one| one.interval.clip(from, to)).collect());
        for freeze in frozen {
            let left = |one: Interval| {
                let (before, after) = (one.clip(from, freeze.open), one.clip(freeze.close, to));
                before.into_iter().chain(after)
            };
            open = open.into_iter().flat_map(left).collect();
        }
        open
    }
}

/// Returns the intervals of a window that an opening began.
fn opened(window: &Timeline, from: Timestamp, to: Timestamp) -> impl Iterator<Item = Interval> + '_ {
    window.intervals(from, to).filter(|interval| interval.open > Timestamp::MIN)
}

/// Joins intervals that overlap or touch.
fn merged(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.sort_unstable();
    let mut found: Vec<Interval> = Vec::with_capacity(intervals.len());
    for next in intervals {
        match found.last_mut() {
            Some(last) if next.open <= last.close => last.close = last.close.max(next.close),
            _ => found.push(next),
        }
    }
    found
}

/// Returns instants before another, further and further back.
fn looking_back(at: Timestamp) -> impl Iterator<Item = Timestamp> {
    let steps = std::iter::successors(Some(STEPS.0), |step| (*step < BACK).then(|| (step * 4).min(BACK)));
    steps.map(move |step| after(at, -step))
}

fn after(at: Timestamp, seconds: i64) -> Timestamp {
    let end = if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    at.checked_add(Span::new().seconds(seconds)).unwrap_or(end)
}
