//! Windows that open and close later, against all firings of ten years.

use gitops_windows::schedule::{CronPair, Interval, Length, Timeline, WindowEdges, zone};
use jiff::{Timestamp, ToSpan};

use super::thorough::{is_thorough, some};
use super::{at, cron};

const PAIRS: [(&str, &str); 7] = [
    ("0 22 * * SAT", "0 4 * * SUN"),
    ("30 1 * * SUN", "0 3 * * SUN"),
    ("0 8 * * MON-FRI", "0 17 * * MON-FRI"),
    ("0 22 * * *", "0 6 * * *"),
    ("15 */6 * * *", "45 */6 * * *"),
    ("0 0 1 * *", "0 12 1 * *"),
    ("0 20 1,15 * *", "0 23 1,15 * *"),
];

const ZONES: [&str; 7] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Africa/Cairo",
    "Asia/Kathmandu",
    "UTC",
];

const MINUTES: [u32; 7] = [1, 7, 30, 90, 240, 1440, 3 * 1440 + 35];

#[test]
fn a_later_pair_fires_so_much_later_at_each_firing_of_ten_years_or_is_refused() {
    let (from, to) = (at("2026-01-05T00:00:00Z"), at("2036-01-01T00:00:00Z"));
    let (mut exact, mut refused) = (0, 0);
    for (position, (open, close)) in PAIRS.into_iter().enumerate() {
        // Every zone has a pair, and every pair zones.
        for name in some(ZONES.into_iter().cycle().skip(position).take(ZONES.len()), 3) {
            let zone = zone::parse(name).unwrap();
            let pair = CronPair { open: cron(open), close: cron(close) };
            let all = |pair: &CronPair, from: Timestamp, to: Timestamp| -> [Vec<Timestamp>; 2] {
                [&pair.open, &pair.close]
                    .map(|expr| expr.firings(from - 1.seconds(), &zone).take_while(|at| *at < to).collect())
            };
            let wanted = all(&pair, from, to);
            for minutes in MINUTES {
                let later = i64::from(minutes).minutes();
                // Each search begins at a firing, as that of the controller does.
                let is_all = |pair: &CronPair| {
                    let real = all(pair, from + later, to + later);
                    wanted
                        .iter()
                        .zip(&real)
                        .all(|(wanted, real)| wanted.iter().map(|at| *at + later).eq(real.iter().copied()))
                };
                match pair.later(Length::from_minutes(minutes).unwrap(), &zone) {
                    Ok(found) => {
                        exact += 1;
                        assert!(is_all(&found), "{open} {close} {name} {minutes}: {found:?}");
                    }
                    Err(reason) => {
                        refused += 1;
                        let words: Vec<&str> = reason.split('`').collect();
                        if let [_, found, does_not, expr, _] = words[..] {
                            assert!(does_not.starts_with(" does not fire"), "{reason}");
                            let only = |expr: &str| CronPair { open: cron(expr), close: cron(expr) };
                            let real = all(&only(found), from + later, to + later);
                            let own = all(&only(expr), from, to);
                            assert!(
                                !own[0].iter().map(|at| *at + later).eq(real[0].iter().copied()),
                                "{reason}"
                            );
                        }
                    }
                }
            }
            // Where nobody has to say it in cron, it always comes.
            let edges = WindowEdges::from(pair).later(90);
            let own: Vec<Interval> = timeline(&wanted, to);
            let range = (from + 90.minutes(), to + 90.minutes());
            let found = Timeline::of_pairs([(edges, zone.clone())]);
            let found: Vec<Interval> =
                found.intervals(range.0, range.1).filter(|one| one.open >= range.0).collect();
            let moved = own
                .iter()
                .map(|one| Interval { open: one.open + 90.minutes(), close: one.close + 90.minutes() });
            assert!(moved.eq(found.into_iter().take(own.len())), "{open} {close} {name}");
        }
    }
    eprintln!("{exact} exact, {refused} refused");
    let least = if is_thorough() { (100, 30) } else { (33, 10) };
    assert!(exact > least.0 && refused > least.1);
}

/// Replays all firings, a closing before an opening of the same instant.
fn timeline([opens, closes]: &[Vec<Timestamp>; 2], to: Timestamp) -> Vec<Interval> {
    let mut edges: Vec<(Timestamp, bool)> =
        opens.iter().map(|at| (*at, true)).chain(closes.iter().map(|at| (*at, false))).collect();
    edges.sort_by_key(|(at, opens)| (*at, !opens));
    let (mut found, mut since) = (Vec::new(), None);
    for (at, opens) in edges.into_iter().filter(|(at, _)| *at < to) {
        match (since, opens) {
            (None, true) => since = Some(at),
            (Some(open), false) => {
                found.push(Interval { open, close: at });
                since = None;
            }
            _ => {}
        }
    }
    found
}

#[test]
fn what_cannot_be_said_is_said_with_its_reason() {
    let zone = zone::parse("Europe/Berlin").unwrap();
    let pair = |open: &str, close: &str| CronPair { open: cron(open), close: cron(close) };
    for (pair, length, reason) in [
        (
            pair("0 22,23 * * MON", "0 12 * * TUE"),
            "90m",
            "no cron expression fires 1h30m after each `0 22,23 * * MON`",
        ),
        (
            pair("0 22 * * SAT", "30 1 * * SUN"),
            "2h",
            "around 2026-03-29 03:30 the clocks change, so `30 3 * * SUN` does not fire 2h after each `30 1 * * SUN`",
        ),
        (pair("@every 1h", "@every 2h"), "1h", "no cron expression fires 1h after each `@every 1h`"),
    ] {
        assert_eq!(pair.later(length.parse().unwrap(), &zone).unwrap_err(), reason);
    }
    let found = pair("0 22 * * SAT", "0 4 * * SUN").later("2h30m".parse().unwrap(), &zone).unwrap();
    assert_eq!((found.open.as_str(), found.close.as_str()), ("30 0 * * SUN", "30 6 * * SUN"));
}
