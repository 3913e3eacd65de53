//! When a Flux Kustomization applies a commit.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::delivery::metadata::is_passed_over;
use crate::delivery::{Applier, Dependency, Need, Reached, STEP, Stuck};
use crate::pr::course::{Arrival, Before, Course, Opening, last_merge};
use crate::pr::landing::{Landing, State};
use crate::pr::passing::Passing;
use crate::pr::tree::{Tree, applier_of};
use crate::repo::duration;

/// How many `dependsOn` are followed one after another; Flux refuses cycles only when it meets them.
pub(super) const DEEPEST: usize = 64;

/// When Flux Kustomizations of one cluster apply a commit, as far as it was worked out: many may depend on one. `None` is on
/// the way.
type Known<'k> = BTreeMap<Id<'k>, Option<Course>>;

/// The cluster to which a Flux Kustomization is applied, its namespace and its name.
type Id<'k> = (&'k str, &'k str, &'k str);

/// What else than the commit and its dependencies decides when a Flux Kustomization applies something.
pub(super) struct Way<'w> {
    /// What has to happen before, were the commit merged at an instant.
    pub(super) before: &'w dyn Fn(Timestamp) -> Vec<Before>,
    /// Whether its window counts.
    pub(super) is_gated: bool,
    /// How long it takes to look at what comes while it is open; `None` where Git does not say it.
    pub(super) look: Option<Duration>,
}

impl Tree<'_> {
    /// Returns when a commit that is merged at an instant is applied by a Flux Kustomization that the cluster has.
    pub fn applied(&self, applier: &Applier<'_>, merged: Timestamp) -> Landing {
        let way = Way { before: &|_| Vec::new(), is_gated: true, look: Some(Duration::ZERO) };
        self.applied_by(applier, merged, &way)
    }

    /// As [`applied`](Tree::applied), where more decides.
    pub(super) fn applied_by(&self, applier: &Applier<'_>, merged: Timestamp, way: &Way<'_>) -> Landing {
        let again = |at: Timestamp| self.course_by(applier, at, way);
        let course = again(merged);
        let deadline = last_merge(merged, &course, &again);
        Landing { deadline, ..course.landing }
    }

    /// Returns how a commit comes to be applied by a Flux Kustomization that the cluster has.
    pub(super) fn course(&self, applier: &Applier<'_>, merged: Timestamp) -> Course {
        self.course_from(applier, merged, DEEPEST, &mut Known::new())
    }

    /// Returns when the CronJobs that open and close what an applier builds are there as a commit has them, were it merged at
    /// an instant.
    pub(super) fn jobs_arrive(&self, applier: &Applier<'_>, merged: Timestamp) -> Landing {
        let model = self.world.model;
        let bringing = self.job(applier).map(|job| model.bringing(applier.cluster, &job.name));
        let bringing = bringing.into_iter().flatten().filter_map(|flux| {
            let one = self.find(applier.cluster, &flux.remote, (&flux.namespace, &flux.name))?;
            Some(self.applied(&one, merged))
        });
        let unknown = || Landing::unknown("no Flux Kustomization in Git brings its CronJobs");
        bringing.reduce(Landing::and).unwrap_or_else(unknown)
    }

    /// Returns when all jobs that hold back what waits for a type in a cluster go by a commit at the latest, were it merged at an
    /// instant; `None` where Git does not say it.
    pub(super) fn applied_by_gate(
        &self,
        cluster: &str,
        change_type: &str,
        merged: Timestamp,
    ) -> Option<Timestamp> {
        let own = self.closed().filter(|((of, _), ..)| of == cluster).filter_map(|(_, one, job)| {
            let hold = self.hold(&one).filter(|hold| hold.name() == Some(change_type));
            hold.map(|_| (one, job))
        });
        let mut known: BTreeMap<&str, Option<Timestamp>> = BTreeMap::new();
        for (one, job) in own {
            known.entry(&job.name).or_insert_with(|| {
                let look = Duration::from_secs(u64::from(job.tick()) * 60);
                after(self.jobs_arrive(&one, merged).latest?, look.saturating_add(STEP))
            });
        }
        known.into_values().reduce(|one, other| Some(one?.max(other?)))?
    }

    /// As [`course`](Tree::course), where more decides.
    pub(super) fn course_by(&self, applier: &Applier<'_>, merged: Timestamp, way: &Way<'_>) -> Course {
        let mut known = Known::new();
        // The files that it has came in an open window, as did those of what it depends on.
        let is_there = !way.is_gated && self.is_held(applier) && !self.is_new(applier);
        let (one, mut arrival) = match self.arrival(applier, merged, is_there, DEEPEST, &mut known) {
            Ok(found) => found,
            Err(stuck) => return Course::stuck(*stuck),
        };
        (way.before)(merged).into_iter().for_each(|before| arrival.wait(before));
        self.passed(applier, one, merged, arrival, way)
    }

    fn course_from<'k>(
        &'k self,
        applier: &Applier<'k>,
        merged: Timestamp,
        left: usize,
        known: &mut Known<'k>,
    ) -> Course {
        let id = applier.kustomization.map(Reached::key);
        if let Some(course) = id.and_then(|id| known.get(&id)) {
            // What is met again on the way waits for itself.
            let itself = || Course::stuck(Landing::never("it depends on itself"));
            return course.clone().unwrap_or_else(itself);
        }
        let course = match self.arrival(applier, merged, false, left, known) {
            Ok((one, arrival)) => {
                let way = Way { before: &|_| Vec::new(), is_gated: true, look: Some(Duration::ZERO) };
                self.passed(applier, one, merged, arrival, &way)
            }
            Err(stuck) => Course::stuck(*stuck),
        };
        known.extend(id.map(|id| (id, Some(course.clone()))));
        course
    }

    /// Returns a Flux Kustomization, with when a commit and what that depends on have come to it; what does not get on as an
    /// error. Where `is_there`, it waits for no files.
    fn arrival<'k>(
        &'k self,
        applier: &Applier<'k>,
        merged: Timestamp,
        is_there: bool,
        left: usize,
        known: &mut Known<'k>,
    ) -> Result<(&'k Reached, Arrival), Box<Landing>> {
        let stuck = |landing: Landing| Err(Box::new(landing));
        let Some(one) = applier.kustomization else {
            return stuck(Course::unapplied().landing);
        };
        if applier.spec()["suspend"] == true {
            return stuck(Landing::never(Stuck::Suspended.of(one.name())));
        }
        let cluster = self.cluster(applier.cluster);
        let source = cluster.map_or_else(|| one.source(), |cluster| cluster.followed(&one.source()));
        if self.is_paused(applier.cluster, &source) {
            return stuck(Landing::never(Stuck::Source(source).of(one.name())));
        }
        if let Some(unfetched) = self.unfetched(applier).filter(|_| !is_there) {
            return stuck(Landing::never(unfetched.of(one.name())));
        }
        if let Some(what) = self.locked(applier, &mut Vec::new()) {
            return stuck(Landing::never(format!(
                "{what} stays suspended until somebody resumes it by hand"
            )));
        }
        let fetched = self.fetched_within(applier.cluster, &source);
        let mut arrival = Arrival::fetched(merged, if is_there { Duration::ZERO } else { fetched });
        if let Some(course) = self.coming(applier, merged, left, known) {
            arrival.wait(Before::parent(course));
        }
        known.insert(one.key(), None);
        let resuming = self.resuming(applier.cluster, &source).map(|by| (by, "resumes"));
        let bringer = resuming.or_else(|| Some((self.beginning(applier, &source)?, "brings")));
        if let Some((bringer, does)) = bringer.filter(|_| left > 0) {
            let course = self.course_from(&bringer, merged, left - 1, known);
            let by = bringer.kustomization.map(Reached::name).unwrap_or_default();
            let why = Some(format!("{by} {does} {} {}", source.kind, source.name));
            arrival.wait(Before { course, lag: Some(STEP), done: why.clone(), why });
        }
        for found in cluster.into_iter().flat_map(|own| own.dependencies(one)) {
            if left == 0 {
                break;
            }
            let Dependency { name, other, need } = found;
            let applier = other.zip(cluster).and_then(|(other, cluster)| applier_of(cluster, other));
            if let Some(lacks) = found.lacks() {
                let unknown = Landing::unknown(format!("it depends on {name}, {lacks}"));
                arrival.wait(Before { course: Course::stuck(unknown), lag: None, why: None, done: None });
                continue;
            }
            // It may just apply a commit, of whichever repository.
            let busy = || {
                let own = Arrival::fetched(merged, fetched);
                let landing = Landing::at_once(merged, own.sure);
                Course { sure: own.sure, chain: own.chain, ..Course::stuck(landing) }
            };
            let course = match (need, &applier) {
                (Need::Revision, Some(other)) if is_there && self.is_held(other) => busy(),
                (Need::Revision, Some(applier)) => self.course_from(applier, merged, left - 1, known),
                // What is new becomes ready with the first commit that it applies.
                (Need::Ready, Some(applier)) if self.is_new(applier) => {
                    self.course_from(applier, merged, left - 1, known)
                }
                (Need::Expression, Some(applier)) => {
                    self.coming(applier, merged, left - 1, known).unwrap_or_else(busy)
                }
                _ => busy(),
            };
            let lag = found.lag();
            let why = Some(format!("it depends on {name}"));
            let done = match need {
                Need::Expression => format!("the readyExpr of {name} holds"),
                _ => format!("{name}, on which it depends, is ready"),
            };
            arrival.wait(Before { course, lag, why, done: Some(done) });
        }
        let is_never = arrival.stuck.as_ref().is_some_and(|landing| landing.state == State::Never);
        match cluster.filter(|_| is_never).and_then(|cluster| cluster.stuck(one)) {
            Some(circle @ Stuck::Circle(_)) => stuck(Landing::never(circle.of(one.name()))),
            _ => Ok((one, arrival)),
        }
    }

    /// Returns how a new Flux Kustomization comes itself; `None` where it is there, or somebody has applied it.
    fn coming<'k>(
        &'k self,
        applier: &Applier<'k>,
        merged: Timestamp,
        left: usize,
        known: &mut Known<'k>,
    ) -> Option<Course> {
        let left = left.checked_sub(1).filter(|_| self.is_new(applier))?;
        if let (true, Some(one)) = (self.is_unbegun(applier), applier.kustomization) {
            let name = one.name();
            return Some(Course::stuck(Landing::unknown(format!(
                "nothing lands before somebody applies {name} to this cluster, as `flux bootstrap` does"
            ))));
        }
        let Some(parent) = self.above(applier) else { return Some(self.parent_course(applier, merged)) };
        // A root brings itself.
        let is_own = parent.key() == applier.key();
        if let Some(one) = applier.kustomization.filter(|one| !is_own && is_passed_over(&one.value)) {
            let name = one.name();
            return Some(Course::stuck(Landing::never(format!(
                "{name} is never created: its own settings keep Flux from applying it"
            ))));
        }
        // What begins to depend on one that it brings has brought that by its older spec.
        let is_waiting = parent.kustomization.is_some_and(|one| matches!(known.get(&one.key()), Some(None)));
        let is_there = is_own || is_waiting && !self.is_new(&parent);
        (!is_there).then(|| self.course_from(&parent, merged, left, known))
    }

    /// Returns when a Flux Kustomization has applied what has come to it.
    fn passed(
        &self,
        applier: &Applier<'_>,
        one: &Reached,
        merged: Timestamp,
        arrival: Arrival,
        way: &Way<'_>,
    ) -> Course {
        if let Some(stuck) = &arrival.stuck {
            let own = self.frozen(applier, one, merged, &arrival, way.is_gated);
            return own.unwrap_or_else(|| Course::stuck(stuck.clone()));
        }
        let source = self.cluster(applier.cluster).map(|cluster| (cluster, cluster.followed(&one.source())));
        let is_said = source.as_ref().is_some_and(|(cluster, source)| cluster.interval(source).is_some());
        let late = source.as_ref().and_then(|(cluster, _)| cluster.applied_after(applier.spec()));
        let late = late.zip(way.look).map(|(own, look)| own.saturating_add(look));
        let release = source.as_ref().and_then(|(cluster, source)| cluster.release(source));
        let told = |landing: Landing| {
            let landing = Landing { release, ..landing };
            match (late, is_said) {
                (None, _) => landing.because(format!("Git does not say the interval of {}", one.name())),
                (_, false) => {
                    let source = source.as_ref().map_or_else(|| one.source(), |(_, source)| source.clone());
                    landing.because(format!(
                        "{} {} is not in Git; it is assumed to be fetched every minute",
                        source.kind, source.name
                    ))
                }
                _ => landing,
            }
        };
        let Some(hold) = self.hold(applier).filter(|_| way.is_gated && !self.is_freed(applier)) else {
            let sure = arrival.sure.zip(late).and_then(|(at, late)| after(at, late));
            let chain = arrival.chain.zip(late).map(|(chain, late)| chain.saturating_add(late));
            let landing = match &arrival.windowed {
                Some((course, why)) => {
                    let reason = why.clone().or_else(|| course.landing.reason.clone());
                    let release = release.max(course.landing.release);
                    Landing {
                        earliest: Some(arrival.earliest),
                        latest: sure,
                        reason,
                        release,
                        ..course.landing.clone()
                    }
                }
                None => told(Landing::at_once(arrival.earliest, sure)),
            };
            let landing = match (sure, &arrival.last) {
                (None, Some(last)) => landing.because(format!("Git does not say when {last}")),
                _ => landing,
            };
            let opening = arrival.windowed.and_then(|(course, _)| course.opening);
            let opening = opening.map(|opening| Opening { holds: arrival.holds, ..opening });
            return Course { landing, sure, chain, opening };
        };
        self.through(applier, one, merged, &hold, &Passing { arrival, late, told: &told })
    }
}

pub(super) fn duration_of(spec: &Value, field: &str) -> Option<Duration> {
    duration::parse(spec[field].as_str()?)
}

/// Returns after how long a Flux Kustomization that failed tries again (kustomize-controller, `GetRetryInterval`).
pub(super) fn retry_of(spec: &Value) -> Option<Duration> {
    duration_of(spec, "retryInterval").or_else(|| duration_of(spec, "interval"))
}

pub(super) fn after(at: Timestamp, duration: Duration) -> Option<Timestamp> {
    at.checked_add(duration).ok()
}
