//! Openings and closings that a change of the clocks skips, moves or repeats: what the gate really does then.

use std::collections::BTreeSet;

use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use jiff::{Span, Timestamp};

use super::super::dst::{ClockEffect, ClockHit, clock_hits};
use super::super::interval::Timeline;
use super::super::local::{DAY, days_of};
use super::super::pair::Edge;
use super::super::recurrence::Recurrence;
use super::super::resolve::{nearest_first, show, years_after};
use super::super::window::WindowKey;
use super::one::One;
use super::{Lint, LintCode, MOST_DATES, YEARS, static_lints};

/// How long before the asked instant a change may lie whose effect still lasts, in days.
const LOOK_BACK: i64 = 366;

/// The years over which another time is tried before it is offered.
const TRIED: i64 = 10;

/// What one change of the clocks does to a gate.
struct Effect {
    hit: ClockHit,
    /// Whether the gate is in another state than the expression says, for any time.
    harms: bool,
    /// What happens, to follow the local time and the expression.
    consequence: String,
}

/// Adds what the changes of the clocks do to the windows of a type.
pub(super) fn clocks(windows: &[One<'_>], position: usize, edge: Edge, lints: &mut Vec<Lint>) {
    let one = &windows[position];
    let worse = [LintCode::NeverFires, LintCode::AlwaysOpen, LintCode::SameInstant];
    if lints.iter().any(|lint| lint.window == Some(one.index) && worse.contains(&lint.code)) {
        return;
    }
    let (open_key, close_key) = one.window.keys();
    let key = match edge {
        Edge::Open => open_key,
        Edge::Close => close_key,
    };
    let expr = one.edges.of(edge);
    let effects = effects(one, edge, one.options.from, YEARS);
    let zone = one.zone.iana_name().unwrap_or("UTC");
    for (code, twice) in [(LintCode::ClockGap, false), (LintCode::ClockFold, true)] {
        let found = || effects.iter().filter(|effect| (effect.hit.effect == ClockEffect::Repeated) == twice);
        let Some(first) = found().find(|effect| effect.harms).or_else(|| found().next()) else { continue };
        let alike = found().filter(|effect| effect.harms == first.harms);
        let mut dates: Vec<Date> = alike.map(|effect| effect.hit.local.date()).collect();
        dates.dedup();
        dates.truncate(MOST_DATES);
        lints.push(one.finding(
            code,
            key,
            format!(
                "as the clocks in {zone} change, {} of `{expr}` {}",
                show(first.hit.local),
                first.consequence
            ),
            dates,
            remedy(windows, position, edge, key, first),
        ));
    }
}

/// Returns what the changes of the clocks do to one edge of a window in some years, and what of it still lasts.
fn effects(one: &One<'_>, edge: Edge, from: Timestamp, years: i64) -> Vec<Effect> {
    let expr = one.edges.of(edge);
    let since = from.checked_sub(Span::new().hours(LOOK_BACK * 24)).unwrap_or(from);
    let timeline = one.timeline();
    clock_hits(expr, &one.zone, since, years_after(from, years))
        .into_iter()
        .filter_map(|hit| {
            let (effect, ends) = effect(one, &timeline, expr, edge, hit)?;
            (ends > from).then_some(effect)
        })
        .collect()
}

/// Follows the gate through one change of the clocks; gives what happens and when that is over, or `None` where
/// the gate does what it does without the change.
fn effect(
    one: &One<'_>,
    timeline: &Timeline,
    expr: &Recurrence,
    edge: Edge,
    hit: ClockHit,
) -> Option<(Effect, Timestamp)> {
    let second = Span::new().seconds(1);
    let before = one.zone.to_offset(hit.transition.checked_sub(second).ok()?);
    let after = one.zone.to_offset(hit.transition);
    let is_open_before = |at: Timestamp| at.checked_sub(second).is_ok_and(|at| timeline.is_open(at));
    let local = |at: Timestamp| show(one.zone.to_datetime(at));
    let until = |at: Option<Timestamp>| at.map_or_else(String::new, |at| format!(" until {}", local(at)));
    let told =
        |harms: bool, consequence: String, ends: Timestamp| Some((Effect { hit, harms, consequence }, ends));
    if matches!(hit.effect, ClockEffect::Skipped | ClockEffect::Repeated)
        && is_regular(expr, hit.local, before, after)
    {
        return None;
    }
    match (hit.effect, edge) {
        (ClockEffect::Skipped | ClockEffect::Missed, _) => {
            // The same time without the change; what is skipped is as far behind it as it would have been.
            let due = [after, before]
                .into_iter()
                .filter_map(|offset| offset.to_timestamp(hit.local).ok().map(|at| (offset, at)))
                .find(|(offset, at)| one.zone.to_offset(*at) == *offset)
                .map_or_else(|| before.to_timestamp(hit.local).ok(), |(_, at)| Some(at))?;
            let comes = match hit.effect {
                ClockEffect::Missed => "is passed over",
                _ => "does not come",
            };
            match (edge, timeline.is_open(due)) {
                (Edge::Close, true) => {
                    let real = timeline.next_close(due);
                    let consequence = format!("{comes}, so the window stays open{}", until(real));
                    told(true, consequence, real.unwrap_or(Timestamp::MAX))
                }
                (Edge::Open, false) => {
                    let real = timeline.next_open(due);
                    let consequence = match real {
                        Some(real) => format!("{comes}, so the window stays closed until {}", local(real)),
                        None => format!("{comes}, so the window does not open again"),
                    };
                    told(true, consequence, real.unwrap_or(Timestamp::MAX))
                }
                _ => None,
            }
        }
        (ClockEffect::Extra, _) => {
            let at = after.to_timestamp(hit.local).ok()?;
            match (edge, is_open_before(at)) {
                (Edge::Close, true) => {
                    told(true, "is taken for the day before, and the window closes also then".into(), at)
                }
                (Edge::Open, false) => {
                    let close = timeline.next_close(at);
                    let consequence = format!(
                        "is taken for the day before, and the window opens also then{}",
                        until(close)
                    );
                    told(true, consequence, close.unwrap_or(Timestamp::MAX))
                }
                _ => None,
            }
        }
        (ClockEffect::Repeated, _) => {
            let again = after.to_timestamp(hit.local).ok()?;
            match (edge, is_open_before(again)) {
                (Edge::Close, true) => {
                    told(true, "comes twice, and the window closes both times".into(), again)
                }
                (Edge::Close, false) => told(
                    false,
                    "comes twice: the window closes at the first, and the second changes nothing".into(),
                    again,
                ),
                (Edge::Open, false) => {
                    let close = timeline.next_close(again);
                    let consequence =
                        format!("comes twice, and the window opens again at the second{}", until(close));
                    told(true, consequence, close.unwrap_or(Timestamp::MAX))
                }
                (Edge::Open, true) => told(
                    false,
                    "comes twice: the window opens at the first, and the second changes nothing".into(),
                    again,
                ),
            }
        }
    }
}

/// Returns whether an expression fires as far before and after a local time as the clocks change, so that one more
/// firing, or one less, is as regular as all others.
fn is_regular(expr: &Recurrence, local: DateTime, before: Offset, after: Offset) -> bool {
    if !expr.has_times() {
        return true;
    }
    let minutes = i64::from(before.seconds() - after.seconds()).abs() / 60;
    let days = days_of(local.year().into(), local.month() as u32, local.day().into());
    let minute = i64::from(local.hour()) * 60 + i64::from(local.minute());
    [minute - minutes, minute + minutes]
        .into_iter()
        .all(|at| expr.minutes_of(days + at.div_euclid(DAY / 60)).contains(&at.rem_euclid(DAY / 60)))
}

/// Says what to write instead: the nearest time that has been tried over ten years and does what it says, and
/// with which the windows of the type have no other fault that they did not have.
fn remedy(windows: &[One<'_>], position: usize, edge: Edge, key: WindowKey, effect: &Effect) -> String {
    let one = &windows[position];
    let known = faults(windows);
    let works = |minutes: i64, both: bool| -> Option<String> {
        let (window, text) = one.window.moved(edge == Edge::Close, both, minutes)?;
        let edges = window.edges().ok()?;
        let moved = One { window: &window, edges, ..one.clone() };
        let silent = |years| {
            [Edge::Open, Edge::Close].into_iter().all(|other| {
                let strict = !effect.harms && other == edge;
                effects(&moved, other, one.options.from, years).iter().all(|effect| !effect.harms && !strict)
            })
        };
        // Most of those that don't work show it in the first year.
        if !silent(1) || !silent(TRIED) {
            return None;
        }
        let others = windows.iter().enumerate().map(|(index, other)| match index == position {
            true => moved.clone(),
            false => other.clone(),
        });
        faults(&others.collect::<Vec<_>>()).is_subset(&known).then_some(text)
    };
    let found = [false, true]
        .into_iter()
        .flat_map(|both| nearest_first().map(move |minutes| (minutes, both)))
        .find_map(|(minutes, both)| works(minutes, both));
    let year = one.zone.to_datetime(years_after(one.options.from, TRIED)).year();
    match (found, effect.harms) {
        (Some(text), true) => format!("{text}: no change of the clocks touches that until {year}"),
        (Some(text), false) => format!("leave it, or {text}, which comes once"),
        (None, true) => {
            format!("write `{}` for `timeZone: UTC`, whose clocks never change", key.as_str())
        }
        (None, false) => "leave it, or use `timeZone: UTC`, whose clocks never change".into(),
    }
}

/// The kinds of faults that windows have apart from the changes of the clocks, with their dates: what a change of
/// the clocks makes overlap once a year is not known for every week.
fn faults(windows: &[One<'_>]) -> BTreeSet<(LintCode, Option<usize>, Option<Date>)> {
    let mut lints = Vec::new();
    static_lints(windows, &mut lints);
    let dated = |lint: Lint| {
        let dates =
            if lint.dates.is_empty() { vec![None] } else { lint.dates.into_iter().map(Some).collect() };
        dates.into_iter().map(move |date| (lint.code, lint.window, date))
    };
    lints.into_iter().flat_map(dated).collect()
}
