//! Windows as pairs of expressions, and as intervals.

use gitops_windows::schedule::{Length, Timeline, WeekTime, Window, WindowKey};
use jiff::Timestamp;

use super::{at, from_to, open_close, open_for};

fn close_of(window: &Window) -> String {
    match window.pair() {
        Ok(pair) => pair.close.to_string(),
        Err(error) => format!("{}: {}", error.key.as_str(), error.message),
    }
}

#[test]
fn a_length_becomes_a_closing_expression() {
    for (open, length, close) in [
        ("0 22 * * SAT", "4h", "0 2 * * SUN"),
        ("0 22 * * 6", "90m", "30 23 * * 6"),
        ("0 8 * * MON-FRI", "9h", "0 17 * * MON-FRI"),
        ("0 22 * * MON-FRI", "8h", "0 6 * * TUE-SAT"),
        ("0 22 * * FRI,SAT", "8h", "0 6 * * SUN,SAT"),
        ("0 8 * * MON", "2d", "0 8 * * WED"),
        ("30 8 * * *", "1h30m", "0 10 * * *"),
        ("0 22 * * *", "8h", "0 6 * * *"),
        ("0 22,23 * * *", "30m", "30 22,23 * * *"),
        ("0 4,12,20 * * *", "6h", "0 2,10,18 * * *"),
        ("0,30 8 * * *", "15m", "15,45 8 * * *"),
        ("0 8,12 * * MON", "2h", "0 10,14 * * MON"),
        ("0 22 1 * *", "4h", "0 2 2 * *"),
        ("0 22 31 12 *", "4h", "0 2 1 1 *"),
        ("0 22 31 * *", "4h", "0 2 1 1,2,4,6,8,9,11 *"),
        // Both sides of the day rule shift together.
        ("0 22 1-7 * MON", "4h", "0 2 2-8 * TUE"),
        ("@daily", "2h", "0 2 * * *"),
        ("@weekly", "2d", "0 0 * * TUE"),
        ("@monthly", "1d", "0 0 2 * *"),
        ("0 22 * 3 SAT", "1h", "0 23 * 3 SAT"),
        ("0 8 1-31 * MON", "1h", "0 9 * * *"),
    ] {
        assert_eq!(close_of(&open_for("UTC", open, length)), close, "{open} for {length}");
    }
}

#[test]
fn a_length_that_is_no_expression_is_refused() {
    for (open, length, reason) in [
        ("0 8,20 * * MON", "6h", "some closings fall on the day of the opening"),
        ("0,30 8 * * *", "45m", "it again after 30m"),
        ("0,40 8 * * *", "25m", "not one list of minutes"),
        ("0 22 28 * *", "4h", "not one list of days"),
        ("0 22 * 3 SAT", "4h", "not one list of days"),
        ("0 8 * * *", "24h", "it again after 1d"),
        ("0 8 * * MON,TUE", "30h", "it again after 1d"),
        ("0 8 * * MON", "1w", "it again after 7d"),
        ("0 8 * * MON", "8d", "it again after 7d"),
        ("@every 1h", "10m", "counts from the last run"),
    ] {
        let window = open_for("UTC", open, length);
        let error = window.pair().expect_err(&format!("{open} for {length} is {}", close_of(&window)));
        assert!(error.message.contains(reason), "{open} for {length}: {}", error.message);
        assert!(!error.help.is_empty());
    }
}

#[test]
fn weekdays_span_midnight_and_the_end_of_the_week() {
    let pair = from_to("UTC", "Fri 22:00", "Mon 06:00").resolve(at("2026-01-01T00:00:00Z")).unwrap();
    assert_eq!(
        (pair.open.to_string(), pair.close.to_string()),
        ("0 22 * * FRI".into(), "0 6 * * MON".into())
    );
    let error = from_to("UTC", "Mon 08:00", "monday 8:00").pair().unwrap_err();
    assert_eq!(error.key, WindowKey::To);
}

#[test]
fn local_times_that_never_come_are_refused_with_a_date_and_a_way_out() {
    let now = at("2026-11-21T00:00:00Z");
    for (window, message, help) in [
        (
            open_for("Europe/Berlin", "0 22 * * SAT", "4h"),
            "closing at 2027-03-28 02:00: the clocks in Europe/Berlin skip that time, so the window would stay \
             open until 2027-04-04 02:00",
            "write `for: 5h`",
        ),
        (
            from_to("Europe/Berlin", "Sat 22:00", "Sun 02:30"),
            "closing at 2027-03-28 02:30: the clocks in Europe/Berlin skip that time, so the window would stay \
             open until 2027-04-04 02:30",
            "write `to: Sun 03:00`",
        ),
        (
            from_to("America/New_York", "Sun 02:00", "Sun 06:00"),
            "opening at 2027-03-14 02:00: the clocks in America/New_York skip that time, so the window would \
             not open",
            "write `from: Sun 03:00`",
        ),
        (
            // Neither edge comes that night, so nothing stays open.
            from_to("Europe/Berlin", "Sun 02:00", "Sun 02:30"),
            "opening at 2027-03-28 02:00: the clocks in Europe/Berlin skip that time, so the window would not \
             open",
            "write `from: Sun 03:00` and `to: Sun 03:30`",
        ),
        (
            // Egypt has no midnight on the last Friday of April.
            from_to("Africa/Cairo", "Tue 22:00", "Fri 06:00"),
            "closing at 2027-04-30 06:00: the clocks in Africa/Cairo change that day, and Kubernetes then \
             passes over the time, so the window would stay open until 2027-05-07 06:00",
            "write `to: Thu 23:30`",
        ),
    ] {
        let error = window.resolve(now).unwrap_err();
        assert_eq!((error.message.as_str(), error.help.as_str()), (message, help));
    }
    for window in [
        open_for("Europe/Berlin", "0 22 * * SAT", "5h"),
        open_for("UTC", "0 22 * * SAT", "4h"),
        from_to("Europe/Berlin", "Mon 08:00", "Thu 17:00"),
        // Both edges of a fold may come twice as long as they are not both in it.
        from_to("Europe/Berlin", "Sat 22:00", "Sun 01:30"),
        from_to("Asia/Tokyo", "Sun 02:00", "Sun 03:00"),
        open_for("Europe/Berlin", "0 * * * *", "30m"),
    ] {
        assert_eq!(window.resolve(now).map(|_| ()), Ok(()));
    }
}

#[test]
fn every_way_out_works() {
    let now = at("2026-11-21T00:00:00Z");
    let mut refused = 0;
    for zone in ["Europe/Berlin", "Africa/Cairo", "America/Santiago"] {
        for hour in [0, 1, 2, 3, 12, 23] {
            for day in ["Thu", "Fri", "Sat", "Sun"] {
                let from = format!("{day} {hour:02}:30");
                let window = from_to(zone, "Tue 12:00", &from);
                let Err(error) = window.resolve(now) else { continue };
                refused += 1;
                let Some(to) = error.help.strip_prefix("write `to: ") else {
                    panic!("{zone} {from}: {}", error.help)
                };
                let better = from_to(zone, "Tue 12:00", to.trim_end_matches('`'));
                assert_eq!(better.resolve(now).map(|_| ()), Ok(()), "{zone} {from}: {to}");
            }
        }
    }
    eprintln!("{refused} refused windows, each with a way out that works");
    assert!(refused > 10);
}

fn show(window: &[Window], from: &str, to: &str) -> Vec<String> {
    let timeline = Timeline::new(window).unwrap();
    timeline.intervals(at(from), at(to)).map(|i| format!("{} {}", i.open, i.close)).collect()
}

#[test]
fn a_closing_that_the_clocks_skip_leaves_the_gate_open_for_a_week() {
    let window = [open_close("Europe/Berlin", "0 22 * * SAT", "30 2 * * SUN")];
    assert_eq!(
        show(&window, "2027-03-19T00:00:00Z", "2027-04-06T00:00:00Z"),
        ["2027-03-20T21:00:00Z 2027-03-21T01:30:00Z", "2027-03-27T21:00:00Z 2027-04-04T00:30:00Z",]
    );
    // In autumn it closes twice; the first counts.
    assert_eq!(
        show(&window, "2027-10-30T00:00:00Z", "2027-11-01T00:00:00Z"),
        ["2027-10-30T20:00:00Z 2027-10-31T00:30:00Z",]
    );
}

#[test]
fn the_first_closing_closes_for_all_windows() {
    let windows =
        [open_close("UTC", "0 8 * * *", "0 12 * * *"), open_close("UTC", "0 10 * * *", "0 16 * * *")];
    assert_eq!(
        show(&windows, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        ["2026-01-01T08:00:00Z 2026-01-01T12:00:00Z",]
    );
    let windows =
        [open_close("UTC", "0 8 * * *", "0 12 * * *"), open_close("UTC", "0 13 * * *", "0 16 * * *")];
    assert_eq!(
        show(&windows, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        ["2026-01-01T08:00:00Z 2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z 2026-01-01T16:00:00Z",]
    );
}

#[test]
fn what_opens_and_closes_at_once_counts_as_closed() {
    let windows =
        [open_close("UTC", "0 8 * * *", "0 12 * * *"), open_close("UTC", "0 12 * * *", "0 16 * * *")];
    assert_eq!(
        show(&windows, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        ["2026-01-01T08:00:00Z 2026-01-01T12:00:00Z",]
    );
    let never = Timeline::new(&[open_close("UTC", "0 8 * * *", "0 8 * * *")]).unwrap();
    assert!(!never.is_open(at("2026-01-01T08:00:00Z")));
    assert_eq!(never.next_open(at("2026-01-01T08:00:00Z")), None);
    assert_eq!(never.intervals(at("2026-01-01T00:00:00Z"), at("2026-02-01T00:00:00Z")).count(), 0);
}

#[test]
fn questions_about_an_instant() {
    let windows = [open_close("Europe/Berlin", "0 8 * * MON", "0 17 * * THU")];
    let week = Timeline::new(&windows).unwrap();
    let monday = at("2026-11-23T07:00:00Z");
    let thursday = at("2026-11-26T16:00:00Z");
    let next_monday = at("2026-11-30T07:00:00Z");
    let second =
        |instant: Timestamp, seconds: i64| Timestamp::from_second(instant.as_second() + seconds).unwrap();
    for (now, open, next_open, next_close) in [
        (second(monday, -1), false, monday, thursday),
        (monday, true, next_monday, thursday),
        (second(thursday, -1), true, next_monday, thursday),
        (thursday, false, next_monday, at("2026-12-03T16:00:00Z")),
    ] {
        assert_eq!(week.is_open(now), open, "{now}");
        assert_eq!(week.next_open(now), Some(next_open), "{now}");
        assert_eq!(week.next_close(now), Some(next_close), "{now}");
    }
    let empty: [Window; 0] = [];
    let always = Timeline::new(&empty).unwrap();
    assert!(always.is_open(monday));
    assert_eq!((always.next_open(monday), always.next_close(monday)), (None, None));
    let all: Vec<_> = always.intervals(monday, thursday).collect();
    assert_eq!((all.len(), all[0].open, all[0].close), (1, Timestamp::MIN, Timestamp::MAX));
    assert_eq!(all[0].clip(monday, thursday).map(|i| (i.open, i.close)), Some((monday, thursday)));
}

#[test]
fn leap_days_are_looked_for_far_enough_back() {
    let windows = [open_close("UTC", "0 0 29 2 *", "0 12 29 2 *")];
    let leap = Timeline::new(&windows).unwrap();
    assert!(!leap.is_open(at("2027-01-01T00:00:00Z")));
    assert!(leap.is_open(at("2028-02-29T11:59:59Z")));
    // Between 1896 and 1904 there are eight years, more than Kubernetes searches.
    assert_eq!(leap.next_open(at("1897-01-01T00:00:00Z")), None);
    assert!(!leap.is_open(at("1903-01-01T00:00:00Z")));
}

#[test]
fn intervals_agree_with_the_state_at_every_boundary() {
    let windows = [
        open_close("America/New_York", "0 20 * * TUE", "0 2 * * WED"),
        open_close("Europe/Berlin", "30 2 * * SUN", "0 9 * * SUN"),
    ];
    let timeline = Timeline::new(&windows).unwrap();
    let (from, to) = (at("2026-01-01T00:00:00Z"), at("2029-01-01T00:00:00Z"));
    let mut last = from;
    for interval in timeline.intervals(from, to) {
        assert!(interval.open > last && interval.close > interval.open);
        for (instant, open) in [(interval.open, true), (interval.close, false)] {
            assert_eq!(timeline.is_open(instant), open);
            let before = Timestamp::from_second(instant.as_second() - 1).unwrap();
            assert_eq!(timeline.is_open(before), !open);
        }
        assert_eq!(timeline.next_open(last), Some(interval.open));
        last = interval.close;
    }
}

#[test]
fn lengths_and_week_times_read_back() {
    for (text, shown) in
        [("4h", "4h"), ("90m", "1h30m"), ("1h30m", "1h30m"), ("2d", "2d"), ("1w", "7d"), ("1d1m", "1d1m")]
    {
        let length: Length = text.parse().unwrap();
        assert_eq!(length.to_string(), shown);
        assert_eq!(shown.parse(), Ok(length));
    }
    for text in [
        "",
        "0h",
        "4",
        "h",
        "4 h",
        "-1h",
        "1.5h",
        "30s",
        "1h1h",
        "30m1h",
        "5w",
        "99999999999999999999h",
        "4h ago",
        "٤h",
    ] {
        assert!(text.parse::<Length>().is_err(), "{text}");
    }
    for (text, shown) in
        [("Mon 08:00", "Mon 08:00"), ("sunday 8:05", "Sun 08:05"), (" THU  23:59 ", "Thu 23:59")]
    {
        let time: WeekTime = text.parse().unwrap();
        assert_eq!(time.to_string(), shown);
        assert_eq!(shown.parse(), Ok(time));
    }
    for text in [
        "",
        "Mon",
        "08:00",
        "Mon 24:00",
        "Mon 08:60",
        "Mon 8",
        "Mo 08:00",
        "Mon 08:00 CET",
        "Mon 8:5",
        "Mon -1:00",
        "Mon +8:00",
    ] {
        assert!(text.parse::<WeekTime>().is_err(), "{text}");
    }
}

#[test]
fn the_ends_of_time_are_no_trouble() {
    let windows = [open_close("Africa/Cairo", "0 22 * * THU", "0 6 * * FRI")];
    let timeline = Timeline::new(&windows).unwrap();
    for instant in [Timestamp::MIN, Timestamp::MAX] {
        let _ = (timeline.is_open(instant), timeline.next_open(instant), timeline.next_close(instant));
        let _ = timeline.intervals(instant, instant).count();
        let _ = windows[0].resolve(instant);
    }
    assert_eq!(timeline.next_open(Timestamp::MAX), None);
}
