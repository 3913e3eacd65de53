//! What holds a Flux Kustomization back, and when it lets it go.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::calendar::Gated;
use crate::delivery::fleet::{GateSchedule, GateTimes};
use crate::delivery::{Applier, Begun, Hold, Reached};
use crate::pr::tree::Tree;
use crate::schedule::{Changing, Stretch};

/// What holds a Flux Kustomization back at an instant.
pub(super) struct Gate {
    /// Of what is new: it is open only as long as it lets something in.
    pub(super) times: GateTimes,
    /// The position of the window that decides: the one that is open, else the one that opens next; of what nothing has
    /// closed yet, the one that closes first.
    pub(super) window: usize,
    /// The zone of that window.
    pub(super) zone: TimeZone,
    /// The first closing, where nothing has closed yet.
    pub(super) first_closing: Option<Timestamp>,
    /// Why it is open that no window opens.
    pub(super) unclosed: Option<&'static str>,
    /// Why it is only taken for closed, where Git does not tell whether the CronJobs were there at the last closing.
    pub(super) assumed: Option<&'static str>,
    /// Since when it is closed; `None` where it is open.
    pub(super) since: Option<Timestamp>,
    /// The freeze that holds at the instant.
    pub(super) freeze: Option<Stretch>,
    /// The freeze that takes what would be the next opening.
    pub(super) delay: Option<Stretch>,
    /// The override that lets changes in, now or next, where no window does.
    pub(super) given: Option<Stretch>,
    /// The end of the table of open times, where it goes by one.
    pub(super) end: Option<Timestamp>,
    /// The instant by which the cluster has a change of the gate that stands in Git; until then the times before may count.
    pub(super) changes: Option<Timestamp>,
    /// What that does meanwhile to what is open now or next.
    pub(super) changing: Option<Changing>,
    /// How much later than its windows it may open: how often its jobs look at a table.
    pub(super) tick: Duration,
}

/// Whether a gate is open at an instant, and what comes next.
pub(super) struct GateState {
    pub(super) is_open: bool,
    next_open: Option<Timestamp>,
    next_close: Option<Timestamp>,
    /// Whether its jobs look at a table, again and again.
    pub(super) has_table: bool,
}

impl GateState {
    /// Returns whether nothing else comes next.
    pub(super) fn is_same(&self, other: &GateState) -> bool {
        let events = |state: &GateState| (state.is_open, state.next_open, state.next_close);
        events(self) == events(other)
    }
}

impl Tree<'_> {
    /// Returns the state of the gate that holds a Flux Kustomization back; `None` where there is none, or its times are not
    /// known.
    pub(super) fn state_of(&self, applier: &Applier<'_>, at: Timestamp) -> Option<GateState> {
        let hold = self.hold(applier)?;
        let GateTimes { open, next_open, next_close, .. } =
            self.gate(applier.cluster, applier.kustomization, &hold, at)?.times;
        let has_table = self.tick(applier.cluster, &hold) > 0;
        Some(GateState { is_open: open, next_open, next_close, has_table })
    }

    /// Returns when what holds something back in a cluster is open; `None` where that is not known.
    ///
    /// Without a Flux Kustomization, of whatever waits alike.
    pub(super) fn schedule(
        &self,
        cluster: &str,
        one: Option<&Reached>,
        hold: &Hold,
    ) -> Option<Cow<'_, GateSchedule>> {
        match hold {
            Hold::Suspended | Hold::Source(_) => None,
            Hold::Window(name) => {
                let target = one.map(|one| self.target(one));
                let position = self.schedules().held(cluster, target.as_ref(), Some(name))?;
                self.schedules().distinct().get(position).map(Cow::Borrowed)
            }
            Hold::Job(name) | Hold::Provider(name) => {
                let closings = &self.world.model.closings;
                let any =
                    || closings.of(cluster).iter().find(|job| job.name == *name)?.targets.first().cloned();
                let target = one.map(|one| self.target(one)).or_else(any)?;
                if let Some(position) = self.schedules().held(cluster, Some(&target), None) {
                    return self.schedules().distinct().get(position).map(Cow::Borrowed);
                }
                closings.schedule(cluster, &target).map(Cow::Owned)
            }
        }
    }

    /// Returns what opens and closes in some clusters at an instant, each once by its name and its cluster.
    pub(super) fn gates(&self, clusters: &[String], at: Timestamp) -> Vec<Gated<'_>> {
        let clusters: BTreeSet<&String> = clusters.iter().collect();
        let mut found = BTreeMap::new();
        for ((cluster, _), one, _) in self.closed().filter(|((cluster, _), ..)| clusters.contains(cluster)) {
            let Some(hold) = self.hold(&one).filter(Hold::opens) else { continue };
            let name = window_of(&hold);
            let key = (name.clone(), cluster.clone());
            let schedule = self.schedule(one.cluster, one.kustomization, &hold);
            if let (Entry::Vacant(entry), Some(schedule)) = (found.entry(key), schedule) {
                let gate = self.gate(&cluster, one.kustomization, &hold, at);
                let first_closing = gate.and_then(|gate| gate.first_closing);
                entry.insert(Gated { name, cluster, schedule, first_closing });
            }
        }
        found.into_values().collect()
    }

    /// Returns whether the gate that holds a Flux Kustomization back goes by other times than the spec says.
    pub(super) fn is_otherwise(&self, applier: &Applier<'_>) -> bool {
        let Some(Hold::Window(name)) = self.hold(applier) else { return false };
        let target = applier.kustomization.map(|one| self.target(one));
        let position = self.schedules().held(applier.cluster, target.as_ref(), Some(&name));
        position.is_some_and(|position| self.schedules().is_otherwise(position))
    }

    /// Returns how many minutes lie between two looks at a table; 0 where there is none.
    pub(super) fn tick(&self, cluster: &str, hold: &Hold) -> u32 {
        match hold {
            Hold::Job(name) | Hold::Provider(name) => {
                self.world.model.closings.pair(cluster, name).map_or(0, |(open, _)| open.tick())
            }
            _ => self.spec.map_or(0, |spec| spec.gate.tick()),
        }
    }

    /// Returns since when a Flux Kustomization of a cluster, by its namespace and name, is closed at an instant; `None` where
    /// it is open, or that is not known.
    pub fn closed_since(
        &self,
        cluster: &str,
        (namespace, name): (&str, &str),
        at: Timestamp,
    ) -> Option<Timestamp> {
        let (applier, hold) = self.held_of(cluster, namespace, name)?;
        let gate = self.gate(cluster, applier.kustomization, &hold, at)?;
        gate.since.filter(|_| !gate.times.open)
    }

    /// Returns what holds a Flux Kustomization of a cluster back at an instant; `None` where its times are not known.
    ///
    /// Without one, whatever waits alike.
    pub(super) fn gate(
        &self,
        cluster: &str,
        one: Option<&Reached>,
        hold: &Hold,
        at: Timestamp,
    ) -> Option<Gate> {
        let schedule = self.schedule(cluster, one, hold)?;
        let times = schedule.letting_in(at);
        let begun = one.and_then(|one| self.begun.get(&(cluster.to_owned(), self.target(one))));
        let begun = begun.filter(|_| !times.open);
        let unclosed = begun.and_then(|begun| begun.times(&schedule, at));
        let since = schedule.shut_since(at).filter(|_| unclosed.is_none());
        let assumed = begun.and_then(|begun| begun.assumed());
        let first_closing = unclosed.and_then(|times| times.next_close);
        let why = begun.filter(|_| unclosed.is_some()).map(Begun::why);
        let times = unclosed.unwrap_or(times);
        let window = match first_closing {
            Some(_) => times.closes,
            None => schedule.window_open_at(at).filter(|_| times.open).unwrap_or(times.opens),
        };
        let zone = schedule.zone(window);
        let freeze = schedule.freeze_at(at).filter(|_| first_closing.is_none()).cloned();
        let opening = times.next_open.filter(|_| !times.open);
        let delay = opening.and_then(|open| schedule.delay(at, open).cloned());
        let lets_in = if times.open { Some(at) } else { times.next_open };
        let given = lets_in.and_then(|at| schedule.override_at(at));
        let (given, end) = (given.cloned(), schedule.bounds().map(|bounds| bounds.close));
        let changes = schedule.changes().filter(|by| *by > at);
        let changing = lets_in.and_then(|at| schedule.changing(at));
        let tick = Duration::from_secs(u64::from(self.tick(cluster, hold)) * 60);
        Some(Gate {
            times,
            window,
            zone,
            first_closing,
            unclosed: why,
            assumed,
            since,
            freeze,
            delay,
            given,
            end,
            changes,
            changing,
            tick,
        })
    }

    /// Returns the name of the window that decides; `None` where it has none, or the gate in Git goes by other times.
    pub(super) fn window_name(&self, applier: &Applier<'_>, hold: &Hold, gate: &Gate) -> Option<String> {
        let (Hold::Window(name), Some(spec)) = (hold, self.spec) else { return None };
        if self.is_otherwise(applier) {
            return None;
        }
        let cluster = applier.cluster;
        let own = spec.window_names(cluster, name);
        own.get(gate.window).copied()?.filter(|_| gate.given.is_none()).map(str::to_owned)
    }

    /// Returns when something that waits only from an instant on is closed first; `None` where that is not known, or it is
    /// closed from the beginning.
    pub(super) fn first_closing(
        &self,
        applier: &Applier<'_>,
        hold: &Hold,
        at: Timestamp,
    ) -> Option<Timestamp> {
        let schedule =
            self.schedule(applier.cluster, applier.kustomization, hold).filter(|_| !self.is_held(applier))?;
        let first = schedule.before_first_closing(at, at, self.tick(applier.cluster, hold));
        first.map_or_else(|| schedule.times(at).next_close, |times| times.next_close)
    }
}

/// Names the window of what holds something back, where it has no name.
pub(super) fn window_of(hold: &Hold) -> String {
    match hold {
        Hold::Job(name) => format!("CronJob {name}"),
        Hold::Provider(name) => format!("ResourceSetInputProvider {name}"),
        other => format!("type {}", other.name().unwrap_or_default()),
    }
}
