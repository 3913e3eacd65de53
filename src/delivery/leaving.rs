//! Who takes a Flux Kustomization out of its cluster that leaves Git.

use std::collections::BTreeMap;

use crate::delivery::inventory::prunes;
use crate::delivery::metadata::is_kept;
use crate::delivery::{Cluster, Clusters, Model, Reached, Reason, Root, SourceId, World};
use crate::limit::KUSTOMIZATIONS_DEPTH;
use crate::path::RepoPath;
use crate::repo::Snapshot;
use crate::spec::Spec;

impl Cluster {
    /// Returns the root that brings a Flux Kustomization.
    pub fn root_of(&self, one: &Reached) -> Option<&Root> {
        self.roots.get(one.root)
    }

    /// Returns whether nothing but its own build gives a Flux Kustomization another spec, or an operator that the build sets off:
    /// a root. It reads its spec at the start of a pass (kustomize-controller, `Reconcile`), so it prunes by the one that it
    /// has, while what another one applies may begin by either.
    pub fn brings_itself(&self, one: &Reached) -> bool {
        let own = self.position(one);
        let is_it = |root: &Root| match root.written {
            Some(written) => one.written == Some(written),
            None => root.is_applied_by(&one.value),
        };
        one.bringers.iter().all(|by| by.kustomization().is_none_or(|by| Some(by) == own))
            && self.roots.iter().any(is_it)
    }

    /// Returns the root that brings a Flux Kustomization, where whoever applies it goes on to build its folder and a later
    /// state has none: that fails, and what fails prunes nothing (kustomize-controller, `reconcile`).
    pub fn failing_root(&self, one: &Reached, later: World<'_>) -> Option<&Root> {
        // Whether anybody applies what is only proposed is not known.
        let is_known = |root: &&Root| root.kustomization.is_some() || root.reason != Reason::Proposed;
        self.missing_root(one, later).filter(is_known)
    }

    /// As [`failing_root`](Cluster::failing_root), also where it is only proposed: while its folder is missing, nothing prunes
    /// by it.
    pub fn missing_root(&self, one: &Reached, later: World<'_>) -> Option<&Root> {
        let root = self.root_of(one)?;
        let is_there = later.stands(&root.folder);
        (!is_there && !self.goes_on(root, later.model)).then_some(root)
    }

    /// Returns whether a cluster is retired on purpose: nothing of its folders stands in some files, and the spec that says which
    /// clusters there are does not name it.
    ///
    /// Without a spec, or while that names it, nothing tells such a commit from one that takes a folder away by mistake.
    pub fn is_retired(&self, files: &Snapshot, spec: Option<&Spec>) -> bool {
        let is_named = |spec: &Spec| spec.all_clusters().any(|one| one.name.value == self.name);
        spec.is_some_and(|spec| !is_named(spec)) && self.roots.iter().all(|root| !files.is_dir(&root.group))
    }

    /// Returns whether a root above a Flux Kustomization builds such a folder.
    pub fn is_below_root(&self, one: &Reached, is_it: impl Fn(&RepoPath) -> bool) -> bool {
        let above = std::iter::successors(self.parent(one), |by| self.parent(by));
        above
            .take(self.kustomizations.len())
            .any(|by| by.key() != one.key() && self.brings_itself(by) && by.path.as_ref().is_some_and(&is_it))
    }

    /// Returns the source that a Flux Kustomization reads, where the last pass of a root deletes it: then nothing is applied
    /// any more, and nothing deleted (kustomize-controller, `getSource`).
    pub fn lost_source(&self, one: &Reached) -> Option<SourceId> {
        let source = self.followed(&one.source());
        (self.lost.contains(&source) && !self.brings_itself(one)).then_some(source)
    }

    /// Returns the source that a Flux Kustomization of a later state reads, where what brings it here goes on without it there,
    /// and deletes it: then nothing newer is applied (kustomize-controller, `prune` and `getSource`).
    pub fn pruned_source(&self, now: &Cluster, one: &Reached) -> Option<SourceId> {
        let read = now.fetched(&one.source());
        let prunes =
            |own: &Reached| !own.is_suspended() && own.error.is_none() && prunes(&own.value["spec"]["prune"]);
        let is_pruned_by = |source: &SourceId, by: usize| {
            let Some(by) = self.kustomizations.get(by).filter(|by| by.key() != one.key() && prunes(by))
            else {
                return false;
            };
            now.reached(&by.remote, (by.namespace(), by.name())).is_some_and(prunes)
                && !self.is_kept_source(source)
        };
        let is_pruned = |source: &SourceId| {
            let mut brought = self.source_bringers.iter().filter(|(own, _)| own.is(source));
            !now.source_bringers.iter().any(|(own, _)| own.is(source))
                && brought.any(|(_, by)| is_pruned_by(source, *by))
        };
        [now.live_of(&read), read].into_iter().find(is_pruned)
    }

    /// Returns whether the own settings of a source keep Flux from deleting it.
    fn is_kept_source(&self, source: &SourceId) -> bool {
        let mut own = self.sources.iter().filter(|(own, _)| own.is(source));
        own.any(|(_, value)| is_kept(value))
    }

    /// Returns whether a later state has a root in place of one: a cluster is called by its folder, so that what the same file
    /// applies now is the same root, unless that file is one of several clusters.
    fn goes_on(&self, root: &Root, later: &Model) -> bool {
        let all = later.delivered.all.iter();
        let mut now = all.flat_map(|now| now.roots.iter().map(move |root| (&now.name, root)));
        let file = root.identity().map(|(file, ..)| file);
        now.any(|(name, now)| match file {
            Some(file) => now.file.as_ref() == Some(file) || now.file.is_none() && *name == self.name,
            None => *name == self.name,
        })
    }

    /// Returns the folder of the root that brings a Flux Kustomization, where that leaves Git with all that apply it and
    /// nothing in Git applies the root: whether anything deletes it then depends on `prune` of what is not in Git. `now` is
    /// the cluster in the later state, by whatever name.
    pub fn removed_outside<'m>(&'m self, now: Option<&Cluster>, one: &'m Reached) -> Option<&'m RepoPath> {
        let mut next = one;
        for _ in 0..=KUSTOMIZATIONS_DEPTH {
            let Some(above) = self.parent(next) else {
                let root = self.root_of(next).filter(|root| root.kustomization.is_none());
                return root.map(|root| &root.folder);
            };
            if now.is_some_and(|now| now.reached(&above.remote, (above.namespace(), above.name())).is_some())
            {
                return None;
            }
            next = above;
        }
        None
    }
}

impl Clusters {
    /// Returns whether the root of a folder that an older state had deletes itself, whatever becomes of what it applied.
    pub(crate) fn deletes_itself(&self, folder: &RepoPath) -> bool {
        self.taken_down.contains(folder) || self.last_in(folder).is_some()
    }

    /// Returns the cluster of a root that applies a folder for the last time, and leaves what it applied.
    pub(crate) fn last_in(&self, folder: &RepoPath) -> Option<&Cluster> {
        let is_it = |root: &Root| root.is_last && root.folder == *folder;
        self.all.iter().find(|cluster| cluster.roots.iter().any(is_it))
    }
}

impl Model {
    /// Returns a cluster of another state, given its name there and those that clusters have here.
    pub fn cluster_now(&self, names: &BTreeMap<&str, &str>, old: &str) -> Option<&Cluster> {
        self.delivered.named(names.get(old).unwrap_or(&old))
    }
}

/// Names what applies a folder and is not in Git.
pub fn outside(folder: &RepoPath) -> String {
    format!("the Flux Kustomization of {folder} outside of Git")
}
