//! What is surprising about the windows of a type together.

use super::super::interval::{Interval, Timeline};
use super::super::local::DAY;
use super::super::resolve::years_after;
use super::one::One;
use super::{Lint, LintCode, LintOptions, MOST_DATES, MOST_FIRINGS, YEARS};

/// Windows of a type whose own intervals overlap or touch.
pub(super) fn overlaps(windows: &[One<'_>], options: &LintOptions, lints: &mut Vec<Lint>) {
    let until = years_after(options.from, 1);
    let intervals: Vec<Vec<Interval>> = windows
        .iter()
        .map(|one| one.timeline().intervals(options.from, until).take(MOST_FIRINGS).collect())
        .collect();
    for (i, first) in windows.iter().enumerate() {
        for (j, second) in windows.iter().enumerate().skip(i + 1) {
            let (mut a, mut b) = (intervals[i].iter().peekable(), intervals[j].iter().peekable());
            let mut dates = Vec::new();
            while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
                if x.open <= y.close && y.open <= x.close {
                    dates.push(second.date(x.open.max(y.open).max(options.from)));
                }
                if x.close < y.close {
                    a.next()
                } else {
                    b.next()
                };
            }
            dates.dedup();
            dates.truncate(MOST_DATES);
            if dates.is_empty() {
                continue;
            }
            lints.push(second.finding(
                LintCode::Overlap,
                second.window.keys().0,
                format!(
                    "`{}` opens this window while another of the type (`{}`) is open or closing, and the first \
                     closing closes both",
                    second.pair.open, first.pair.open
                ),
                dates,
                "make one window of the two, or leave time between them",
            ));
        }
    }
}

/// The longest time that a type stays closed.
pub(super) fn rarely_opens(windows: &[One<'_>], options: &LintOptions, lints: &mut Vec<Lint>) {
    let (Some(days), Some(one)) = (options.most_days_closed, windows.first()) else { return };
    let timeline = Timeline::of_pairs(windows.iter().map(|one| (one.pair.clone(), one.zone.clone())));
    let until = years_after(options.from, YEARS);
    let mut closed_since = options.from;
    let mut longest = (0, options.from);
    for interval in timeline.intervals(options.from, until).take(MOST_FIRINGS) {
        longest = longest.max((interval.open.as_second() - closed_since.as_second(), closed_since));
        closed_since = interval.close;
    }
    if closed_since < until && timeline.next_open(closed_since).is_none() {
        longest = longest.max((until.as_second() - closed_since.as_second(), closed_since));
    }
    if longest.0 <= i64::from(days) * DAY {
        return;
    }
    lints.push(Lint {
        code: LintCode::RarelyOpens,
        window: None,
        key: None,
        message: format!("the type stays closed for {} days, more than {days}", longest.0 / DAY),
        dates: vec![one.date(longest.1)],
        remedy: "add a window, or open it more often".into(),
    });
}
