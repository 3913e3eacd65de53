//! Windows, freezes and overrides together, against a judge that knows only when cron expressions fire.

use gitops_windows::schedule::{CronExpr, CronPair, Interval, OpenTimes, Stretch, zone};
use jiff::{Timestamp, ToSpan};
use proptest::prelude::*;

use super::{at, cron};

/// How long before the range the judge begins: each pair below fires in that time.
const LEAD: i64 = 70 * 86_400;

const PAIRS: [(&str, &str); 9] = [
    ("0 22 * * SAT", "30 2 * * SUN"),
    ("30 2 * * SUN", "0 4 * * SUN"),
    ("0 8 * * MON", "0 17 * * THU"),
    ("0 22 * * *", "0 6 * * *"),
    ("15 */6 * * *", "45 */6 * * *"),
    ("0 1 * * *", "30 1 * * *"),
    ("0 0 1 * *", "0 0 15 * *"),
    ("0 12 * * *", "0 12 * * *"),
    ("0 2 * * *", "0 3 * * *"),
];

/// Their clocks change in the weeks that are looked at, one by half an hour and one never.
const ZONES: [&str; 5] =
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "UTC"];

/// The days around which clocks change.
const STARTS: [&str; 4] =
    ["2026-03-05T00:00:00Z", "2026-03-25T00:00:00Z", "2026-10-20T00:00:00Z", "2026-08-30T00:00:00Z"];

fn interval(from: Timestamp, start: i64, length: i64) -> Stretch {
    let open = from + start.minutes();
    Stretch { interval: Interval { open, close: open + length.minutes() }, reason: start.to_string() }
}

/// Replays the firings of a pair up to an instant; a closing at the instant of an opening wins.
fn replay(
    pair: &CronPair,
    zone: &jiff::tz::TimeZone,
    from: Timestamp,
    to: Timestamp,
) -> Vec<(Timestamp, bool)> {
    let firings = |expr: &CronExpr, opens: bool| {
        let all = expr.firings(from - LEAD.seconds(), zone).take_while(move |at| *at < to);
        all.map(|at| (at, opens)).collect::<Vec<_>>()
    };
    let mut edges = [firings(&pair.open, true), firings(&pair.close, false)].concat();
    edges.sort_by_key(|(at, opens)| (*at, !opens));
    edges
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn each_minute_is_open_as_a_replay_of_all_firings_says(
        windows in prop::collection::vec((0..PAIRS.len(), 0..ZONES.len()), 0..4),
        freezes in prop::collection::vec((-3_000_i64..20_000, 1_i64..9_000), 0..4),
        overrides in prop::collection::vec((-3_000_i64..20_000, 1_i64..3_000), 0..4),
        bounds in prop::option::of((0_i64..8_000, 0_i64..12_000)),
        start in 0..STARTS.len(),
    ) {
        let from = at(STARTS[start]);
        let to = from + (14 * 24).hours();
        let pairs: Vec<_> = windows.iter().map(|(pair, name)| {
            let (open, close) = PAIRS[*pair];
            (CronPair { open: cron(open), close: cron(close) }, zone::parse(ZONES[*name]).unwrap())
        }).collect();
        let stretches = |all: &[(i64, i64)]| -> Vec<Stretch> {
            all.iter().map(|(start, length)| interval(from, *start, *length)).collect()
        };
        let (freezes, overrides) = (stretches(&freezes), stretches(&overrides));
        let edges: Vec<_> = pairs.iter().map(|(pair, zone)| replay(pair, zone, from, to)).collect();
        let mut times = OpenTimes::new(pairs, freezes.clone(), overrides.clone());
        let bounds = bounds.map(|(start, length)| interval(from, start, length).interval);
        if let Some(bounds) = bounds {
            times = times.within(bounds);
        }
        let found: Vec<Interval> = times.cut(from, to).collect();
        for pair in found.windows(2) {
            prop_assert!(pair[0].close < pair[1].open, "{found:?}");
        }
        let mut expected = Vec::new();
        let mut minute = from;
        while minute < to {
            let by_window = edges.iter().any(|edges| {
                edges.iter().rev().find(|(at, _)| *at <= minute).is_some_and(|(_, opens)| *opens)
            });
            let within = |all: &[Stretch]| all.iter().any(|one| one.interval.contains(minute));
            let open = (by_window || within(&overrides)) && !within(&freezes)
                && bounds.is_none_or(|bounds| bounds.contains(minute));
            prop_assert_eq!(found.iter().any(|one| one.contains(minute)), open, "{}", minute);
            expected.push((minute, open));
            minute += 1.minutes();
        }
        // What is asked of one instant agrees with the list, also where the list is cut.
        for (index, (minute, open)) in expected.iter().enumerate().step_by(487) {
            prop_assert_eq!(times.is_open(*minute), *open);
            let next = |wanted: bool| {
                expected[index..].windows(2).find(|pair| pair[0].1 != wanted && pair[1].1 == wanted).map(|pair| pair[1].0)
            };
            if let Some(open) = next(true) {
                prop_assert_eq!(times.next_open(*minute), Some(open), "opens after {}", minute);
            }
            if let Some(close) = next(false) {
                prop_assert_eq!(times.next_close(*minute), Some(close), "closes after {}", minute);
            }
            let before = expected[..=index].windows(2).rev().find(|pair| pair[0].1 && !pair[1].1);
            if let (false, Some(pair)) = (*open, before) {
                prop_assert_eq!(times.closed_since(*minute), Some(pair[1].0), "closed before {}", minute);
            }
        }
        // Whole intervals are the cut ones, grown at the ends of the range alone.
        let whole: Vec<Interval> = times.intervals(from, to).collect();
        let cut: Vec<Interval> = whole.iter().filter_map(|one| one.clip(from, to)).collect();
        prop_assert_eq!(&cut, &found);
        for one in &whole {
            prop_assert!(!times.is_open(one.open - 1.seconds()) && !times.is_open(one.close), "{one:?}");
        }
    }
}

#[test]
fn several_windows_are_a_union() {
    let pair = |open: &str, close: &str| {
        (CronPair { open: cron(open), close: cron(close) }, zone::parse("UTC").unwrap())
    };
    let times = OpenTimes::new(
        [pair("0 8 * * *", "0 12 * * *"), pair("0 10 * * *", "0 14 * * *")],
        Vec::new(),
        Vec::new(),
    );
    let found: Vec<Interval> = times.cut(at("2026-11-21T00:00:00Z"), at("2026-11-22T00:00:00Z")).collect();
    assert_eq!(found, [Interval { open: at("2026-11-21T08:00:00Z"), close: at("2026-11-21T14:00:00Z") }]);
}

#[test]
fn a_window_that_never_opened_is_closed() {
    let pair =
        (CronPair { open: cron("0 0 31 2 *"), close: cron("0 0 31 2 *") }, zone::parse("UTC").unwrap());
    let times = OpenTimes::new([pair], Vec::new(), Vec::new());
    let now = at("2026-11-21T00:00:00Z");
    assert!(!times.is_open(now));
    assert_eq!((times.next_open(now), times.next_close(now), times.closed_since(now)), (None, None, None));
}
