//! When a gate is open: what the CronJobs of one or more windows do to one suspend flag.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::firing::floor;
use super::local::{DAY, Local};
use super::pair::Edge;
use super::recurrence::{Recurrence, WindowEdges};
use super::window::{Window, WindowError};

/// How far back the last firing is looked for: 29 February comes after eight years at most, and the search
/// of one firing covers five.
const LOOK_BACK: i64 = 9 * 366 * DAY;

/// How many openings that are closed at the same instant are passed over before giving up.
const TIES: usize = 10_000;

/// A stretch of time in which the gate is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// The first instant at which it is open; [`Timestamp::MIN`] where no opening was found.
    pub open: Timestamp,
    /// The first instant at which it is no longer open; [`Timestamp::MAX`] where none was found.
    pub close: Timestamp,
}

impl Interval {
    /// Cuts the interval to `from..to`; `None` where nothing is left.
    pub fn clip(self, from: Timestamp, to: Timestamp) -> Option<Interval> {
        let clipped = Interval { open: self.open.max(from), close: self.close.min(to) };
        (clipped.open < clipped.close).then_some(clipped)
    }

    /// Returns whether the gate is open at an instant because of this interval.
    pub fn contains(&self, at: Timestamp) -> bool {
        self.open <= at && at < self.close
    }
}

/// The CronJobs of all windows of one type, and with that the state of its gate at any time.
///
/// There is one suspend flag: every opening sets it to *resumed* and every closing to *suspended*, whichever
/// window it belongs to. So where windows overlap, the first closing closes for all of them, as in the
/// cluster. At an instant at which something opens and something closes, the order of the two Jobs is not
/// defined; the gate counts as closed.
///
/// A run happens at the instant for which it is scheduled: the seconds that a Job takes to start are left
/// out, and so are outages ([`outage`](super::outage)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    gates: Vec<Gate>,
}

/// One window's pair in its zone.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Gate {
    zone: TimeZone,
    edges: WindowEdges,
}

impl Timeline {
    /// Makes the timeline of a type's windows.
    ///
    /// # Errors
    ///
    /// Those of [`Window::edges`], of the first window that has one.
    pub fn new<'w>(windows: impl IntoIterator<Item = &'w Window>) -> Result<Timeline, WindowError> {
        let gate = |window: &Window| Ok(Gate { zone: window.zone_or_utc(), edges: window.edges()? });
        Ok(Timeline { gates: windows.into_iter().map(gate).collect::<Result<_, _>>()? })
    }

    /// Makes the timeline of pairs in their zones.
    pub fn of_pairs(pairs: impl IntoIterator<Item = (impl Into<WindowEdges>, TimeZone)>) -> Timeline {
        Timeline {
            gates: pairs.into_iter().map(|(edges, zone)| Gate { zone, edges: edges.into() }).collect(),
        }
    }

    /// Returns whether the gate is open at an instant.
    ///
    /// A gate that nothing ever opened or closed is open: a Flux Kustomization is not suspended until a job
    /// suspends it. With no windows at all it is always open.
    pub fn is_open(&self, at: Timestamp) -> bool {
        let last = |edge| {
            self.gates.iter().filter_map(|gate| last_at_or_before(gate.edges.of(edge), at, &gate.zone)).max()
        };
        match (last(Edge::Open), last(Edge::Close)) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(open), Some(close)) => open > close,
        }
    }

    /// Returns the first instant after `at` at which the gate turns from closed to open.
    ///
    /// While it is open, that is the opening after the next closing. `None` where none comes within the five
    /// years that Kubernetes itself looks ahead.
    pub fn next_open(&self, at: Timestamp) -> Option<Timestamp> {
        let closed = if self.is_open(at) { self.next(Edge::Close, at)? } else { at };
        self.open_while_closed(closed)
    }

    /// Returns the first instant after `at` at which the gate turns from open to closed.
    ///
    /// While it is closed, that is the closing after the next opening.
    pub fn next_close(&self, at: Timestamp) -> Option<Timestamp> {
        let open = if self.is_open(at) { at } else { self.open_while_closed(at)? };
        self.next(Edge::Close, open)
    }

    /// Returns the first time at or after an instant at which something closes, whether or not the gate is open then.
    pub fn first_closing(&self, from: Timestamp) -> Option<Timestamp> {
        self.next(Edge::Close, from.checked_sub(Span::new().seconds(1)).unwrap_or(from))
    }

    /// Returns the intervals that are open at some time in `from..to`, in order.
    ///
    /// They are not cut: the first begins when it really began and the last ends when it really ends; see
    /// [`Interval::clip`]. Intervals neither overlap nor touch.
    pub fn intervals(&self, from: Timestamp, to: Timestamp) -> Intervals<'_> {
        let first = self.is_open(from).then(|| Interval {
            open: self.opened(from),
            close: self.next(Edge::Close, from).unwrap_or(Timestamp::MAX),
        });
        Intervals { timeline: self, first, at: from, to }
    }

    /// Returns the instant at which the gate, open at `at`, was opened.
    fn opened(&self, at: Timestamp) -> Timestamp {
        let closes =
            self.gates.iter().filter_map(|gate| last_at_or_before(&gate.edges.close, at, &gate.zone));
        match closes.max() {
            Some(close) => self.open_while_closed(close).unwrap_or(Timestamp::MIN),
            None => Timestamp::MIN,
        }
    }

    /// Returns the instant since which the gate, closed at `at`, is closed; `None` where it is open.
    ///
    /// Further closings of a gate that is closed already change nothing.
    pub fn closed_since(&self, at: Timestamp) -> Option<Timestamp> {
        if self.is_open(at) {
            return None;
        }
        let close = self.last_closing(at)?;
        // The first closing after the last opening; what closes again after that changes nothing.
        match self.last(Edge::Open, at).and_then(|open| open.checked_sub(Span::new().seconds(1)).ok()) {
            Some(before) => self.next(Edge::Close, before).or(Some(close)),
            None => Some(close),
        }
    }

    /// Returns the last time at or before an instant at which something closes, whether or not the gate is open then.
    pub fn last_closing(&self, at: Timestamp) -> Option<Timestamp> {
        self.last(Edge::Close, at)
    }

    fn last(&self, edge: Edge, at: Timestamp) -> Option<Timestamp> {
        let gates = self.gates.iter();
        gates.filter_map(|gate| last_at_or_before(gate.edges.of(edge), at, &gate.zone)).max()
    }

    /// Returns whether something opens and something closes at an instant: then the order of the two Jobs decides,
    /// which is not defined, and the gate counts as closed.
    pub fn races_at(&self, at: Timestamp) -> bool {
        let fires = |edge: Edge| {
            self.gates.iter().any(|gate| last_at_or_before(gate.edges.of(edge), at, &gate.zone) == Some(at))
        };
        fires(Edge::Close) && fires(Edge::Open)
    }

    /// Returns the race that decides what [`Timeline::is_open`], [`Timeline::next_open`] and
    /// [`Timeline::next_close`] say of an instant: that of the last closing at or before it, or of the next one.
    pub fn race_near(&self, at: Timestamp) -> Option<Timestamp> {
        let closings = self.gates.iter().map(|gate| last_at_or_before(&gate.edges.close, at, &gate.zone));
        let last = closings.flatten().max();
        last.into_iter().chain(self.next(Edge::Close, at)).find(|close| self.races_at(*close))
    }

    /// Returns the position of the window that opens, or closes, at an instant; the first one's where none does.
    pub(crate) fn window_at(&self, at: Timestamp, opens: bool) -> usize {
        let edge = if opens { Edge::Open } else { Edge::Close };
        let fires = |gate: &Gate| last_at_or_before(gate.edges.of(edge), at, &gate.zone) == Some(at);
        self.gates.iter().position(fires).unwrap_or_default()
    }

    /// Returns the position of the window that opened last at or before an instant; the first one's where none did.
    pub(crate) fn opened_last(&self, at: Timestamp) -> usize {
        let last = |gate: &Gate| last_at_or_before(&gate.edges.open, at, &gate.zone);
        // Of several at one instant the first one counts.
        let all = self.gates.iter().map(last).enumerate().rev();
        all.max_by_key(|(_, opened)| *opened).map_or(0, |(position, _)| position)
    }

    /// Returns the first firing of one edge of any window strictly after an instant.
    fn next(&self, edge: Edge, after: Timestamp) -> Option<Timestamp> {
        self.gates.iter().filter_map(|gate| next_in_chain(gate.edges.of(edge), after, &gate.zone)).min()
    }

    /// Returns the first opening after an instant at which the gate is closed.
    fn open_while_closed(&self, closed: Timestamp) -> Option<Timestamp> {
        self.open_until(closed, Timestamp::MAX)
    }

    /// Returns the first opening after an instant at which the gate is closed, and before another instant.
    fn open_until(&self, closed: Timestamp, to: Timestamp) -> Option<Timestamp> {
        let mut after = closed;
        for _ in 0..TIES {
            let open = self.next(Edge::Open, after).filter(|open| *open < to)?;
            let tied = self
                .gates
                .iter()
                .any(|gate| last_at_or_before(&gate.edges.close, open, &gate.zone) == Some(open));
            if !tied {
                return Some(open);
            }
            after = open;
        }
        None
    }

    /// Returns the pairs with their zones, in the order of the windows.
    pub(super) fn gates(&self) -> impl Iterator<Item = (&WindowEdges, &TimeZone)> {
        self.gates.iter().map(|gate| (&gate.edges, &gate.zone))
    }

    /// Returns the firings of all openings and closings in `from..to`, in order, at most so many of each; the
    /// closing comes after the opening of the same instant. Where there are more, it ends where the first of
    /// them ends.
    pub(super) fn edges(&self, from: Timestamp, to: Timestamp, most: usize) -> Vec<(Timestamp, bool)> {
        let before = Timestamp::from_second(floor(from) - 1).unwrap_or(Timestamp::MIN);
        let mut edges: Vec<(Timestamp, bool)> = Vec::new();
        let mut end = to;
        for gate in &self.gates {
            for (expr, opens) in [(&gate.edges.open, true), (&gate.edges.close, false)] {
                let last = last_at_or_before(expr, before, &gate.zone).unwrap_or(before);
                let firings = expr.times(last, &gate.zone).skip_while(|at| *at < from);
                let count = edges.len();
                edges.extend(firings.take_while(|at| *at < to).take(most).map(|at| (at, opens)));
                if edges.len() - count == most {
                    end = end.min(edges.last().map_or(end, |edge| edge.0));
                }
            }
        }
        edges.sort_unstable_by_key(|&(at, opens)| (at, !opens));
        edges.dedup();
        edges.retain(|edge| edge.0 <= end);
        edges
    }
}

/// The intervals of a [`Timeline`], from [`Timeline::intervals`].
///
/// Each step is a bounded search; after the last opening or closing it ends.
#[derive(Debug)]
pub struct Intervals<'t> {
    timeline: &'t Timeline,
    first: Option<Interval>,
    at: Timestamp,
    to: Timestamp,
}

impl Iterator for Intervals<'_> {
    type Item = Interval;

    fn next(&mut self) -> Option<Interval> {
        let interval = match self.first.take() {
            Some(first) => first,
            None => {
                // Opening at the very start of the range is seen by `is_open`, so this is strictly after.
                let open = self.timeline.open_until(self.at, self.to)?;
                let close = self.timeline.next(Edge::Close, open).unwrap_or(Timestamp::MAX);
                Interval { open, close }
            }
        };
        if interval.open >= self.to || self.at >= self.to {
            return None;
        }
        self.at = interval.close;
        Some(interval)
    }
}

/// Returns the last firing at or before an instant; `None` where there is none in nine years.
///
/// robfig/cron only searches forward, and what it finds around a change of the clocks can depend on where it
/// begins. The CronJob controller begins at the last run. So the start goes back in growing steps until two
/// firings are found, of which the later one was then reached from a firing.
pub(super) fn last_at_or_before(expr: &Recurrence, at: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let last = last_second(expr, floor(at), &mut Local::new(zone))?;
    Timestamp::from_second(last).ok()
}

/// Returns the first firing after an instant, reached from the last firing before it as the controller does.
pub(super) fn next_in_chain(expr: &Recurrence, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let mut local = Local::new(zone);
    let after = floor(after);
    let last = last_second(expr, after, &mut local).unwrap_or(after);
    Timestamp::from_second(expr.next_second(last, &mut local)?).ok()
}

fn last_second(expr: &Recurrence, at: i64, local: &mut Local<'_>) -> Option<i64> {
    let mut back = expr.usual_distance();
    loop {
        let mut from = at - back;
        let (mut last, mut count) = (None, 0);
        while let Some(next) = expr.next_second(from, local)
            && next <= at
        {
            last = Some(next);
            count += 1;
            from = next;
        }
        if count >= 2 || back == LOOK_BACK {
            return last;
        }
        back = (back * 4).min(LOOK_BACK);
    }
}
