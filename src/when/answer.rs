//! The schedules of the sides at an instant.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::fleet::{
    Fleet, GateSchedule, GateState, GateTimes, KustomizationName, Part, Schedules, Side, Undivided,
};
use crate::delivery::{
    Doubt, History, Model, Stuck, Unclosed, Waiting, begun, has_never_come, left_suspended, unclosed, unread,
};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::plan::edit::prepare::is_remembering;
use crate::repo::{Appeared, OtherRevision};
use crate::schedule::{Changing, Interval, Stretch};
use crate::spec::Spec;
use crate::spec::exceptions::is_endless;
use crate::when::Selected;
use crate::when::note::is_idle;
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
    /// As [`Selected::elsewhere`].
    pub elsewhere: BTreeMap<String, BTreeSet<OtherRevision>>,
    /// As [`Selected::unclear`].
    pub unclear: BTreeMap<String, BTreeSet<String>>,
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
    /// The entry point that is divided, or will be; the folder itself where there is nothing to divide.
    pub entry: Option<RepoPath>,
    /// The Flux Kustomization; `None` where neither Git nor a CronJob names one.
    pub kustomization: Option<KustomizationName>,
    /// What holds changes back.
    pub gate: GateState,
    /// The state of the windows, whether or not something closes outside of them; `None` without windows.
    pub times: Option<GateTimes>,
    /// When the window ends that is open and lets nothing new in any more; [`times`](Line::times) speak of what is new.
    pub settles: Option<Timestamp>,
    /// The type for whose windows it waits.
    pub(super) waits_for: Option<String>,
    /// The windows, as a position in [`Schedules::distinct`].
    pub(super) schedule: Option<usize>,
    /// Whether the gate in Git goes by other times than the spec says.
    pub is_otherwise: bool,
    /// What it depends on that waits itself, by name and with its times as far as they are known; of real-time alone.
    pub awaited: Option<(String, Option<GateTimes>)>,
    /// Why the times stop being open at the next closing; `None` where there is none.
    pub closes_by: Option<CloseReason>,
    /// The end of the table, where it is why nothing opens any more.
    pub ended: Option<Timestamp>,
    /// From the first to the last instant of the table that says when it is open, where there is one.
    pub table: Option<Interval>,
    /// Since when the CronJobs are there that close it, where nothing has closed it yet.
    pub before_first_closing: Option<Appeared>,
    /// Whether it is open as what applies it waits itself, and brings its held source only then.
    pub is_brought: bool,
    /// Whether it is open as nothing has ever brought its gate to the cluster.
    pub is_uncome: bool,
    /// Whether it is only taken for closed, as Git does not tell whether the CronJobs were there at the last closing.
    pub is_assumed: bool,
    /// Whether it does not build.
    pub is_failing: bool,
    /// Why no split divides it.
    pub undivided: Option<Undivided>,
    /// The real-time Flux Kustomization that depends on it, so that no gate suspends it.
    pub needed_by: Option<String>,
    /// Why the spec wants no gate of the cluster.
    pub ungated: Option<Ungated>,
    /// Whether it is handed over and not finished, so that its CronJobs do not run yet.
    pub is_unfinished: bool,
    /// Why the cluster may not have the gate that closes it.
    pub gate_doubt: Option<Doubt>,
    /// Whether the gate before suspended it, so that its CronJobs with a table do not resume it.
    pub is_left_suspended: bool,
    /// The instant by which the gate has what Git says of its times, where until then the times before may count.
    pub changes: Option<Timestamp>,
    /// What that does meanwhile to what is open now or next.
    pub changing: Option<Changing>,
    /// Whether Flux Operator has read nothing yet for its held source, which is not there then.
    pub is_unread: bool,
    /// The freeze that holds at the instant.
    pub freeze: Option<Stretch>,
    /// The freeze that takes what would be the next opening.
    pub delay: Option<Stretch>,
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

/// Why a spec with windows wants no gate of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ungated {
    /// It says so: `hasGate: false`.
    Spec,
    /// It does not name the cluster.
    Unnamed,
}

impl Ungated {
    fn of(spec: &Spec, cluster: &str) -> Option<Ungated> {
        let is_named = spec.ungated.contains_key(cluster);
        let ungated = if is_named { Ungated::Spec } else { Ungated::Unnamed };
        (spec.has_gated_type() && !spec.gates(cluster)).then_some(ungated)
    }
}

impl Answer {
    /// Takes back that something is closed which nothing has closed yet: no CronJob held it at the closing that would have
    /// ([`begun`]). Notes too what is on its way to Flux Kustomizations of its own.
    #[must_use]
    pub fn with_history(mut self, model: &Model, schedules: &Schedules, history: &dyn History) -> Answer {
        let target = |line: &Line| {
            let own = line.kustomization.as_ref()?;
            Some(GateTarget { namespace: own.namespace.clone(), name: own.name.clone() })
        };
        let waits = |line: &Line| {
            let schedule = &schedules.distinct()[line.closed_by_jobs()?];
            Some((line.cluster.clone(), target(line)?, schedule))
        };
        let closes = |line: &&mut Line| matches!(line.gate, GateState::Closes | GateState::Foreign);
        for line in self.lines.iter_mut().filter(closes) {
            let job = target(line).and_then(|target| model.closings.running(&line.cluster, &target));
            line.gate_doubt = job.and_then(|job| job.doubt.clone());
            let is_unmoved = |target: GateTarget| has_never_come(model, &line.cluster, &target, history);
            if line.gate_doubt.is_some() && target(line).is_some_and(is_unmoved) {
                line.gate = GateState::Unmoved;
            }
        }
        for line in self.lines.iter_mut().filter(|line| line.gate == GateState::NoJob) {
            let Some(own) = &line.kustomization else { continue };
            let mut named = model.flux_named(&line.cluster, &own.name);
            line.is_unfinished = named.any(|flux| {
                (flux.namespace.is_empty() || flux.namespace == own.namespace) && is_remembering(flux)
            });
        }
        self.note_left_suspended(model, schedules, history);
        let found = self.lines.iter().map(waits).enumerate();
        let found: Vec<_> = found.filter_map(|(position, one)| Some((position, one?))).collect();
        let waiting = found.iter().map(|(_, (cluster, target, schedule))| Waiting {
            cluster,
            target: target.clone(),
            schedule,
        });
        let waiting: Vec<Waiting<'_>> = waiting.collect();
        let unread = unread(model, &waiting, self.at, history);
        for ((position, _), is_unread) in found.iter().zip(unread) {
            self.lines[*position].is_unread = is_unread;
        }
        let all = begun(model, &waiting, self.at, history);
        for ((position, (.., schedule)), begun) in found.iter().zip(all) {
            let line = &mut self.lines[*position];
            let Some(begun) = begun else { continue };
            line.is_assumed = begun.assumed().is_some();
            line.is_brought = begun.is_brought();
            line.is_uncome = begun.is_uncome();
            if let Some(times) = begun.times(schedule, self.at) {
                line.open_zone = schedule.zone(times.opens);
                line.close_zone = schedule.zone(times.closes);
                line.closes_by = times.next_close.map(|close| CloseReason::of(schedule, close));
                line.next_freeze = times.next_close.and_then(|close| schedule.freeze_at(close).cloned());
                (line.freeze, line.delay, line.changing) = (None, None, None);
                (line.times, line.before_first_closing) = (Some(times), Some(begun.appeared));
            }
        }
        self
    }
}

impl Answer {
    /// Notes what its CronJobs leave suspended ([`left_suspended`]).
    fn note_left_suspended(&mut self, model: &Model, schedules: &Schedules, history: &dyn History) {
        let at = self.at;
        let held = self.lines.iter_mut().filter(|line| line.gate == GateState::Closes);
        let (mut waiting, mut lines) = (Vec::new(), Vec::new());
        for line in held {
            let Some((position, own)) = line.schedule.zip(line.kustomization.as_ref()) else { continue };
            let target = GateTarget { namespace: own.namespace.clone(), name: own.name.clone() };
            waiting.push((line.cluster.clone(), target, &schedules.distinct()[position]));
            lines.push(line);
        }
        let waiting: Vec<Waiting<'_>> = waiting
            .iter()
            .map(|(cluster, target, schedule)| Waiting { cluster, target: target.clone(), schedule })
            .collect();
        for (line, is_left) in lines.into_iter().zip(left_suspended(model, &waiting, at, history)) {
            line.is_left_suspended = is_left;
        }
    }

    /// Returns the types of clusters of which every gate has never come.
    pub fn uncome(&self) -> BTreeSet<(String, String)> {
        let closes = self.lines.iter().filter(|line| line.gate == GateState::Closes);
        let of = |line: &Line| Some((line.cluster.clone(), line.waits_for.clone()?));
        let (uncome, others): (Vec<&Line>, Vec<&Line>) = closes.partition(|line| line.is_uncome);
        let others: BTreeSet<(String, String)> = others.into_iter().filter_map(of).collect();
        uncome.into_iter().filter_map(of).filter(|one| !others.contains(one)).collect()
    }

    /// Returns the first closings of what nothing has closed yet ([`unclosed`]).
    pub fn unclosed(&self) -> Unclosed {
        unclosed(self.lines.iter().filter(|line| line.gate == GateState::Closes).filter_map(|line| {
            let first = line.times.filter(|_| line.before_first_closing.is_some());
            let key = (line.cluster.clone(), line.waits_for.clone()?);
            Some((key, first.and_then(|times| times.next_close)))
        }))
    }
}

impl Line {
    /// Says why a change that is merged at the instant waits, or does not.
    pub fn reason(&self, at: Timestamp) -> Reason {
        Reason::of(self, at)
    }

    /// Returns whether a gate closes it, and no opening is known that comes.
    pub(super) fn never_opens(&self) -> bool {
        let has_none = self.times.is_some_and(|times| times.next_open.is_none());
        self.gate == GateState::Closes && self.ended.is_none() && !self.is_open() && has_none
    }

    /// Returns whether a freeze without an end holds, or takes what would be the next opening.
    pub(super) fn is_frozen_for_ever(&self) -> bool {
        [&self.freeze, &self.delay].into_iter().flatten().any(|freeze| is_endless(freeze.interval))
    }

    /// Returns the schedule by which CronJobs close it; `None` where it is open.
    fn closed_by_jobs(&self) -> Option<usize> {
        let closes = matches!(self.gate, GateState::Closes | GateState::Unseen | GateState::Foreign);
        let is_closed = self.times.is_some_and(|times| !times.open);
        self.schedule.filter(|_| closes && is_closed)
    }

    /// Returns whether a change that is merged at the instant waits for nothing but Flux.
    pub fn is_open(&self) -> bool {
        match self.gate {
            _ if self.is_left_suspended || self.is_unsaid() => false,
            GateState::Closes | GateState::Unseen => self.times.is_none_or(|times| times.open),
            // When CronJobs open that the spec says nothing of is not always known.
            GateState::Foreign => self.times.is_some_and(|times| times.open),
            GateState::Unmoved => false,
            _ => !self.is_behind(),
        }
    }

    /// Returns whether it waits for something that is closed.
    pub(super) fn is_behind(&self) -> bool {
        self.awaited.as_ref().and_then(|(_, times)| *times).is_some_and(|times| !times.open)
    }

    /// Returns the instant from which a change that is merged at `at` can reach the cluster; `None` where no
    /// window opens again, nothing is known of when, or nothing of the cluster is in the repository.
    pub fn reaches(&self, at: Timestamp) -> Option<Timestamp> {
        if self.lands_never() || self.folder.is_none() || self.is_left_suspended || self.is_unsaid() {
            None
        } else if let Some((_, times)) = &self.awaited {
            times.and_then(|times| if times.open { Some(at) } else { times.next_open })
        } else if self.is_open() {
            Some(at)
        } else {
            self.times.and_then(|times| times.next_open)
        }
    }

    /// Returns whether Git itself says that nothing lands at all.
    pub fn lands_never(&self) -> bool {
        self.is_failing || self.stuck().is_some()
    }

    /// Returns what it depends on that is not in Git, so that nobody knows when it lands.
    pub fn unsaid(&self) -> Option<&str> {
        let own = self.kustomization.as_ref()?.unsaid.as_deref();
        own.filter(|_| !self.lands_never() && self.folder.is_some())
    }

    /// Returns the Flux Kustomization of the gate that closes it now, and what that depends on and is not in Git: nobody knows
    /// whether the cluster has the gate.
    pub(super) fn unsaid_gate(&self) -> Option<(&str, &str)> {
        let is_closed = self.times.is_some_and(|times| !times.open) && !self.lands_never();
        match self.gate_doubt.as_ref().filter(|_| is_closed)? {
            Doubt::Unsaid(above, other) => Some((above, other)),
            Doubt::Suspended(_) | Doubt::Unbuilt(_) | Doubt::Unprivileged(..) => None,
        }
    }

    /// Returns whether nobody knows when it lands, for what is not in Git.
    pub(super) fn is_unsaid(&self) -> bool {
        self.unsaid().is_some() || self.unsaid_gate().is_some()
    }

    /// Returns why it is open whether the cluster has it.
    pub fn doubt(&self) -> Option<&Doubt> {
        self.kustomization.as_ref()?.doubt.as_ref()
    }

    /// Returns whether a gate leaves it out since Git suspends what brings it.
    pub(super) fn is_left_out(&self) -> bool {
        matches!(self.doubt(), Some(Doubt::Suspended(_))) && (self.gate == GateState::NoJob || is_idle(self))
    }

    /// Returns why nothing lands at all, where Git itself says so.
    pub fn stuck(&self) -> Option<&Stuck> {
        self.kustomization.as_ref()?.stuck.as_ref()
    }
}

/// Returns the end of a table, where nothing opens any more and no freeze without an end is why.
fn ended(schedule: &GateSchedule, times: &GateTimes) -> Option<Timestamp> {
    let end = schedule.bounds()?.close;
    let is_over = !times.open && times.next_open.is_none() && end < Timestamp::MAX;
    (is_over && schedule.endless_freeze().is_none()).then_some(end)
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
    let mut times_of = |position: usize| {
        *known[position].get_or_insert_with(|| schedules.distinct()[position].letting_in(at))
    };
    let mut line = |side: &Side| {
        let schedule = side.schedule.map(|position| (position, &schedules.distinct()[position]));
        let times = side.schedule.map(&mut times_of);
        let awaited = side.awaited.as_ref().filter(|_| side.gate == GateState::RealTime);
        let awaited = awaited.map(|one| (one.name.clone(), one.schedule.map(&mut times_of)));
        let opening = times.filter(|times| !times.open).and_then(|times| times.next_open);
        let opening_now = times.and_then(|times| if times.open { Some(at) } else { times.next_open });
        let delay = opening.and_then(|open| schedule?.1.delay(at, open).cloned());
        // What is open and opens no more after that.
        let last = times.filter(|times| times.open && times.next_open.is_none());
        let settles = times.filter(|times| !times.open).and_then(|_| {
            let whole = schedule?.1.times(at);
            whole.next_close.filter(|_| whole.open)
        });
        let delay = delay.or_else(|| last.and(schedule)?.1.endless_freeze().cloned());
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
            entry: side.entry.clone(),
            kustomization: side.kustomization.clone(),
            gate: side.gate,
            times,
            settles,
            waits_for: side.waits_for.clone(),
            schedule: side.schedule,
            is_otherwise: matches!(side.gate, GateState::Closes | GateState::Unseen)
                && side.schedule.is_some_and(|position| schedules.is_otherwise(position)),
            awaited,
            closes_by: closing.map(|(_, reason)| reason),
            ended: schedule.and_then(|(_, schedule)| ended(schedule, &times?)),
            table: schedule.and_then(|(_, schedule)| schedule.bounds()),
            before_first_closing: None,
            is_uncome: false,
            is_assumed: false,
            is_brought: false,
            gate_doubt: None,
            is_left_suspended: false,
            changes: schedule.and_then(|(_, schedule)| schedule.changes()).filter(|by| *by > at),
            changing: opening_now.and_then(|at| schedule?.1.changing(at)),
            is_unread: false,
            is_failing: side.kustomization.as_ref().is_some_and(|own| own.fails),
            undivided: side.undivided,
            needed_by: None,
            ungated: Ungated::of(spec, &side.cluster),
            is_unfinished: false,
            delay,
            next_freeze: closing.and_then(|(close, _)| schedule?.1.freeze_at(close).cloned()),
            freeze: schedule.and_then(|(_, schedule)| schedule.freeze_at(at).cloned()),
            given: schedule.and_then(|(_, schedule)| schedule.override_at(at).cloned()),
            zones: schedule.map_or_else(Vec::new, |(_, schedule)| schedule.distinct_zones()),
            open_zone: zone(times.map_or(0, |times| times.opens)),
            close_zone: zone(times.map_or(0, |times| times.closes)),
        }
    };
    let lines = selected.sides.iter().map(|position| line(&fleet.sides[*position])).collect();
    let Selected { unreached, elsewhere, unclear, .. } = selected.clone();
    Answer { at, local, lines, unreached, elsewhere, unclear }
}
