//! What is told about windows.

use std::time::Duration;

use gitops_windows::schedule::lint::{Lint, LintCode, LintOptions, lints};
use gitops_windows::schedule::{Window, WindowKey};

use super::{at, from_to, open_close, open_for};

fn options() -> LintOptions {
    LintOptions { from: at("2026-11-21T00:00:00Z"), needed: None, most_days_closed: None }
}

fn of(windows: &[Window], options: &LintOptions) -> Vec<Lint> {
    let windows: Vec<&Window> = windows.iter().collect();
    lints(&windows, options)
}

fn codes(windows: &[Window]) -> Vec<&'static str> {
    of(windows, &options()).iter().map(|lint| lint.code.as_str()).collect()
}

fn dates(lint: &Lint) -> Vec<String> {
    lint.dates.iter().map(ToString::to_string).collect()
}

#[test]
fn good_windows_are_silent() {
    for window in [
        open_close("Europe/Berlin", "0 8 * * MON", "0 17 * * THU"),
        open_close("America/New_York", "0 20 * * TUE", "0 4 * * WED"),
        open_for("Europe/Berlin", "0 22 * * SAT", "5h"),
        from_to("UTC", "Fri 22:00", "Mon 06:00"),
        open_close("Asia/Tokyo", "0 22 * * *", "0 2 * * *"),
    ] {
        assert_eq!(codes(std::slice::from_ref(&window)), [""; 0], "{window:?}");
    }
}

#[test]
fn each_surprise_is_told() {
    for (open, close, wanted) in [
        ("0 8 31 2 *", "0 17 * * *", vec!["never-fires"]),
        ("0 8 * * *", "0 17 30 2 *", vec!["never-fires", "always-open"]),
        ("0 8 * * MON", "0 8 * * MON", vec!["zero-length"]),
        ("0 8 * * *", "0 17 * * FRI", vec!["longer-than-period"]),
        ("0 8 * * MON", "0 17 * * MON,THU", vec!["not-alternating"]),
        ("0 22 1-7 * MON", "0 2 2-8 * TUE", vec!["either-day", "either-day", "lost-closing", "uneven-times"]),
        ("0 8 * * MON-FRI", "0 17 * * MON-FRI", vec!["lost-closing", "uneven-times"]),
        ("0 8 * * TUE,THU", "0 17 * * TUE,THU", vec!["lost-closing", "uneven-times"]),
        ("0 8 * * *", "0 17,20 * * *", vec!["not-alternating", "lost-closing"]),
    ] {
        assert_eq!(codes(&[open_close("UTC", open, close)]), wanted, "{open}, {close}");
    }
    let no_zone = Window { zone: None, ..open_close("UTC", "0 8 * * MON", "0 17 * * MON") };
    assert_eq!(codes(&[no_zone]), ["missing-zone"]);
}

#[test]
fn changes_of_the_clocks_are_told_with_their_dates() {
    let found = of(&[open_close("Europe/Berlin", "0 22 * * SAT", "30 2 * * SUN")], &options());
    assert_eq!(
        found.iter().map(|lint| lint.code).collect::<Vec<_>>(),
        [LintCode::ClockGap, LintCode::ClockFold]
    );
    assert_eq!(found[0].key, Some(WindowKey::Close));
    assert_eq!(dates(&found[0]), ["2027-03-28", "2028-03-26", "2029-03-25", "2030-03-31", "2031-03-30"]);
    assert_eq!(dates(&found[1]), ["2027-10-31", "2028-10-29", "2029-10-28", "2030-10-27", "2031-10-26"]);
    assert_eq!(
        found[0].message,
        "as the clocks in Europe/Berlin change, 2027-03-28 02:30 of `30 2 * * SUN` does not come, and the window \
         stays open until the next time"
    );
    // Where midnight is what is missing, far more goes wrong than the skipped hour.
    let found = of(&[open_close("Africa/Cairo", "0 22 * * THU", "0 6 * * FRI")], &options());
    let gaps: Vec<_> = found.iter().filter(|lint| lint.code == LintCode::ClockGap).collect();
    assert_eq!(gaps.len(), 2, "{found:#?}");
    assert_eq!(dates(gaps[0])[0], "2027-04-30");
    assert!(gaps[0].message.contains("opens also then"), "{}", gaps[0].message);
    assert!(gaps[1].message.contains("stays open"), "{}", gaps[1].message);
}

#[test]
fn the_days_that_either_adds_are_told() {
    let found = of(&[open_close("UTC", "0 22 1-7 * MON", "0 23 * * *")], &options());
    assert_eq!(found[0].code, LintCode::EitherDay);
    assert_eq!(dates(&found[0])[..3], ["2026-11-23", "2026-11-30", "2026-12-01"]);
}

#[test]
fn overlapping_windows_are_told() {
    let windows = [
        open_close("UTC", "0 8 * * *", "0 12 * * *"),
        open_close("UTC", "0 10 * * MON", "0 16 * * MON"),
        open_close("UTC", "0 18 * * *", "0 20 * * *"),
    ];
    let found = of(&windows, &options());
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].code, found[0].window), (LintCode::Overlap, Some(1)));
    assert_eq!(dates(&found[0])[..2], ["2026-11-23", "2026-11-30"]);
    // One that ends as the other begins races with it.
    let windows =
        [open_close("UTC", "0 8 * * *", "0 12 * * *"), open_close("UTC", "0 12 * * *", "0 16 * * *")];
    assert_eq!(codes(&windows), ["overlap"]);
}

#[test]
fn windows_too_short_or_too_rare_are_told() {
    let window = open_for("Europe/Berlin", "0 22 * * SAT", "5h");
    let asked = |minutes: u64, days: u32| LintOptions {
        needed: Some(Duration::from_secs(minutes * 60)),
        most_days_closed: Some(days),
        ..options()
    };
    assert_eq!(of(std::slice::from_ref(&window), &asked(240, 7)), []);
    let found = of(std::slice::from_ref(&window), &asked(241, 6));
    assert_eq!(
        found.iter().map(|lint| lint.code).collect::<Vec<_>>(),
        [LintCode::TooShort, LintCode::RarelyOpens]
    );
    // Only the nights in which the clocks go forward are too short.
    assert_eq!(dates(&found[0])[..2], ["2027-03-27", "2028-03-25"]);
    let monthly = open_close("UTC", "0 22 1 * *", "0 23 1 * *");
    let found = of(&[monthly], &asked(10, 29));
    assert_eq!(found[0].code, LintCode::RarelyOpens);
    assert!(found[0].message.contains("30 days"), "{}", found[0].message);
}

#[test]
fn uneven_times_are_told_with_windows_that_are_even() {
    let weekdays = open_close("Europe/Berlin", "0 8 * * MON-FRI", "0 17 * * MON-FRI");
    let found = of(std::slice::from_ref(&weekdays), &options());
    let uneven = found.iter().find(|lint| lint.code == LintCode::UnevenTimes).unwrap();
    assert_eq!(uneven.key, Some(WindowKey::Close));
    assert!(uneven.message.starts_with("closed times last from 15h to 64h"), "{}", uneven.message);
    assert_eq!(
        uneven.remedy,
        "write 2 windows: `open: 0 8 * * MON-THU, close: 0 17 * * MON-THU` and `open: 0 8 * * FRI, close: 0 17 * * FRI`"
    );
    let halves = [
        open_close("Europe/Berlin", "0 8 * * MON-THU", "0 17 * * MON-THU"),
        open_close("Europe/Berlin", "0 8 * * FRI", "0 17 * * FRI"),
    ];
    assert_eq!(codes(&halves), [""; 0]);
    // One that spans midnight and is written with a length.
    let found = of(&[open_for("UTC", "0 22 * * TUE,THU", "4h")], &options());
    assert_eq!(
        found[0].remedy,
        "write 2 windows: `open: 0 22 * * TUE, for: 4h` and `open: 0 22 * * THU, for: 4h`"
    );
    // Open times that differ can't be told apart by weekdays here, so nothing of the kind is offered.
    let found = of(&[open_close("UTC", "0 8,16 * * *", "0 1,9 * * *")], &options());
    assert_eq!((found[0].code, found[0].key), (LintCode::UnevenTimes, Some(WindowKey::Open)));
    assert!(found[0].remedy.starts_with("write a window for each"), "{}", found[0].remedy);
}

#[test]
fn dense_and_endless_expressions_take_bounded_time() {
    let start = std::time::Instant::now();
    let _ = of(&[open_close("Europe/Berlin", "* * * * *", "* * * * *")], &options());
    let _ = of(&[open_close("Europe/Berlin", "* * * * *", "0 0 31 2 *")], &options());
    let _ = of(&[open_close("Europe/Berlin", "0 0 29 2 *", "1 0 29 2 *")], &options());
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}
