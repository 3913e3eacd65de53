//! When a Flux Kustomization applies a commit.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::delivery::{Applier, BOOTSTRAP, Dependency, Need, Reached, STEP, busy, jittered, ready_after};
use crate::pr::course::{Arrival, Before, Course, Opening, last_merge};
use crate::pr::landing::{Landing, State};
use crate::pr::passing::{Passing, until};
use crate::pr::tree::{Tree, applier_of};
use crate::repo::duration;

/// How many `dependsOn` are followed one after another; Flux refuses cycles only when it meets them.
pub(super) const DEEPEST: usize = 64;

/// When Flux Kustomizations of one cluster apply a commit, by namespace and name, as far as it was worked out: many may
/// depend on one.
type Known<'k> = BTreeMap<(&'k str, &'k str), Course>;

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

    /// As [`course`](Tree::course), where more decides.
    pub(super) fn course_by(&self, applier: &Applier<'_>, merged: Timestamp, way: &Way<'_>) -> Course {
        let mut known = Known::new();
        let (one, mut arrival) = match self.arrival(applier, merged, DEEPEST, &mut known) {
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
        let id = applier.kustomization.map(|one| (one.namespace(), one.name()));
        if let Some(course) = id.and_then(|id| known.get(&id)) {
            return course.clone();
        }
        let course = match self.arrival(applier, merged, left, known) {
            Ok((one, arrival)) => {
                let way = Way { before: &|_| Vec::new(), is_gated: true, look: Some(Duration::ZERO) };
                self.passed(applier, one, merged, arrival, &way)
            }
            Err(stuck) => Course::stuck(*stuck),
        };
        known.extend(id.map(|id| (id, course.clone())));
        course
    }

    /// Returns a Flux Kustomization, with when a commit and what that depends on have come to it; what does not get on as an
    /// error.
    fn arrival<'k>(
        &'k self,
        applier: &Applier<'k>,
        merged: Timestamp,
        left: usize,
        known: &mut Known<'k>,
    ) -> Result<(&'k Reached, Arrival), Box<Landing>> {
        let stuck = |landing: Landing| Err(Box::new(landing));
        let Some(one) = applier.kustomization else {
            return stuck(Course::unapplied().landing);
        };
        if applier.spec()["suspend"] == true {
            return stuck(Landing::never(format!("Git suspends Flux Kustomization {}", one.name())));
        }
        let cluster = self.cluster(applier.cluster);
        let source = cluster.map_or_else(|| one.source(), |cluster| cluster.followed(&one.source()));
        if self.is_paused(applier.cluster, &source) {
            return stuck(Landing::never(format!("Git suspends {} {}", source.kind, source.name)));
        }
        if let Some(what) = self.locked(applier, &mut Vec::new()) {
            return stuck(Landing::never(format!(
                "{what} stays suspended until somebody resumes it by hand"
            )));
        }
        let said = self.interval(applier.cluster, &source).unwrap_or(BOOTSTRAP);
        let mut arrival = Arrival::fetched(merged, said, jittered(said));
        // What is met again on the way waits for itself.
        known.insert((one.namespace(), one.name()), Course::stuck(Landing::never("it depends on itself")));
        if let Some(bringer) = self.resuming(applier.cluster, &source).filter(|_| left > 0) {
            let course = self.course_from(&bringer, merged, left - 1, known);
            let by = bringer.kustomization.map(Reached::name).unwrap_or_default();
            let why = Some(format!("{by} resumes {} {}", source.kind, source.name));
            arrival.wait(Before { course, lag: Some(STEP), done: why.clone(), why });
        }
        for Dependency { name, other, need } in cluster.into_iter().flat_map(|own| own.dependencies(one)) {
            if left == 0 {
                break;
            }
            let applier = other.zip(cluster).and_then(|(other, cluster)| applier_of(cluster, other));
            let lacks = match (other, need, &applier) {
                (None, ..) => Some("which is not in Git"),
                (Some(_), Need::Revision, None) => Some("whose folder Git does not tell"),
                _ => None,
            };
            let Some(other) = other.filter(|_| lacks.is_none()) else {
                let lacks = lacks.unwrap_or_default();
                let unknown = Landing::unknown(format!("it depends on {name}, {lacks}"));
                arrival.wait(Before { course: Course::stuck(unknown), lag: None, why: None, done: None });
                continue;
            };
            let course = match (need, &applier) {
                (Need::Revision, Some(applier)) => self.course_from(applier, merged, left - 1, known),
                // It may just apply a commit, of whichever repository.
                _ => {
                    let own = Arrival::fetched(merged, said, jittered(said));
                    Course {
                        sure: own.sure,
                        chain: own.chain,
                        ..Course::stuck(Landing::at_once(merged, own.latest))
                    }
                }
            };
            let lag = ready_after(&other.value["spec"]).filter(|_| need != Need::Expression);
            let why = Some(format!("it depends on {name}"));
            let done = match need {
                Need::Expression => format!("the readyExpr of {name} holds"),
                _ => format!("{name}, on which it depends, is ready"),
            };
            arrival.wait(Before { course, lag, why, done: Some(done) });
        }
        let is_never = arrival.stuck.as_ref().is_some_and(|landing| landing.state == State::Never);
        match cluster.filter(|_| is_never).and_then(|cluster| cluster.circle(one)) {
            Some(circle) => stuck(Landing::never(in_circle(one, &circle))),
            None => Ok((one, arrival)),
        }
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
        if let Some(stuck) = arrival.stuck {
            return Course::stuck(stuck);
        }
        let source = self.cluster(applier.cluster).map(|cluster| (cluster, cluster.followed(&one.source())));
        let is_said = source.as_ref().is_some_and(|(cluster, source)| cluster.interval(source).is_some());
        let interval = duration_of(applier.spec(), "interval");
        let slack = interval.zip(arrival.slack).map(|(own, other)| own.max(other));
        let release = source.as_ref().and_then(|(cluster, source)| cluster.release(source));
        let told = |landing: Landing| {
            let landing = Landing { release, ..landing };
            match (interval, is_said) {
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
        // While it waits for what it applied before, or has looked already, it looks later.
        let late = busy(applier.spec()).zip(way.look).map(|(busy, look)| busy.saturating_add(look));
        let late = late.map(|late| late.saturating_add(STEP));
        let Some(hold) = self.hold(applier).filter(|_| way.is_gated) else {
            let sure = arrival.sure.zip(late).and_then(|(at, late)| after(at, late));
            let latest = until(arrival.latest, slack).map(|at| sure.map_or(at, |sure| sure.max(at)));
            let latest = latest.filter(|_| sure.is_some());
            let chain = arrival.chain.zip(late).map(|(chain, late)| chain.saturating_add(late));
            let landing = match &arrival.windowed {
                Some((course, why)) => {
                    let reason = why.clone().or_else(|| course.landing.reason.clone());
                    let release = release.max(course.landing.release);
                    Landing {
                        earliest: Some(arrival.earliest),
                        latest,
                        reason,
                        release,
                        ..course.landing.clone()
                    }
                }
                None => told(Landing::at_once(arrival.earliest, latest)),
            };
            let landing = match (&landing.latest, sure, &arrival.last) {
                (None, None, Some(last)) => landing.because(format!("Git does not say when {last}")),
                _ => landing,
            };
            let opening = arrival.windowed.and_then(|(course, _)| course.opening);
            let opening = opening.map(|opening| Opening { holds: arrival.holds, ..opening });
            return Course { landing, sure, chain, slack, opening };
        };
        self.through(applier, one, merged, &hold, &Passing { arrival, slack, late, told: &told })
    }
}

/// Says that one depends on itself.
fn in_circle(one: &Reached, circle: &[&Reached]) -> String {
    let through: Vec<&str> = circle.iter().map(|other| other.name()).collect();
    let through =
        if through.is_empty() { String::new() } else { format!(", through {}", through.join(", ")) };
    format!("{} depends on itself{through}, so Flux never applies it", one.name())
}

pub(super) fn duration_of(spec: &Value, field: &str) -> Option<Duration> {
    duration::parse(spec[field].as_str()?)
}

pub(super) fn after(at: Timestamp, duration: Duration) -> Option<Timestamp> {
    at.checked_add(duration).ok()
}
