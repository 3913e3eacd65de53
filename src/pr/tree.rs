//! One of two trees, and when what a Flux Kustomization of it builds reaches its cluster.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::fleet::{GateSchedule, Schedules};
use crate::delivery::{
    Applier, Begun, BuiltJob, Cluster, Doubt, Held, History, Hold, Holds, Model, Reached, Reason, Root,
    Sides, SourceId, Stuck, Unclosed, Waiting, World, begun, counterparts, left_suspended, unclosed,
};
use crate::mechanism::GateTarget;
use crate::pr::course::Course;
use crate::pr::landing::Landing;
use crate::spec::Spec;

/// A cluster, and a Flux Kustomization of it.
pub(super) type Key = (String, GateTarget);

/// One of two trees, with what decides when its changes land.
pub struct Tree<'a> {
    /// The files and what they mean.
    pub world: World<'a>,
    /// What is wanted, where there is a spec.
    pub spec: Option<&'a Spec>,
    holds: Holds<'a>,
    schedules: Schedules,
    sides: Sides,
    /// What the files of the tree that it takes the place of mean.
    former: Option<&'a Model>,
    /// The names that its clusters had there, where these are others.
    names: BTreeMap<&'a str, &'a str>,
    /// What nothing has closed yet, or may not have.
    pub(super) begun: BTreeMap<Key, Begun>,
    /// What leaves its held source for the live one while its window is closed: no CronJob has suspended it.
    freed: BTreeSet<Key>,
    /// What its CronJobs leave suspended, as the gate before suspended it.
    left: BTreeSet<Key>,
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
            former: None,
            names: BTreeMap::new(),
            begun: BTreeMap::new(),
            freed: BTreeSet::new(),
            left: BTreeSet::new(),
        }
    }

    /// Takes back that something is closed at an instant which nothing has closed yet, as `when` does ([`begun`]). Until a
    /// change of a gate has arrived, the times before count.
    #[must_use]
    pub fn with_history(mut self, at: Timestamp, history: &dyn History) -> Tree<'a> {
        self.schedules =
            std::mem::take(&mut self.schedules).until_applied(self.spec, self.world.model, at, history);
        let found: Vec<_> =
            self.closed().filter_map(|(key, one, _)| Some((key, self.schedule_of(one)?))).collect();
        let waiting = found.iter().map(|((cluster, target), schedule)| Waiting {
            cluster,
            target: target.clone(),
            schedule,
        });
        let waiting: Vec<Waiting<'_>> = waiting.collect();
        let all = begun(self.world.model, &waiting, at, history);
        let left = left_suspended(self.world.model, &waiting, at, history);
        let left = found.iter().zip(left).filter(|(_, is_left)| *is_left);
        let left = left.map(|((key, _), _)| key.clone()).collect();
        let all = found.into_iter().zip(all).filter_map(|((key, _), begun)| Some((key, begun?))).collect();
        (self.left, self.begun) = (left, all);
        self
    }

    /// Takes the windows as the gates of the tree keep them at about an instant, whatever its spec says otherwise.
    #[must_use]
    pub fn by_its_gates(self, at: Timestamp) -> Tree<'a> {
        let schedules = self.spec.and_then(|spec| Schedules::in_git(spec, self.world.model, at).ok());
        Tree { schedules: schedules.unwrap_or_default(), ..self }
    }

    /// As [`with_history`](Tree::with_history), of a tree that takes the place of another one at an instant: what is closed
    /// there stays closed, and what only this one closes it closes later.
    #[must_use]
    pub fn in_place_of(mut self, older: &Tree<'a>, at: Timestamp) -> Tree<'a> {
        self.former = Some(older.world.model);
        let (jobs, was) = (&self.world.model.closings, &older.world.model.closings);
        let is_same = |cluster: &str, target: &GateTarget| {
            let job = jobs.running(cluster, target);
            job.is_some() && job == was.running(cluster, target)
        };
        self.schedules.arriving_as(&older.schedules, is_same);
        let known: BTreeSet<Key> = older.closed().map(|(key, ..)| key).collect();
        let names = counterparts(older.world.model, self.world.model);
        self.names = names.into_iter().map(|(old, new)| (new, old)).collect();
        let former = |(cluster, target): &Key| (self.former_name(cluster).to_owned(), target.clone());
        let begun = |key: &Key, job: &BuiltJob| {
            let key = former(key);
            match known.contains(&key) {
                true => older.begun.get(&key).map(|begun| begun.by(job)),
                // What is held at its source is closed before.
                false => Some(Begun::coming(job, at)).filter(|_| job.held.is_none()),
            }
        };
        let begun =
            self.closed().filter_map(|(key, _, job)| Some((key.clone(), begun(&key, job)?))).collect();
        let held: BTreeSet<Key> =
            older.closed().filter(|(.., job)| job.held.is_some()).map(|(key, ..)| key).collect();
        let is_freed = |key: &Key, one: &Applier<'_>, job: &BuiltJob| {
            let was_held = job.held.is_none() && held.contains(&former(key));
            was_held && self.schedule_of(one.clone()).is_some_and(|schedule| !schedule.letting_in(at).open)
        };
        let freed = self.closed().filter(|(key, one, job)| is_freed(key, one, job));
        let freed = freed.map(|(key, ..)| key).collect();
        (self.begun, self.freed) = (begun, freed);
        self
    }

    /// Returns whether the gate before suspended a Flux Kustomization, so that its CronJobs leave it so.
    pub(super) fn is_left_suspended(&self, applier: &Applier<'_>) -> bool {
        self.is_among(&self.left, applier)
    }

    /// Returns whether a Flux Kustomization leaves its held source for the live one while its window is closed.
    pub(super) fn is_freed(&self, applier: &Applier<'_>) -> bool {
        self.is_among(&self.freed, applier)
    }

    /// Returns whether nothing has ever brought its gate to the cluster.
    pub(super) fn is_uncome(&self, applier: &Applier<'_>) -> bool {
        let begun = |one: &Reached| self.begun.get(&(applier.cluster.to_owned(), self.target(one)));
        applier.kustomization.and_then(begun).is_some_and(Begun::is_uncome)
    }

    fn is_among(&self, keys: &BTreeSet<Key>, applier: &Applier<'_>) -> bool {
        let key = |one: &Reached| (applier.cluster.to_owned(), self.target(one));
        !keys.is_empty() && applier.kustomization.is_some_and(|one| keys.contains(&key(one)))
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

    /// Returns the Flux Kustomizations that jobs close or hold, each with the job.
    pub(super) fn closed(&self) -> impl Iterator<Item = (Key, Applier<'a>, &'a BuiltJob)> {
        let model = self.world.model;
        let all =
            model.delivered.all.iter().flat_map(|own| own.kustomizations.iter().map(move |one| (own, one)));
        all.filter(|(_, one)| one.remote.is_empty()).filter_map(|(own, one)| {
            let key = (own.name.clone(), self.target(one));
            let job = model.closings.running(&key.0, &key.1)?;
            Some((key, applier_of(own, one)?, job))
        })
    }

    /// Returns the name of the zone that all windows of a cluster have; `None` where they have several, or no spec says it.
    pub(super) fn zone_of(&self, cluster: &str) -> Option<String> {
        let types = self.spec?.gated_types();
        let own = types.filter_map(|one| self.schedules.of(cluster, &one.name.value));
        let zones = own.filter_map(|position| self.schedules.distinct().get(position));
        let zones: BTreeSet<&str> =
            zones.flat_map(|one| &one.zones).filter_map(TimeZone::iana_name).collect();
        zones.first().filter(|_| zones.len() == 1).map(|name| (*name).to_owned())
    }

    fn schedule_of(&self, applier: Applier<'a>) -> Option<Cow<'_, GateSchedule>> {
        self.schedule(applier.cluster, applier.kustomization, &self.hold(&applier)?)
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

    pub(super) fn cluster(&self, name: &str) -> Option<&'a Cluster> {
        self.world.model.delivered.named(name)
    }

    /// Returns why it is open whether a cluster has what builds something.
    pub(super) fn doubt(&self, applier: &Applier<'_>) -> Option<&'a Doubt> {
        self.cluster(applier.cluster)?.doubt(applier.kustomization?)
    }

    /// Returns how often a source of a cluster is fetched; `None` where Git does not say it.
    ///
    /// What changes that comes with such a fetch itself.
    pub(super) fn interval(&self, cluster: &str, source: &SourceId) -> Option<Duration> {
        let of = |model: &Model| model.delivered.named(cluster)?.interval(source);
        of(self.world.model).max(self.former.and_then(of))
    }

    /// Returns how long after a merge a source of a cluster has fetched the commit at the latest.
    pub(super) fn fetched_within(&self, cluster: &str, source: &SourceId) -> Duration {
        let jitters = self.cluster(cluster).map(Cluster::jitters).unwrap_or_default();
        jitters.fetched_within(self.interval(cluster, source))
    }

    /// Returns whether Git suspends a source of a cluster, so that it is not fetched.
    pub(super) fn is_paused(&self, cluster: &str, source: &SourceId) -> bool {
        let is_it = |model: &Model| model.delivered.named(cluster).is_some_and(|own| own.is_paused(source));
        is_it(self.world.model) && self.former.is_none_or(is_it)
    }

    /// Returns why the source of a Flux Kustomization can't fetch this tree in place of the former one, where that is sure.
    ///
    /// What brings itself fetches it by the list that the cluster has. Any other one may have either list, so both have to
    /// fail; and a held one has the newer list before it moves.
    pub(super) fn unfetched(&self, applier: &Applier<'_>) -> Option<Stuck> {
        let (one, cluster) = (applier.kustomization?, self.cluster(applier.cluster)?);
        let held = cluster.fetched(&one.source());
        let former = self.former_cluster(applier.cluster);
        let stuck = |source: &SourceId| {
            let own = || cluster.unfetched_source(source);
            let Some(former) = former.filter(|was| was.source(source).is_some()) else { return own() };
            let was = || former.unfetched_of(source, self.world.snapshot);
            match (cluster.is_held(source), former.is_own_source(source)) {
                (true, _) => own(),
                (false, true) => was(),
                (false, false) => own().filter(|_| was().is_some()),
            }
        };
        self.former?;
        stuck(&cluster.live_of(&held)).or_else(|| stuck(&held))
    }

    /// Returns all that the gates hold back.
    pub(super) fn held(&self) -> Held {
        self.holds.all()
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
        let cluster = self.cluster(applier.cluster)?;
        applier_of(cluster, cluster.parent(applier.kustomization?)?)
    }

    /// As [`parent`](Tree::parent); of one that a FluxInstance makes, the Flux Kustomization that applies that.
    pub(super) fn above(&self, applier: &Applier<'_>) -> Option<Applier<'a>> {
        self.parent(applier).or_else(|| self.instance_of(applier))
    }

    /// Returns the name that a cluster had in that tree.
    fn former_name<'n>(&self, cluster: &'n str) -> &'n str
    where
        'a: 'n,
    {
        self.names.get(cluster).copied().unwrap_or(cluster)
    }

    /// Returns what a cluster of that tree is.
    pub(super) fn cluster_now(&self, former: &str) -> Option<&'a Cluster> {
        let renamed = self.names.iter().find(|(_, old)| **old == former);
        self.cluster(renamed.map_or(former, |(new, _)| new))
    }

    /// Returns what a cluster was in that tree.
    pub(super) fn former_cluster(&self, cluster: &str) -> Option<&'a Cluster> {
        self.former?.delivered.named(self.former_name(cluster))
    }

    /// Returns whether that tree has no such Flux Kustomization, so that something has to bring it first.
    pub(super) fn is_new(&self, applier: &Applier<'_>) -> bool {
        let (remote, namespace, name) = applier.key();
        let was = self
            .former_cluster(applier.cluster)
            .and_then(|former| former.reached(remote, (namespace, name)).filter(|was| was.path.is_some()));
        self.former.is_some() && applier.kustomization.is_some() && was.is_none()
    }

    /// Returns whether it is a root of a cluster that this tree begins with: nothing in Git applies that for the first time.
    pub(super) fn is_unbegun(&self, applier: &Applier<'_>) -> bool {
        let own = self.cluster(applier.cluster).zip(applier.kustomization);
        self.former.is_some()
            && self.former_cluster(applier.cluster).is_none()
            && own.is_some_and(|(cluster, one)| cluster.brings_itself(one))
    }

    /// Returns how the object of a Flux Kustomization itself comes to be applied.
    pub(super) fn parent_course(&self, applier: &Applier<'_>, merged: Timestamp) -> Course {
        match self.above(applier) {
            Some(parent) => self.course(&parent, merged),
            None => Course::stuck(Landing::unknown("nothing in Git applies its Flux Kustomization")),
        }
    }

    /// Returns the Flux Kustomization that applies the FluxInstance by which another one is there.
    fn instance_of(&self, applier: &Applier<'_>) -> Option<Applier<'a>> {
        let (one, cluster) = (applier.kustomization?, self.cluster(applier.cluster)?);
        let is_it = |root: &&Root| root.reason == Reason::FluxInstance && root.is_applied_by(&one.value);
        let file = cluster.roots.iter().find(is_it)?.file.as_ref()?;
        let model = self.world.model;
        // The root of the instance has no file, and mostly it applies that one itself.
        let own = || cluster.kustomizations.iter().filter(|one| one.is_made());
        let builders = model.graph.taken_in_by(file);
        let by_itself = own().find(|one| one.path.as_ref().is_some_and(|path| builders.contains(path)));
        if let Some(root) = by_itself {
            return applier_of(cluster, root);
        }
        let mut above = model.flux_taking_in(file).into_iter().filter(|flux| flux.cluster == cluster.name);
        let above = above.next()?;
        self.find(applier.cluster, &one.remote, (&above.namespace, &above.name))
    }

    /// Returns whether a Flux Kustomization waits at its source, and is not suspended.
    pub(super) fn is_held(&self, applier: &Applier<'_>) -> bool {
        applier.is_held(self.world.model)
    }
}

/// Returns the build of a Flux Kustomization of a cluster; `None` where its folder is not known.
pub(super) fn applier_of<'a>(cluster: &'a Cluster, one: &'a Reached) -> Option<Applier<'a>> {
    Some(Applier {
        cluster: &cluster.name,
        path: one.path.clone().or_else(|| one.read_elsewhere())?,
        kustomization: Some(one),
    })
}
