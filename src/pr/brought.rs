//! When values that other objects bring land in what takes them in.

use std::time::Duration;

use jiff::Timestamp;

use crate::delivery::{Brought, Cluster, Need, Pair, Reached, jittered};
use crate::pr::arrival::{DEEPEST, Way, duration_of};
use crate::pr::clock::Clock;
use crate::pr::course::{Before, Course};
use crate::pr::landing::Landing;
use crate::pr::tree::applier_of;

impl Clock<'_> {
    /// Returns when objects of a pair land that differ by the values of its `postBuild`; `None` where those are the same.
    ///
    /// A Flux Kustomization takes in what a ConfigMap says as it reconciles: with its window, at its interval, at once where
    /// the ConfigMap is watched. What stands in its own spec comes with that.
    pub fn lands_by_values(&self, pair: &Pair<'_>) -> Option<Landing> {
        let (old, new) = (pair.before.as_ref()?, pair.after.as_ref()?);
        let one = new.kustomization?;
        if old.post_build() == new.post_build() {
            return None;
        }
        let (tree, cluster) = (&self.after, self.after.cluster(new.cluster)?);
        let brought = cluster.brought_otherwise(one, self.before.cluster(old.cluster)?);
        let is_own = old.spec()["postBuild"] != new.spec()["postBuild"];
        let waits = brought.iter().filter(|brought| !brought.is_watched && !is_needed(cluster, one, brought));
        let look = match waits.count() {
            0 => Some(Duration::ZERO),
            _ => duration_of(new.spec(), "interval").map(jittered),
        };
        let before = |merged: Timestamp| {
            let own = is_own.then(|| Before::parent(self.spec_course(old, new, merged)));
            let of_objects = brought.iter().map(|Brought { object, by, .. }| {
                let bringer = by.and_then(|by| applier_of(cluster, by));
                let course = match &bringer {
                    Some(bringer) => tree.course(bringer, merged),
                    None => {
                        Course::stuck(Landing::unknown("no Flux Kustomization in Git applies the folder"))
                    }
                };
                let by = by.map_or_else(|| "its root".to_owned(), |by| by.name().to_owned());
                Before {
                    course,
                    lag: Some(Duration::ZERO),
                    why: Some(format!("values of {object} come with {by}")),
                    done: Some(format!("{} takes in the values of {object}", one.name())),
                }
            });
            own.into_iter().chain(of_objects).collect()
        };
        // What waits at its source alone reads values whenever it reconciles.
        Some(tree.applied_by(new, self.now, &Way { before: &before, is_gated: !tree.is_held(new), look }))
    }
}

/// Tells whether a Flux Kustomization waits for what brings it values, before it applies the same commit.
fn is_needed(cluster: &Cluster, one: &Reached, brought: &Brought<'_>) -> bool {
    let mut queue = vec![one];
    for _ in 0..DEEPEST {
        let Some(next) = queue.pop() else { break };
        let needed = cluster.dependencies(next).filter(|found| found.need == Need::Revision);
        for other in needed.filter_map(|found| found.other) {
            if brought.by.is_some_and(|by| std::ptr::eq(by, other)) {
                return true;
            }
            queue.push(other);
        }
    }
    false
}
