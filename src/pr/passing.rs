//! When what has come to a window passes it.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::{Applier, Hold, Reached, STEP, UNCLOSED};
use crate::pr::arrival::after;
use crate::pr::course::{Arrival, Course, Opening};
use crate::pr::gate::Gate;
use crate::pr::landing::{Landing, State};
use crate::pr::tree::Tree;
use crate::schedule::{Stretch, moment};
use crate::spec::exceptions::is_endless;

/// How many openings are looked at for one that is long enough after a commit to have it.
const MOST_OPENINGS: usize = 64;

/// What comes to the window of a Flux Kustomization.
pub(super) struct Passing<'p> {
    pub(super) arrival: Arrival,
    /// As [`Course::slack`].
    pub(super) slack: Option<Duration>,
    /// How long it takes to apply what comes while it is open.
    pub(super) late: Option<Duration>,
    /// Adds to a landing what is told of each.
    pub(super) told: &'p dyn Fn(Landing) -> Landing,
}

impl Tree<'_> {
    /// Returns when a Flux Kustomization that something holds back has applied what has come to it.
    pub(super) fn through(
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

/// Returns an instant so long after another one.
pub(super) fn until(start: Option<Timestamp>, interval: Option<Duration>) -> Option<Timestamp> {
    start.zip(interval).and_then(|(at, interval)| after(at, interval))
}

/// Names a freeze by its end and its reason.
fn told_of(freeze: &Stretch, zone: &TimeZone) -> String {
    match is_endless(freeze.interval) {
        true => format!("freeze without end ({})", freeze.reason),
        false => format!("freeze until {} ({})", moment(freeze.interval.close, zone), freeze.reason),
    }
}
