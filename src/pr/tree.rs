//! One of two trees, and when what a Flux Kustomization of it builds reaches its cluster.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::delivery::fleet::{GateSchedule, GateTimes, Schedules};
use crate::delivery::{
    ASSUMED, Applier, BOOTSTRAP, Begun, BuiltJob, Cluster, Held, History, Hold, Holds, Reached, Sides,
    UNCLOSED, Unclosed, Waiting, World, begun, ready_after, unclosed,
};
use crate::mechanism::GateTarget;
use crate::pr::landing::{Landing, State};
use crate::repo::duration;
use crate::schedule::{self, CronExpr, Stretch, Window, WindowForm};
use crate::spec::Spec;
use crate::spec::exceptions::is_endless;

/// How many `dependsOn` are followed one after another; Flux refuses cycles only when it meets them.
const DEEPEST: usize = 64;

/// What holds a Flux Kustomization back at an instant.
pub(super) struct Gate {
    pub(super) times: GateTimes,
    /// The zone of the window that opens next.
    zone: TimeZone,
    /// The first closing, where nothing has closed yet.
    first_closing: Option<Timestamp>,
    /// Whether it is only taken for closed, as Git does not tell whether the CronJobs were there at the last closing.
    is_assumed: bool,
    /// Since when it is closed; `None` where it is open.
    since: Option<Timestamp>,
    /// The freeze that holds at the instant.
    freeze: Option<Stretch>,
    /// The freeze that takes what would be the next opening.
    delay: Option<Stretch>,
    /// The override that lets changes in, now or next, where no window does.
    given: Option<Stretch>,
    /// The end of the table of open times, where it goes by one.
    end: Option<Timestamp>,
    /// How much later than its windows it may open: how often its jobs look at a table.
    tick: Duration,
}

/// When Flux Kustomizations of one cluster apply a commit, by namespace and name, as far as it was worked out: many may
/// depend on one.
type Known<'k> = BTreeMap<(&'k str, &'k str), Landing>;

/// A cluster, and a Flux Kustomization of it.
type Key = (String, GateTarget);

/// One of two trees, with what decides when its changes land.
pub struct Tree<'a> {
    /// The files and what they mean.
    pub world: World<'a>,
    /// What is wanted, where there is a spec.
    pub spec: Option<&'a Spec>,
    holds: Holds<'a>,
    schedules: Schedules,
    sides: Sides,
    /// What nothing has closed yet, or may not have.
    begun: BTreeMap<Key, Begun>,
}

impl<'a> Tree<'a> {
    /// Gathers what is asked for often.
    ///
    /// A spec whose schedules are none that Kubernetes takes says nothing of windows; `check` says what is wrong.
    pub fn new(world: World<'a>, spec: Option<&'a Spec>) -> Tree<'a> {
        Tree {
            world,
            spec,
            holds: Holds::new(world.model, spec),
            schedules: spec.and_then(|spec| Schedules::new(spec).ok()).unwrap_or_default(),
            sides: spec.map(|spec| Sides::of(spec, world.model)).unwrap_or_default(),
            begun: BTreeMap::new(),
        }
    }

    /// Takes back that something is closed at an instant which nothing has closed yet, as `when` does ([`begun`]).
    #[must_use]
    pub fn with_history(mut self, at: Timestamp, history: &dyn History) -> Tree<'a> {
        let found: Vec<_> =
            self.closed().filter_map(|(key, one, _)| Some((key, self.schedule_of(one)?))).collect();
        let waiting = found.iter().map(|((cluster, target), schedule)| Waiting {
            cluster,
            target: target.clone(),
            schedule,
        });
        let all = begun(self.world.model, &waiting.collect::<Vec<_>>(), at, history);
        self.begun = found.into_iter().zip(all).filter_map(|((key, _), begun)| Some((key, begun?))).collect();
        self
    }

    /// As [`with_history`](Tree::with_history), of a tree that takes the place of another one at an instant: what is closed
    /// there stays closed, and what only this one closes it closes later.
    #[must_use]
    pub fn in_place_of(mut self, older: &Tree<'_>, at: Timestamp) -> Tree<'a> {
        let known: BTreeSet<Key> = older.closed().map(|(key, ..)| key).collect();
        let begun = |key: &Key, job: &BuiltJob| match known.contains(key) {
            true => older.begun.get(key).map(|begun| begun.by(job)),
            false => Some(Begun::coming(job, at)),
        };
        self.begun =
            self.closed().filter_map(|(key, _, job)| Some((key.clone(), begun(&key, job)?))).collect();
        self
    }

    /// Returns the first closings of what nothing has closed yet at an instant, as `calendar` shows them.
    pub(super) fn unclosed(&self, at: Timestamp) -> Unclosed {
        unclosed(self.closed().filter_map(|((cluster, _), one, _)| {
            let hold = self.hold(&one)?;
            let first = self.gate(&cluster, one.kustomization, &hold, at)?.first_closing;
            let Hold::Window(name) = hold else { return None };
            Some(((cluster, name), first))
        }))
    }

    /// Returns the Flux Kustomizations that jobs close, each with the job; what is held at its source is closed before.
    fn closed(&self) -> impl Iterator<Item = (Key, Applier<'a>, &'a BuiltJob)> {
        let model = self.world.model;
        let all =
            model.delivered.all.iter().flat_map(|own| own.kustomizations.iter().map(move |one| (own, one)));
        all.filter(|(_, one)| one.remote.is_empty()).filter_map(|(own, one)| {
            let key = (own.name.clone(), self.target(one));
            let job = model.closings.running(&key.0, &key.1).filter(|job| job.held.is_none())?;
            Some((key, applier_of(own, one)?, job))
        })
    }

    /// Returns the name of the zone that all windows of a cluster have; `None` where they have several, or no spec says it.
    pub(super) fn zone_of(&self, cluster: &str) -> Option<String> {
        let types = self.spec?.types.iter().filter(|one| !one.is_real_time());
        let own = types.filter_map(|one| self.schedules.of(cluster, &one.name.value));
        let zones = own.filter_map(|position| self.schedules.distinct().get(position));
        let zones: BTreeSet<&str> =
            zones.flat_map(|one| &one.zones).filter_map(TimeZone::iana_name).collect();
        zones.first().filter(|_| zones.len() == 1).map(|name| (*name).to_owned())
    }

    fn schedule_of(&self, applier: Applier<'a>) -> Option<Cow<'_, GateSchedule>> {
        self.schedule(applier.cluster, &self.hold(&applier)?)
    }

    /// Returns the schedules of the spec.
    pub(super) fn schedules(&self) -> &Schedules {
        &self.schedules
    }

    /// Names a Flux Kustomization.
    pub(super) fn target(&self, one: &Reached) -> GateTarget {
        self.holds.target(one.namespace(), one.name())
    }

    /// Returns the job that closes what an applier builds, if one runs.
    pub(super) fn job(&self, applier: &Applier<'_>) -> Option<&'a BuiltJob> {
        self.world.model.closings.running(applier.cluster, &self.target(applier.kustomization?))
    }

    /// Returns the type of all that an applier builds, where it is a side of one.
    pub fn type_of(&self, applier: &Applier<'_>) -> Option<&str> {
        let (_, position) = self.sides.get(&applier.path)?;
        Some(&self.spec?.types.get(*position)?.name.value)
    }

    /// Returns what holds back what an applier builds.
    pub fn hold(&self, applier: &Applier<'_>) -> Option<Hold> {
        let one = applier.kustomization?;
        self.holds.of(applier.cluster, one.namespace(), one.name(), one.path.as_ref())
    }

    /// Returns a Flux Kustomization of a cluster with what holds it back.
    pub fn held_of(&self, cluster: &str, namespace: &str, name: &str) -> Option<(Applier<'a>, Hold)> {
        let applier = self.find(cluster, "", (namespace, name))?;
        let hold = self.hold(&applier)?;
        Some((applier, hold))
    }

    /// Returns the type whose windows should hold back what an applier builds and that no gate of the cluster knows of.
    pub(super) fn unheld(&self, applier: &Applier<'_>) -> Option<Hold> {
        let spec = self.spec?;
        let of_type = spec.change_type(self.type_of(applier)?).filter(|one| !one.is_real_time())?;
        let is_it = self.world.model.closings.closes_any(applier.cluster) && self.hold(applier).is_none();
        is_it.then(|| Hold::Window(of_type.name.value.clone()))
    }

    fn cluster(&self, name: &str) -> Option<&'a Cluster> {
        self.world.model.delivered.named(name)
    }

    /// Returns all that the gates hold back.
    pub(super) fn held(&self) -> Held {
        self.holds.all()
    }

    /// Returns when something that waits only from an instant on is closed first; `None` where that is not known, or it is
    /// closed from the beginning.
    pub(super) fn first_closing(
        &self,
        applier: &Applier<'_>,
        hold: &Hold,
        at: Timestamp,
    ) -> Option<Timestamp> {
        let schedule = self.schedule(applier.cluster, hold).filter(|_| !self.is_held(applier))?;
        let first = schedule.before_first_closing(at, at, self.tick(applier.cluster, hold));
        first.map_or_else(|| schedule.times(at).next_close, |times| times.next_close)
    }

    /// Returns a Flux Kustomization of a cluster.
    pub(super) fn find(
        &self,
        cluster: &str,
        remote: &str,
        (namespace, name): (&str, &str),
    ) -> Option<Applier<'a>> {
        let cluster = self.cluster(cluster)?;
        applier_of(cluster, cluster.reached(remote, (namespace, name))?)
    }

    /// Returns the Flux Kustomization that applies another one.
    pub(super) fn parent(&self, applier: &Applier<'_>) -> Option<Applier<'a>> {
        let one = applier.kustomization?;
        let (namespace, name) = one.applied_by.as_ref()?;
        self.find(applier.cluster, &one.remote, (namespace, name))
    }

    /// Returns when the object of a Flux Kustomization itself is applied.
    pub(super) fn parent_of(&self, applier: &Applier<'_>, merged: Timestamp) -> Landing {
        match self.parent(applier) {
            Some(parent) => self.applied(&parent, merged),
            None => Landing::unknown("Git does not say what applies its Flux Kustomization"),
        }
    }

    /// Tells whether a Flux Kustomization waits at its source, and is not suspended.
    pub(super) fn is_held(&self, applier: &Applier<'_>) -> bool {
        let own = applier.kustomization.zip(self.cluster(applier.cluster));
        own.is_some_and(|(one, cluster)| cluster.is_held(&cluster.fetched(&one.source())))
    }

    /// Returns when what holds something back in a cluster is open; `None` where that is not known.
    fn schedule(&self, cluster: &str, hold: &Hold) -> Option<Cow<'_, GateSchedule>> {
        match hold {
            Hold::Suspended | Hold::Source(_) => None,
            Hold::Window(name) => {
                self.schedules.distinct().get(self.schedules.of(cluster, name)?).map(Cow::Borrowed)
            }
            Hold::Job(name) | Hold::Provider(name) => {
                let (open, close) = self.world.model.closings.pair(cluster, name)?;
                of_pair(open, close).map(Cow::Owned)
            }
        }
    }

    /// Returns how many minutes lie between two looks at a table; 0 where there is none.
    fn tick(&self, cluster: &str, hold: &Hold) -> u32 {
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
        let schedule = self.schedule(cluster, hold)?;
        let times = schedule.times(at);
        let begun = one.and_then(|one| self.begun.get(&(cluster.to_owned(), self.target(one))));
        let begun = begun.filter(|_| !times.open);
        let unclosed = begun.and_then(|begun| begun.times(&schedule, at));
        let since = schedule.closed_since(at).filter(|_| unclosed.is_none());
        let is_assumed = begun.is_some_and(|begun| begun.is_assumed());
        let first_closing = unclosed.and_then(|times| times.next_close);
        let times = unclosed.unwrap_or(times);
        let zone = schedule.zone(if first_closing.is_some() { times.closes } else { times.opens });
        let freeze = schedule.freeze_at(at).filter(|_| first_closing.is_none()).cloned();
        let opening = times.next_open.filter(|_| !times.open);
        let delay = opening.and_then(|open| schedule.delay(at, open).cloned());
        let lets_in = if times.open { Some(at) } else { times.next_open };
        // A table that is read back from a CronJob knows intervals alone.
        let given = lets_in.and_then(|at| schedule.override_at(at)).filter(|given| !given.reason.is_empty());
        let (given, end) = (given.cloned(), schedule.bounds().map(|bounds| bounds.close));
        let tick = Duration::from_secs(u64::from(self.tick(cluster, hold)) * 60);
        Some(Gate { times, zone, first_closing, is_assumed, since, freeze, delay, given, end, tick })
    }

    /// Returns the name of the window that opens next; that of the type or the CronJob where it has none, or none opens it.
    fn window_name(&self, applier: &Applier<'_>, hold: &Hold, at: Timestamp) -> String {
        let named = || {
            let (Hold::Window(name), Some(spec)) = (hold, self.spec) else { return None };
            let gate = self.gate(applier.cluster, applier.kustomization, hold, at)?;
            let own = spec.window_names(applier.cluster, name);
            own.get(gate.times.opens).copied()?.filter(|_| gate.given.is_none()).map(str::to_owned)
        };
        named().unwrap_or_else(|| hold.name().unwrap_or_default().to_owned())
    }

    /// Returns when a commit that is merged at an instant is applied by a Flux Kustomization that the cluster has.
    pub fn applied(&self, applier: &Applier<'_>, merged: Timestamp) -> Landing {
        self.applied_from(applier, merged, DEEPEST, &mut Known::new())
    }

    fn applied_from<'k>(
        &'k self,
        applier: &Applier<'k>,
        merged: Timestamp,
        left: usize,
        known: &mut Known<'k>,
    ) -> Landing {
        let Some(one) = applier.kustomization else {
            return Landing::unknown("Git does not say what applies the folder");
        };
        if applier.spec()["suspend"] == true {
            return Landing::never(format!("Git suspends Flux Kustomization {}", one.name()));
        }
        let id = (one.namespace(), one.name());
        if let Some(landing) = known.get(&id) {
            return landing.clone();
        }
        let own = self.own(applier, one, merged);
        if left == 0 {
            return own;
        }
        // What is met again on the way is part of a circle, which ends here.
        known.insert(id, own.clone());
        let cluster = self.cluster(applier.cluster);
        let dependencies = cluster.into_iter().flat_map(|cluster| cluster.dependencies(one));
        let landing = dependencies.fold(own, |landing, (name, other)| {
            let other = cluster.zip(other).and_then(|(cluster, other)| applier_of(cluster, other));
            let Some(other) = other else {
                return landing.and(Landing::unknown(format!("it depends on {name}, which is not in Git")));
            };
            let mut ready = self.applied_from(&other, merged, left - 1, known);
            let lag = ready_after(other.spec());
            ready.latest = ready.latest.zip(lag).and_then(|(at, lag)| after(at, lag));
            if ready.state != State::AtOnce {
                ready.reason = Some(format!("it depends on {name}"));
            }
            landing.and(ready)
        });
        known.insert(id, landing.clone());
        landing
    }

    /// As [`applied`](Tree::applied), were there no dependencies.
    fn own(&self, applier: &Applier<'_>, one: &Reached, merged: Timestamp) -> Landing {
        let source = self.cluster(applier.cluster).map(|cluster| (cluster, cluster.followed(&one.source())));
        let said = source.as_ref().and_then(|(cluster, source)| cluster.interval(source));
        let fetched = said.unwrap_or(BOOTSTRAP);
        let arrives = after(merged, fetched);
        let interval = duration_of(applier.spec(), "interval");
        let until =
            |start: Option<Timestamp>| start.zip(interval).and_then(|(at, interval)| after(at, interval));
        let told = |landing: Landing| match (interval, said) {
            (None, _) => landing.because(format!("Git does not say the interval of {}", one.name())),
            (_, None) => {
                let source = source.as_ref().map_or_else(|| one.source(), |(_, source)| source.clone());
                landing.because(format!(
                    "{} {} is not in Git; it is assumed to be fetched every minute",
                    source.kind, source.name
                ))
            }
            _ => landing,
        };
        let Some(hold) = self.hold(applier) else {
            return told(Landing::at_once(merged, until(arrives)));
        };
        let name = self.window_name(applier, &hold, merged);
        let gate = |at: Timestamp| self.gate(applier.cluster, Some(one), &hold, at);
        let Some(Gate { times, zone, first_closing, is_assumed, since, freeze, delay, given, end, tick }) =
            gate(merged)
        else {
            return Landing {
                window: Some(name),
                ..Landing::unknown(format!("when {} is not known", hold.opening()))
            };
        };
        let window = |earliest: Timestamp, latest: Option<Timestamp>, deadline: Option<Timestamp>| Landing {
            state: State::Window,
            earliest: Some(earliest),
            latest,
            window: Some(name.clone()),
            freeze: freeze.clone(),
            given: given.clone(),
            zone: zone.iana_name().map(str::to_owned),
            // One that is past is missed.
            deadline,
            otherwise: times.next_close.and_then(|close| gate(close)?.times.next_open),
            first_closing,
            since,
            outruns: false,
            reason: None,
        };
        let until = |start: Option<Timestamp>| until(start).and_then(|at| after(at, tick));
        // The last run in the window has to see it.
        let seen = if self.is_held(applier) { fetched + tick } else { fetched };
        let arrives = after(merged, seen);
        let before = |close: Option<Timestamp>| close?.checked_sub(seen).ok();
        let landing = match (times.open, times.next_open) {
            (true, next) => {
                let deadline = before(times.next_close);
                if times.next_close.is_none_or(|close| arrives.is_some_and(|arrives| arrives < close)) {
                    window(merged, until(arrives), deadline)
                } else {
                    // It may come too late for this opening.
                    let reason = "the window may close before the commit is fetched";
                    window(merged, until(next), deadline).because(reason)
                }
            }
            (false, Some(open)) if freeze.is_some() => {
                let reason = freeze.as_ref().map(|freeze| format!("held by {}", told_of(freeze, &zone)));
                let latest = until(arrives.map(|at| at.max(open)));
                let landing = window(open, latest, before(times.next_close));
                Landing { state: State::Frozen, reason, ..landing }
            }
            (false, Some(open)) => {
                let landing = window(open, until(arrives.map(|at| at.max(open))), before(times.next_close));
                match &delay {
                    Some(delay) => {
                        landing.because(format!("an earlier opening falls into {}", told_of(delay, &zone)))
                    }
                    None => landing,
                }
            }
            (false, None) => {
                let none = match end {
                    Some(end) if end > merged => {
                        format!("no time is open until the table of open times ends, {}", instant(end, &zone))
                    }
                    Some(end) => format!("the table of open times has ended, {}", instant(end, &zone)),
                    None => format!("{} no more within five years", hold.opening()),
                };
                let zone_name = zone.iana_name().map(str::to_owned);
                let never = Landing { window: Some(name), zone: zone_name, ..Landing::never(none) };
                let Some(freeze) = freeze else { return never };
                let after = if is_endless(freeze.interval) { "" } else { ", and nothing opens after it" };
                let reason = Some(format!("held by {}{after}", told_of(&freeze, &zone)));
                return Landing { state: State::Frozen, since, reason, freeze: Some(freeze), ..never };
            }
        };
        let landing = match first_closing {
            Some(_) => landing.because(UNCLOSED),
            None => landing,
        };
        told(if is_assumed { landing.because(ASSUMED) } else { landing })
    }
}

/// Returns the build of a Flux Kustomization of a cluster; `None` where its folder is not known.
fn applier_of<'a>(cluster: &'a Cluster, one: &'a Reached) -> Option<Applier<'a>> {
    Some(Applier { cluster: &cluster.name, path: one.path.clone()?, kustomization: Some(one) })
}

/// Names a freeze by its end and its reason.
fn told_of(freeze: &Stretch, zone: &TimeZone) -> String {
    match is_endless(freeze.interval) {
        true => format!("freeze without end ({})", freeze.reason),
        false => format!("freeze until {} ({})", instant(freeze.interval.close, zone), freeze.reason),
    }
}

fn instant(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M %:z").to_string()
}

/// Returns when two CronJobs open and close; `None` where that is not known.
fn of_pair(open: &BuiltJob, close: &BuiltJob) -> Option<GateSchedule> {
    if let Some(table) = &close.table {
        return Some(GateSchedule::of_table(table.clone()));
    }
    GateSchedule::of_windows(vec![window_of(open, close)?], 0).ok()
}

/// Returns the window that two CronJobs make; `None` where they are of two zones, or not understood.
pub(super) fn window_of(open: &BuiltJob, close: &BuiltJob) -> Option<Window> {
    if open.time_zone != close.time_zone {
        return None;
    }
    let zone = close.time_zone.as_deref().map(schedule::zone::parse).transpose().ok()?;
    let expression = |job: &BuiltJob| CronExpr::parse(&job.schedule).ok();
    Some(Window { zone, form: WindowForm::OpenClose { open: expression(open)?, close: expression(close)? } })
}

pub(super) fn duration_of(spec: &Value, field: &str) -> Option<Duration> {
    duration::parse(spec[field].as_str()?)
}

pub(super) fn after(at: Timestamp, duration: Duration) -> Option<Timestamp> {
    at.checked_add(duration).ok()
}
