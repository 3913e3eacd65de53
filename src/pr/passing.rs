//! When what has come to a window passes it.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::fleet::GateTimes;
use crate::delivery::{Applier, Cluster, Hold, Reached, STEP};
use crate::pr::arrival::after;
use crate::pr::course::{Arrival, Course, Opening};
use crate::pr::gate::{Gate, window_of};
use crate::pr::landing::{Landing, OtherWindow, State};
use crate::pr::tree::Tree;
use crate::schedule::{Changing, Stretch, moment};
use crate::spec::exceptions::is_endless;
use crate::text::length;

/// How many openings are looked at for one that is long enough after a commit to have it.
const MOST_OPENINGS: usize = 64;

/// Why what is open may close at any time, or opens at any time.
fn why(changing: Changing) -> &'static str {
    match changing {
        Changing::Closes => "a commit closes its gate, and counts there once the cluster has it",
        Changing::Opens => "a commit opens its gate, and counts there once the cluster has it",
    }
}

/// What comes to the window of a Flux Kustomization.
pub(super) struct Passing<'p> {
    pub(super) arrival: Arrival,
    /// How long it takes to apply what comes while it is open.
    pub(super) late: Option<Duration>,
    /// Adds to a landing what is told of each.
    pub(super) told: &'p dyn Fn(Landing) -> Landing,
}

impl Tree<'_> {
    /// Returns the course of what waits for something that a freeze holds without end, where one holds itself too.
    pub(super) fn frozen(
        &self,
        applier: &Applier<'_>,
        one: &Reached,
        merged: Timestamp,
        arrival: &Arrival,
        is_gated: bool,
    ) -> Option<Course> {
        let is_endless = |landing: &Landing| landing.state == State::Frozen && landing.earliest.is_none();
        let hold = self.hold(applier).filter(|_| is_gated)?;
        arrival.stuck.as_ref().filter(|stuck| is_endless(stuck))?;
        let arrival = Arrival { stuck: None, ..arrival.clone() };
        let passing = Passing { arrival, late: None, told: &|landing| landing };
        let course = self.through(applier, one, merged, &hold, &passing);
        is_endless(&course.landing).then_some(course)
    }

    /// Returns when a Flux Kustomization that something holds back has applied what has come to it.
    pub(super) fn through(
        &self,
        applier: &Applier<'_>,
        one: &Reached,
        merged: Timestamp,
        hold: &Hold,
        passing: &Passing<'_>,
    ) -> Course {
        let Passing { arrival, late, told } = passing;
        let gate = |at: Timestamp| self.gate(applier.cluster, Some(one), hold, at);
        let found = gate(arrival.earliest);
        let name_of = |gate: &Gate| self.window_name(applier, hold, gate);
        let named = found.as_ref().and_then(name_of);
        let window_of = named.is_none().then(|| window_of(hold));
        let name = named.unwrap_or_else(|| hold.name().unwrap_or_default().to_owned());
        let Some(found) = found else {
            let unknown = Landing::unknown(format!("when {} is not known", hold.opening()));
            let release = told(Landing::unknown("")).release;
            return Course::stuck(Landing { window: Some(name), window_of, release, ..unknown });
        };
        let Gate {
            times,
            zone,
            first_closing,
            unclosed,
            assumed,
            since,
            freeze,
            delay,
            given,
            end,
            changes,
            changing,
            tick,
            ..
        } = found;
        let next = times.next_close.and_then(gate);
        let otherwise = next.as_ref().and_then(|next| next.times.next_open);
        let other = next
            .filter(|next| next.window != found.window)
            .map(|next| OtherWindow { name: name_of(&next), zone: next.zone.iana_name().map(str::to_owned) });
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
            otherwise,
            other: other.clone(),
            first_closing,
            since,
            outruns: false,
            release: None,
            reason: None,
        };
        // The last run in the window has to see it, and its Job takes a step.
        let is_held = self.is_held(applier);
        let seen = if is_held { tick.saturating_add(STEP) } else { Duration::ZERO };
        // What is suspended is so as nothing new is let in, and what is held goes on applying until the end.
        let closes = |times: &GateTimes| if is_held { times.next_close } else { times.lets_in_until };
        // What is open has been opened by a Job, and what is not takes one.
        let opened = |open: Timestamp| {
            let is_open = times.open && open == arrival.earliest;
            after(open, if is_open { tick } else { tick.saturating_add(STEP) })
        };
        // A resumed Flux Kustomization and a new artifact are reconciled at once (kustomize-controller,
        // `SetupWithManager`). What is held at its source goes on reconciling, and may be busy with what it has.
        let cluster = self.cluster(applier.cluster);
        let begun = match is_held {
            true => cluster.and_then(|cluster| cluster.applied_after(applier.spec())),
            false => cluster.map(Cluster::turn),
        };
        let sure = |open: Timestamp| {
            let begins = opened(open)?;
            match arrival.sure? {
                at if at <= open => after(begins, begun?),
                at => after(after(at, seen)?.max(begins), (*late)?),
            }
        };
        let source = cluster.map(|cluster| cluster.followed(&one.source()));
        let fetched = source.map(|source| self.fetched_within(applier.cluster, &source));
        let let_in = |open: Timestamp| match after(merged, fetched?)? {
            at if at <= open => opened(open),
            at => Some(after(at, seen)?.max(opened(open)?)),
        };
        // What is let in late would not land before the end.
        let until = |times: &GateTimes| times.lets_in_until.filter(|_| is_held);
        let lands = |open: Timestamp, times: &GateTimes| {
            let (sure, close) = (sure(open), closes(times));
            let is_let_in = until(times).is_none_or(|until| let_in(open).is_some_and(|at| at <= until));
            let is_in_time = close.is_none_or(|close| sure.is_some_and(|sure| sure <= close));
            (is_let_in && is_in_time).then_some((sure, close))
        };
        // What may be closed for now is open for sure once the gate has its new times.
        let from = |open: Timestamp, changing: Option<Changing>| {
            changes.filter(|_| changing.is_some()).map_or(open, |by| by.max(open))
        };
        // Else it may come too late for this opening.
        let later = || {
            let mut close = times.next_close?;
            for _ in 0..MOST_OPENINGS {
                let Gate { times: next, changing, .. } = gate(close)?;
                if let Some(landed) = lands(from(next.next_open?, changing), &next) {
                    return Some(landed);
                }
                close = next.next_close?;
            }
            None
        };
        let last = arrival.last.as_deref().unwrap_or("the commit is applied");
        // What the last run in the window has let in goes on after it.
        let over = |chain: Option<Duration>| {
            let settled = times.next_close?.duration_since(until(&times)?).unsigned_abs();
            let over = chain?.checked_sub(fetched?.saturating_add(tick))?.checked_sub(settled)?;
            (!over.is_zero()).then_some(over)
        };
        let late_for = |chain: Option<Duration>| {
            let closes = format!("the window may close before {last}");
            match over(chain) {
                Some(over) => {
                    closes + &format!("; once begun, it still lands within {} of the closing", length(over))
                }
                None if until(&times) != times.next_close && is_held => {
                    "the commit may come too late to be let in".to_owned()
                }
                None => closes,
            }
        };
        let opens = |open: Timestamp| {
            let begins = from(open, changing);
            let first = lands(begins, &times);
            let is_sure = first.is_some();
            let chain = arrival.chain.zip(*late);
            let chain = chain.map(|(chain, late)| (chain + seen).max(tick).saturating_add(late));
            let (sure, close) = first.or_else(later).unwrap_or_default();
            let landing = window(open, sure);
            let landing = match changing {
                Some(changing) => landing.because(why(changing)),
                None if is_sure => landing,
                None => landing.because(late_for(chain)),
            };
            let mut holds = arrival.holds.clone();
            holds.insert(hold.clone());
            let (from, first) = (opened(begins), closes(&times));
            let entry = until(&times).zip(fetched.map(|fetched| fetched.saturating_add(seen)));
            let opening = Opening { close: first, sure: close, chain, entry, from, holds };
            Course { landing, sure, chain, opening: Some(opening) }
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
        let landing = match unclosed {
            Some(why) => landing.because(why),
            None => landing,
        };
        let landing = told(match assumed {
            Some(why) => landing.because(why),
            None => landing,
        });
        Course { landing, ..course }
    }
}

/// Names a freeze by its end and its reason.
fn told_of(freeze: &Stretch, zone: &TimeZone) -> String {
    match is_endless(freeze.interval) {
        true => format!("freeze without end ({})", freeze.reason),
        false => format!("freeze until {} ({})", moment(freeze.interval.close, zone), freeze.reason),
    }
}
