//! Compiles the tables of many clusters, each with a window of its own, and says how many intervals they have.
//!
//! `cargo run --release --example tables -- CLUSTERS`, 1,000 where none are named. One thread does all of it, so the
//! processor time of the program (`time`, `perf stat`) is what it takes. With `--spec` it prints the spec alone, for
//! `gitops-windows check`.
#![allow(clippy::print_stdout, reason = "figures are told to whoever runs it")]

use std::time::Instant;

use gitops_windows::error::Error;
use gitops_windows::mechanism;
use gitops_windows::path::RepoPath;
use gitops_windows::spec::{MechanismName, parse};

/// Zones with and without changes of the clocks, in turn.
const ZONES: [&str; 5] = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"];

/// The spec: two years before its last day and a year more, with freezes for all and an override for some.
fn spec(clusters: usize) -> String {
    let mut text = "apiVersion: gitops-windows/v1\ntimeZone: Europe/Berlin\ntypes: { rt: {}, rw: { window: night } }\n\
        windows: { night: { open: 0 22 * * SAT, close: 0 4 * * SUN } }\n\
        gate: { mechanism: follow, every: 5m, from: 2025-01-01, through: 2027-12-31 }\n\
        freezes:\n  year-end: { from: 2026-12-18, to: 2027-01-07, reason: peak }\n  \
        audit: { from: 2027-03-01, to: 2027-03-05, reason: audit, labels: { half: first } }\n\
        overrides:\n- { labels: { half: first }, type: rw, from: 2026-11-24T20:00, until: 2026-11-24T22:00, reason: x }\n\
        clusters:\n"
        .to_owned();
    for number in 0..clusters {
        let (minute, hour) = (number % 12 * 5, number / 12 % 24);
        let zone = ZONES[number % ZONES.len()];
        let half = if number % 2 == 0 { "first" } else { "second" };
        let window = match number % 3 {
            0 => format!(
                "{{ timeZone: {zone}, open: {minute} {hour} * * MON, close: {minute} {hour} * * THU }}"
            ),
            // What comes each day keeps clear of the hours that a change of the clocks skips or repeats, and of the half
            // hours that robfig/cron passes over on such a day where they change by half an hour.
            1 => {
                let (minute, open, close) = (30 + minute % 30, 4 + hour % 16, 6 + hour % 16);
                format!("{{ timeZone: {zone}, open: {minute} {open} * * *, close: {minute} {close} * * * }}")
            }
            _ => format!(
                "{{ timeZone: {zone}, on: second Tue of month, from: \"{hour:02}:{minute:02}\", for: 4h }}"
            ),
        };
        text +=
            &format!("  edge-{number:05}: {{ labels: {{ half: {half} }}, windows: {{ rw: {window} }} }}\n");
    }
    text
}

fn main() -> Result<(), Error> {
    let clusters = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000);
    let text = spec(clusters);
    if std::env::args().any(|word| word == "--spec") {
        print!("{text}");
        return Ok(());
    }
    let started = Instant::now();
    let spec = parse(&RepoPath::parse("windows.yaml").unwrap_or_default(), text.as_bytes())?.spec;
    let read = started.elapsed();
    let jobs = mechanism::of(MechanismName::Follow).jobs(&spec)?;
    let lines: usize = jobs.tables.values().flat_map(|tables| tables.values()).map(Vec::len).sum();
    println!(
        "{} clusters, {lines} lines: the spec read in {read:.2?}, the tables in {:.2?}",
        jobs.tables.len(),
        started.elapsed() - read
    );
    Ok(())
}
