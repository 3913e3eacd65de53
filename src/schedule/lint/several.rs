//! What is surprising about the windows of a type together.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::Date;

use super::super::interval::{Interval, Timeline};
use super::super::local::DAY;
use super::super::resolve::years_after;
use super::one::One;
use super::{Lint, LintCode, LintOptions, MOST_DATES, MOST_FIRINGS, YEARS};

/// Openings at the instant of a closing, of the same window or of another one of the type.
///
/// The CronJobs start two Jobs in the same second, and whichever ends last decides. [`Timeline`] takes the gate
/// for closed then.
pub(super) fn same_instant(windows: &[One<'_>], lints: &mut Vec<Lint>) {
    let edges: Vec<Vec<(Timestamp, bool)>> = windows
        .iter()
        .map(|one| one.timeline().edges(one.options.from, years_after(one.options.from, YEARS), MOST_FIRINGS))
        .collect();
    let of = |position: usize, opens: bool| {
        edges[position].iter().filter(move |edge| edge.1 == opens).map(|edge| edge.0)
    };
    for (i, opening) in windows.iter().enumerate() {
        let opens: BTreeSet<Timestamp> = of(i, true).collect();
        for (j, closing) in windows.iter().enumerate() {
            let mut dates: Vec<Date> =
                of(j, false).filter(|at| opens.contains(at)).map(|at| opening.date(at)).collect();
            dates.dedup();
            dates.truncate(MOST_DATES);
            if dates.is_empty() {
                continue;
            }
            let (open, close) = (expr(opening, true, closing), expr(closing, false, opening));
            let (open_key, close_key) = opening.window.keys();
            lints.push(if i == j {
                opening.finding(
                    LintCode::SameInstant,
                    close_key,
                    format!("{open} and {close} fire at the same instant. The slower Job decides"),
                    dates,
                    "close later than it opens",
                )
            } else {
                opening.finding(
                    LintCode::SameInstant,
                    open_key,
                    format!(
                        "{open} opens this window when {close} closes another window of the type. The slower Job decides"
                    ),
                    dates,
                    "make one window of the two, or leave some minutes between them",
                )
            });
        }
    }
}

/// Windows of a type whose own intervals overlap, told of the one that opens later.
pub(super) fn overlaps(windows: &[One<'_>], lints: &mut Vec<Lint>) {
    let intervals: Vec<Vec<Interval>> = windows
        .iter()
        .map(|one| {
            let from = one.options.from;
            one.timeline().intervals(from, years_after(from, 1)).take(MOST_FIRINGS).collect()
        })
        .collect();
    for (i, first) in windows.iter().enumerate() {
        for (j, second) in windows.iter().enumerate().skip(i + 1) {
            let (mut a, mut b) = (intervals[i].iter().peekable(), intervals[j].iter().peekable());
            // Of either, the dates on which it opens while the other is open.
            let (mut by_first, mut by_second) = (Vec::new(), Vec::new());
            while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
                if x.open < y.close && y.open < x.close {
                    let (later, dates, opened) = match x.open <= y.open {
                        true => (second, &mut by_second, y.open),
                        false => (first, &mut by_first, x.open),
                    };
                    dates.push(later.date(opened.max(later.options.from)));
                }
                if x.close < y.close {
                    a.next()
                } else {
                    b.next()
                };
            }
            for (later, earlier, mut dates) in [(first, second, by_first), (second, first, by_second)] {
                dates.dedup();
                dates.truncate(MOST_DATES);
                if dates.is_empty() {
                    continue;
                }
                lints.push(later.finding(
                    LintCode::Overlap,
                    later.window.keys().0,
                    format!(
                        "{} opens this window while another of the type ({}) is open. The first closing closes both",
                        expr(later, true, earlier),
                        expr(earlier, true, later)
                    ),
                    dates,
                    "make one window of the two, or leave time between them",
                ));
            }
        }
    }
}

/// Names an expression of a window, with its zone where that differs from the zone of another.
fn expr(one: &One<'_>, opens: bool, other: &One<'_>) -> String {
    let expr = if opens { &one.edges.open } else { &one.edges.close };
    match one.zone == other.zone {
        true => format!("`{expr}`"),
        false => format!("`{expr}` in {}", one.zone.iana_name().unwrap_or("UTC")),
    }
}

/// Returns the times in five years in which a type is closed, in order: since when and for how many seconds. The
/// first may have begun before them; one that does not end lasts until their end.
fn closed_times(windows: &[One<'_>], options: &LintOptions) -> Vec<(Timestamp, i64)> {
    let timeline = Timeline::of_pairs(windows.iter().map(|one| (one.edges.clone(), one.zone.clone())));
    let until = years_after(options.from, YEARS);
    let mut since = timeline.closed_since(options.from);
    let mut closed = Vec::new();
    for interval in timeline.intervals(options.from, until).take(MOST_FIRINGS) {
        if let Some(since) = since {
            closed.push((since, interval.open.as_second() - since.as_second()));
        }
        since = Some(interval.close);
    }
    if let Some(since) = since.filter(|since| *since < until && timeline.next_open(*since).is_none()) {
        closed.push((since, until.as_second() - since.as_second()));
    }
    closed
}

/// The longest time that a type stays closed.
pub(super) fn rarely_opens(windows: &[One<'_>], options: &LintOptions, lints: &mut Vec<Lint>) {
    let (Some(days), Some(one)) = (options.most_days_closed, windows.first()) else { return };
    let closed = closed_times(windows, options);
    let Some(longest) = closed.iter().map(|(_, seconds)| *seconds).max() else { return };
    // A change of the clocks makes one an hour longer, which is not what is to be told.
    let next = closed.iter().find(|(_, seconds)| seconds / DAY == longest / DAY);
    let Some(&(since, seconds)) = next else { return };
    if seconds <= i64::from(days) * DAY {
        return;
    }
    lints.push(Lint {
        code: LintCode::RarelyOpens,
        window: None,
        key: None,
        message: format!(
            "the type stays closed for {}, more than {}",
            in_days(seconds),
            count(days.into(), "day")
        ),
        dates: vec![one.date(since)],
        remedy: "add a window, or open it more often".into(),
    });
}

/// A type that is closed for so short a time that Flux may not even look in it.
pub(super) fn hardly_closes(windows: &[One<'_>], options: &LintOptions, lints: &mut Vec<Lint>) {
    let Some(interval) = options.interval.and_then(|interval| i64::try_from(interval.as_secs()).ok()) else {
        return;
    };
    if lints.iter().any(|lint| lint.code.is_fatal()) {
        return;
    }
    let closed = closed_times(windows, options);
    let Some(longest) =
        closed.iter().map(|(_, seconds)| *seconds).max().filter(|longest| *longest < interval)
    else {
        return;
    };
    lints.push(Lint {
        code: LintCode::HardlyCloses,
        window: None,
        key: None,
        message: format!(
            "the type is closed for {} at most, less than Flux's interval ({}). Hardly any change waits",
            in_days(longest),
            in_days(interval)
        ),
        dates: Vec::new(),
        remedy: "close it for longer, or give the type no window".into(),
    });
}

/// Writes a length of time in days, hours and minutes.
fn in_days(seconds: i64) -> String {
    let parts = [(seconds / DAY, "day"), (seconds % DAY / 3600, "hour"), (seconds % 3600 / 60, "minute")];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, unit)| count(number, unit))
        .collect();
    if parts.is_empty() { "less than a minute".into() } else { parts.join(" ") }
}

fn count(number: i64, unit: &str) -> String {
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}
