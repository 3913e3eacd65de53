//! When a Flux Kustomization applies a commit.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::delivery::{
    Applier, BOOTSTRAP, Dependency, Hold, Need, Reached, STEP, UNCLOSED, busy, jittered, ready_after,
};
use crate::pr::course::{Arrival, Before, Course, Opening, last_merge};
use crate::pr::gate::Gate;
use crate::pr::landing::{Landing, State};
use crate::pr::tree::{Tree, applier_of};
use crate::repo::duration;
use crate::schedule::{Stretch, moment};
use crate::spec::exceptions::is_endless;

/// How many `dependsOn` are followed one after another; Flux refuses cycles only when it meets them.
pub(super) const DEEPEST: usize = 64;

/// How many openings are looked at for one that is long enough after a commit to have it.
const MOST_OPENINGS: usize = 64;

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

    fn course_by(&self, applier: &Applier<'_>, merged: Timestamp, way: &Way<'_>) -> Course {
        let mut known = Known::new();
        let (one, mut arrival) = match self.arrival(applier, merged, DEEPEST, &mut known) {
            Ok(found) => found,
            Err(course) => return course,
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
            Err(course) => course,
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
    ) -> Result<(&'k Reached, Arrival), Course> {
        let stuck = |landing: Landing| Err(Course::stuck(landing));
        let Some(one) = applier.kustomization else {
            return stuck(Landing::unknown("no Flux Kustomization in Git applies the folder"));
        };
        if applier.spec()["suspend"] == true {
            return stuck(Landing::never(format!("Git suspends Flux Kustomization {}", one.name())));
        }
        let cluster = self.cluster(applier.cluster);
        let source = cluster.map_or_else(|| one.source(), |cluster| cluster.followed(&one.source()));
        if self.is_paused(applier.cluster, &source) {
            return stuck(Landing::never(format!("Git suspends {} {}", source.kind, source.name)));
        }
        let said = self.interval(applier.cluster, &source).unwrap_or(BOOTSTRAP);
        let mut arrival = Arrival::fetched(merged, said, jittered(said));
        // What is met again on the way is part of a circle, which ends here.
        let circle = Landing::at_once(merged, arrival.latest);
        let circle = Course { sure: arrival.sure, chain: arrival.chain, ..Course::stuck(circle) };
        known.insert((one.namespace(), one.name()), circle);
        for Dependency { name, other, need } in cluster.into_iter().flat_map(|own| own.dependencies(one)) {
            if left == 0 {
                break;
            }
            let other = other.zip(cluster).and_then(|(other, cluster)| applier_of(cluster, other));
            let Some(other) = other else {
                let unknown = Landing::unknown(format!("it depends on {name}, which is not in Git"));
                arrival.wait(Before { course: Course::stuck(unknown), lag: None, why: None, done: None });
                continue;
            };
            let course = match need {
                Need::Revision => self.course_from(&other, merged, left - 1, known),
                // It may just apply a commit.
                Need::Ready | Need::Expression => {
                    let own = Arrival::fetched(merged, said, jittered(said));
                    Course {
                        sure: own.sure,
                        chain: own.chain,
                        ..Course::stuck(Landing::at_once(merged, own.latest))
                    }
                }
            };
            let lag = ready_after(other.spec()).filter(|_| need != Need::Expression);
            let why = Some(format!("it depends on {name}"));
            let done = match need {
                Need::Expression => format!("the readyExpr of {name} holds"),
                _ => format!("{name}, on which it depends, is ready"),
            };
            arrival.wait(Before { course, lag, why, done: Some(done) });
        }
        Ok((one, arrival))
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

    /// Returns when a Flux Kustomization that something holds back has applied what has come to it.
    fn through(
        &self,
        applier: &Applier<'_>,
        one: &Reached,
        merged: Timestamp,
        hold: &Hold,
        passing: &Passing<'_>,
    ) -> Course {
        let Passing { arrival, slack, late, told } = passing;
        let named = self.window_name(applier, hold, arrival.earliest);
        let window_of = named.is_none().then(|| match hold {
            Hold::Job(name) => format!("CronJob {name}"),
            Hold::Provider(name) => format!("ResourceSetInputProvider {name}"),
            other => format!("type {}", other.name().unwrap_or_default()),
        });
        let name = named.unwrap_or_else(|| hold.name().unwrap_or_default().to_owned());
        let gate = |at: Timestamp| self.gate(applier.cluster, Some(one), hold, at);
        let Some(Gate { times, zone, first_closing, assumed, since, freeze, delay, given, end, tick }) =
            gate(arrival.earliest)
        else {
            let unknown = Landing::unknown(format!("when {} is not known", hold.opening()));
            let release = told(Landing::unknown("")).release;
            return Course::stuck(Landing { window: Some(name), window_of, release, ..unknown });
        };
        let window = |earliest: Timestamp, latest: Option<Timestamp>| Landing {
            state: State::Window,
            earliest: Some(earliest),
            latest,
            window: Some(name.clone()),
            window_of: window_of.clone(),
            freeze: freeze.clone(),
            given: given.clone(),
            zone: zone.iana_name().map(str::to_owned),
            deadline: None,
            otherwise: times.next_close.and_then(|close| gate(close)?.times.next_open),
            first_closing,
            since,
            outruns: false,
            release: None,
            reason: None,
        };
        // The last run in the window has to see it.
        let seen = if self.is_held(applier) { tick } else { Duration::ZERO };
        // A resumed Flux Kustomization and a new artifact are reconciled at once (kustomize-controller,
        // `SetupWithManager`).
        let sure = |open: Timestamp| {
            let begins = after(open, tick)?;
            match arrival.sure? {
                at if at <= open => after(begins, STEP),
                at => after(after(at, seen)?.max(begins), (*late)?),
            }
        };
        let lands = |open: Timestamp, close: Option<Timestamp>| {
            let sure = sure(open);
            let is_in_time = close.is_none_or(|close| sure.is_some_and(|sure| sure <= close));
            let latest = until(arrival.latest.map(|at| at.max(open)), *slack);
            let latest = latest.and_then(|at| after(at, tick)).map(|at| sure.map_or(at, |sure| sure.max(at)));
            let latest = latest.filter(|_| sure.is_some());
            is_in_time.then(|| (latest.map(|at| close.map_or(at, |close| at.min(close))), sure, close))
        };
        // Else it may come too late for this opening.
        let later = || {
            let mut close = times.next_close?;
            for _ in 0..MOST_OPENINGS {
                let next = gate(close)?.times;
                if let Some(landed) = lands(next.next_open?, next.next_close) {
                    return Some(landed);
                }
                close = next.next_close?;
            }
            None
        };
        let last = arrival.last.as_deref().unwrap_or("the commit is applied");
        let opens = |open: Timestamp| {
            let first = lands(open, times.next_close);
            let is_sure = first.is_some();
            let (latest, sure, close) = first.or_else(later).unwrap_or_default();
            let landing = window(open, latest);
            let landing = match is_sure {
                true => landing,
                false => landing.because(format!("the window may close before {last}")),
            };
            let chain = arrival.chain.zip(*late);
            let chain = chain.map(|(chain, late)| (chain + seen).max(tick).saturating_add(late));
            let mut holds = arrival.holds.clone();
            holds.insert(hold.clone());
            let (from, first) = (after(open, tick), times.next_close);
            let opening = Opening { close: first, sure: close, chain, from, holds };
            Course { landing, sure, chain, slack: *slack, opening: Some(opening) }
        };
        let course = match (times.open, times.next_open) {
            (true, _) => opens(arrival.earliest),
            (false, Some(open)) => opens(open),
            (false, None) => {
                let none = match end {
                    Some(end) if end > merged => {
                        format!("no time is open until the table of open times ends, {}", moment(end, &zone))
                    }
                    Some(end) => format!("the table of open times has ended, {}", moment(end, &zone)),
                    None => format!("{} no more within five years", hold.opening()),
                };
                let zone_name = zone.iana_name().map(str::to_owned);
                let never =
                    Landing { window: Some(name), window_of, zone: zone_name, ..Landing::never(none) };
                let Some(freeze) = freeze else { return Course::stuck(told(never)) };
                let after = if is_endless(freeze.interval) { "" } else { ", and nothing opens after it" };
                let reason = Some(format!("held by {}{after}", told_of(&freeze, &zone)));
                let frozen = Landing { state: State::Frozen, since, reason, freeze: Some(freeze), ..never };
                return Course::stuck(frozen);
            }
        };
        let landing = match (&freeze, &delay) {
            (Some(freeze), _) if !times.open => {
                let reason = Some(format!("held by {}", told_of(freeze, &zone)));
                Landing { state: State::Frozen, reason, ..course.landing }
            }
            (_, Some(delay)) if !times.open => {
                let why = format!("an earlier opening falls into {}", told_of(delay, &zone));
                Landing { reason: Some(why), ..course.landing }
            }
            _ => course.landing,
        };
        let other = arrival.windowed.as_ref().filter(|(course, _)| {
            course.opening.as_ref().is_some_and(|opening| !opening.holds.contains(hold))
        });
        let landing = match other.and_then(|(_, why)| why.as_ref()) {
            Some(why) => landing.because(format!("{why}, which waits for another window")),
            None => landing,
        };
        let landing = match first_closing {
            Some(_) => landing.because(UNCLOSED),
            None => landing,
        };
        let landing = told(match assumed {
            Some(why) => landing.because(why),
            None => landing,
        });
        Course { landing, ..course }
    }
}

/// What comes to the window of a Flux Kustomization.
struct Passing<'p> {
    arrival: Arrival,
    /// As [`Course::slack`].
    slack: Option<Duration>,
    /// How long it takes to apply what comes while it is open.
    late: Option<Duration>,
    /// Adds to a landing what is told of each.
    told: &'p dyn Fn(Landing) -> Landing,
}

fn until(start: Option<Timestamp>, interval: Option<Duration>) -> Option<Timestamp> {
    start.zip(interval).and_then(|(at, interval)| after(at, interval))
}

/// Names a freeze by its end and its reason.
fn told_of(freeze: &Stretch, zone: &TimeZone) -> String {
    match is_endless(freeze.interval) {
        true => format!("freeze without end ({})", freeze.reason),
        false => format!("freeze until {} ({})", moment(freeze.interval.close, zone), freeze.reason),
    }
}

pub(super) fn duration_of(spec: &Value, field: &str) -> Option<Duration> {
    duration::parse(spec[field].as_str()?)
}

pub(super) fn after(at: Timestamp, duration: Duration) -> Option<Timestamp> {
    at.checked_add(duration).ok()
}
