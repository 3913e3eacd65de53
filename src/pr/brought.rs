//! When values that other objects bring land in what takes them in.

use std::time::Duration;

use jiff::Timestamp;

use crate::delivery::inventory::prunes;
use crate::delivery::{Applier, Brought, Cluster, Need, Pair, Reached};
use crate::pr::arrival::{DEEPEST, Way, duration_of, retry_of};
use crate::pr::clock::Clock;
use crate::pr::course::{Before, Course};
use crate::pr::landing::{Landing, State};
use crate::pr::tree::applier_of;
use crate::text::some;

impl Clock<'_> {
    /// Returns when objects of a pair land that differ by the values of its `postBuild`; `None` where those are the same.
    ///
    /// A Flux Kustomization takes in what a ConfigMap says as it reconciles: with its window, at its interval, at once where
    /// the ConfigMap is watched. What stands in its own spec comes with that.
    pub fn lands_by_values(&self, pair: &Pair<'_>) -> Option<Landing> {
        // A new one begins with the values that it finds.
        let (old, new) = pair.before.as_ref().zip(pair.after.as_ref())?;
        // What is built by the older values first is told apart.
        if pair.part.is_of_files() { None } else { self.lands_by_other_values(old, new) }
    }

    fn lands_by_other_values(&self, old: &Applier<'_>, new: &Applier<'_>) -> Option<Landing> {
        let (brought, look) = self.values(old, new)?;
        let before = |merged: Timestamp| self.bringing(old, new, &brought, merged, DEEPEST);
        let lands = self.after.applied_by(new, self.now, &self.way(new, look, &before));
        let names: Vec<String> =
            brought.iter().map(|one| format!("{} {}", one.id.kind, one.id.name)).collect();
        let is_own = old.spec()["postBuild"] != new.spec()["postBuild"] || names.is_empty();
        let from = (!is_own).then(|| some(&names, 2));
        Some(self.outrun(new, lands, from.as_deref()))
    }

    /// Returns when it lands what another spec makes of the files that a Flux Kustomization has, held at its source: that
    /// reconciles as its spec or its values change, window or not.
    pub(super) fn lands_by_spec(&self, old: &Applier<'_>, new: &Applier<'_>) -> Landing {
        let is_own = old.request() != new.request() || old.spec()["postBuild"] != new.spec()["postBuild"];
        let by_spec = is_own.then(|| {
            let before = |at: Timestamp| vec![Before::parent(self.spec_course(old, new, at))];
            self.after.applied_by(new, self.now, &self.way(new, Some(Duration::ZERO), &before))
        });
        let lands = by_spec.map(|lands| self.outrun(new, lands, None));
        lands
            .or_else(|| self.lands_by_other_values(old, new))
            .unwrap_or_else(|| Landing::at_once(self.now, None))
    }

    /// Says of what lands at once by a Flux Kustomization that is held at its source that its files wait, where they do.
    /// `from` names what brings other values to it; `None` where its own spec differs.
    pub(super) fn outrun(&self, new: &Applier<'_>, lands: Landing, from: Option<&str>) -> Landing {
        let hold = self.after.hold(new).filter(|_| self.after.is_held(new));
        let waits = hold.is_some_and(|hold| self.opens(new.cluster, &hold) != Some(self.now));
        if lands.state != State::AtOnce || !waits {
            return lands;
        }
        let name = new.kustomization.map(Reached::name).unwrap_or_default();
        let what = match from {
            Some(from) => format!("values of {name} from {from}"),
            None => format!("changes of the spec of {name}"),
        };
        let why = format!("{what} act at once, changes of its files wait");
        Landing { outruns: true, ..lands }.because(why)
    }

    /// Returns the objects without whose values a new Flux Kustomization fails, and that are there later than itself.
    fn missed_values(&self, new: &Applier<'_>) -> Vec<Brought<'_>> {
        let Some((one, cluster)) = new.kustomization.zip(self.after.cluster(new.cluster)) else {
            return Vec::new();
        };
        // What comes with it is there as it begins.
        let is_of_parent = |brought: &Brought<'_>| {
            let by = brought.by.map(|by| (by.namespace().to_owned(), by.name().to_owned()));
            by.is_none() || by == one.applied_by
        };
        let mut all = cluster.brought_otherwise(one, self.after.former_cluster(new.cluster), None);
        all.retain(|brought| brought.is_missed && !is_of_parent(brought));
        all
    }

    /// Returns what has to happen before a new Flux Kustomization that has come applies something: so do all objects that it
    /// can't do without. Until then it fails, and it tries again ([`retry_of`]), unless it waits for what brings them before it
    /// builds (kustomize-controller, `checkDependencies`).
    pub(super) fn before_first(&self, new: &Applier<'_>, merged: Timestamp) -> Vec<Before> {
        let again = retry_of(new.spec());
        let own = new.kustomization.zip(self.after.cluster(new.cluster));
        let missed = self.missed_values(new).into_iter().map(|brought| {
            let is_needed = || own.is_some_and(|(one, cluster)| is_needed(cluster, one, &brought));
            let is_awaited = brought.is_watched || is_needed();
            let lag = if is_awaited { Some(Duration::ZERO) } else { again };
            self.carried(&brought, None, new, merged, lag)
        });
        missed.collect()
    }

    /// Returns how a Flux Kustomization comes to apply what differs by the values of its `postBuild`; `None` where those are
    /// the same. So many parents are followed.
    pub(super) fn course_by_values(
        &self,
        old: &Applier<'_>,
        new: &Applier<'_>,
        merged: Timestamp,
        left: usize,
    ) -> Option<Course> {
        let (brought, look) = self.values(old, new)?;
        let before = |merged: Timestamp| self.bringing(old, new, &brought, merged, left);
        Some(self.after.course_by(new, merged, &self.way(new, look, &before)))
    }

    /// What waits at its source alone reads values whenever it reconciles.
    fn way<'w>(
        &self,
        new: &Applier<'_>,
        look: Option<Duration>,
        before: &'w dyn Fn(Timestamp) -> Vec<Before>,
    ) -> Way<'w> {
        Way { before, is_gated: !self.after.is_held(new), look }
    }

    /// Returns what brings other values to a Flux Kustomization, and how long it takes until that looks at them; `None` where
    /// its values are the same.
    fn values(&self, old: &Applier<'_>, new: &Applier<'_>) -> Option<(Vec<Brought<'_>>, Option<Duration>)> {
        let one = new.kustomization?;
        if old.post_build() == new.post_build() {
            return None;
        }
        let cluster = self.after.cluster(new.cluster)?;
        let (older, former) = (self.before.cluster(old.cluster)?, old.kustomization?);
        let brought = cluster.brought_otherwise(one, Some(older), Some(former));
        let waits = brought.iter().any(|brought| !brought.is_watched && !is_needed(cluster, one, brought));
        let within = || Some(cluster.jitters().reconciled_within(duration_of(new.spec(), "interval")?));
        let look = if waits { within() } else { Some(Duration::ZERO) };
        Some((brought, look))
    }

    /// Returns what has to happen before a Flux Kustomization has other values.
    fn bringing(
        &self,
        old: &Applier<'_>,
        new: &Applier<'_>,
        brought: &[Brought<'_>],
        merged: Timestamp,
        left: usize,
    ) -> Vec<Before> {
        let is_own = old.spec()["postBuild"] != new.spec()["postBuild"];
        let own = is_own.then(|| Before::parent(self.spec_course_from(old, new, merged, left)));
        let of_objects =
            brought.iter().map(|one| self.carried(one, Some(old), new, merged, Some(Duration::ZERO)));
        own.into_iter().chain(of_objects).collect()
    }

    /// Returns how an object comes, or goes, from which a Flux Kustomization takes values, and how long after that it looks
    /// for it.
    fn carried(
        &self,
        brought: &Brought<'_>,
        old: Option<&Applier<'_>>,
        new: &Applier<'_>,
        merged: Timestamp,
        lag: Option<Duration>,
    ) -> Before {
        let Brought { id, by, is_gone, is_kept, .. } = brought;
        let object = format!("{} {}", id.kind, id.name);
        let name = new.kustomization.map(Reached::name).unwrap_or_default();
        let (tree, cluster) = match old.filter(|_| *is_gone) {
            Some(old) => (&self.before, old.cluster),
            None => (&self.after, new.cluster),
        };
        let bringer = by.zip(tree.cluster(cluster)).and_then(|(by, cluster)| applier_of(cluster, by));
        let course = match &bringer {
            _ if *is_gone && *is_kept => {
                let why = format!("{object} stays: its own settings keep Flux from deleting it");
                Course::stuck(Landing::never(why))
            }
            Some(bringer) if *is_gone => self.removal(bringer, new.cluster, merged),
            Some(bringer) => self.after.course(bringer, merged),
            None => Course::unapplied(),
        };
        let by = by.map_or_else(|| "its root".to_owned(), |by| by.name().to_owned());
        let why = match is_gone {
            // Why it stays says more.
            true if course.landing.state == State::Never => None,
            true => Some(format!("values of {object} go with {by}")),
            false => Some(format!("values of {object} come with {by}")),
        };
        Before { course, lag, why, done: Some(format!("{name} takes in the values of {object}")) }
    }
}

impl Clock<'_> {
    /// Returns how something leaves a cluster that a Flux Kustomization brings no longer.
    fn removal(&self, older: &Applier<'_>, cluster: &str, merged: Timestamp) -> Course {
        let (remote, namespace, name) = older.key();
        match self.after.find(cluster, remote, (namespace, name)) {
            Some(bringer) if prunes(&bringer.spec()["prune"]) => self.after.course(&bringer, merged),
            Some(_) => Course::stuck(Landing::never(format!("it is kept: {name} prunes nothing"))),
            None => match self.ends(older) {
                ended if ended.state == State::Never => Course::stuck(ended),
                _ => self.before.parent_course(older, merged),
            },
        }
    }
}

/// Returns whether a Flux Kustomization waits for what brings it values, before it applies the same commit.
fn is_needed(cluster: &Cluster, one: &Reached, brought: &Brought<'_>) -> bool {
    let id = |one: &Reached| (one.remote.clone(), one.namespace().to_owned(), one.name().to_owned());
    let mut queue = vec![one];
    for _ in 0..DEEPEST {
        let Some(next) = queue.pop() else { break };
        let needed = cluster.dependencies(next).filter(|found| found.need == Need::Revision);
        for other in needed.filter_map(|found| found.other) {
            if brought.by.is_some_and(|by| id(by) == id(other)) {
                return true;
            }
            queue.push(other);
        }
    }
    false
}
