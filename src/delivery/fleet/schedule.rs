//! The schedules of a spec, each distinct one once.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::diagnostic::Diagnostic;
use crate::schedule::{Timeline, Window, WindowError};
use crate::spec::{Placed, Spec, WindowDef};

/// What opens and closes the gate of a type in one or more clusters.
#[derive(Clone, Debug)]
pub struct GateSchedule {
    /// When it is open.
    pub timeline: Timeline,
    /// The windows, in the order of the spec.
    pub windows: Vec<Window>,
    /// The zones of the windows, in their order; UTC where none is set.
    pub zones: Vec<TimeZone>,
    /// Zones and cron expressions; equal for equal schedules and no others.
    pub key: String,
}

impl GateSchedule {
    /// Makes the schedule of a type's windows.
    ///
    /// # Errors
    ///
    /// When a zone or a time is none that Kubernetes takes, or a window has no pair of cron expressions; a spec
    /// that was read has none of these.
    pub fn new(defs: &[&Placed<WindowDef>]) -> Result<GateSchedule, Vec<Diagnostic>> {
        let windows: Vec<Window> = defs.iter().map(|def| def.schedule()).collect::<Result<_, _>>()?;
        GateSchedule::of_windows(windows).map_err(|(position, error)| {
            let def = defs[position];
            let place = def.text(error.key).map_or(&def.place, |text| &text.place);
            vec![Diagnostic::error(error.message).at(place.clone()).help(error.help)]
        })
    }

    /// Makes the schedule of windows, wherever they come from.
    ///
    /// # Errors
    ///
    /// The first window that has no pair of cron expressions, by its position, with what is wrong.
    pub fn of_windows(windows: Vec<Window>) -> Result<GateSchedule, (usize, WindowError)> {
        let mut pairs = Vec::with_capacity(windows.len());
        let mut key = String::new();
        for (position, window) in windows.iter().enumerate() {
            let zone = window.zone_or_utc();
            let pair = window.pair().map_err(|error| (position, error))?;
            key += &format!("{}\t{}\t{}\n", zone_name(&zone), pair.open, pair.close);
            pairs.push((pair, zone));
        }
        let zones = pairs.iter().map(|(_, zone)| zone.clone()).collect();
        Ok(GateSchedule { timeline: Timeline::of_pairs(pairs), windows, zones, key })
    }

    /// Gives the state at an instant and the changes after it.
    pub fn times(&self, at: Timestamp) -> GateTimes {
        let (next_open, next_close) = (self.timeline.next_open(at), self.timeline.next_close(at));
        let window = |at: Option<Timestamp>, opens: bool| match at {
            Some(at) if self.zones.len() > 1 => self.timeline.window_at(at, opens),
            _ => 0,
        };
        GateTimes {
            open: self.timeline.is_open(at),
            next_open,
            next_close,
            opens: window(next_open, true),
            closes: window(next_close, false),
            race: self.timeline.race_near(at),
        }
    }

    /// Gives the zone of the window at a position; UTC where there is none.
    pub fn zone(&self, window: usize) -> TimeZone {
        self.zones.get(window).cloned().unwrap_or(TimeZone::UTC)
    }

    /// Gives the zones of the windows, each once.
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

/// Gives the name of a zone of a window.
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
    /// The position of the window that opens next.
    pub opens: usize,
    /// The position of the window that closes next.
    pub closes: usize,
    /// The instant, last or next, at which something opens and something closes, so that the times above are
    /// not certain.
    pub race: Option<Timestamp>,
}

/// The schedules of a spec: which type waits for which in which cluster.
#[derive(Clone, Debug, Default)]
pub struct Schedules {
    distinct: Vec<GateSchedule>,
    by_type: BTreeMap<String, usize>,
    by_cluster: BTreeMap<(String, String), usize>,
}

impl Schedules {
    /// Makes the schedules of a spec.
    ///
    /// # Errors
    ///
    /// Those of [`GateSchedule::new`], of all windows that are used.
    pub fn new(spec: &Spec) -> Result<Schedules, Vec<Diagnostic>> {
        let mut schedules = Schedules::default();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut errors = Vec::new();
        let mut add = |defs: &[&Placed<WindowDef>], distinct: &mut Vec<GateSchedule>| {
            let schedule = match GateSchedule::new(defs) {
                Ok(schedule) => schedule,
                Err(diagnostics) => {
                    errors.extend(
                        diagnostics.into_iter().filter(|new| !errors.contains(new)).collect::<Vec<_>>(),
                    );
                    return None;
                }
            };
            Some(*known.entry(schedule.key.clone()).or_insert_with(|| {
                distinct.push(schedule);
                distinct.len() - 1
            }))
        };
        for change_type in spec.types.iter().filter(|change_type| !change_type.is_real_time()) {
            let defs: Vec<&Placed<WindowDef>> =
                change_type.windows.iter().filter_map(|name| spec.windows.get(&name.value)).collect();
            if let Some(index) = add(&defs, &mut schedules.distinct) {
                schedules.by_type.insert(change_type.name.value.clone(), index);
            }
        }
        for (cluster, def) in &spec.clusters {
            for type_name in def.windows.keys() {
                let defs = spec.windows_of(cluster, type_name);
                if let Some(index) = add(&defs, &mut schedules.distinct) {
                    schedules.by_cluster.insert((cluster.clone(), type_name.clone()), index);
                }
            }
        }
        if errors.is_empty() { Ok(schedules) } else { Err(errors) }
    }

    /// Gives every distinct schedule; positions in it are what [`Schedules::of`] answers.
    pub fn distinct(&self) -> &[GateSchedule] {
        &self.distinct
    }

    /// Gives the position of the schedule of a type in a cluster; `None` for a real-time one.
    pub fn of(&self, cluster: &str, type_name: &str) -> Option<usize> {
        if self.by_cluster.is_empty() {
            return self.by_type.get(type_name).copied();
        }
        let own = self.by_cluster.get(&(cluster.to_owned(), type_name.to_owned()));
        own.or_else(|| self.by_type.get(type_name)).copied()
    }
}
