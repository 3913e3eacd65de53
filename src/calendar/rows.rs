//! What a calendar shows: a row for each distinct schedule of a type.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::Unclosed;
use crate::delivery::fleet::{GateSchedule, Schedules};
use crate::schedule::{Interval, Stretch};
use crate::spec::Spec;

/// The most closings of a row that are looked at for an opening at the same instant; a longer list has it sooner.
const LOOKED_AT: usize = 500;

/// The windows of some clusters over a range.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// The first instant.
    pub from: Timestamp,
    /// The first instant that is no longer shown.
    pub to: Timestamp,
    /// The zone of its days.
    pub zone: TimeZone,
    /// How many clusters were asked for.
    pub clusters: usize,
    /// The types without a window, which are always open.
    pub real_time: Vec<String>,
    /// The gated types in the order of the spec; for each its schedules, in the order of their first clusters.
    pub rows: Vec<Row>,
    /// Instants to be pointed at in a picture, each with what happens.
    pub marks: Vec<(Timestamp, String)>,
}

/// Clusters in which a type has the same windows.
#[derive(Clone, Debug)]
pub struct Row {
    /// The type.
    pub change_type: String,
    /// The clusters, in the order of the spec.
    pub clusters: Vec<String>,
    /// What closes outside of the windows.
    pub closes: Closes,
    /// The zone of its first window.
    pub zone: TimeZone,
    /// The first closing, where nothing has closed yet.
    pub first_closing: Option<Timestamp>,
    /// The times that are open in the range, in order and not cut to it.
    pub times: Vec<OpenTime>,
    /// The freezes in the range, in order and not cut to it.
    pub freezes: Vec<Stretch>,
    /// The overrides in the range, alike; also where a window is open too, or a freeze holds.
    pub overrides: Vec<Stretch>,
    /// The first instant in the range at which something opens and something closes, so that the order of two Jobs
    /// decides; the gate is taken for closed.
    pub race: Option<Timestamp>,
    /// Whether there are more intervals than are held.
    pub is_cut: bool,
}

/// What closes outside of the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closes {
    /// The gate.
    Gate,
    /// Nothing: the gate is off.
    Off,
    /// Nothing: no gate holds anything of the type, so that changes land at once.
    Nothing,
}

/// A time that a gate is open.
#[derive(Clone, Debug)]
pub struct OpenTime {
    /// When.
    pub interval: Interval,
    /// The zone of the window that opens it.
    pub zone: TimeZone,
    /// Why it is open, where an override opens it and no window does.
    pub reason: Option<String>,
    /// When a window opens in it, where it is open from the beginning as nothing has closed it yet.
    pub window: Option<Timestamp>,
}

impl Row {
    /// Returns the overrides that no time of the row tells.
    pub fn untold(&self) -> impl Iterator<Item = &Stretch> {
        let tells = |time: &OpenTime, given: &Stretch| {
            time.interval == given.interval && time.reason.as_ref() == Some(&given.reason)
        };
        self.overrides.iter().filter(move |given| !self.times.iter().any(|time| tells(time, given)))
    }

    /// Returns whether something closes outside of the windows.
    pub fn is_closing(&self) -> bool {
        self.closes == Closes::Gate
    }

    /// Returns the zone of the window that opens first in the range, or else of the first one.
    pub fn zone(&self) -> &TimeZone {
        self.times.first().map_or(&self.zone, |time| &time.zone)
    }
}

/// What holds changes of a cluster back, of which no spec says a type.
#[derive(Clone, Debug)]
pub struct Gated<'s> {
    /// What opens and closes.
    pub name: String,
    /// The cluster.
    pub cluster: String,
    /// When it is open.
    pub schedule: Cow<'s, GateSchedule>,
    /// The first closing, where nothing has closed yet.
    pub first_closing: Option<Timestamp>,
}

impl Row {
    /// A row of no cluster yet, of a schedule that does something in a range which begins `from` an instant on.
    fn new(name: String, found: &Found, schedule: &GateSchedule, closing: Closing, from: Timestamp) -> Row {
        let (closes, first_closing) = closing;
        Row {
            change_type: name,
            clusters: Vec::new(),
            closes,
            zone: schedule.zone(0),
            first_closing,
            times: found.times_since(schedule, first_closing, from),
            freezes: found.freezes.clone(),
            overrides: found.overrides.clone(),
            race: found.race,
            is_cut: found.is_cut,
        }
    }
}

/// What closes, and its first closing where nothing has closed yet.
type Closing = (Closes, Option<Timestamp>);

impl Calendar {
    /// Collects when gates are open in a range, with days as `zone` has them: those of one name that are open alike stand in
    /// one row.
    ///
    /// `clusters` is how many there are; a row holds at most so many intervals as `most` says.
    pub fn of_gates(
        gates: &[Gated<'_>],
        clusters: usize,
        Interval { open: from, close: to }: Interval,
        zone: TimeZone,
        most: usize,
    ) -> Calendar {
        let (real_time, marks) = (Vec::new(), Vec::new());
        let mut calendar = Calendar { from, to, zone, clusters, real_time, rows: Vec::new(), marks };
        let mut firsts: Vec<&Gated<'_>> = Vec::new();
        for gate in gates {
            let is_alike = |first: &&Gated<'_>| {
                first.name == gate.name
                    && first.first_closing == gate.first_closing
                    && first.schedule.is_same(&gate.schedule)
            };
            let position = firsts.iter().position(is_alike).unwrap_or_else(|| {
                let found = Found::new(&gate.schedule, from, to, most);
                let closing = (Closes::Gate, gate.first_closing);
                calendar.rows.push(Row::new(gate.name.clone(), &found, &gate.schedule, closing, from));
                firsts.push(gate);
                firsts.len() - 1
            });
            calendar.rows[position].clusters.push(gate.cluster.clone());
        }
        calendar
    }

    /// Collects the windows of some clusters in a range, with days as `zone` has them.
    ///
    /// A row holds at most so many intervals as `most` says.
    pub fn new(
        spec: &Spec,
        schedules: &Schedules,
        clusters: &[String],
        unclosed: &Unclosed,
        Interval { open: from, close: to }: Interval,
        zone: TimeZone,
        most: usize,
    ) -> Calendar {
        let mut calendar = Calendar {
            from,
            to,
            zone,
            clusters: clusters.len(),
            real_time: Vec::new(),
            rows: Vec::new(),
            marks: Vec::new(),
        };
        let mut known: BTreeMap<usize, Found> = BTreeMap::new();
        for change_type in &spec.types {
            let name = &change_type.name.value;
            if change_type.is_real_time() {
                calendar.real_time.push(name.clone());
                continue;
            }
            let mut groups: BTreeMap<(usize, Closes, Option<Timestamp>), usize> = BTreeMap::new();
            for cluster in clusters {
                let Some(position) = schedules.of(cluster, name) else { continue };
                let closes = if spec.gate_enabled(cluster) { Closes::Gate } else { Closes::Off };
                let first_closing = unclosed.get(&(cluster.clone(), name.clone())).copied();
                let row = *groups.entry((position, closes, first_closing)).or_insert_with(|| {
                    let schedule = &schedules.distinct()[position];
                    let found = known.entry(position).or_insert_with(|| Found::new(schedule, from, to, most));
                    let closing = (closes, first_closing);
                    calendar.rows.push(Row::new(name.clone(), found, schedule, closing, from));
                    calendar.rows.len() - 1
                });
                calendar.rows[row].clusters.push(cluster.clone());
            }
        }
        calendar
    }

    /// Leaves out types in clusters where no window opens them.
    #[must_use]
    pub fn without(mut self, unmoved: &BTreeSet<(String, String)>) -> Calendar {
        for row in &mut self.rows {
            let change_type = row.change_type.clone();
            row.clusters.retain(|cluster| !unmoved.contains(&(cluster.clone(), change_type.clone())));
        }
        self.rows.retain(|row| !row.clusters.is_empty());
        self
    }

    /// Notes the types of clusters of which no gate holds anything: these stand in rows of their own.
    #[must_use]
    pub fn with_free(mut self, free: &BTreeSet<(String, String)>) -> Calendar {
        let apart = |row: Row| {
            let (own, held): (Vec<String>, Vec<String>) = row
                .clusters
                .iter()
                .cloned()
                .partition(|cluster| free.contains(&(cluster.clone(), row.change_type.clone())));
            let closes = if row.closes == Closes::Gate { Closes::Nothing } else { row.closes };
            let own = Row { clusters: own, closes, ..row.clone() };
            [Row { clusters: held, ..row }, own]
        };
        self.rows = self.rows.into_iter().flat_map(apart).filter(|row| !row.clusters.is_empty()).collect();
        self
    }
}

/// What a schedule does in the range.
struct Found {
    times: Vec<OpenTime>,
    freezes: Vec<Stretch>,
    overrides: Vec<Stretch>,
    race: Option<Timestamp>,
    is_cut: bool,
}

impl Found {
    fn new(schedule: &GateSchedule, from: Timestamp, to: Timestamp, most: usize) -> Found {
        let mut intervals: Vec<Interval> =
            schedule.intervals(from, to).take(most.saturating_add(1)).collect();
        let is_cut = intervals.len() > most;
        intervals.truncate(most);
        let closings =
            intervals.iter().map(|interval| interval.close).filter(|close| *close < to).take(LOOKED_AT);
        let race = schedule.race_near(from).filter(|race| (from..to).contains(race));
        let race = race.or_else(|| closings.into_iter().find(|close| schedule.races_at(*close)));
        let window = |interval: &Interval| schedule.window_at(interval.open, true);
        let times = intervals
            .into_iter()
            .map(|interval| OpenTime {
                zone: schedule.zone(window(&interval)),
                reason: schedule.override_at(interval.open).map(|given| given.reason.clone()),
                window: None,
                interval,
            })
            .collect();
        let (freezes, overrides) = schedule.stretches();
        let shown = |stretches: &[Stretch]| {
            let within = stretches.iter().filter(|one| one.interval.clip(from, to).is_some());
            let mut within: Vec<Stretch> = within.cloned().collect();
            within.sort();
            within
        };
        Found { times, freezes: shown(freezes), overrides: shown(overrides), race, is_cut }
    }

    /// Returns the times that are open where the windows count only from the first closing: before it nothing closes.
    fn times_since(
        &self,
        schedule: &GateSchedule,
        first: Option<Timestamp>,
        from: Timestamp,
    ) -> Vec<OpenTime> {
        let Some(first) = first.filter(|first| *first > from) else { return self.times.clone() };
        let later = self.times.iter().filter(|time| time.interval.close > first);
        let later = later.map(|time| {
            let interval = Interval { open: time.interval.open.max(first), ..time.interval };
            OpenTime { interval, ..time.clone() }
        });
        let until = OpenTime {
            // What nothing has closed was never opened either.
            interval: Interval { open: Timestamp::MIN, close: first },
            zone: schedule.zone(schedule.window_at(first, false)),
            reason: None,
            window: self
                .times
                .iter()
                .map(|time| time.interval)
                .find(|own| own.close == first)
                .map(|own| own.open),
        };
        std::iter::once(until).chain(later).collect()
    }
}
