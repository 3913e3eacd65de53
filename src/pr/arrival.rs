//! When a Flux Kustomization applies a commit.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::delivery::{Applier, BOOTSTRAP, Hold, Reached, UNCLOSED, ready_after};
use crate::pr::gate::Gate;
use crate::pr::landing::{Landing, State};
use crate::pr::tree::{Tree, applier_of};
use crate::repo::duration;
use crate::schedule::Stretch;
use crate::spec::exceptions::is_endless;

/// How many `dependsOn` are followed one after another; Flux refuses cycles only when it meets them.
pub(super) const DEEPEST: usize = 64;

/// How many openings are looked at for one that is long enough after a commit to have it.
const MOST_OPENINGS: usize = 64;

/// When Flux Kustomizations of one cluster apply a commit, by namespace and name, as far as it was worked out: many may
/// depend on one.
type Known<'k> = BTreeMap<(&'k str, &'k str), Landing>;

impl Tree<'_> {
    /// Returns when a commit that is merged at an instant is applied by a Flux Kustomization that the cluster has.
    pub fn applied(&self, applier: &Applier<'_>, merged: Timestamp) -> Landing {
        self.applied_from(applier, merged, DEEPEST, &mut Known::new())
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

    fn applied_from<'k>(
        &'k self,
        applier: &Applier<'k>,
        merged: Timestamp,
        left: usize,
        known: &mut Known<'k>,
    ) -> Landing {
        let Some(one) = applier.kustomization else {
            return Landing::unknown("no Flux Kustomization in Git applies the folder");
        };
        if applier.spec()["suspend"] == true {
            return Landing::never(format!("Git suspends Flux Kustomization {}", one.name()));
        }
        let id = (one.namespace(), one.name());
        if let Some(landing) = known.get(&id) {
            return landing.clone();
        }
        let own = self.own(applier, one, merged);
        if left == 0 {
            return own;
        }
        // What is met again on the way is part of a circle, which ends here.
        known.insert(id, own.clone());
        let cluster = self.cluster(applier.cluster);
        let dependencies = cluster.into_iter().flat_map(|cluster| cluster.dependencies(one));
        let landing = dependencies.fold(own, |landing, (name, other)| {
            let other = cluster.zip(other).and_then(|(cluster, other)| applier_of(cluster, other));
            let Some(other) = other else {
                return landing.and(Landing::unknown(format!("it depends on {name}, which is not in Git")));
            };
            let mut ready = self.applied_from(&other, merged, left - 1, known);
            let lag = ready_after(other.spec());
            ready.latest = ready.latest.zip(lag).and_then(|(at, lag)| after(at, lag));
            if ready.state != State::AtOnce {
                ready.reason = Some(format!("it depends on {name}"));
            }
            landing.and(ready)
        });
        known.insert(id, landing.clone());
        landing
    }

    /// As [`applied`](Tree::applied), were there no dependencies.
    fn own(&self, applier: &Applier<'_>, one: &Reached, merged: Timestamp) -> Landing {
        let source = self.cluster(applier.cluster).map(|cluster| (cluster, cluster.followed(&one.source())));
        let said = source.as_ref().and_then(|(cluster, source)| cluster.interval(source));
        let fetched = said.unwrap_or(BOOTSTRAP);
        let arrives = after(merged, fetched);
        let interval = duration_of(applier.spec(), "interval");
        let until =
            |start: Option<Timestamp>| start.zip(interval).and_then(|(at, interval)| after(at, interval));
        let release = source.as_ref().and_then(|(cluster, source)| cluster.release(source));
        let with_reason = |landing: Landing| match (interval, said) {
            (None, _) => landing.because(format!("Git does not say the interval of {}", one.name())),
            (_, None) => {
                let source = source.as_ref().map_or_else(|| one.source(), |(_, source)| source.clone());
                landing.because(format!(
                    "{} {} is not in Git; it is assumed to be fetched every minute",
                    source.kind, source.name
                ))
            }
            _ => landing,
        };
        let told = |landing: Landing| with_reason(Landing { release, ..landing });
        let Some(hold) = self.hold(applier) else {
            return told(Landing::at_once(merged, until(arrives)));
        };
        let named = self.window_name(applier, &hold, merged);
        let window_of = named.is_none().then(|| match &hold {
            Hold::Job(name) => format!("CronJob {name}"),
            Hold::Provider(name) => format!("ResourceSetInputProvider {name}"),
            other => format!("type {}", other.name().unwrap_or_default()),
        });
        let name = named.unwrap_or_else(|| hold.name().unwrap_or_default().to_owned());
        let gate = |at: Timestamp| self.gate(applier.cluster, Some(one), &hold, at);
        let Some(Gate { times, zone, first_closing, assumed, since, freeze, delay, given, end, tick }) =
            gate(merged)
        else {
            return Landing {
                window: Some(name),
                window_of,
                release,
                ..Landing::unknown(format!("when {} is not known", hold.opening()))
            };
        };
        let window = |earliest: Timestamp, latest: Option<Timestamp>, deadline: Option<Timestamp>| Landing {
            state: State::Window,
            earliest: Some(earliest),
            latest,
            window: Some(name.clone()),
            window_of: window_of.clone(),
            freeze: freeze.clone(),
            given: given.clone(),
            zone: zone.iana_name().map(str::to_owned),
            // One that is past is missed.
            deadline,
            otherwise: times.next_close.and_then(|close| gate(close)?.times.next_open),
            first_closing,
            since,
            outruns: false,
            release,
            reason: None,
        };
        let until = |start: Option<Timestamp>| until(start).and_then(|at| after(at, tick));
        // The last run in the window has to see it.
        let seen = if self.is_held(applier) { fetched + tick } else { fetched };
        let arrives = after(merged, seen);
        let before = |close: Option<Timestamp>| close?.checked_sub(seen).ok();
        // A resumed Flux Kustomization and a new artifact are reconciled at once (kustomize-controller,
        // `SetupWithManager`), so what is fetched before a closing lands before it.
        let lands = |open: Timestamp, close: Option<Timestamp>| {
            let from = arrives.map(|at| at.max(open));
            let is_in_time = close.is_none_or(|close| from.is_some_and(|from| from < close));
            is_in_time.then(|| until(from).map(|at| close.map_or(at, |close| at.min(close))))
        };
        // Else it may come too late for this opening.
        let later = || {
            let mut close = times.next_close?;
            for _ in 0..MOST_OPENINGS {
                let next = gate(close)?.times;
                if let Some(latest) = lands(next.next_open?, next.next_close) {
                    return latest;
                }
                close = next.next_close?;
            }
            None
        };
        let unsure = "the window may close before the commit is fetched";
        let opens = |open: Timestamp| match lands(open, times.next_close) {
            Some(latest) => window(open, latest, before(times.next_close)),
            None => window(open, later(), before(times.next_close)).because(unsure),
        };
        let landing = match (times.open, times.next_open) {
            (true, _) => opens(merged),
            (false, Some(open)) if freeze.is_some() => {
                let reason = freeze.as_ref().map(|freeze| format!("held by {}", told_of(freeze, &zone)));
                Landing { state: State::Frozen, reason, ..opens(open) }
            }
            (false, Some(open)) => match &delay {
                Some(delay) => {
                    let landing = opens(open);
                    let why = format!("an earlier opening falls into {}", told_of(delay, &zone));
                    Landing { reason: Some(why), ..landing }
                }
                None => opens(open),
            },
            (false, None) => {
                let none = match end {
                    Some(end) if end > merged => {
                        format!("no time is open until the table of open times ends, {}", instant(end, &zone))
                    }
                    Some(end) => format!("the table of open times has ended, {}", instant(end, &zone)),
                    None => format!("{} no more within five years", hold.opening()),
                };
                let zone_name = zone.iana_name().map(str::to_owned);
                let never =
                    Landing { window: Some(name), window_of, zone: zone_name, ..Landing::never(none) };
                let Some(freeze) = freeze else { return never };
                let after = if is_endless(freeze.interval) { "" } else { ", and nothing opens after it" };
                let reason = Some(format!("held by {}{after}", told_of(&freeze, &zone)));
                return Landing { state: State::Frozen, since, reason, freeze: Some(freeze), ..never };
            }
        };
        let landing = match first_closing {
            Some(_) => landing.because(UNCLOSED),
            None => landing,
        };
        told(match assumed {
            Some(why) => landing.because(why),
            None => landing,
        })
    }
}

/// Names a freeze by its end and its reason.
fn told_of(freeze: &Stretch, zone: &TimeZone) -> String {
    match is_endless(freeze.interval) {
        true => format!("freeze without end ({})", freeze.reason),
        false => format!("freeze until {} ({})", instant(freeze.interval.close, zone), freeze.reason),
    }
}

fn instant(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M %:z").to_string()
}

pub(super) fn duration_of(spec: &Value, field: &str) -> Option<Duration> {
    duration::parse(spec[field].as_str()?)
}

pub(super) fn after(at: Timestamp, duration: Duration) -> Option<Timestamp> {
    at.checked_add(duration).ok()
}
