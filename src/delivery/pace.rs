//! How long Flux Kustomizations take to apply a commit, where no window holds it back.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use crate::delivery::{BOOTSTRAP, Cluster, Reached};
use crate::repo::duration;

/// How long kustomize-controller waits before it looks again whether a dependency is ready (`--requeue-dependency`).
const REQUEUE: Duration = Duration::from_secs(30);

impl Cluster {
    /// Returns what a Flux Kustomization depends on and waits for until it has applied the same commit, by name; `None` for
    /// what is not in Git.
    ///
    /// Only one that reads the same source has to be at the same revision (kustomize-controller, `checkDependencies`);
    /// another one is ready already.
    pub fn dependencies<'c>(
        &'c self,
        one: &'c Reached,
    ) -> impl Iterator<Item = (&'c str, Option<&'c Reached>)> {
        let all = one.value["spec"]["dependsOn"].as_array().into_iter().flatten();
        let found = all.map(move |item| {
            let namespace = item["namespace"].as_str().filter(|space| !space.is_empty());
            let namespace = namespace.unwrap_or(one.namespace());
            let name = item["name"].as_str().unwrap_or_default();
            (name, self.reached(&one.remote, (namespace, name)))
        });
        found.filter(|(_, other)| other.is_none_or(|other| other.source() == one.source()))
    }

    /// Returns the first Flux Kustomization on the way of what one depends on that is held back, or is not in Git, by its
    /// name: until that has applied a commit, the one does not, however long that takes. `None` where there is no such.
    pub fn awaited<'c>(
        &'c self,
        one: &'c Reached,
        is_held: &dyn Fn(&Reached) -> bool,
    ) -> Option<(&'c str, Option<&'c Reached>)> {
        let mut queue = vec![one];
        let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
        while let Some(next) = queue.pop() {
            if !seen.insert((next.namespace(), next.name())) {
                continue;
            }
            for (name, other) in self.dependencies(next) {
                match other.filter(|other| !is_held(other)) {
                    Some(other) => queue.push(other),
                    None => return Some((name, other)),
                }
            }
        }
        None
    }

    /// Returns how long a Flux Kustomization takes at most to apply a commit, with what it depends on; `None` where Git does
    /// not say it, or one of these is held back.
    pub fn pace(&self, one: &Reached, is_held: &dyn Fn(&Reached) -> bool) -> Option<Duration> {
        self.pace_from(one, is_held, &mut BTreeMap::new())
    }

    fn pace_from<'c>(
        &'c self,
        one: &'c Reached,
        is_held: &dyn Fn(&Reached) -> bool,
        known: &mut BTreeMap<(&'c str, &'c str), Option<Duration>>,
    ) -> Option<Duration> {
        let id = (one.namespace(), one.name());
        if let Some(pace) = known.get(&id) {
            return *pace;
        }
        let interval = duration::parse(one.value["spec"]["interval"].as_str()?)?;
        let own = interval.saturating_add(self.interval(&self.followed(&one.source())).unwrap_or(BOOTSTRAP));
        // What is met again on the way is part of a circle, which ends here.
        known.insert(id, Some(own));
        let pace = self.dependencies(one).try_fold(own, |pace, (_, other)| {
            let other = other.filter(|other| !is_held(other))?;
            let ready = self.pace_from(other, is_held, known)?;
            Some(pace.max(ready.saturating_add(ready_after(&other.value["spec"])?)))
        });
        known.insert(id, pace);
        pace
    }
}

/// Returns how long it takes at most, after a Flux Kustomization with this `spec` has applied a commit, until what depends on
/// it goes on; `None` where Git does not say it.
pub fn ready_after(spec: &Value) -> Option<Duration> {
    let waits = spec["wait"] == true || !spec["healthChecks"].is_null();
    let said = ["timeout", "interval"].into_iter().find_map(|key| duration::parse(spec[key].as_str()?));
    Some(REQUEUE + if waits { said? } else { Duration::ZERO })
}
