//! The schedules of the sides at an instant.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::delivery::Model;
use crate::delivery::fleet::{Fleet, GateState, GateTimes, KustomizationName, Part, Schedules, Side};
use crate::path::RepoPath;
use crate::repo::Appeared;
use crate::schedule::{Interval, Stretch};
use crate::spec::Spec;
use crate::when::Selected;
use crate::when::reason::{CloseReason, Reason};

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
    /// The windows, as a position in [`Schedules::distinct`].
    pub(super) schedule: Option<usize>,
    /// Why the times stop being open at the next closing; `None` where there is none.
    pub closes_by: Option<CloseReason>,
    /// From the first to the last instant of the table that says when it is open, where there is one.
    pub table: Option<Interval>,
    /// Since when the CronJobs are there that close it, where nothing has closed it yet.
    pub before_first_closing: Option<Appeared>,
    /// Whether it is only taken for closed, as Git does not tell whether the CronJobs were there at the last closing.
    pub is_assumed: bool,
    /// The freeze that holds at the instant.
    pub freeze: Option<Stretch>,
    /// The freeze that closes at the next closing.
    pub next_freeze: Option<Stretch>,
    /// The override that lets changes in at the instant, which no window does.
    pub given: Option<Stretch>,
    /// The zones of the windows, each once; none without windows.
    pub zones: Vec<TimeZone>,
    /// The zone of the window that opens next; UTC without windows.
    pub open_zone: TimeZone,
    /// The zone of the window that closes next; UTC without windows.
    pub close_zone: TimeZone,
}

/// Tells since when files stand in Git, looking back to an instant.
pub type History<'a> = dyn Fn(&BTreeSet<RepoPath>, Timestamp) -> BTreeMap<RepoPath, Appeared> + 'a;

impl Answer {
    /// Takes back that something is closed which nothing has closed yet: the CronJobs of its gate came to Git after the
    /// closing that would have. `history` tells since when files stand there, looking back to an instant.
    #[must_use]
    pub fn with_history(
        mut self,
        spec: &Spec,
        model: &Model,
        schedules: &Schedules,
        history: &History<'_>,
    ) -> Answer {
        let mut files = BTreeSet::new();
        let mut since: Option<Timestamp> = None;
        let mut waiting = Vec::new();
        for (position, line) in self.lines.iter().enumerate() {
            let Some(schedule) = line.closed_by_jobs().map(|index| &schedules.distinct()[index]) else {
                continue;
            };
            let found = schedule.closed_since(self.at).zip(line.gate_file(spec, model));
            let Some((closed, file)) = found else { continue };
            since = Some(since.map_or(closed, |since| since.min(closed)));
            files.insert(file.clone());
            waiting.push((position, schedule, file));
        }
        let Some(since) = since else { return self };
        let known = history(&files, since);
        let next = self.at.checked_add(Span::new().seconds(1)).unwrap_or(self.at);
        for (position, schedule, file) in waiting {
            let line = &mut self.lines[position];
            let appeared = known.get(&file).copied().unwrap_or(Appeared::Unknown);
            let there = match appeared {
                Appeared::Before => continue,
                Appeared::Unknown => {
                    line.is_assumed = true;
                    continue;
                }
                // Of a time before the commit it is asked what the windows say.
                Appeared::At(since) if since > self.at => continue,
                Appeared::At(since) => since,
                Appeared::Nowhere => next,
            };
            if let Some(times) = schedule.before_first_closing(self.at, there) {
                line.open_zone = schedule.zone(times.opens);
                line.close_zone = schedule.zone(times.closes);
                line.closes_by = times.next_close.map(|_| CloseReason::Window);
                (line.times, line.before_first_closing) = (Some(times), Some(appeared));
            }
        }
        self
    }
}

/// Returns the file that brings the CronJobs of a cluster's gate to it: the list of the gate's folder, else the closing job
/// that acts on one of the targets, by namespace (empty where a list gives it) and name.
pub fn gate_file(
    spec: &Spec,
    model: &Model,
    cluster: &str,
    is_target: impl Fn(&str, &str) -> bool,
) -> Option<RepoPath> {
    let own = spec.gate_folder(cluster).ok();
    if let Some(list) = own.and_then(|folder| model.graph.get(&folder)) {
        return Some(list.file.clone());
    }
    let acts = |(namespace, name): &(String, String)| is_target(namespace, name);
    let gate = model.gates.iter().find(|gate| gate.close.targets.iter().any(acts));
    gate.map(|gate| gate.close.file.clone())
}

impl Line {
    /// Says why a change that is merged at the instant waits, or does not.
    pub fn reason(&self, at: Timestamp) -> Reason {
        Reason::of(self, at)
    }

    /// Returns the schedule of CronJobs by which it is closed; `None` where it is open, or a table says so.
    fn closed_by_jobs(&self) -> Option<usize> {
        let closes = matches!(self.gate, GateState::Closes | GateState::Unseen);
        let is_closed = self.times.is_some_and(|times| !times.open);
        self.schedule.filter(|_| closes && is_closed && self.table.is_none())
    }

    /// Returns the file that brings the CronJobs of its gate to the cluster.
    fn gate_file(&self, spec: &Spec, model: &Model) -> Option<RepoPath> {
        let target = self.kustomization.as_ref();
        let is_it = |namespace: &str, name: &str| {
            target.is_some_and(|own| name == own.name && (namespace.is_empty() || namespace == own.namespace))
        };
        gate_file(spec, model, &self.cluster, is_it)
    }

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
        let closing = schedule.zip(times.and_then(|times| times.next_close));
        let closing = closing.map(|((_, schedule), close)| (close, CloseReason::of(schedule, close)));
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
            schedule: side.schedule,
            closes_by: closing.map(|(_, reason)| reason),
            table: schedule.and_then(|(_, schedule)| schedule.bounds()),
            before_first_closing: None,
            is_assumed: false,
            next_freeze: closing.and_then(|(close, _)| schedule?.1.freeze_at(close).cloned()),
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
