//! How long Flux Kustomizations take to apply a commit, where no window holds it back.
//!
//! A source is looked at again at its interval: a webhook that shortens that is not in Git. From then on each step begins with
//! the event of the one before. kustomize-controller misses none of them: what is new in a watch that broke off comes with the
//! next list, and after a start everything is reconciled (`SourceRevisionChangePredicate`, which lets each object in that is
//! met first, and `requestsForRevisionChangeOf`). So the interval of a Flux Kustomization does not count; only values of
//! `substituteFrom` that are not watched wait for it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::Value;

use crate::delivery::about::Id;
use crate::delivery::{Cluster, Reached};
use crate::repo::duration;

/// How long kustomize-controller waits before it looks again whether a dependency is ready (`--requeue-dependency`).
const REQUEUE: Duration = Duration::from_secs(30);

/// What is allowed for the work of controllers and jobs itself: to start, to fetch, to build and to apply.
pub const STEP: Duration = Duration::from_secs(60);

/// How many Flux Kustomizations four workers apply in a [`STEP`]: five seconds for each.
const TURN: usize = 50;

/// The shortest timeout of a Flux Kustomization, and what its interval is longer than the timeout that it has without one
/// (kustomize-controller, `GetTimeout`).
const LEAST: Duration = Duration::from_secs(30);

/// What follows where a dependency is not in Git: kustomize-controller waits for it (`checkDependencies`), and only the
/// cluster knows whether it is there.
pub const LACKED: &str = "Where the cluster lacks it too, nothing lands";

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

impl<'c> Dependency<'c> {
    /// Says what of it Git does not tell, so that nobody knows when the one goes on; `None` where Git tells it.
    pub fn lacks(&self) -> Option<&'static str> {
        match (self.other, self.need) {
            (None, _) => Some("which is not in Git"),
            (Some(other), Need::Revision) if other.path.is_none() => Some("whose folder Git does not tell"),
            _ => None,
        }
    }

    /// Returns how long it takes at most, after it has applied a commit, until the one goes on; `None` where Git does not say
    /// it.
    pub fn lag(&self) -> Option<Duration> {
        let spec = &self.other?.value["spec"];
        Some(REQUEUE.saturating_add(busy(spec)?)).filter(|_| self.need != Need::Expression)
    }
}

/// How long Flux Kustomizations of one cluster take to apply a commit; `None` where Git does not say it.
pub type Paces<'c> = BTreeMap<Id<'c>, Option<Duration>>;

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
        is_held: &dyn Fn(&'c Reached) -> bool,
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

    /// Returns whether one depends on another one, directly or through others, so that it applies a commit after that.
    pub fn follows<'c>(&'c self, one: &'c Reached, other: &Reached) -> bool {
        let mut queue = vec![one];
        let mut seen: BTreeSet<Id<'_>> = BTreeSet::new();
        while let Some(next) = queue.pop() {
            let needed = self.dependencies(next).filter(|found| found.need == Need::Revision);
            for needed in needed.filter_map(|found| found.other) {
                if needed.key() == other.key() {
                    return true;
                }
                queue.extend(Some(needed).filter(|needed| seen.insert(needed.key())));
            }
        }
        false
    }

    /// Returns the name of the first on the way of what a Flux Kustomization depends on that is not in Git: nobody knows when
    /// that is ready. `None` where there is no such.
    pub fn unsaid<'c>(&'c self, one: &'c Reached) -> Option<&'c str> {
        self.awaited(one, &|_| false).map(|(name, _)| name)
    }

    /// Returns the Flux Kustomizations by which one depends on itself, the nearest way and without itself: each waits for
    /// another one, and none applies a commit (Flux, docs/spec/v1/kustomizations.md). `None` where it does not.
    pub fn circle<'c>(&'c self, one: &'c Reached) -> Option<Vec<&'c Reached>> {
        let mut queue = VecDeque::from([one]);
        // Each with the one from which the nearest way leads to it.
        let mut before: BTreeMap<Id<'_>, &Reached> = BTreeMap::new();
        while let Some(next) = queue.pop_front() {
            let needed = self.dependencies(next).filter(|found| found.need == Need::Revision);
            for other in needed.filter_map(|found| found.other) {
                if other.key() == one.key() {
                    let back = |last: &&'c Reached| before.get(&last.key()).copied();
                    let mut way: Vec<&Reached> = std::iter::successors(Some(next), back).collect();
                    way.pop();
                    way.reverse();
                    return Some(way);
                }
                if let Entry::Vacant(entry) = before.entry(other.key()) {
                    entry.insert(next);
                    queue.push_back(other);
                }
            }
        }
        None
    }

    /// Returns how long after the merge a Flux Kustomization has applied a commit at the latest, with what it depends on;
    /// `None` where Git does not say it, or one of these is held back.
    ///
    /// It is what the landing of a change is made of that nothing else holds up: neither a window, nor another spec of the
    /// Flux Kustomization, nor values that other objects bring.
    pub fn pace<'c>(&'c self, one: &'c Reached, is_held: &dyn Fn(&'c Reached) -> bool) -> Option<Duration> {
        self.pace_with(one, is_held, &mut Paces::new())
    }

    /// As [`pace`](Cluster::pace), for several: `known` has what was found so far by the same `is_held`, which holds what is in
    /// a circle.
    pub fn pace_with<'c>(
        &'c self,
        one: &'c Reached,
        is_held: &dyn Fn(&'c Reached) -> bool,
        known: &mut Paces<'c>,
    ) -> Option<Duration> {
        let mut left = vec![one];
        let mut open: BTreeSet<Id<'_>> = BTreeSet::new();
        while let Some(next) = left.last().copied() {
            let is_first = open.insert(next.key());
            if known.contains_key(&next.key()) && is_first {
                left.pop();
                continue;
            }
            let own = self.jitters().fetched_within(self.interval(&self.followed(&next.source())));
            if is_first {
                // What is met again on the way is part of a circle, which ends here.
                known.insert(next.key(), Some(own));
                let needed = self.dependencies(next).filter(|found| found.need == Need::Revision);
                let others = needed.filter(|found| found.lacks().is_none()).filter_map(|found| found.other);
                left.extend(others.filter(|other| !known.contains_key(&other.key()) && !is_held(other)));
                continue;
            }
            left.pop();
            let pace = self.pace_after(next, own, is_held, known);
            known.insert(next.key(), pace);
        }
        known.get(&one.key()).copied().flatten()
    }

    /// Returns how long a Flux Kustomization with this `spec` takes at most to apply what has come to it: while it waits for
    /// what it applied before, it looks later. `None` where Git does not say it.
    pub fn applied_after(&self, spec: &Value) -> Option<Duration> {
        Some(busy(spec)?.saturating_add(self.turn()))
    }

    /// Returns how long it takes at most until a Flux Kustomization that waits for nothing is applied.
    ///
    /// One commit, or one opening, sets off all of a cluster, and few at once are applied (kustomize-controller,
    /// `--concurrent`, which is 4 where nothing else is said): each fifty of them get another [`STEP`].
    pub fn turn(&self) -> Duration {
        let turns = self.kustomizations.len() / TURN;
        STEP.saturating_mul(u32::try_from(turns).unwrap_or(u32::MAX).saturating_add(1))
    }

    /// Returns how long after the merge one has applied a commit at the latest, where `own` is when its source has it, and
    /// `known` how long the others take.
    fn pace_after<'c>(
        &'c self,
        one: &'c Reached,
        own: Duration,
        is_held: &dyn Fn(&'c Reached) -> bool,
        known: &Paces<'c>,
    ) -> Option<Duration> {
        let arrives = self.dependencies(one).try_fold(own, |arrives, found| {
            let other = found.other.filter(|_| found.lacks().is_none())?;
            let applied = match found.need {
                Need::Revision if is_held(other) => return None,
                Need::Revision => known.get(&other.key()).copied().flatten()?,
                // It may just apply a commit, of whichever repository.
                Need::Ready | Need::Expression => own,
            };
            Some(arrives.max(applied.saturating_add(found.lag()?)))
        });
        arrives.zip(self.applied_after(&one.value["spec"])).map(|(at, late)| at.saturating_add(late))
    }
}

/// Returns how long a Flux Kustomization with this `spec` at most waits for what it has applied before it looks at anything
/// else (kustomize-controller, `checkHealth`); `None` where Git does not say it.
fn busy(spec: &Value) -> Option<Duration> {
    let checks = spec["healthChecks"].as_array().is_some_and(|checks| !checks.is_empty());
    if spec["wait"] != true && !checks {
        return Some(Duration::ZERO);
    }
    let said = |field: &str| duration::parse(spec[field].as_str()?);
    let own = said("timeout").or_else(|| Some(said("interval")?.saturating_sub(LEAST)))?;
    Some(own.max(LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::reading::tests::{LIST, SERVICE, flux, read, source};
    use crate::delivery::{Jitters, Known};

    #[test]
    fn each_fifty_flux_kustomizations_of_a_cluster_take_a_minute_more() {
        let pace = |number: usize| {
            let root = flux("flux-system", "./clusters/prod", "");
            let apps: Vec<String> = (1..number).map(|at| flux(&format!("a{at}"), "./apps", "")).collect();
            let apps = apps.join("---\n");
            let model = read(
                &Known::default(),
                &[
                    ("clusters/prod/sync.yaml", root.as_str()),
                    ("clusters/prod/apps.yaml", apps.as_str()),
                    ("apps/kustomization.yaml", LIST),
                    ("apps/s.yaml", SERVICE),
                ],
            );
            let cluster = &model.delivered.all[0];
            assert_eq!(cluster.kustomizations.len(), number);
            cluster.pace(&cluster.kustomizations[1], &|_| false).unwrap()
        };
        let fetched = Jitters::default().fetched_within(None);
        assert_eq!(pace(49), fetched + STEP);
        assert_eq!(pace(50), fetched + STEP * 2);
        assert_eq!(pace(120), fetched + STEP * 3);
    }

    #[test]
    fn a_source_in_the_file_of_a_root_is_applied_with_it() {
        let both = format!(
            "{}---\n{}",
            source("flux-system", "https://example.com/fleet.git", "")
                .replace("interval: 1m", "interval: 10m"),
            flux("flux-system", "./clusters/prod", ""),
        );
        let files = [
            ("clusters/prod/flux-system/gotk-sync.yaml", both.as_str()),
            ("clusters/prod/kustomization.yaml", "resources: [s.yaml]\n"),
            ("clusters/prod/s.yaml", SERVICE),
        ];
        let model = read(&Known::default(), &files);
        let cluster = &model.delivered.all[0];
        assert_eq!(cluster.interval(&cluster.kustomizations[0].source()), Some(Duration::from_secs(600)));
    }
}
