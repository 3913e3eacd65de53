//! Days of the month, against a judge that walks all days and asks a clock for each minute around the right ones.

use std::collections::BTreeMap;

use gitops_windows::schedule::{Interval, MonthDay, OpenTimes, Window, WindowForm, WindowKey, zone};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::at;
use super::thorough::{is_thorough, some};

const WEEKS: [&str; 5] = ["first", "second", "third", "fourth", "last"];
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const TIMES: [&str; 7] = ["00:00", "01:00", "02:00", "02:30", "12:00", "22:00", "23:30"];
const LENGTHS: [&str; 6] = ["30m", "1h", "4h", "1d", "3d", "27d12h"];

fn monthly(zone: &str, on: &str, from: &str, length: &str) -> Window {
    let (on, from, length) = (on.parse().unwrap(), from.parse().unwrap(), length.parse().unwrap());
    Window { zone: Some(zone::parse(zone).unwrap()), form: WindowForm::Monthly { on, from, length } }
}

/// Walks all days of some years and keeps those that are the weekday in its week of the month.
fn walked(first: Date, years: i64, week: usize, weekday: usize) -> Vec<Date> {
    let last = first.checked_add(years.years()).unwrap();
    let mut kept: Vec<Date> = Vec::new();
    let (mut day, mut seen) = (first, 0);
    while day < last {
        seen = if day.day() == 1 { 0 } else { seen };
        if usize::from(day.weekday().to_monday_zero_offset() as u8) == weekday {
            // Of the last ones, a later one of the same month takes the place of an earlier.
            match kept.last_mut().filter(|known| week == 4 && known.month() == day.month()) {
                Some(known) => *known = day,
                None if week == 4 || seen == week => kept.push(day),
                None => {}
            }
            seen += 1;
        }
        day = day.tomorrow().unwrap();
    }
    kept
}

/// Returns the instants at which the clock of a zone shows a time: each quarter of an hour at which it may is asked for.
fn shown(zone: &TimeZone, day: Date, minutes: i64) -> Vec<Timestamp> {
    let wanted = day.at(0, 0, 0, 0).checked_add(minutes.minutes()).unwrap();
    let as_utc = TimeZone::UTC.to_timestamp(wanted).unwrap().as_second();
    let offsets = (-14 * 4..=12 * 4).map(|quarter: i32| quarter * 900);
    let instants = offsets.filter_map(|seconds| {
        let at = Timestamp::from_second(as_utc + i64::from(seconds)).unwrap();
        (zone.to_offset(at).seconds() == -seconds).then_some(at)
    });
    instants.collect()
}

/// Compares a window with the walk over ten years; returns how often it opens and whether all of its times come.
fn compared(days: &[Date], name: &str, on: &str, start: &str, length: &str) -> (usize, bool) {
    let (from, to) = (at("2026-01-01T00:00:00Z"), at("2036-01-01T00:00:00Z"));
    let window = monthly(name, on, start, length);
    let clock = window.zone.clone().unwrap();
    let WindowForm::Monthly { from: time, length: open_for, .. } = window.form else { unreachable!() };
    let (opens, closes) = (time.minutes(), time.minutes() + i64::from(open_for.minutes()));
    let mut edges: Vec<(Timestamp, bool)> = Vec::new();
    let mut is_exact = true;
    for day in days {
        let of = [shown(&clock, *day, opens), shown(&clock, *day, closes)];
        let is_looked_at = of.iter().flatten().any(|at| (from..to).contains(at));
        is_exact &= !is_looked_at || !(of.iter().any(Vec::is_empty) || of.iter().all(|all| all.len() > 1));
        for (all, opens) in of.iter().zip([true, false]) {
            edges.extend(all.iter().map(|at| (*at, opens)));
        }
    }
    edges.sort_by_key(|(at, opens)| (*at, !opens));
    let (mut expected, mut since): (Vec<Interval>, Option<Timestamp>) = (Vec::new(), None);
    for (at, opens) in edges {
        match (since, opens) {
            (None, true) => since = Some(at),
            (Some(open), false) => {
                expected.push(Interval { open, close: at });
                since = None;
            }
            _ => {}
        }
    }
    let expected: Vec<Interval> = expected.into_iter().filter_map(|one| one.clip(from, to)).collect();
    let times = OpenTimes::new([(window.edges().unwrap(), clock)], Vec::new(), Vec::new());
    let found: Vec<Interval> = times.cut(from, to).collect();
    assert_eq!(found, expected, "{name}: {on} {start} for {length}");
    assert_eq!(window.resolve(from).is_ok(), is_exact, "{name}: {on} {start} for {length}");
    (found.len(), is_exact)
}

/// Says when the clocks of a zone change next, as a day of the month and a time of day.
fn change(clock: &TimeZone) -> Option<(usize, usize, String)> {
    let at = clock.following(at("2026-06-01T00:00:00Z")).next()?.timestamp();
    let local = clock.to_datetime(at - 1.seconds());
    let date = local.date();
    let week =
        if date.day() > date.days_in_month() - 7 { 4 } else { usize::from((date.day() as u8 - 1) / 7) };
    let weekday = usize::from(date.weekday().to_monday_zero_offset() as u8);
    Some((week, weekday, format!("{:02}:{:02}", local.hour(), local.minute() / 30 * 30)))
}

#[test]
fn ten_years_of_all_zones_are_as_a_walk_over_all_days_says() {
    let first = Date::constant(2025, 10, 1);
    let days: Vec<Vec<Vec<Date>>> =
        (0..5).map(|week| (0..7).map(|weekday| walked(first, 11, week, weekday)).collect()).collect();
    // Zones whose clocks change alike in these years are one zone.
    let mut zones: BTreeMap<Vec<(i64, i32)>, String> = BTreeMap::new();
    for name in zone::names() {
        let clock = zone::parse(&name).unwrap();
        let start = at("2025-09-01T00:00:00Z");
        let changes =
            clock.following(start).take_while(|change| change.timestamp() < at("2037-01-01T00:00:00Z"));
        let changes = changes.map(|change| (change.timestamp().as_second(), change.offset().seconds()));
        zones.insert([(0, clock.to_offset(start).seconds())].into_iter().chain(changes).collect(), name);
    }
    let (mut all, mut refused) = (0, 0);
    for (index, name) in some(zones.values().enumerate(), 4) {
        let usual = [0, 11, 23].map(|more| {
            let index = index + more;
            (index % 5, index / 5 % 7, TIMES[index % 7].to_owned())
        });
        let at_a_change = change(&zone::parse(name).unwrap()).into_iter().cycle().take(3);
        for (round, (week, weekday, start)) in usual.into_iter().chain(at_a_change).enumerate() {
            let on = format!("{} {} of month", WEEKS[week], DAYS[weekday]);
            let length = LENGTHS[(index + round) % 6];
            let (found, is_exact) = compared(&days[week][weekday], name, &on, &start, length);
            all += found;
            refused += usize::from(!is_exact);
        }
    }
    eprintln!("{all} intervals, {refused} windows refused");
    let least = if is_thorough() { (30_000, 25) } else { (7_000, 5) };
    assert!(all > least.0 && refused > least.1);
}

#[test]
fn every_day_of_the_month_is_found_on_all_days_of_a_leap_cycle() {
    for (week, week_name) in WEEKS.iter().enumerate() {
        for (weekday, day_name) in DAYS.iter().enumerate() {
            let window = monthly("UTC", &format!("{week_name} {day_name} of month"), "00:00", "1h");
            let edges = window.edges().unwrap();
            let utc = TimeZone::UTC;
            let found = edges.open.times(at("1999-12-31T23:59:59Z"), &utc).take(28 * 12);
            let days: Vec<Date> = found.map(|at| utc.to_datetime(at).date()).collect();
            assert_eq!(days, walked(Date::constant(2000, 1, 1), 28, week, weekday), "{week_name} {day_name}");
        }
    }
}

#[test]
fn a_time_that_a_change_of_the_clocks_skips_is_refused_with_another_one() {
    let now = at("2026-11-21T00:00:00Z");
    for (window, message, help) in [
        (
            monthly("Europe/Berlin", "last Sun of month", "02:30", "4h"),
            "opening at 2027-03-28 02:30: the clocks in Europe/Berlin skip that time, so the window would not open",
            "write `from: 03:00`",
        ),
        (
            monthly("Europe/Berlin", "last Sat of month", "22:00", "4h"),
            "closing at 2027-03-28 02:00: the clocks in Europe/Berlin skip that time, so the window would stay open until \
             2027-04-25 02:00",
            "write `for: 5h`",
        ),
        (
            monthly("America/New_York", "first Sun of month", "01:00", "30m"),
            "opening at 2027-11-07 01:00: the clocks in America/New_York show that time twice, so the window would open \
             and close twice",
            "write `from: 01:30`",
        ),
    ] {
        let error = window.resolve(now).unwrap_err();
        assert_eq!((error.message.as_str(), error.help.as_str()), (message, help));
    }
}

#[test]
fn what_no_pair_of_cron_jobs_can_do_is_said() {
    let window = monthly("UTC", "second Tue of month", "20:00", "4h");
    let error = window.pair().unwrap_err();
    assert_eq!(error.message, "no cron expression fires on the second Tue of month alone");
    assert_eq!(error.key, WindowKey::On);
    assert_eq!(window.to_string(), "second Tue of month 20:00 for 4h UTC");
    let error = monthly("UTC", "second Tue of month", "20:00", "28d").edges().unwrap_err();
    assert_eq!(
        error.message,
        "the window is open for four weeks, after which the second Tue of month may come again"
    );
}

#[test]
fn other_words_for_a_day_are_refused_with_what_to_write() {
    let usual = "write it like `second Tue of month` or `last Fri of month`";
    let of_each = "write `from: Fri 08:00` for each week, or `first Fri of month`";
    for (text, message, help) in [
        ("", "`` is not a weekday in a week of each month", usual),
        ("second Tue", "`second Tue` is not a weekday in a week of each month", usual),
        ("second Tue of March", "`second Tue of March` is not a weekday in a week of each month", usual),
        (
            "fifth Tue of month",
            "`fifth Tue of month` does not come in every month",
            "write `last`, or `fourth`",
        ),
        (
            "2nd Tue of month",
            "`2nd Tue of month` does not begin with `first`, `second`, `third`, `fourth` or `last`",
            usual,
        ),
        ("second day of month", "`second day of month` names no weekday", usual),
        ("every Fri", "`every Fri` is no week of a month", of_each),
        ("each friday of month", "`each friday of month` is no week of a month", of_each),
        ("second TUE\u{a0}of month", "`second TUE\u{a0}of month` ", usual),
    ] {
        let Err(error) = text.parse::<MonthDay>() else {
            // A space is a space.
            assert!(text.contains('\u{a0}'), "{text}");
            continue;
        };
        assert!(error.message.starts_with(message), "{}", error.message);
        assert_eq!(error.help, help);
    }
    for (text, written) in
        [("LAST friday Of Month", "last Fri of month"), (" first  Mon of month ", "first Mon of month")]
    {
        assert_eq!(text.parse::<MonthDay>().unwrap().to_string(), written);
    }
}
