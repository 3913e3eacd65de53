//! Cron expressions, times as people say them, and calendar files.

use gitops_windows::schedule::{CronExpr, Length, MonthDay, Said, TimeOfDay, WeekTime, batch_line, events};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::fuzz;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

const CRON: [&str; 40] = [
    "*",
    "*/2",
    "0",
    "59",
    "60",
    "23",
    "24",
    "31",
    "32",
    "12",
    "13",
    "MON",
    "SUN",
    "sat",
    "FRI-SUN",
    "JAN",
    "dec",
    "7",
    "6",
    "1-5",
    "5-1",
    "1,2,3",
    ",",
    "-",
    "/",
    "?",
    "L",
    "W",
    "#",
    "*/70",
    "5/15",
    "+5",
    "007",
    "@daily",
    "@every 1h30m",
    "@reboot",
    "TZ=UTC ",
    "CRON_TZ=UTC ",
    " ",
    "99999999999999999999",
];

#[test]
fn cron_expressions_fire_or_are_refused() {
    let samples = texts(&[
        "0 22 * * SAT",
        "*/15 0-6,22-23 1-7 * MON",
        "0 0 29 2 *",
        "0 0 31 2 *",
        "@every 1h",
        "@weekly",
        "0 2 * 3 SUN",
        "5/15 ? * JAN,DEC 1-5",
    ]);
    let zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"]
        .map(|name| TimeZone::get(name).unwrap());
    let start: Timestamp = "2026-03-28T00:00:00Z".parse().unwrap();
    fuzz("cron", 500, &samples, &CRON, &mut |text| {
        let Ok(expression) = CronExpr::parse(text) else { return };
        assert_eq!(expression.as_str(), text);
        for zone in &zones {
            let mut last = start;
            for at in expression.firings(start, zone).take(20) {
                assert!(at > last, "{at} after {last}");
                last = at;
            }
        }
    });
}

const TIMES: [&str; 40] = [
    "Mon",
    "mon",
    "Monday",
    "08:00",
    "24:00",
    "25:00",
    "00:60",
    "8:0",
    "second",
    "last",
    "fifth",
    "Tue",
    "of month",
    "day",
    "2026-12-18",
    "2026-02-30",
    "T20:00",
    "+01:00",
    "Z",
    "now",
    "now+2h",
    "tomorrow",
    "today",
    "in 2h",
    "4h",
    "28d",
    "30m",
    "1w",
    "-5m",
    "99999999999h",
    " ",
    ":",
    "noon",
    "midnight",
    "2026-03-29 02:30",
    "2026-10-25 02:30",
    "9999-12-31",
    "1",
    "0",
    "٣",
];

#[test]
fn times_that_people_say_are_understood_or_not() {
    let samples = texts(&[
        "Mon 08:00",
        "second Tue of month",
        "2026-12-18 17:00",
        "now+2h",
        "tomorrow 08:00",
        "4h",
        "20:00",
    ]);
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let now: Timestamp = "2026-11-23T12:00:00Z".parse().unwrap();
    fuzz("times", 500, &samples, &TIMES, &mut |text| {
        for said in [Said::written(text), Said::spoken(text, now, &zone)].into_iter().flatten() {
            let _ = (said.instant(&zone, false), said.instant(&zone, true));
        }
        if let Ok(length) = text.parse::<Length>() {
            assert_eq!(Length::from_minutes(length.minutes()), Some(length));
        }
        let _ = (text.parse::<MonthDay>(), text.parse::<TimeOfDay>(), text.parse::<WeekTime>());
        for line in text.lines() {
            assert_eq!(batch_line(line).lines().count().max(1), 1, "one line for one");
        }
    });
}

const ICAL: [&str; 30] = [
    "BEGIN:VCALENDAR\r\n",
    "END:VCALENDAR\r\n",
    "BEGIN:VEVENT\r\n",
    "END:VEVENT\r\n",
    "DTSTART;VALUE=DATE:20261224\r\n",
    "DTEND;VALUE=DATE:20261227\r\n",
    "DTSTART;TZID=Europe/Berlin:20261224T080000\r\n",
    "DTSTART:20261224T080000Z\r\n",
    "DURATION:P3D\r\n",
    "DURATION:PT99999999999H\r\n",
    "DURATION:-P1D\r\n",
    "RRULE:FREQ=YEARLY\r\n",
    "RRULE:FREQ=SECONDLY\r\n",
    "RRULE:FREQ=DAILY;COUNT=999999999\r\n",
    "RRULE:FREQ=MONTHLY;BYDAY=-5SU;UNTIL=99991231\r\n",
    "EXDATE:20261225\r\n",
    "SUMMARY:a\\, b\r\n",
    " folded\r\n",
    "STATUS:CANCELLED\r\n",
    "TRANSP:TRANSPARENT\r\n",
    "UID:x\r\n",
    "RECURRENCE-ID:20261224\r\n",
    "BEGIN:VTIMEZONE\r\n",
    "X-WR-TIMEZONE:Europe/Berlin\r\n",
    ":",
    ";",
    "\"",
    "00000000",
    "99999999",
    "RDATE:20270101\r\n",
];

#[test]
fn calendars_are_read_or_refused() {
    let samples = texts(&[
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Christmas\r\nDTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261227\r\nRRULE:FREQ=YEARLY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID=Europe/Berlin:20261224T080000\nDURATION:PT4H\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU;UNTIL=20271231T000000Z\nEXDATE;TZID=Europe/Berlin:20261228T080000\nEND:VEVENT\nEND:VCALENDAR\n",
    ]);
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    fuzz("calendar", 200, &samples, &ICAL, &mut |text| {
        if let Err(error) = events(text, &zone) {
            assert!(!format!("{error:?}").is_empty());
        }
    });
}
