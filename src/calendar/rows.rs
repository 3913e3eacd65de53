//! What a calendar shows: a row for each distinct schedule of a type.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::fleet::Schedules;
use crate::schedule::Interval;
use crate::spec::Spec;

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
}

/// Clusters in which a type has the same windows.
#[derive(Clone, Debug)]
pub struct Row {
    /// The type.
    pub change_type: String,
    /// The clusters, in the order of the spec.
    pub clusters: Vec<String>,
    /// Whether the CronJobs run; if not, nothing closes outside of the windows.
    pub enabled: bool,
    /// The zone of the windows.
    pub zone: TimeZone,
    /// Tells this schedule from others, the same in every run.
    pub key: String,
    /// The intervals that are open at some time in the range, in order and not cut to it.
    pub intervals: Vec<Interval>,
    /// Whether there are more intervals than are held.
    pub is_cut: bool,
}

impl Calendar {
    /// Collects the windows of some clusters in `from..to`, with days as `zone` has them.
    ///
    /// A row holds at most so many intervals as `most` says.
    pub fn new(
        spec: &Spec,
        schedules: &Schedules,
        clusters: &[String],
        from: Timestamp,
        to: Timestamp,
        zone: TimeZone,
        most: usize,
    ) -> Calendar {
        let mut calendar =
            Calendar { from, to, zone, clusters: clusters.len(), real_time: Vec::new(), rows: Vec::new() };
        let mut known: BTreeMap<usize, (Vec<Interval>, bool)> = BTreeMap::new();
        for change_type in &spec.types {
            let name = &change_type.name.value;
            if change_type.is_real_time() {
                calendar.real_time.push(name.clone());
                continue;
            }
            let mut groups: BTreeMap<(usize, bool), usize> = BTreeMap::new();
            for cluster in clusters {
                let Some(position) = schedules.of(cluster, name) else { continue };
                let enabled = spec.gate_enabled(cluster);
                let row = *groups.entry((position, enabled)).or_insert_with(|| {
                    let schedule = &schedules.distinct()[position];
                    let (intervals, is_cut) = known.entry(position).or_insert_with(|| {
                        let mut found: Vec<Interval> =
                            schedule.timeline.intervals(from, to).take(most.saturating_add(1)).collect();
                        let is_cut = found.len() > most;
                        found.truncate(most);
                        (found, is_cut)
                    });
                    calendar.rows.push(Row {
                        change_type: name.clone(),
                        clusters: Vec::new(),
                        enabled,
                        zone: schedule.zone.clone(),
                        key: schedule.key.clone(),
                        intervals: intervals.clone(),
                        is_cut: *is_cut,
                    });
                    calendar.rows.len() - 1
                });
                calendar.rows[row].clusters.push(cluster.clone());
            }
        }
        calendar
    }
}
