//! What opens and closes the gate of a type.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::diagnostic::Diagnostic;
use crate::schedule::{
    Changing, Interval, OpenTimes, Settle, Stretch, Timeline, Window, WindowEdges, WindowError,
};
use crate::spec::exceptions::is_endless;
use crate::spec::{Placed, Spec, WindowDef};

/// What opens and closes the gate of a type in one or more clusters.
#[derive(Clone, Debug)]
pub struct GateSchedule {
    opens: Opens,
    /// The windows as a pair of CronJobs keeps them; `None` of a table that no windows are known of.
    pair: Option<Timeline>,
    /// The windows, in the order of the spec.
    pub windows: Vec<Window>,
    /// The zones of the windows, in their order; UTC where none is set.
    pub zones: Vec<TimeZone>,
    /// Zones, openings and closings; equal for equal schedules and no others.
    pub key: String,
}

/// What decides when a gate is open.
#[derive(Clone, Debug)]
enum Opens {
    /// CronJobs that run at openings and closings, and turn one switch.
    Jobs(Timeline),
    /// A table at which they look again and again.
    Table(OpenTimes),
}

impl GateSchedule {
    /// Makes the schedule of a type in a cluster: its windows, and with a table its freezes and overrides too.
    ///
    /// # Errors
    ///
    /// As [`new`](GateSchedule::new).
    pub fn of(spec: &Spec, cluster: &str, type_name: &str) -> Result<GateSchedule, Vec<Diagnostic>> {
        let own = GateSchedule::new(&spec.windows_of(cluster, type_name), spec.later(cluster))?;
        let Some(times) = spec.open_times(cluster, type_name)? else { return Ok(own) };
        let mut key = own.key.clone();
        let freezes = times.freezes().iter().map(|one| ("freeze", one));
        for (what, one) in freezes.chain(times.overrides().iter().map(|one| ("override", one))) {
            let Interval { open, close } = one.interval;
            key += &format!("{what}\t{open}\t{close}\t{}\n", one.reason);
        }
        Ok(GateSchedule { opens: Opens::Table(times), key, ..own })
    }

    /// Makes the schedule of a table, as it stands in a cluster's CronJob.
    pub fn of_table(times: OpenTimes) -> GateSchedule {
        GateSchedule {
            opens: Opens::Table(times),
            pair: None,
            windows: Vec::new(),
            zones: Vec::new(),
            key: String::new(),
        }
    }

    /// Makes the schedule of a type's windows in a cluster that opens and closes so many minutes later.
    ///
    /// # Errors
    ///
    /// When a zone or a time is none that Kubernetes takes, or a window has no openings and closings; a spec
    /// that was read has none of these.
    pub fn new(defs: &[&Placed<WindowDef>], later: u32) -> Result<GateSchedule, Vec<Diagnostic>> {
        let windows: Vec<Window> = defs.iter().map(|def| def.schedule()).collect::<Result<_, _>>()?;
        GateSchedule::of_windows(windows, later).map_err(|(position, error)| {
            let def = defs[position];
            let place = def.text(error.key).map_or(&def.place, |text| &text.place);
            vec![Diagnostic::error(error.message).at(place.clone()).help(error.help)]
        })
    }

    /// Makes the schedule of windows, wherever they come from, so many minutes later.
    ///
    /// # Errors
    ///
    /// The first window that has no openings and closings, by its position, with what is wrong.
    pub fn of_windows(windows: Vec<Window>, later: u32) -> Result<GateSchedule, (usize, WindowError)> {
        let mut edges = Vec::with_capacity(windows.len());
        for (position, window) in windows.iter().enumerate() {
            let own = window.edges().map_err(|error| (position, error))?.later(later);
            edges.push((own, window.zone_or_utc()));
        }
        Ok(GateSchedule { windows, ..GateSchedule::of_edges(edges) })
    }

    /// Makes the schedule of openings and closings in their zones.
    pub(super) fn of_edges(edges: impl IntoIterator<Item = (WindowEdges, TimeZone)>) -> GateSchedule {
        let edges: Vec<(WindowEdges, TimeZone)> = edges.into_iter().collect();
        let key =
            edges.iter().map(|(own, zone)| format!("{}\t{}\t{}\n", zone_name(zone), own.open, own.close));
        let (key, zones) = (key.collect(), edges.iter().map(|(_, zone)| zone.clone()).collect());
        let pair = Timeline::of_pairs(edges);
        GateSchedule { opens: Opens::Jobs(pair.clone()), pair: Some(pair), windows: Vec::new(), zones, key }
    }

    /// Returns what is left of a table without the freezes and overrides that another schedule does not keep; `None`
    /// without a table.
    pub(super) fn keeping(&self, other: &GateSchedule) -> Option<GateSchedule> {
        let (Opens::Table(own), Opens::Table(table)) = (&self.opens, &other.opens) else { return None };
        Some(GateSchedule { opens: Opens::Table(own.keeping(table)), ..self.clone().marked() })
    }

    /// Returns how long before the end of each open time nothing new is let in; none without a table, whose jobs close as a
    /// window ends.
    pub fn settle(&self) -> Settle {
        match &self.opens {
            Opens::Table(own) => own.settle(),
            Opens::Jobs(_) => Settle::NONE,
        }
    }

    /// Lets nothing new in as long before each end as another schedule does.
    #[must_use]
    pub(super) fn settling_as(self, other: &GateSchedule) -> GateSchedule {
        let settle = other.settle();
        let opens = match self.opens {
            Opens::Table(own) => Opens::Table(own.settling(settle)),
            opens @ Opens::Jobs(_) => opens,
        };
        GateSchedule { opens, ..self }
    }

    /// Returns the windows as a pair of CronJobs keeps them, without a table; `None` where no windows are known.
    pub(super) fn as_pair(&self) -> Option<GateSchedule> {
        Some(GateSchedule { opens: Opens::Jobs(self.pair.clone()?), ..self.clone().marked() })
    }

    /// Lets another table count until this one has arrived ([`OpenTimes::after`]); `None` where one of both has none.
    pub(super) fn after(&self, former: &GateSchedule, arrives: Interval) -> Option<GateSchedule> {
        let (Opens::Table(own), Opens::Table(older)) = (&self.opens, &former.opens) else { return None };
        let opens = Opens::Table(own.clone().after(older.clone(), arrives));
        Some(GateSchedule { opens, ..self.clone().marked() })
    }

    /// Returns the instant before which another table may count ([`Schedules::until_applied`](super::Schedules::until_applied)).
    pub fn changes(&self) -> Option<Timestamp> {
        let Opens::Table(own) = &self.opens else { return None };
        own.changes()
    }

    /// Says what a table does that arrives while the gate is open ([`OpenTimes::changing`]).
    pub fn changing(&self, at: Timestamp) -> Option<Changing> {
        let Opens::Table(own) = &self.opens else { return None };
        own.changing(at)
    }

    /// Is another one than that of the spec.
    pub(super) fn marked(self) -> GateSchedule {
        GateSchedule { key: self.key + "in Git\n", ..self }
    }

    /// Tells it in the zones of another one, where it has none itself.
    #[must_use]
    pub(super) fn in_zones_of(self, other: &GateSchedule) -> GateSchedule {
        let zones = if self.zones.is_empty() { other.zones.clone() } else { self.zones };
        GateSchedule { zones, ..self }
    }

    /// Returns whether another one has the same windows and the same table.
    pub fn is_same(&self, other: &GateSchedule) -> bool {
        let is_same = match (&self.opens, &other.opens) {
            (Opens::Table(own), Opens::Table(table)) => own == table,
            (Opens::Jobs(_), Opens::Jobs(_)) => true,
            _ => false,
        };
        is_same && self.key == other.key
    }

    /// Returns the state at an instant and the changes after it.
    pub fn times(&self, at: Timestamp) -> GateTimes {
        let (open, next_open, next_close) = match &self.opens {
            Opens::Jobs(own) => (own.is_open(at), own.next_open(at), own.next_close(at)),
            Opens::Table(own) => (own.is_open(at), own.next_open(at), own.next_close(at)),
        };
        let lets_in_until = match &self.opens {
            Opens::Jobs(_) => next_close,
            Opens::Table(own) => own.lets_in_until(at),
        };
        let window = |at: Option<Timestamp>, opens: bool| at.map_or(0, |at| self.window_at(at, opens));
        GateTimes {
            open,
            next_open,
            next_close,
            lets_in_until,
            opens: window(next_open, true),
            closes: window(next_close, false),
            race: self.race_near(at),
        }
    }

    /// As [`times`](GateSchedule::times), of what is new: the end of an open time that lets nothing new in counts as closed.
    pub fn letting_in(&self, at: Timestamp) -> GateTimes {
        let times = self.times(at);
        if !times.open || times.lets_in_until.is_none_or(|until| at < until) {
            return times;
        }
        let next = times.next_open.map(|open| self.times(open));
        GateTimes {
            open: false,
            next_close: next.and_then(|next| next.next_close),
            lets_in_until: next.and_then(|next| next.lets_in_until),
            closes: next.map_or(0, |next| next.closes),
            ..times
        }
    }

    /// As [`closed_since`](GateSchedule::closed_since), of what is new.
    pub fn shut_since(&self, at: Timestamp) -> Option<Timestamp> {
        let times = self.times(at);
        if times.open {
            return times.lets_in_until.filter(|until| *until <= at);
        }
        let closed = self.closed_since(at)?;
        let before =
            closed.checked_sub(Span::new().seconds(1)).ok().filter(|_| self.settle() != Settle::NONE);
        before.map_or(Some(closed), |before| self.times(before).lets_in_until)
    }

    /// Returns the state at an instant at which nothing has closed yet, of jobs that are there since another one: a
    /// CronJob makes up for no time before it was made (Kubernetes, `mostRecentScheduleTime`). `None` where something
    /// has closed by then.
    ///
    /// `tick` is how many minutes lie between two looks at a table, which closes at the first one; 0 for a pair of jobs.
    pub fn before_first_closing(&self, at: Timestamp, since: Timestamp, tick: u32) -> Option<GateTimes> {
        let (is_open, first) = match (&self.opens, tick) {
            (Opens::Jobs(own), 0) => (own.is_open(at), own.first_closing(since)),
            // The spec has a table, and the pair that stands knows nothing of it yet.
            (Opens::Table(_), 0) => {
                self.pair.as_ref().map(|own| (own.is_open(at), own.first_closing(since)))?
            }
            (Opens::Jobs(own), tick) => (own.is_open(at), look(since, tick, 1)),
            (Opens::Table(own), tick) => (own.is_open(at), look(since, tick, 1)),
        };
        if is_open || first.is_some_and(|first| first <= at) {
            return None;
        }
        let next_open = first.and_then(|first| match &self.opens {
            Opens::Jobs(own) => own.next_open(first),
            Opens::Table(own) => own.next_open(first),
        });
        Some(self.open_until(first, next_open))
    }

    /// Returns the state at an instant at which it is closed, of what waits only from a later opening on; `None` where it is
    /// open. Without such an opening it never waits.
    pub fn before_brought(&self, at: Timestamp, opening: Option<Timestamp>) -> Option<GateTimes> {
        let now = self.times(at);
        if now.open {
            return None;
        }
        let then = opening.map(|opening| (opening, self.times(opening)));
        let first =
            then.and_then(|(opening, times)| if times.open { times.next_close } else { Some(opening) });
        let next_open = first.and_then(|first| self.times(first).next_open);
        Some(self.open_until(first, next_open))
    }

    /// Returns the state of what is open until its first closing, with the opening after that.
    fn open_until(&self, first: Option<Timestamp>, next_open: Option<Timestamp>) -> GateTimes {
        GateTimes {
            open: true,
            next_open,
            next_close: first,
            lets_in_until: first,
            opens: next_open.map_or(0, |at| self.window_at(at, true)),
            closes: first.map_or(0, |at| self.window_at(at, false)),
            race: None,
        }
    }

    /// Returns the first and the last instant of the table; `None` without one.
    pub fn bounds(&self) -> Option<Interval> {
        let Opens::Table(own) = &self.opens else { return None };
        Some(own.bounds())
    }

    /// Returns the position of the window that opens, or closes, at an instant; the first one's where none does.
    pub fn window_at(&self, at: Timestamp, opens: bool) -> usize {
        match &self.opens {
            _ if self.zones.len() < 2 => 0,
            Opens::Jobs(own) => own.window_at(at, opens),
            Opens::Table(own) if opens => own.window_at(at).unwrap_or_default(),
            Opens::Table(own) => {
                let before = at.checked_sub(Span::new().seconds(1)).unwrap_or(at);
                own.window_at(before).unwrap_or_default()
            }
        }
    }

    /// Returns the position of the window that is open at an instant; `None` where an override alone is.
    pub fn window_open_at(&self, at: Timestamp) -> Option<usize> {
        match &self.opens {
            _ if self.zones.len() < 2 => Some(0),
            Opens::Jobs(own) => Some(own.opened_last(at)),
            Opens::Table(own) => own.window_at(at),
        }
    }

    /// Returns the intervals that are open at some time in `from..to`, in order and not cut to it.
    pub fn intervals(&self, from: Timestamp, to: Timestamp) -> Box<dyn Iterator<Item = Interval> + '_> {
        match &self.opens {
            Opens::Jobs(own) => Box::new(own.intervals(from, to)),
            Opens::Table(own) => Box::new(own.intervals(from, to)),
        }
    }

    /// Returns the instant since which the gate, closed at `at`, is closed; `None` where it is open, or nothing is known
    /// of when it was.
    pub fn closed_since(&self, at: Timestamp) -> Option<Timestamp> {
        match &self.opens {
            Opens::Jobs(own) => own.closed_since(at),
            Opens::Table(own) => own.closed_since(at),
        }
    }

    /// Returns the last instant at or before one at which jobs close what they name, open or not; `tick` is how many minutes
    /// lie between two looks at a table, each of which closes, and 0 for a pair of jobs.
    pub fn last_closing(&self, at: Timestamp, tick: u32) -> Option<Timestamp> {
        match &self.opens {
            Opens::Jobs(own) if tick == 0 => own.last_closing(at),
            Opens::Table(_) if tick == 0 => self.pair.as_ref()?.last_closing(at),
            _ => look(at, tick, 0),
        }
    }

    /// Returns whether two Jobs race at an instant; those that look at one table do not.
    pub fn races_at(&self, at: Timestamp) -> bool {
        matches!(&self.opens, Opens::Jobs(own) if own.races_at(at))
    }

    /// Returns the race that decides what is said of an instant.
    pub fn race_near(&self, at: Timestamp) -> Option<Timestamp> {
        let Opens::Jobs(own) = &self.opens else { return None };
        own.race_near(at)
    }

    /// Returns the freezes and the overrides that count; none without a table, nor of one that is read back from a CronJob.
    pub fn stretches(&self) -> (&[Stretch], &[Stretch]) {
        let Opens::Table(own) = &self.opens else { return (&[], &[]) };
        if self.pair.is_none() {
            return (&[], &[]);
        }
        (own.freezes(), own.overrides())
    }

    /// Returns the freeze because of which the gate, closed at `at`, opens no earlier than at `open`; `None` where none takes
    /// time in between in which it would be open.
    pub fn delay(&self, at: Timestamp, open: Timestamp) -> Option<&Stretch> {
        let Opens::Table(own) = &self.opens else { return None };
        own.delay(at, open)
    }

    /// Returns the freeze that holds at an instant.
    pub fn freeze_at(&self, at: Timestamp) -> Option<&Stretch> {
        let Opens::Table(own) = &self.opens else { return None };
        own.freeze_at(at)
    }

    /// Returns the override that opens at an instant, which no window does; none of a table that is read back from a CronJob,
    /// which knows intervals alone.
    pub fn override_at(&self, at: Timestamp) -> Option<&Stretch> {
        let Opens::Table(own) = &self.opens else { return None };
        self.pair.as_ref()?;
        own.override_at(at).filter(|_| own.window_at(at).is_none() && own.is_open(at))
    }

    /// Returns a freeze that ends only when somebody removes it.
    pub fn endless_freeze(&self) -> Option<&Stretch> {
        self.stretches().0.iter().find(|freeze| is_endless(freeze.interval))
    }

    /// Returns the zone of the window at a position; UTC where there is none.
    pub fn zone(&self, window: usize) -> TimeZone {
        self.zones.get(window).cloned().unwrap_or(TimeZone::UTC)
    }

    /// Returns the zones of the windows, each once.
    pub fn distinct_zones(&self) -> Vec<TimeZone> {
        let mut zones: Vec<TimeZone> = Vec::new();
        for zone in &self.zones {
            if !zones.contains(zone) {
                zones.push(zone.clone());
            }
        }
        zones
    }
}

/// Returns the last instant at or before another one at which a job of `*/tick * * * *` runs, or one of those after it.
fn look(at: Timestamp, tick: u32, later: i64) -> Option<Timestamp> {
    const HOUR: i64 = 3_600;
    let (tick, second) = (i64::from(tick) * 60, at.as_second());
    let hour = second.div_euclid(HOUR) * HOUR;
    let look = ((second - hour) / tick + later) * tick;
    Timestamp::from_second(hour + look.min(HOUR)).ok()
}

/// Returns the name of a zone of a window.
pub(crate) fn zone_name(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("UTC")
}

/// The state of a gate at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateTimes {
    /// Whether it is open.
    pub open: bool,
    /// When it turns from closed to open next; `None` where that does not happen within five years.
    pub next_open: Option<Timestamp>,
    /// When it turns from open to closed next; `None` as above.
    pub next_close: Option<Timestamp>,
    /// From this instant until the next closing nothing new is let in, so that what was let in lands before that; the next
    /// closing itself where something is let in until then.
    pub lets_in_until: Option<Timestamp>,
    /// The position of the window that opens next.
    pub opens: usize,
    /// The position of the window that closes next.
    pub closes: usize,
    /// The instant, last or next, at which something opens and something closes, so that the times above are
    /// not certain.
    pub race: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_open_time_is_closed_for_what_is_new() {
        let interval = |open: i64, close: i64| Interval { open: at(open), close: at(close) };
        let times = OpenTimes::of_intervals([interval(1_000, 5_000), interval(9_000, 9_400)], []);
        let schedule = GateSchedule::of_table(times.settling(Settle::of_minutes(5)));
        let told = |now: i64| {
            let second = |at: Option<Timestamp>| at.map_or(0, Timestamp::as_second);
            let (new, all) = (schedule.letting_in(at(now)), schedule.times(at(now)));
            let since = second(schedule.shut_since(at(now)));
            ([new.open, all.open], [new.next_open, new.next_close, new.lets_in_until].map(second), since)
        };
        assert_eq!(told(500), ([false, false], [1_000, 5_000, 4_700], 0));
        assert_eq!(told(1_000), ([true, true], [9_000, 5_000, 4_700], 0));
        assert_eq!(told(4_699), ([true, true], [9_000, 5_000, 4_700], 0));
        // A quarter of the shorter one.
        assert_eq!(told(4_700), ([false, true], [9_000, 9_400, 9_300], 4_700));
        assert_eq!(told(6_000), ([false, false], [9_000, 9_400, 9_300], 4_700));
        assert_eq!(told(9_299), ([true, true], [0, 9_400, 9_300], 0));
        assert_eq!(told(9_300), ([false, true], [0, 0, 0], 9_300));
        assert_eq!(told(20_000), ([false, false], [0, 0, 0], 9_300));
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_table_that_is_read_back_has_no_overrides() {
        let interval = Interval {
            open: Timestamp::from_second(100).unwrap(),
            close: Timestamp::from_second(200).unwrap(),
        };
        let schedule = GateSchedule::of_table(OpenTimes::of_intervals([interval], []));
        assert!(schedule.times(interval.open).open);
        assert_eq!(schedule.override_at(interval.open), None);
        assert_eq!(schedule.stretches(), (&[][..], &[][..]));
    }
}
