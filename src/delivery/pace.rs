//! How long Flux Kustomizations take to apply a commit, where no window holds it back.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::Value;

use crate::delivery::{BOOTSTRAP, Cluster, Reached};
use crate::repo::duration;

/// How long kustomize-controller waits before it looks again whether a dependency is ready (`--requeue-dependency`).
const REQUEUE: Duration = Duration::from_secs(30);

/// What is allowed for the work of controllers and jobs itself: to start, to fetch, to build and to apply.
pub const STEP: Duration = Duration::from_secs(60);

/// The shortest timeout of a Flux Kustomization, and what its interval is longer than the timeout that it has without one
/// (kustomize-controller, `GetTimeout`).
const LEAST: Duration = Duration::from_secs(30);

/// A Flux Kustomization that another one depends on.
#[derive(Clone, Copy, Debug)]
pub struct Dependency<'c> {
    /// Its name.
    pub name: &'c str,
    /// Itself; `None` for what is not in Git.
    pub other: Option<&'c Reached>,
    /// What has to be before the one goes on.
    pub need: Need,
}

/// What a dependency waits for (kustomize-controller, `checkDependencies`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It is ready at the revision that the one is about to apply: both read the same source.
    Revision,
    /// It is ready, at whatever revision.
    Ready,
    /// A `readyExpr` says so, and nothing else counts.
    Expression,
}

impl Cluster {
    /// Returns what a Flux Kustomization depends on. What is not in Git may read the same source.
    pub fn dependencies<'c>(&'c self, one: &'c Reached) -> impl Iterator<Item = Dependency<'c>> {
        let all = one.value["spec"]["dependsOn"].as_array().into_iter().flatten();
        all.map(move |item| {
            let text = |field: &str| item[field].as_str().filter(|text| !text.is_empty());
            let namespace = text("namespace").unwrap_or(one.namespace());
            let name = item["name"].as_str().unwrap_or_default();
            let other = self.reached(&one.remote, (namespace, name));
            let need = match other {
                _ if text("readyExpr").is_some() => Need::Expression,
                Some(other) if other.source() != one.source() => Need::Ready,
                _ => Need::Revision,
            };
            Dependency { name, other, need }
        })
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
            let all = self.dependencies(next).filter(|one| one.need == Need::Revision);
            for Dependency { name, other, .. } in all {
                match other.filter(|other| !is_held(other)) {
                    Some(other) => queue.push(other),
                    None => return Some((name, other)),
                }
            }
        }
        None
    }

    /// Returns the Flux Kustomizations by which one depends on itself, the nearest way and without itself: each waits for
    /// another one, and none applies a commit (Flux, docs/spec/v1/kustomizations.md). `None` where it does not.
    pub fn circle<'c>(&'c self, one: &'c Reached) -> Option<Vec<&'c Reached>> {
        let mut ways = VecDeque::from([vec![one]]);
        let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
        while let Some(way) = ways.pop_front() {
            let needed = self.dependencies(way.last()?).filter(|found| found.need == Need::Revision);
            for other in needed.filter_map(|found| found.other) {
                if std::ptr::eq(other, one) {
                    return Some(way.into_iter().skip(1).collect());
                }
                if seen.insert((other.namespace(), other.name())) {
                    ways.push_back(way.iter().copied().chain([other]).collect());
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
        let pace = self.dependencies(one).try_fold(own, |pace, Dependency { other, need, .. }| {
            let ready = match need {
                Need::Revision => self.pace_from(other.filter(|other| !is_held(other))?, is_held, known)?,
                Need::Ready => return Some(pace),
                Need::Expression => return None,
            };
            Some(pace.max(ready.saturating_add(ready_after(&other?.value["spec"])?)))
        });
        known.insert(id, pace);
        pace
    }
}

/// Returns how long it takes at most, after a Flux Kustomization with this `spec` has applied a commit, until what depends on
/// it goes on; `None` where Git does not say it.
pub fn ready_after(spec: &Value) -> Option<Duration> {
    Some(REQUEUE.saturating_add(busy(spec)?))
}

/// Returns how long a Flux Kustomization with this `spec` at most waits for what it has applied before it looks at anything
/// else (kustomize-controller, `checkHealth`); `None` where Git does not say it.
pub fn busy(spec: &Value) -> Option<Duration> {
    let checks = spec["healthChecks"].as_array().is_some_and(|checks| !checks.is_empty());
    if spec["wait"] != true && !checks {
        return Some(Duration::ZERO);
    }
    let said = |field: &str| duration::parse(spec[field].as_str()?);
    let own = said("timeout").or_else(|| Some(said("interval")?.saturating_sub(LEAST)))?;
    Some(own.max(LEAST))
}

/// Returns the longest time that Flux makes of an interval: a twentieth more (`--interval-jitter-percentage`).
pub fn jittered(interval: Duration) -> Duration {
    interval.saturating_add(interval / 20)
}
