//! Outages of the CronJob controller.

use gitops_windows::schedule::outage::{
    AfterOutage, Deadlines, close_deadlines, missed_run, open_deadline_seconds, open_deadlines,
};
use gitops_windows::schedule::{Timeline, Window};
use jiff::Timestamp;

use super::{at, cron, from_to, open_close, open_for};

/// What was found over all outages between boundaries of ten years.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    right: usize,
    /// The gate should be open, and both Jobs start.
    races: usize,
    /// The gate should be open and is closed.
    closed: usize,
    /// The gate should be closed and is open or may be.
    open: usize,
}

/// Tries outages that start at or just after, and end at, every boundary of ten years; those that are longer
/// than `reach` boundaries only now and then, unless `GITOPS_WINDOWS_ALL_OUTAGES` is set.
fn tally(windows: &[Window], deadlines: &[Deadlines], reach: usize) -> Tally {
    let timeline = Timeline::new(windows).unwrap();
    let (from, to) = (at("2026-01-01T00:00:00Z"), at("2036-01-01T00:00:00Z"));
    let boundaries: Vec<Timestamp> = timeline.intervals(from, to).flat_map(|i| [i.open, i.close]).collect();
    let second =
        |instant: Timestamp, seconds: i64| Timestamp::from_second(instant.as_second() + seconds).unwrap();
    let reach = if std::env::var_os("GITOPS_WINDOWS_ALL_OUTAGES").is_some() { usize::MAX } else { reach };
    let mut tally = Tally::default();
    for (i, &start) in boundaries.iter().enumerate() {
        for (j, &end) in boundaries.iter().enumerate().skip(i) {
            if j - i > reach && (j - i) % 397 != i % 397 {
                continue;
            }
            for (start, end) in [(start, end), (second(start, 1), end)] {
                if start > end {
                    continue;
                }
                let after = timeline.after_outage(start, end, deadlines);
                match (timeline.is_open(end), after) {
                    (true, AfterOutage::Open) | (false, AfterOutage::Closed) => tally.right += 1,
                    (true, AfterOutage::Race) => tally.races += 1,
                    (true, AfterOutage::Closed) => tally.closed += 1,
                    (false, _) => tally.open += 1,
                }
            }
        }
    }
    tally
}

fn generated(windows: &[Window]) -> Vec<Deadlines> {
    let timeline = Timeline::new(windows).unwrap();
    open_deadlines(&timeline).into_iter().map(|open| Deadlines { open, close: None }).collect()
}

/// After an outage a gate that has to be closed is closed, with the deadline of the opening alone. One that has
/// to be open is open, or a missed closing races with the opening; never is it only closed.
#[test]
fn generated_deadlines_never_leave_a_gate_open() {
    for windows in [
        vec![open_for("Europe/Berlin", "0 22 * * SAT", "5h")],
        vec![open_close("America/New_York", "0 8 * * MON", "0 17 * * THU")],
        vec![from_to("UTC", "Mon 08:00", "Mon 17:00"), from_to("UTC", "Wed 08:00", "Wed 17:00")],
        vec![open_close("Europe/Berlin", "0 22 1 * *", "0 6 2 * *")],
    ] {
        let found = tally(&windows, &generated(&windows), 3);
        let without = tally(&windows, &vec![Deadlines::default(); windows.len()], 3);
        eprintln!(
            "{} {}: {found:?}, without deadlines {without:?}",
            windows[0].pair().unwrap().open,
            windows.len()
        );
        assert_eq!((found.open, found.closed), (0, 0));
        let both: Vec<Deadlines> = generated(&windows)
            .into_iter()
            .zip(close_deadlines(&Timeline::new(&windows).unwrap()))
            .map(|(deadlines, close)| Deadlines { close, ..deadlines })
            .collect();
        let both = tally(&windows, &both, 3);
        eprintln!("    with a deadline for closing {both:?}");
        assert_eq!((both.open, both.closed), (0, 0));
        assert!(without.open > 0);
    }
}

#[test]
fn the_deadline_is_the_shortest_window() {
    // In the night in which the clocks go forward the window is an hour shorter.
    let saturday = open_for("Europe/Berlin", "0 22 * * SAT", "5h");
    assert_eq!(open_deadline_seconds(&saturday), Ok(Some(4 * 3600)));
    let week = open_close("Europe/Berlin", "0 8 * * MON", "0 17 * * THU");
    assert_eq!(open_deadline_seconds(&week), Ok(Some((3 * 24 + 9) * 3600)));
    // It counts from the last opening, as that is the one that is made up for.
    let thrice = open_close("UTC", "0 8-10 * * *", "0 17 * * *");
    assert_eq!(open_deadline_seconds(&thrice), Ok(Some(7 * 3600)));
    assert_eq!(open_deadline_seconds(&open_close("UTC", "0 8 * * *", "0 0 31 2 *")), Ok(None));
}

#[test]
fn only_the_last_missed_run_starts_and_only_within_the_deadline() {
    let utc = jiff::tz::TimeZone::UTC;
    let open = cron("0 22 * * SAT");
    let (last, now) = (at("2026-11-07T22:00:00Z"), at("2026-11-29T01:00:00Z"));
    assert_eq!(missed_run(&open, &utc, last, now, None), Some(at("2026-11-28T22:00:00Z")));
    for (deadline, starts) in [(3 * 3600 + 1, true), (3 * 3600, false), (300, false)] {
        assert_eq!(missed_run(&open, &utc, last, now, Some(deadline)).is_some(), starts, "{deadline}");
    }
    // Without anything missed nothing starts.
    assert_eq!(missed_run(&open, &utc, at("2026-11-28T22:00:00Z"), now, None), None);
}

#[test]
fn a_closing_on_weekdays_only_may_not_be_made_up_for() {
    let utc = jiff::tz::TimeZone::UTC;
    let (tuesday, sunday) = (at("2026-11-24T17:00:00Z"), at("2026-11-29T07:00:00Z"));
    // Missed on Wednesday, Thursday and Friday: the controller looks for the last run only after Friday's.
    assert_eq!(missed_run(&cron("0 17 * * MON-FRI"), &utc, tuesday, sunday, None), None);
    let daily = missed_run(&cron("0 17 * * *"), &utc, tuesday, sunday, None);
    assert_eq!(daily, Some(at("2026-11-28T17:00:00Z")));
}
