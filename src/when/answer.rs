//! The schedules of the sides at an instant.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::fleet::{Fleet, GateState, GateTimes, KustomizationName, Part, Schedules, Side};
use crate::path::RepoPath;
use crate::schedule::Stretch;
use crate::spec::Spec;
use crate::when::Selected;

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The instant that was asked for.
    pub at: Timestamp,
    /// The zone of whoever asks.
    pub local: TimeZone,
    /// A line for each side.
    pub lines: Vec<Line>,
    /// Paths that no entry point reads.
    pub unreached: Vec<String>,
}

/// What is known about one side.
#[derive(Clone, Debug)]
pub struct Line {
    /// The cluster.
    pub cluster: String,
    /// The type; `None` where the entry point is not split.
    pub change_type: Option<String>,
    /// Which part of the changes.
    pub part: Part,
    /// The folder.
    pub folder: Option<RepoPath>,
    /// The Flux Kustomization.
    pub kustomization: Option<KustomizationName>,
    /// What holds changes back.
    pub gate: GateState,
    /// The state of the windows, whether or not something closes outside of them; `None` without windows.
    pub times: Option<GateTimes>,
    /// The freeze that holds at the instant.
    pub freeze: Option<Stretch>,
    /// The override that lets changes in at the instant, which no window does.
    pub given: Option<Stretch>,
    /// The zones of the windows, each once; none without windows.
    pub zones: Vec<TimeZone>,
    /// The zone of the window that opens next; UTC without windows.
    pub open_zone: TimeZone,
    /// The zone of the window that closes next; UTC without windows.
    pub close_zone: TimeZone,
}

impl Line {
    /// Tells whether a change that is merged at the instant waits for nothing but Flux.
    pub fn is_open(&self) -> bool {
        match self.gate {
            GateState::Closes | GateState::Unseen => self.times.is_none_or(|times| times.open),
            _ => true,
        }
    }

    /// Gives the instant from which a change that is merged at `at` can reach the cluster; `None` where no
    /// window opens again, nothing is known of when, or nothing of the cluster is in the repository.
    pub fn reaches(&self, at: Timestamp) -> Option<Timestamp> {
        if self.gate == GateState::Foreign || self.is_suspended() || self.folder.is_none() {
            None
        } else if self.is_open() {
            Some(at)
        } else {
            self.times.and_then(|times| times.next_open)
        }
    }

    /// Tells whether Git itself says that nothing lands.
    pub fn is_suspended(&self) -> bool {
        self.kustomization.as_ref().is_some_and(|kustomization| kustomization.suspended)
    }
}

/// Looks up the sides that were selected; every distinct schedule is searched once.
pub fn answer(
    spec: &Spec,
    fleet: &Fleet,
    schedules: &Schedules,
    selected: &Selected,
    at: Timestamp,
    local: TimeZone,
) -> Answer {
    let mut known: Vec<Option<GateTimes>> = vec![None; schedules.distinct().len()];
    // What needs no window is told in the zone of the cluster's others.
    let mut zones: BTreeMap<&str, TimeZone> = BTreeMap::new();
    for side in &fleet.sides {
        if let Some(position) = side.schedule {
            zones.entry(&side.cluster).or_insert_with(|| schedules.distinct()[position].zone(0));
        }
    }
    let mut line = |side: &Side| {
        let schedule = side.schedule.map(|position| (position, &schedules.distinct()[position]));
        let times =
            schedule.map(|(position, schedule)| *known[position].get_or_insert_with(|| schedule.times(at)));
        let of_cluster = || zones.get(side.cluster.as_str()).cloned().unwrap_or(TimeZone::UTC);
        let zone = |window: usize| schedule.map_or_else(of_cluster, |(_, schedule)| schedule.zone(window));
        let change_type = match side.part {
            Part::Type(position) => Some(spec.types[position].name.value.clone()),
            Part::Whole | Part::Remaining | Part::Support => None,
        };
        Line {
            cluster: side.cluster.clone(),
            change_type,
            part: side.part,
            folder: side.folder.clone(),
            kustomization: side.kustomization.clone(),
            gate: side.gate,
            times,
            freeze: schedule.and_then(|(_, schedule)| schedule.freeze_at(at).cloned()),
            given: schedule.and_then(|(_, schedule)| schedule.override_at(at).cloned()),
            zones: schedule.map_or_else(Vec::new, |(_, schedule)| schedule.distinct_zones()),
            open_zone: zone(times.map_or(0, |times| times.opens)),
            close_zone: zone(times.map_or(0, |times| times.closes)),
        }
    };
    let lines = selected.sides.iter().map(|position| line(&fleet.sides[*position])).collect();
    Answer { at, local, lines, unreached: selected.unreached.clone() }
}
