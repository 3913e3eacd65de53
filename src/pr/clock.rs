//! Finds out when what a Flux Kustomization builds reaches its cluster.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::Value;

use crate::calendar::Calendar;
use crate::delivery::fleet::{GateSchedule, GateTimes, Schedules};
use crate::delivery::inventory::{is_kept, prunes, stays_without};
use crate::delivery::{Applier, BuiltJob, Cluster, Hold, Holds, Pair, Reached, Sides, SourceId, World};
use crate::pr::landing::{Landing, State};
use crate::repo::{Appeared, duration};
use crate::schedule::{self, CronExpr, Stretch, Window, WindowForm};
use crate::spec::Spec;
use crate::when::{self, History};

/// How long kustomize-controller waits before it looks again whether a dependency is ready (`--requeue-dependency`).
const REQUEUE: Duration = Duration::from_secs(30);

/// How often a source is fetched that Git does not hold: as `flux bootstrap` makes it.
const BOOTSTRAP: Duration = Duration::from_secs(60);

/// How many days a picture of the windows shows.
const DRAWN: i64 = 14;

/// How many openings of one row it shows.
const MOST_DRAWN: usize = 1_000;

/// How many `dependsOn` are followed one after another; Flux refuses cycles only when it meets them.
const DEEPEST: usize = 64;

/// What holds a Flux Kustomization back at an instant.
struct Gate {
    times: GateTimes,
    /// The zone of the window that opens next.
    zone: TimeZone,
    /// Since when it is closed; `None` where it is open.
    since: Option<Timestamp>,
    /// The freeze that holds at the instant.
    freeze: Option<Stretch>,
    /// How much later than its windows it may open: how often its jobs look at a table.
    tick: Duration,
}

/// When Flux Kustomizations of one cluster apply a commit, by namespace and name, as far as it was worked out: many may
/// depend on one.
type Known<'k> = BTreeMap<(&'k str, &'k str), Landing>;

/// One of two trees, with what decides when its changes land.
pub struct Tree<'a> {
    /// The files and what they mean.
    pub world: World<'a>,
    /// What is wanted, where there is a spec.
    pub spec: Option<&'a Spec>,
    holds: Holds<'a>,
    schedules: Schedules,
    sides: Sides,
    /// Since when there are the CronJobs of a cluster whose gate has closed nothing yet.
    begun: BTreeMap<String, Timestamp>,
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

    /// Takes back that something is closed at an instant which nothing has closed yet, as `when` does: a CronJob runs no
    /// time before its creation. A gate that looks at a table closes at its first run, whenever that is.
    #[must_use]
    pub fn with_history(mut self, at: Timestamp, history: &History<'_>) -> Tree<'a> {
        let Some(spec) = self.spec.filter(|spec| spec.gate.table.is_none()) else { return self };
        let mut since: Option<Timestamp> = None;
        let mut files = BTreeMap::new();
        for cluster in &self.world.model.delivered.all {
            let gated = spec.types.iter().filter(|one| !one.is_real_time());
            let own = gated.filter_map(|one| self.schedules.of(&cluster.name, &one.name.value));
            let closed = own.filter_map(|index| self.schedules.distinct().get(index)?.closed_since(at)).min();
            let is_target = |namespace: &str, name: &str| {
                let mut own = cluster.kustomizations.iter();
                own.any(|one| one.name() == name && (namespace.is_empty() || one.namespace() == namespace))
            };
            let Some(closed) = closed else { continue };
            if let Some(file) = when::gate_file(spec, self.world.model, &cluster.name, is_target) {
                since = Some(since.map_or(closed, |since| since.min(closed)));
                files.insert(cluster.name.clone(), file);
            }
        }
        let Some(since) = since else { return self };
        let known = history(&files.values().cloned().collect(), since);
        for (cluster, file) in files {
            // Of a time before the commit it is asked what the windows say.
            if let Some(Appeared::At(there)) = known.get(&file).copied()
                && there <= at
            {
                self.begun.insert(cluster, there);
            }
        }
        self
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

    /// Returns what holds back what a Flux Kustomization of a cluster builds.
    pub fn hold_of(&self, cluster: &str, namespace: &str, name: &str) -> Option<Hold> {
        self.hold(&self.find(cluster, "", (namespace, name))?)
    }

    /// Returns the type whose windows should hold back what an applier builds and that no gate of the cluster knows of.
    fn unheld(&self, applier: &Applier<'_>) -> Option<Hold> {
        let spec = self.spec?;
        let of_type = spec.change_type(self.type_of(applier)?).filter(|one| !one.is_real_time())?;
        let is_it = self.world.model.closings.closes_any(applier.cluster) && self.hold(applier).is_none();
        is_it.then(|| Hold::Window(of_type.name.value.clone()))
    }

    fn cluster(&self, name: &str) -> Option<&'a Cluster> {
        self.world.model.delivered.named(name)
    }

    /// Returns a Flux Kustomization of a cluster.
    fn find(&self, cluster: &str, remote: &str, (namespace, name): (&str, &str)) -> Option<Applier<'a>> {
        let cluster = self.cluster(cluster)?;
        let is_it = |one: &&Reached| {
            one.name() == name
                && one.remote == remote
                && (one.namespace() == namespace || namespace.is_empty())
        };
        let one = cluster.kustomizations.iter().find(is_it)?;
        Some(Applier { cluster: &cluster.name, path: one.path.clone()?, kustomization: Some(one) })
    }

    /// Returns the Flux Kustomization that applies another one.
    fn parent(&self, applier: &Applier<'_>) -> Option<Applier<'a>> {
        let one = applier.kustomization?;
        let (namespace, name) = one.applied_by.as_ref()?;
        self.find(applier.cluster, &one.remote, (namespace, name))
    }

    /// Returns when the object of a Flux Kustomization itself is applied.
    fn parent_of(&self, applier: &Applier<'_>, merged: Timestamp) -> Landing {
        match self.parent(applier) {
            Some(parent) => self.applied(&parent, merged),
            None => Landing::unknown("Git does not say what applies its Flux Kustomization"),
        }
    }

    /// Tells whether a Flux Kustomization waits at its source, and is not suspended.
    fn is_held(&self, applier: &Applier<'_>) -> bool {
        let own = applier.kustomization.zip(self.cluster(applier.cluster));
        own.is_some_and(|(one, cluster)| cluster.is_held(&one.source()))
    }

    /// Returns the source from which the commits of a Flux Kustomization come: a generator copies it at once, and a held
    /// one follows it.
    fn fetched(&self, cluster: &str, one: &Reached) -> SourceId {
        let own = one.source();
        self.cluster(cluster).map_or_else(|| own.clone(), |cluster| cluster.live_of(&cluster.fetched(&own)))
    }

    /// Returns how often the source of a Flux Kustomization is fetched; `None` where Git does not say it.
    fn source_interval(&self, applier: &Applier<'_>) -> Option<Duration> {
        let cluster = self.cluster(applier.cluster)?;
        duration::parse(
            cluster.source(&self.fetched(applier.cluster, applier.kustomization?))?["interval"].as_str()?,
        )
    }

    /// Returns since when a Flux Kustomization of a cluster, by its namespace and name, is closed at an instant; `None` where
    /// it is open, or that is not known.
    pub fn closed_since(
        &self,
        cluster: &str,
        (namespace, name): (&str, &str),
        at: Timestamp,
    ) -> Option<Timestamp> {
        let gate = self.gate(cluster, &self.hold_of(cluster, namespace, name)?, at)?;
        gate.since.filter(|_| !gate.times.open)
    }

    /// Returns what holds a Flux Kustomization back at an instant; `None` where its times are not known.
    fn gate(&self, cluster: &str, hold: &Hold, at: Timestamp) -> Option<Gate> {
        let of_jobs;
        let (schedule, tick) = match hold {
            Hold::Suspended | Hold::Source(_) => return None,
            Hold::Window(name) => {
                let every = self.spec?.gate.table.as_ref().map(|table| table.every);
                (self.schedules.distinct().get(self.schedules.of(cluster, name)?)?, every.unwrap_or_default())
            }
            Hold::Job(name) => {
                let (open, close) = self.world.model.closings.pair(cluster, name)?;
                of_jobs = of_pair(open, close)?;
                (&of_jobs, open.tick())
            }
        };
        let times = schedule.times(at);
        let begun = self.begun.get(cluster).filter(|_| !times.open);
        let unclosed = begun.and_then(|there| schedule.before_first_closing(at, *there));
        let since = schedule.closed_since(at).filter(|_| unclosed.is_none());
        let times = unclosed.unwrap_or(times);
        let zone = schedule.zone(times.opens);
        let freeze = schedule.freeze_at(at).cloned();
        let tick = Duration::from_secs(u64::from(tick) * 60);
        Some(Gate { times, zone, since, freeze, tick })
    }

    /// Returns the name of the window that opens next; that of the type or the CronJob where it has none.
    fn window_name(&self, cluster: &str, hold: &Hold, at: Timestamp) -> String {
        let named = || {
            let (Hold::Window(name), Some(spec)) = (hold, self.spec) else { return None };
            let opens = self.gate(cluster, hold, at)?.times.opens;
            spec.window_names(cluster, name).get(opens).copied()?.map(str::to_owned)
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
        let dependencies = applier.spec()["dependsOn"].as_array().into_iter().flatten();
        let landing = dependencies.fold(own, |landing, item| {
            let namespace =
                item["namespace"].as_str().filter(|space| !space.is_empty()).unwrap_or(one.namespace());
            let name = item["name"].as_str().unwrap_or_default();
            let Some(other) = self.find(applier.cluster, &one.remote, (namespace, name)) else {
                return landing.and(Landing::unknown(format!("it depends on {name}, which is not in Git")));
            };
            // Only one that reads the same source has to be at the same revision (kustomize-controller,
            // `checkDependencies`); another one is ready already.
            if other.kustomization.is_none_or(|other| other.source() != one.source()) {
                return landing;
            }
            let mut ready = self.applied_from(&other, merged, left - 1, known);
            let waits = other.spec()["wait"] == true || !other.spec()["healthChecks"].is_null();
            let timeout =
                || duration_of(other.spec(), "timeout").or_else(|| duration_of(other.spec(), "interval"));
            let checks = if waits { timeout() } else { Some(Duration::ZERO) };
            ready.latest = ready.latest.zip(checks).and_then(|(at, checks)| after(at, REQUEUE + checks));
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
        let said = self.source_interval(applier);
        let fetched = said.unwrap_or(BOOTSTRAP);
        let arrives = after(merged, fetched);
        let interval = duration_of(applier.spec(), "interval");
        let until =
            |start: Option<Timestamp>| start.zip(interval).and_then(|(at, interval)| after(at, interval));
        let told = |landing: Landing| match (interval, said) {
            (None, _) => landing.because(format!("Git does not say the interval of {}", one.name())),
            (_, None) => {
                let source = self.fetched(applier.cluster, one);
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
        let name = self.window_name(applier.cluster, &hold, merged);
        let Some(Gate { times, zone, since, freeze, tick }) = self.gate(applier.cluster, &hold, merged)
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
            zone: zone.iana_name().map(str::to_owned),
            deadline,
            otherwise: times
                .next_close
                .and_then(|close| self.gate(applier.cluster, &hold, close)?.times.next_open),
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
                let freeze = freeze.map(|freeze| {
                    let end = freeze.interval.close.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M %:z");
                    format!("held by freeze until {end} ({})", freeze.reason)
                });
                let latest = until(arrives.map(|at| at.max(open)));
                let landing = window(open, latest, before(times.next_close));
                Landing { state: State::Frozen, reason: freeze, ..landing }
            }
            (false, Some(open)) => {
                window(open, until(arrives.map(|at| at.max(open))), before(times.next_close))
            }
            (false, None) => {
                let reason = format!("{} no more within five years", hold.opening());
                return Landing { window: Some(name), ..Landing::never(reason) };
            }
        };
        told(landing)
    }
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

fn duration_of(spec: &Value, field: &str) -> Option<Duration> {
    duration::parse(spec[field].as_str()?)
}

fn after(at: Timestamp, duration: Duration) -> Option<Timestamp> {
    at.checked_add(duration).ok()
}

/// Both trees.
pub struct Clock<'a> {
    /// What was.
    pub before: Tree<'a>,
    /// What is.
    pub after: Tree<'a>,
    /// When the commit is merged.
    pub now: Timestamp,
}

impl Clock<'_> {
    /// Returns the windows of some clusters in the days after the merge, as `zone` has them, with these instants marked;
    /// `None` without a spec.
    pub fn calendar(
        &self,
        clusters: &[String],
        zone: TimeZone,
        marks: Vec<(Timestamp, String)>,
    ) -> Option<Calendar> {
        let spec = self.after.spec?;
        let from = self.now.to_zoned(zone.clone()).start_of_day().ok()?;
        let to = from.checked_add(DRAWN.days()).ok()?.timestamp();
        let from = from.timestamp();
        let calendar = Calendar::new(spec, &self.after.schedules, clusters, from, to, zone, MOST_DRAWN);
        Some(Calendar { marks, ..calendar })
    }

    /// Returns when what holds something back in a cluster lets it go: now where it is open, else at its next opening.
    pub fn opens(&self, cluster: &str, hold: &Hold) -> Option<Timestamp> {
        let of = |tree: &Tree<'_>| {
            let times = tree.gate(cluster, hold, self.now)?.times;
            if times.open { Some(self.now) } else { times.next_open }
        };
        of(&self.after).or_else(|| of(&self.before))
    }

    /// Returns when objects of a pair land that are there afterwards.
    pub fn lands(&self, pair: &Pair<'_>) -> Landing {
        let Some(new) = &pair.after else { return self.ends(pair) };
        let landing = self.after.applied(new, self.now);
        let Some(one) = new.kustomization else { return landing };
        // What is held at its source waits there whether or not it is new, and what its own spec says does not.
        let is_held = self.after.is_held(new);
        let Some(old) = &pair.before else {
            if is_held {
                return landing.and(self.after.parent_of(new, self.now));
            }
            // Nothing suspends a new one before the next closing.
            let hold = self.after.hold(new);
            let own = match (&hold, new.spec()["suspend"] == true) {
                (Some(_), false) => self.after.parent_of(new, self.now),
                _ => landing.and(self.after.parent_of(new, self.now)),
            };
            let interval = duration_of(new.spec(), "interval");
            let latest = own.latest.zip(interval).and_then(|(at, interval)| after(at, interval));
            let own = Landing { latest, ..own };
            let name = one.name();
            let reason = match (hold, self.after.unheld(new)) {
                (Some(hold), _) if self.opens(new.cluster, &hold) != Some(self.now) => {
                    format!("{name} is new: {hold} does not hold it back before it closes")
                }
                (None, Some(hold)) if self.opens(new.cluster, &hold) != Some(self.now) => {
                    format!("{name} is new, and no gate suspends it for {hold} yet")
                }
                _ => return own,
            };
            return Landing { outruns: true, reason: Some(reason), ..own };
        };
        let held_before = self.before.hold(old);
        let landing = match (&held_before, self.after.hold(new)) {
            (Some(hold), None) if !self.before.is_held(old) => {
                Landing::unknown(format!("{hold} held it back and is gone: it may stay suspended"))
            }
            _ => landing,
        };
        let is_same = old.spec()["path"] == new.spec()["path"]
            && old.request(&self.before.world.model.graph) == new.request(&self.after.world.model.graph);
        if is_same {
            return landing;
        }
        let brought = self.after.parent_of(new, self.now);
        if is_held && self.before.is_held(old) && brought.state == State::AtOnce {
            let interval = duration_of(new.spec(), "interval");
            let latest =
                landing.latest.max(brought.latest).zip(interval).and_then(|(at, own)| after(at, own));
            let reason =
                format!("what the spec of {} changes acts at once, what its files change waits", one.name());
            return Landing { latest, outruns: true, ..brought }.because(reason);
        }
        landing.and(brought)
    }

    /// Returns when an object of a pair is deleted, and whether it is (kustomize-controller, `finalize` and `prune`).
    ///
    /// `lands` is what [`lands`](Clock::lands) says of the pair.
    pub fn deletes(&self, pair: &Pair<'_>, object: &Value, lands: &Landing) -> Landing {
        if is_kept(object) {
            return Landing::never("it is kept: its own settings keep Flux from deleting it");
        }
        let Some(new) = &pair.after else { return lands.clone() };
        if new.kustomization.is_some() && !prunes(&new.spec()["prune"]) {
            let name = new.kustomization.map(Reached::name).unwrap_or_default();
            return Landing::never(format!("it is kept: {name} prunes nothing"));
        }
        lands.clone()
    }

    /// Returns when a Flux Kustomization that leaves Git deletes its objects, and whether it does.
    fn ends(&self, pair: &Pair<'_>) -> Landing {
        let Some(old) = &pair.before else { return Landing::unknown("nothing builds it") };
        let Some(one) = old.kustomization else {
            return Landing::unknown("Git does not say what applies the folder");
        };
        let spec = old.spec();
        if stays_without(spec) {
            return Landing::never(format!("it is kept: {} leaves Git and deletes nothing", one.name()));
        }
        let Some(parent) = self.before.parent(old) else {
            return Landing::unknown(format!("nothing in Git deletes {}", one.name()));
        };
        if !prunes(&parent.spec()["prune"]) {
            return Landing::never(format!(
                "{} stays in the cluster: {} prunes nothing",
                one.name(),
                parent.kustomization.map(Reached::name).unwrap_or_default()
            ));
        }
        let landing = self.before.applied(&parent, self.now);
        if spec["suspend"] == true {
            return Landing::never(format!("it is kept: {} is suspended when it goes", one.name()));
        }
        if let Some(hold) = self.before.hold(old).filter(|_| !self.before.is_held(old)) {
            let at = landing.earliest.unwrap_or(self.now);
            if self.before.gate(old.cluster, &hold, at).is_some_and(|gate| !gate.times.open) {
                return Landing::never(format!("it is kept: {hold} suspends {} when it goes", one.name()));
            }
        }
        landing
    }
}
