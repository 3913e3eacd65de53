//! The schedules of a spec, each distinct one once.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::fleet::{GateSchedule, GateTimes};
use crate::diagnostic::Diagnostic;
use crate::mechanism::GateTarget;
use crate::schedule::Interval;
use crate::spec::Spec;

/// The schedules of a spec: which type waits for which in which cluster.
#[derive(Clone, Debug, Default)]
pub struct Schedules {
    pub(super) distinct: Vec<GateSchedule>,
    by_type: BTreeMap<String, usize>,
    pub(super) by_cluster: BTreeMap<(String, String), usize>,
    /// By cluster and Flux Kustomization, where other jobs close it than what else has its type, or no spec says one.
    pub(super) by_target: BTreeMap<(String, GateTarget), usize>,
    /// Those of gates in Git that do otherwise than the spec says.
    pub(super) otherwise: BTreeSet<usize>,
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
        let mut add = |cluster: &str, type_name: &str, distinct: &mut Vec<GateSchedule>| {
            let schedule = match GateSchedule::of(spec, cluster, type_name) {
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
        for change_type in spec.gated_types() {
            // No cluster has this name, so it gets what every other one does.
            let name = &change_type.name.value;
            if let Some(index) = add("", name, &mut schedules.distinct) {
                schedules.by_type.insert(name.clone(), index);
            }
        }
        let differs = !(spec.freezes.is_empty() && spec.overrides.is_empty())
            || spec.waves.is_some()
            || spec.stagger.is_some();
        for (cluster, def) in &spec.clusters {
            for change_type in spec.gated_types() {
                let name = &change_type.name.value;
                if (differs || def.windows.contains_key(name))
                    && let Some(index) = add(cluster, name, &mut schedules.distinct)
                {
                    schedules.by_cluster.insert((cluster.clone(), name.clone()), index);
                }
            }
        }
        if errors.is_empty() { Ok(schedules) } else { Err(errors) }
    }

    /// Returns the zone of all windows of some clusters, or of all clusters where none is named; `None` where they have
    /// several, or there are none.
    pub fn zone(&self, spec: &Spec, clusters: &[String]) -> Option<TimeZone> {
        let positions = match clusters {
            [] => (0..self.distinct.len()).collect(),
            clusters => self.of_clusters(spec, clusters.iter()),
        };
        let mut zones = positions.iter().flat_map(|position| &self.distinct[*position].zones);
        let first = zones.next()?;
        zones.all(|zone| zone == first).then(|| first.clone())
    }

    /// Returns the positions of the schedules of all types of some clusters.
    fn of_clusters<'c>(&self, spec: &Spec, clusters: impl Iterator<Item = &'c String>) -> BTreeSet<usize> {
        let all = clusters.flat_map(|cluster| spec.types.iter().map(move |one| (cluster, &one.name.value)));
        all.filter_map(|(cluster, change_type)| self.of(cluster, change_type)).collect()
    }

    /// Returns whether types of a cluster have windows that differ.
    pub fn has_several(&self, spec: &Spec, cluster: &String) -> bool {
        self.of_clusters(spec, std::iter::once(cluster)).len() > 1
    }

    /// Returns the next time from an instant on, no later than `until`, at which all gated types of some clusters are open
    /// together; `None` where there is none.
    pub fn open_together(
        &self,
        spec: &Spec,
        clusters: &BTreeSet<String>,
        from: Timestamp,
        until: Timestamp,
    ) -> Option<Interval> {
        let positions = self.of_clusters(spec, clusters.iter());
        let mut at = from;
        while at <= until {
            let all: Vec<GateTimes> =
                positions.iter().map(|position| self.distinct[*position].letting_in(at)).collect();
            let closed = all.iter().filter(|times| !times.open).map(|times| times.next_open);
            let Some(later) = closed.max_by_key(|open| open.unwrap_or(Timestamp::MAX)) else {
                let close = all.iter().filter_map(|times| times.next_close).min();
                return Some(Interval { open: at, close: close.unwrap_or(Timestamp::MAX) });
            };
            at = later.filter(|later| *later > at)?;
        }
        None
    }

    /// Returns every distinct schedule; positions in it are what [`Schedules::of`] answers.
    pub fn distinct(&self) -> &[GateSchedule] {
        &self.distinct
    }

    /// Returns the position of the schedule of a type in a cluster; `None` for a real-time one.
    pub fn of(&self, cluster: &str, type_name: &str) -> Option<usize> {
        if self.by_cluster.is_empty() {
            return self.by_type.get(type_name).copied();
        }
        let own = self.by_cluster.get(&(cluster.to_owned(), type_name.to_owned()));
        own.or_else(|| self.by_type.get(type_name)).copied()
    }
}
