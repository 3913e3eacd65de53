//! What is told about windows.

use std::time::Duration;

use gitops_windows::check::code_of_lint;
use gitops_windows::schedule::lint::{Lint, LintCode, LintOptions, lints};
use gitops_windows::schedule::{Window, WindowKey};

use super::thorough::{is_thorough, some};
use super::{at, from_to, open_close, open_for};

fn options() -> LintOptions {
    LintOptions { from: at("2026-11-21T00:00:00Z"), needed: None, interval: None, most_days_closed: None }
}

fn of(windows: &[Window], options: &LintOptions) -> Vec<Lint> {
    let windows: Vec<&Window> = windows.iter().collect();
    lints(&windows, options)
}

fn codes(windows: &[Window]) -> Vec<&'static str> {
    of(windows, &options()).iter().map(|lint| code_of_lint(lint.code).name).collect()
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
        ("0 8 * * MON", "0 8 * * MON", vec!["same-instant"]),
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
        "as the clocks in Europe/Berlin change, 2027-03-28 02:30 of `30 2 * * SUN` does not come, so the window \
         stays open until 2027-04-04 02:30"
    );
    assert_eq!(
        found[0].remedy,
        "write `close: 0 3 * * SUN`: no change of the clocks touches that until 2036"
    );
    assert_eq!(
        found[1].message,
        "as the clocks in Europe/Berlin change, 2027-10-31 02:30 of `30 2 * * SUN` comes twice: the window closes \
         at the first, and the second changes nothing"
    );
    assert_eq!(found[1].remedy, "leave it, or write `close: 0 3 * * SUN`, which comes once");
    // Where midnight is what is missing, far more goes wrong than the skipped hour.
    let found = of(&[open_close("Africa/Cairo", "0 22 * * THU", "0 6 * * FRI")], &options());
    let gaps: Vec<_> = found.iter().filter(|lint| lint.code == LintCode::ClockGap).collect();
    assert_eq!(gaps.len(), 1, "{found:#?}");
    assert_eq!(dates(gaps[0])[0], "2027-04-30");
    assert!(
        gaps[0].message.ends_with("so the window stays open until 2027-05-07 06:00"),
        "{}",
        gaps[0].message
    );
    // Friday 22:00 is taken for Thursday's, which opens what is closed then.
    let found = of(&[open_close("Africa/Cairo", "0 22 * * THU", "0 23 * * *")], &options());
    let gap = found.iter().find(|lint| lint.code == LintCode::ClockGap).unwrap();
    assert!(gap.message.contains("the window opens also then until 2027-04-30 23:00"), "{}", gap.message);
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
}

#[test]
fn of_overlapping_windows_the_one_that_opens_later_is_told() {
    // Not in the order of time.
    let windows =
        [open_close("UTC", "0 10 * * MON", "0 16 * * MON"), open_close("UTC", "0 8 * * *", "0 12 * * *")];
    let found = of(&windows, &options());
    assert_eq!((found[0].code, found[0].window), (LintCode::Overlap, Some(0)));
    assert_eq!(
        found[0].message,
        "`0 10 * * MON` opens this window while another of the type (`0 8 * * *`) is open. The first closing closes \
         both"
    );
    // 09:00 in New York is 15:00 in Berlin, and in two weeks of March 14:00.
    let windows = [
        open_close("America/New_York", "0 9 * * MON", "0 12 * * MON"),
        open_close("Europe/Berlin", "0 10 * * MON", "30 14 * * MON"),
    ];
    let found = of(&windows, &options());
    assert_eq!((found[0].code, found[0].window), (LintCode::Overlap, Some(0)));
    assert!(
        found[0].message.starts_with(
            "`0 9 * * MON` in America/New_York opens this window while another of the type (`0 10 * * MON` in \
             Europe/Berlin) is open"
        ),
        "{}",
        found[0].message
    );
    assert_eq!(dates(&found[0]), ["2027-03-15", "2027-03-22", "2027-11-01"]);
}

#[test]
fn an_opening_and_a_closing_at_one_instant_are_one_race_whichever_windows_they_belong_to() {
    let windows =
        [open_close("UTC", "0 12 * * *", "0 16 * * *"), open_close("UTC", "0 8 * * *", "0 12 * * *")];
    let found = of(&windows, &options());
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((found[0].code, found[0].window), (LintCode::SameInstant, Some(0)));
    assert_eq!(found[0].key, Some(WindowKey::Open));
    // Only where the zones of both are as far apart as that.
    let windows = [
        open_close("Europe/Berlin", "0 8 * * MON", "0 14 * * MON"),
        open_close("America/New_York", "0 9 * * MON", "0 12 * * MON"),
    ];
    let found = of(&windows, &options());
    assert_eq!((found[0].code, found[0].window), (LintCode::SameInstant, Some(1)));
    assert_eq!(dates(&found[0])[..3], ["2027-03-15", "2027-03-22", "2027-11-01"]);
    assert!(found[0].message.contains("`0 14 * * MON` in Europe/Berlin closes"), "{}", found[0].message);
}

#[test]
fn what_fires_every_hour_does_not_mind_the_clocks() {
    for (open, close) in [
        ("0 * * * *", "30 * * * *"),
        ("*/20 * * * *", "10-50/20 * * * *"),
        ("0 8 * * MON", "*/15 * * * *"),
        ("0 0-6 * * *", "30 0-6 * * *"),
    ] {
        let found = of(&[open_close("Europe/Berlin", open, close)], &options());
        let clocks =
            found.iter().filter(|lint| matches!(lint.code, LintCode::ClockGap | LintCode::ClockFold));
        assert_eq!(clocks.count(), 0, "{open}, {close}: {found:#?}");
    }
    // Of two hours the second closes what the first does not.
    let found = of(&[open_close("Europe/Berlin", "0 22 * * *", "30 2,4 * * *")], &options());
    let gap = found.iter().find(|lint| lint.code == LintCode::ClockGap).unwrap();
    assert!(gap.message.ends_with("so the window stays open until 2027-03-28 04:30"), "{}", gap.message);
}

#[test]
fn a_closing_that_is_skipped_while_it_is_closed_is_not_told() {
    let found = of(&[open_close("Europe/Berlin", "0 8 * * *", "30 2,17 * * *")], &options());
    assert!(found.iter().all(|lint| lint.code != LintCode::ClockGap), "{found:#?}");
}

#[test]
fn a_change_of_the_clocks_whose_effect_lasts_is_told() {
    let window = [open_close("Europe/Berlin", "0 22 * * SAT", "30 2 * * SUN")];
    // The Wednesday after: the window is still open.
    let found = of(&window, &LintOptions { from: at("2027-03-31T00:00:00Z"), ..options() });
    assert_eq!(dates(&found[0])[0], "2027-03-28");
    // Between the two times that 02:30 comes.
    let found = of(&window, &LintOptions { from: at("2027-10-31T01:15:00Z"), ..options() });
    let fold = found.iter().find(|lint| lint.code == LintCode::ClockFold).unwrap();
    assert_eq!(dates(fold)[0], "2027-10-31");
    let found = of(&window, &LintOptions { from: at("2027-10-31T01:30:00Z"), ..options() });
    let fold = found.iter().find(|lint| lint.code == LintCode::ClockFold).unwrap();
    assert_eq!(dates(fold)[0], "2028-10-29");
}

/// What is offered is written down here once more and looked at for twenty years.
#[test]
fn another_time_that_is_offered_works() {
    let mut offered = 0;
    for zone in some(["Europe/Berlin", "Australia/Lord_Howe", "Africa/Cairo"], 3) {
        for (open, close) in [
            ("0 22 * * SAT", "30 2 * * SUN"),
            ("0 22 * * *", "15 2 * * *"),
            ("30 2 * * SUN", "0 9 * * SUN"),
            ("0 20 * * THU", "30 0 * * FRI"),
            ("0 0 * * SUN", "0 6 * * SUN"),
            ("30 1,2 * * *", "0 7 * * *"),
            ("15 2 * * SUN", "45 2 * * SUN"),
        ] {
            let found = of(&[open_close(zone, open, close)], &options());
            for lint in found.iter().filter(|lint| lint.code == LintCode::ClockGap) {
                let Some(text) =
                    lint.remedy.strip_suffix(": no change of the clocks touches that until 2036")
                else {
                    assert!(lint.remedy.contains("for `timeZone: UTC`"), "{}", lint.remedy);
                    continue;
                };
                let of_key = |key: &str, old: &'static str| {
                    let found = text.split_once(&format!("`{key}: "));
                    found.map_or(old.to_owned(), |(_, rest)| rest.split_once('`').unwrap().0.to_owned())
                };
                let window = open_close(zone, &of_key("open", open), &of_key("close", close));
                let later = LintOptions { from: at("2031-11-21T00:00:00Z"), ..options() };
                for options in [options(), later] {
                    let left = of(std::slice::from_ref(&window), &options);
                    assert!(
                        left.iter().all(|lint| lint.code != LintCode::ClockGap),
                        "{zone} {open} {close} {text}: {left:#?}"
                    );
                }
                offered += 1;
            }
        }
    }
    assert!(offered >= if is_thorough() { 10 } else { 3 }, "{offered}");
}

#[test]
fn another_time_makes_nothing_else_worse() {
    // 03:00 is when the second window opens, so the closing goes elsewhere.
    let windows = [
        open_close("Europe/Berlin", "0 22 * * SAT", "30 2 * * SUN"),
        open_close("Europe/Berlin", "0 3 * * SUN", "0 5 * * SUN"),
    ];
    let found = of(&windows, &options());
    let gap = found.iter().find(|lint| lint.code == LintCode::ClockGap).unwrap();
    assert!(gap.remedy.starts_with("write `close: 30 1 * * SUN`"), "{}", gap.remedy);
}

#[test]
fn a_type_that_is_hardly_ever_closed_is_told() {
    let asked = |minutes: u64| LintOptions { interval: Some(Duration::from_secs(minutes * 60)), ..options() };
    let window = open_close("UTC", "10 0 * * *", "0 0 * * *");
    let found = of(std::slice::from_ref(&window), &asked(60));
    let told = found.iter().find(|lint| lint.code == LintCode::HardlyCloses).unwrap();
    assert!(
        told.message.contains("for 10 minutes at most, less than Flux's interval (1 hour)"),
        "{}",
        told.message
    );
    assert!(of(&[window], &asked(10)).iter().all(|lint| lint.code != LintCode::HardlyCloses));
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
    assert!(found[1].message.ends_with("for 6 days 19 hours, more than 6 days"), "{}", found[1].message);
    // Only the nights in which the clocks go forward are too short.
    assert_eq!(dates(&found[0])[..2], ["2027-03-27", "2028-03-25"]);
    let monthly = open_close("UTC", "0 22 1 * *", "0 23 1 * *");
    let found = of(&[monthly], &asked(10, 29));
    assert_eq!(found[0].code, LintCode::RarelyOpens);
    // Of equal times the first is named, which began before now.
    assert!(
        found[0].message.ends_with("stays closed for 30 days 23 hours, more than 29 days"),
        "{}",
        found[0].message
    );
    assert_eq!(dates(&found[0]), ["2026-12-01"]);
    // A window of each hour is too short on each day, which is told once a day.
    let found = of(&[open_close("UTC", "0 * * * *", "5 * * * *")], &asked(10, 29));
    assert_eq!(dates(&found[0])[..2], ["2026-11-21", "2026-11-22"]);
}

#[test]
fn uneven_times_are_told_with_windows_that_are_even() {
    let weekdays = open_close("Europe/Berlin", "0 8 * * MON-FRI", "0 17 * * MON-FRI");
    let found = of(std::slice::from_ref(&weekdays), &options());
    let uneven = found.iter().find(|lint| lint.code == LintCode::UnevenTimes).unwrap();
    assert_eq!(uneven.key, Some(WindowKey::Close));
    assert!(uneven.message.ends_with("Its closed times differ: 15h to 64h"), "{}", uneven.message);
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
