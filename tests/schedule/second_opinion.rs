//! The `cron` crate, where its grammar means the same: UTC, numbers and weekday names, one kind of day.

use std::str::FromStr;

use gitops_windows::schedule::zone;
use jiff::Timestamp;

use super::{at, cron};

#[test]
fn the_cron_crate_agrees_where_the_grammars_do() {
    let utc = zone::parse("UTC").unwrap();
    let from = at("2026-11-21T12:34:56Z");
    let start = chrono::DateTime::from_timestamp(from.as_second(), 0).unwrap();
    let mut compared = 0;
    for minute in ["*", "0", "5,35", "10-20", "*/15", "59"] {
        for hour in ["*", "0", "8", "8,20", "9-17", "*/6", "23"] {
            for days in [
                "* * *",
                "1 * *",
                "15,31 * *",
                "29 2 *",
                "* 3-5 *",
                "* * MON",
                "* * MON-FRI",
                "* 12 SUN,SAT",
                "*/10 1 *",
            ] {
                let expr = format!("{minute} {hour} {days}");
                let theirs = cron::Schedule::from_str(&format!("0 {expr}")).unwrap();
                let theirs: Vec<i64> = theirs.after(&start).take(10).map(|at| at.timestamp()).collect();
                let ours: Vec<i64> =
                    cron(&expr).firings(from, &utc).take(10).map(Timestamp::as_second).collect();
                // Theirs searches a hundred years ahead, ours the five that Kubernetes does.
                assert_eq!(ours, theirs, "{expr}");
                compared += 1;
            }
        }
    }
    eprintln!("the cron crate agrees on {compared} expressions");
}
