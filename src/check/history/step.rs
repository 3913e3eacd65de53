//! The step from one revision to the next, as the Flux Kustomizations take it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use crate::check::subject::Subject;
use crate::delivery::inventory::{Deletion, Inventory, deletions, inventories_from, is_kept};
use crate::delivery::{Applied, Applier, ClusterKey, Delivery};
use crate::delivery::{Model, World, counterparts, is_collected};
use crate::path::RepoPath;
use crate::repo::FluxKustomization;
use crate::repo::flux::GROUP;

/// What a Flux Kustomization of the older revision does with what it applies no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It deletes that, or may.
    Deletes,
    /// It leaves that in the cluster.
    Leaves,
    /// It goes on having it: it does not build any more, or the cluster keeps it as it was.
    Keeps,
}

/// Two revisions, with what their Flux Kustomizations are in the cluster: what applies them may patch them.
pub(super) struct Step<'s> {
    pub(super) before: &'s Subject<'s>,
    pub(super) after: &'s Subject<'s>,
    /// In the order of [`Model::all_kustomizations`].
    old: Vec<Inventory>,
    new: Vec<Inventory>,
    /// What each is in the newer revision, as positions there.
    now: Vec<Option<usize>>,
    /// The clusters that go by another name in the newer revision.
    renamed: BTreeMap<ClusterKey, ClusterKey>,
    /// The names of clusters of the model there, by those here.
    names: BTreeMap<&'s str, &'s str>,
    fates: Vec<Fate>,
}

impl<'s> Step<'s> {
    pub(super) fn new(before: &'s Subject<'s>, after: &'s Subject<'s>) -> Step<'s> {
        let (mut old, new) = (inventories(before), inventories(after));
        let known = Known::of(&old, &new);
        let now: Vec<Option<usize>> = old.iter().map(|one| known.find(one)).collect();
        let renamed = renamed(before, after, &now);
        // Flux knows nothing of the names of clusters.
        for (index, one) in old.iter_mut().enumerate() {
            if let Some(name) = renamed.get(&key_of(before, index)) {
                one.cluster = text_of(name);
            }
        }
        let names = counterparts(before.model, after.model);
        let mut step = Step { before, after, old, new, now, renamed, names, fates: Vec::new() };
        step.fates = (0..step.old.len()).map(|index| step.find_fate(index)).collect();
        step
    }

    /// Returns the names of clusters of the model in the newer revision, by those in the older one.
    pub(super) fn names(&self) -> &BTreeMap<&'s str, &'s str> {
        &self.names
    }

    /// Returns what a cluster of the older revision goes by in the newer one.
    pub(super) fn key_now<'k>(&'k self, key: &'k ClusterKey) -> &'k ClusterKey {
        self.renamed.get(key).unwrap_or(key)
    }

    /// Returns what the older revision applies, by the positions of [`Model::all_kustomizations`].
    pub(super) fn old(&self) -> &[Inventory] {
        &self.old
    }

    /// Returns what a Flux Kustomization of the newer revision applies.
    pub(super) fn new_at(&self, index: usize) -> &Inventory {
        &self.new[index]
    }

    /// Returns every object that this step may delete.
    pub(super) fn deletions(&self) -> Vec<Deletion> {
        deletions(&self.old, &self.new)
    }

    /// Returns what a Flux Kustomization of the older revision is in the newer one.
    pub(super) fn now(&self, index: usize) -> Option<&Inventory> {
        self.now[index].map(|position| &self.new[position])
    }

    /// Returns what a Flux Kustomization of the older revision does with what it applies no more.
    pub(super) fn fate(&self, index: usize) -> Fate {
        self.fates[index]
    }

    fn find_fate(&self, index: usize) -> Fate {
        let now = self.now(index);
        // A build that fails applies and prunes nothing.
        let is_left = || match self.before.model.is_made(index) {
            true => !self.is_collected(index),
            false => self.stands(index),
        };
        if now.is_some_and(|now| now.objects.is_err()) || (now.is_none() && is_left()) {
            return Fate::Keeps;
        }
        let flux = self.before.model.kustomization(index);
        let is_last = |path| self.after.model.delivered.last_in(path).is_some();
        if now.is_none() && self.old[index].brings_itself && flux.path.as_ref().is_some_and(is_last) {
            // What leaves its build goes before it does.
            return Fate::Deletes;
        }
        // A finalizer of a suspended one deletes nothing (kustomize-controller, `finalize`).
        let is_idle = now.is_none() && flux.is_suspended();
        if self.old[index].deletes(now) && !is_idle { Fate::Deletes } else { Fate::Leaves }
    }

    /// Returns whether a Flux Kustomization acts on its new spec at once, though its files are held.
    pub(super) fn rebuilds(&self, was: &FluxKustomization, is: &FluxKustomization) -> bool {
        let (before, after) = (self.before.model, self.after.model);
        let own = applier(before, was).zip(applier(after, is));
        own.is_some_and(|(old, new)| new.rebuilds(after, &old, before))
    }

    /// Returns whether the cluster keeps a Flux Kustomization that leaves Git: whoever applies it has to delete
    /// it first.
    pub(super) fn stands(&self, index: usize) -> bool {
        self.stands_below(index, &mut BTreeSet::new())
    }

    fn stands_below(&self, index: usize, seen: &mut BTreeSet<usize>) -> bool {
        let parents = self.parents(index);
        // What is annotated so is never deleted, a Flux Kustomization as little as anything else.
        let keeps =
            |(parent, object): (usize, &Applied)| is_kept(object.value()) || !self.lets_go(parent, seen);
        self.root_is_gone(index) || !parents.is_empty() && parents.into_iter().all(keeps)
    }

    /// Returns whether the FluxInstance that made a Flux Kustomization deletes it.
    fn is_collected(&self, index: usize) -> bool {
        let key = key_of(self.before, index);
        let brought = self.after.deliveries_of(self.key_now(&key));
        is_collected(self.before.model.kustomization(index), self.after.snapshot, brought)
    }

    /// Returns whether the folder is gone of the root that brought a Flux Kustomization which no other one in a file
    /// brought.
    fn root_is_gone(&self, index: usize) -> bool {
        let (flux, before) = (self.before.model.kustomization(index), &self.before.model);
        let old = before.delivered.named(&flux.cluster).filter(|_| self.parents(index).is_empty());
        let reached = old.and_then(|old| Some((old, old.reached("", (&flux.namespace, &flux.name))?)));
        let later = World { snapshot: self.after.snapshot, model: self.after.model };
        reached.is_some_and(|(old, one)| old.failing_root(one, later).is_some())
    }

    /// Returns the folder of the root outside of Git that alone decides whether a Flux Kustomization goes.
    pub(super) fn removed_outside(&self, flux: &FluxKustomization) -> Option<&RepoPath> {
        let before = self.before.model;
        let cluster = before.delivered.named(&flux.cluster)?;
        cluster
            .removed_outside(self.after.model.cluster_now(&self.names, &cluster.name), before.reached(flux)?)
    }

    /// Returns whether something that applied a Flux Kustomization deletes it once it does so no more.
    fn lets_go(&self, parent: usize, seen: &mut BTreeSet<usize>) -> bool {
        if !seen.insert(parent) {
            return false;
        }
        let (old, flux) = (&self.old[parent], self.before.model.kustomization(parent));
        match (self.now(parent), &flux.path) {
            (Some(now), _) => now.objects.is_ok() && old.deletes(Some(now)),
            (None, _) if self.before.model.is_made(parent) => {
                old.deletes(None) && !flux.is_suspended() && self.is_collected(parent)
            }
            (None, Some(path)) if old.brings_itself => self.after.model.delivered.deletes_itself(path),
            (None, _) => old.deletes(None) && !flux.is_suspended() && !self.stands_below(parent, seen),
        }
    }

    /// Returns those that applied a Flux Kustomization, each with what it made of it: those of its own cluster,
    /// where there are any.
    fn parents(&self, index: usize) -> Vec<(usize, &'s Applied)> {
        let (flux, home) = (self.before.model.kustomization(index), key_of(self.before, index));
        let is_it = |applied: &&Applied| {
            applied.is(GROUP, "Kustomization")
                && applied.id.name == flux.name
                && applied.id.namespace == flux.namespace
        };
        let all = self.before.deliveries.iter().filter_map(|delivery| {
            let near = (&delivery.cluster.home, &delivery.cluster.name) == (&home.home, &home.name);
            Some((near, (delivery.applied_by?, delivery.objects.iter().find(is_it)?)))
        });
        let all: Vec<(bool, (usize, &Applied))> = all.collect();
        let is_any_near = all.iter().any(|(near, _)| *near);
        all.into_iter().filter(|(near, _)| *near || !is_any_near).map(|(_, parent)| parent).collect()
    }

    /// Returns whether the newer revision has a folder that Flux could build.
    pub(super) fn has_now(&self, path: &RepoPath) -> bool {
        self.after.model.graph.stands(self.after.snapshot, path)
    }

    /// Returns whether the older revision has a folder that Flux could build.
    pub(super) fn had(&self, path: &RepoPath) -> bool {
        self.before.model.graph.stands(self.before.snapshot, path)
    }

    /// Returns whether one of the newer revision applies a commit after another one for certain, since it depends on that and, if
    /// it `was` there, did so before; returns how long after the merge it has, where Git says it.
    pub(super) fn follows(
        &self,
        (to, was): (&FluxKustomization, Option<&FluxKustomization>),
        (from, now): (&FluxKustomization, &FluxKustomization),
    ) -> Option<Option<Duration>> {
        let depends = |model: &'s Model, one: &FluxKustomization, other: &FluxKustomization| {
            let cluster = model.delivered.named(&one.read_in)?;
            let (one, other) = (model.reached(one)?, model.reached(other)?);
            cluster.follows(one, other).then_some((cluster, one))
        };
        let (cluster, one) = depends(self.after.model, to, now)?;
        let is_sure = was.is_none_or(|was| depends(self.before.model, was, from).is_some());
        is_sure.then(|| cluster.pace(one, &|_| false))
    }

    /// Returns whether one waits for the other before it reconciles, before and after.
    ///
    /// A dependency has to have applied the same revision only where both have one source
    /// (kustomize-controller, `checkDependencies`).
    pub(super) fn waits(&self, from: &FluxKustomization, to: &FluxKustomization) -> bool {
        [&self.before.model, &self.after.model].into_iter().all(|model| waits_in(model, from, to))
    }
}

/// Returns the build of a Flux Kustomization; `None` where no cluster gets it.
fn applier<'m>(model: &'m Model, flux: &FluxKustomization) -> Option<Applier<'m>> {
    let one = model.reached(flux)?;
    Some(Applier {
        cluster: &model.delivered.named(&flux.read_in)?.name,
        path: one.path.clone()?,
        kustomization: Some(one),
    })
}

fn waits_in(model: &Model, from: &FluxKustomization, to: &FluxKustomization) -> bool {
    let is_near = |one: &&FluxKustomization| {
        one.namespace == from.namespace && one.spec("sourceRef") == from.spec("sourceRef")
    };
    let (mut seen, mut queue): (BTreeSet<&str>, Vec<&str>) = (BTreeSet::new(), vec![from.name.as_str()]);
    while let Some(name) = queue.pop() {
        let Some(one) = model.flux_named(&from.cluster, name).find(is_near) else { continue };
        if name == to.name && to.namespace == from.namespace {
            return true;
        }
        if seen.insert(name) {
            queue.extend(one.depends_on());
        }
    }
    false
}

/// A namespace and a name, beside what tells those of one name apart.
type Named<'i, T> = HashMap<(&'i str, &'i str, T), usize>;

/// Where the Flux Kustomizations of the newer revision are, the first of each.
struct Known<'i> {
    by_cluster: Named<'i, &'i str>,
    by_file: Named<'i, &'i RepoPath>,
    /// By the folder that they build, in clusters that the older revision lacks.
    by_path: Named<'i, Option<&'i RepoPath>>,
    /// The clusters of the newer revision.
    clusters: HashSet<&'i str>,
}

impl<'i> Known<'i> {
    fn of(old: &[Inventory], new: &'i [Inventory]) -> Known<'i> {
        let before: HashSet<&str> = old.iter().map(|one| one.cluster.as_str()).collect();
        let mut known = Known {
            by_cluster: HashMap::new(),
            by_file: HashMap::new(),
            by_path: HashMap::new(),
            clusters: new.iter().map(|one| one.cluster.as_str()).collect(),
        };
        for (position, one) in new.iter().enumerate() {
            let (namespace, name) = (one.namespace.as_str(), one.name.as_str());
            known.by_cluster.entry((namespace, name, one.cluster.as_str())).or_insert(position);
            known.by_file.entry((namespace, name, &one.place.path)).or_insert(position);
            if !before.contains(one.cluster.as_str()) {
                known.by_path.entry((namespace, name, one.path.as_ref())).or_insert(position);
            }
        }
        known
    }

    /// Finds a Flux Kustomization in the newer revision.
    ///
    /// One that stays in its file is the same, whatever its cluster is called. So is one of a cluster that gets
    /// another name together with its folder: whoever applies that knows nothing of the new one.
    fn find(&self, one: &Inventory) -> Option<usize> {
        let (namespace, name) = (one.namespace.as_str(), one.name.as_str());
        let renamed = || {
            let is_gone = !self.clusters.contains(one.cluster.as_str());
            self.by_path.get(&(namespace, name, one.path.as_ref())).filter(|_| is_gone)
        };
        let found = self.by_cluster.get(&(namespace, name, one.cluster.as_str()));
        found.or_else(|| self.by_file.get(&(namespace, name, &one.place.path))).or_else(renamed).copied()
    }
}

/// Finds clusters that get another name in the spec alone: what they had goes on in one of a new name.
fn renamed(
    before: &Subject<'_>,
    after: &Subject<'_>,
    now: &[Option<usize>],
) -> BTreeMap<ClusterKey, ClusterKey> {
    let is_new = |key: &ClusterKey, subject: &Subject<'_>| subject.deliveries_of(key).next().is_none();
    let mut found = BTreeMap::new();
    for (index, position) in now.iter().enumerate() {
        let Some(position) = position else { continue };
        let (old, new) = (key_of(before, index), key_of(after, *position));
        if old != new && is_new(&old, after) && is_new(&new, before) {
            found.entry(old).or_insert(new);
        }
    }
    found
}

/// Returns the cluster of a Flux Kustomization.
pub(super) fn key_of(subject: &Subject<'_>, index: usize) -> ClusterKey {
    ClusterKey::of(subject.model, subject.model.kustomization(index))
}

/// Returns a cluster as one text.
pub(super) fn text_of(key: &ClusterKey) -> String {
    format!("{} {} {}", key.home, key.name, key.remote)
}

/// Returns what the Flux Kustomizations of a revision apply, from what has been built of it.
fn inventories(subject: &Subject<'_>) -> Vec<Inventory> {
    let deliveries: BTreeMap<usize, &Delivery> =
        subject.deliveries.iter().filter_map(|delivery| Some((delivery.applied_by?, delivery))).collect();
    inventories_from(subject.model, subject.model.all_kustomizations(), &|index| {
        let cluster = text_of(&key_of(subject, index));
        let Some(delivery) = deliveries.get(&index) else {
            return (cluster, Err("it builds no folder of this repository".to_owned()));
        };
        let objects = delivery.objects.iter().map(|applied| applied.object.clone());
        (cluster, delivery.error.clone().map_or_else(|| Ok(objects.collect()), Err))
    })
}
