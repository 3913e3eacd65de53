//! What a commit can't resume, as it comes by what is suspended.

use serde_json::Value;

use crate::delivery::{Applier, Reached, SourceId};
use crate::pr::tree::{Tree, applier_of};

/// What tells a Flux Kustomization from the others of its cluster.
type Key = (String, String, String);

fn key(applier: &Applier<'_>) -> Key {
    let (remote, namespace, name) = applier.key();
    (remote.to_owned(), namespace.to_owned(), name.to_owned())
}

impl<'a> Tree<'a> {
    /// Returns what is suspended on the way of a commit to a Flux Kustomization, and stays so although the commit resumes it:
    /// what would bring that reads this source, or is this one. `way` holds those that wait for this one.
    ///
    /// Neither controller looks at what is suspended (source-controller and kustomize-controller, `Reconcile`).
    pub(super) fn locked(&self, applier: &Applier<'a>, way: &mut Vec<Key>) -> Option<String> {
        let (one, cluster) = (applier.kustomization?, self.cluster(applier.cluster)?);
        let former = self.former_cluster(applier.cluster)?;
        let source = cluster.followed(&one.source());
        let was = former.reached(&one.remote, (one.namespace(), one.name()));
        let is_resumed = was.is_some_and(|was| was.value["spec"]["suspend"] == true);
        let own = || (format!("Flux Kustomization {}", one.name()), self.above(applier));
        let fetched = |bringer| (format!("{} {}", source.kind, source.name), Some(bringer));
        way.push(key(applier));
        let needed = [is_resumed.then(own), self.resuming(applier.cluster, &source).map(fetched)];
        let found = needed.into_iter().flatten().find(|(_, bringer)| {
            bringer.as_ref().is_some_and(|bringer| {
                way.contains(&key(bringer))
                    || self.never_applies(bringer)
                    || self.locked(bringer, way).is_some()
            })
        });
        way.pop();
        found.map(|(what, _)| what)
    }

    /// Returns the Flux Kustomization that brings a source which the tree resumes; `None` where it resumes none.
    pub(super) fn resuming(&self, cluster: &str, source: &SourceId) -> Option<Applier<'a>> {
        let is_suspended = |spec: &Value| spec["suspend"] == true;
        let (former, cluster) = (self.former_cluster(cluster)?, self.cluster(cluster)?);
        let is_it = former.source(source).is_some_and(is_suspended)
            && !cluster.source(source).is_some_and(is_suspended);
        cluster.bringer_of(source).filter(|_| is_it).and_then(|by| applier_of(cluster, by))
    }

    /// Returns the Flux Kustomization that brings the source which another one begins to read and which is new itself.
    ///
    /// What reads that source too can't wait for it: it applies its commit by the one that it had.
    pub(super) fn beginning(&self, applier: &Applier<'a>, source: &SourceId) -> Option<Applier<'a>> {
        let (one, cluster) = (applier.kustomization?, self.cluster(applier.cluster)?);
        let former = self.former_cluster(applier.cluster)?;
        let was = former.reached(&one.remote, (one.namespace(), one.name()));
        let is_read = was.is_some_and(|was| former.followed(&was.source()).is(source));
        let is_new = former.source(source).is_none() && cluster.source(source).is_some() && !is_read;
        let by = cluster.bringer_of(source).filter(|_| is_new)?;
        let is_own = std::ptr::eq(by, one) || cluster.followed(&by.source()).is(source);
        applier_of(cluster, by).filter(|_| !is_own)
    }

    /// Returns whether Git suspends a Flux Kustomization, or its source.
    fn never_applies(&self, applier: &Applier<'a>) -> bool {
        let source = |one: &Reached| self.cluster(applier.cluster).map(|own| own.followed(&one.source()));
        let source = applier.kustomization.and_then(source);
        applier.spec()["suspend"] == true
            || source.is_some_and(|source| self.is_paused(applier.cluster, &source))
    }
}
