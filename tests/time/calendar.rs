//! `calendar`.

use std::path::PathBuf;
use std::process::Command;

use super::{Repository, SPEC};

const WEEK: [&str; 5] = ["calendar", "--from", "2026-11-23", "--time-zone", "Europe/Berlin"];

fn repository() -> Repository {
    Repository::new(&[("windows.yaml", SPEC)])
}

fn with(options: &[&'static str]) -> Vec<&'static str> {
    [&WEEK, options].concat()
}

#[test]
fn a_week_is_drawn_without_colour() {
    insta::assert_snapshot!(repository().stdout(&WEEK), @r"
    Mon 2026-11-23 00:00 – Mon 2026-11-30 00:00, Europe/Berlin
    rt: at once, in all clusters

    |Mon 23    |Tue 24    |Wed 25     |Thu 26    |Fri 27     |Sat 28    |Sun 29
    rw  edge-01
    ···▒██████████████████████████████████████▒·····································
      Mon 2026-11-23 08:00 – Thu 2026-11-26 17:00 Europe/Berlin
    rw  edge-02
    ·······················▒██▒·····················································
      Tue 2026-11-24 20:00 – Wed 2026-11-25 02:00 America/New_York
      Wed 2026-11-25 02:00 – Wed 2026-11-25 08:00 Europe/Berlin
    rw (gate off: nothing closes)  edge-03
    ···▒██████████████████████████████████████▒·····································
      Mon 2026-11-23 08:00 – Thu 2026-11-26 17:00 Europe/Berlin

    █ open  ▒ partly open  · closed
    ");
}

#[test]
fn equal_clusters_share_a_row() {
    let clusters: String = (1..=40).map(|number| format!("  edge-{number:02}: {{}}\n")).collect();
    let spec = format!("{}{clusters}", &SPEC[..SPEC.find("  edge-01").unwrap()]);
    let text = Repository::new(&[("windows.yaml", &spec)]).stdout(&WEEK);
    assert_eq!(text.matches("rw  ").count(), 1, "{text}");
    assert!(text.contains("all 40 clusters: edge-01, edge-02"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn it_fits_the_terminal() {
    let repository = repository();
    for width in ["20", "40", "79", "133"] {
        let output = super::program()
            .env("COLUMNS", width)
            .args(["calendar", "--now", super::NOW, "--days", "30"])
            .current_dir(repository.path())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let bars = text.lines().filter(|line| line.contains('·') && !line.contains("closed"));
        let widths: Vec<usize> = bars.map(|line| line.chars().count()).collect();
        assert!(widths.len() == 3 && widths.iter().all(|found| found.to_string() == width), "{text}");
    }
}

#[test]
fn a_short_window_is_not_lost_in_a_long_range() {
    let spec = SPEC.replace("close: 0 17 * * THU", "close: 1 8 * * MON");
    let text =
        Repository::new(&[("windows.yaml", &spec)]).stdout(&with(&["--days", "60", "--cluster", "edge-01"]));
    let bar = text.lines().find(|line| line.contains('▒')).unwrap();
    assert_eq!(bar.matches('▒').count(), 9, "{text}");
}

#[test]
fn days_are_those_of_the_clock() {
    let summer = ["calendar", "--from", "2027-03-28", "--days", "1", "--time-zone", "Europe/Berlin"];
    let text = repository().stdout(&summer);
    assert!(text.starts_with("Sun 2027-03-28 00:00 – Mon 2027-03-29 00:00, Europe/Berlin\n"), "{text}");
}

#[test]
fn bad_options_are_explained() {
    for (arguments, said) in [
        (["calendar", "--from", "someday"], "neither a date nor a time"),
        (["calendar", "--days", "0"], "1..=3660"),
        (["calendar", "--time-zone", "europe/berlin"], "did you mean `Europe/Berlin`?"),
        (["calendar", "--cluster", "edge-1"], "did you mean"),
        (["calendar", "--from", "9999-12-30"], "after the year 9999"),
    ] {
        let (code, stderr) = repository().failure(&arguments);
        assert_eq!(code, 2, "{arguments:?}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_picture_has_both_schemes_and_no_scripts() {
    let picture = repository().stdout(&with(&["--format", "svg"]));
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert!(picture.contains("@media (prefers-color-scheme:dark)"));
    for bad in ["<script", "onload", "href", "http://", "@import", "url("] {
        let found = picture.matches(bad).count();
        assert_eq!(found, usize::from(bad == "http://"), "{bad}");
    }
    assert_eq!(picture.matches("<rect class=\"open\"").count(), 2);
    assert_eq!(picture.matches("<rect class=\"off\"").count(), 1);
    assert!(picture.contains("<title>Mon 2026-11-23 08:00 – Thu 2026-11-26 17:00 Europe/Berlin</title>"));
}

#[test]
fn a_calendar_file_is_folded_and_stable() {
    let options = with(&["--format", "ics", "--days", "28"]);
    let file = repository().stdout(&options);
    assert!(file.lines().count() > 10 && file.replace("\r\n", "").find(['\r', '\n']).is_none());
    assert!(file.split("\r\n").all(|line| line.len() <= 75));
    let uids = |file: &str| -> Vec<String> {
        file.replace("\r\n ", "").lines().filter(|line| line.starts_with("UID:")).map(str::to_owned).collect()
    };
    let found = uids(&file);
    let mut different = found.clone();
    different.sort();
    different.dedup();
    assert_eq!((found.len(), different.len()), (12, 12));
    // A file of other days names the same events alike.
    let later = repository().stdout(&[
        "calendar",
        "--from",
        "2026-12-07",
        "--time-zone",
        "UTC",
        "--days",
        "7",
        "--format",
        "ics",
    ]);
    assert!(!uids(&later).is_empty() && uids(&later).iter().all(|uid| found.contains(uid)));
}

#[test]
fn what_opens_too_often_is_cut_with_a_word() {
    let spec = SPEC
        .replace("open: 0 8 * * MON, close: 0 17 * * THU", "open: '*/10 * * * *', close: '5-55/10 * * * *'");
    let repository = Repository::new(&[("windows.yaml", &spec)]);
    for (format, begin) in [("ics", "BEGIN:VEVENT"), ("svg", "<rect class=\"open\"")] {
        let output = repository.run(&with(&["--format", format, "--days", "60", "--cluster", "edge-01"]));
        let file = String::from_utf8(output.stdout).unwrap();
        assert_eq!(file.matches(begin).count(), 4_000, "{format}");
        assert!(file.len() < 2_500_000, "{format}: {}", file.len());
        assert!(String::from_utf8(output.stderr).unwrap().contains("only the first 4000 times are shown"));
    }
}

/// Gives a Python with the package `icalendar`, or none where it can't be had.
fn python() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("icalendar");
    let python = folder.join("bin/python");
    let has = |python: &PathBuf| {
        Command::new(python)
            .args(["-c", "import icalendar"])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    if has(&python) {
        return Some(python);
    }
    let made = Command::new("python3").args(["-m", "venv"]).arg(&folder).output();
    let installed = made.is_ok_and(|output| output.status.success())
        && Command::new(&python)
            .args(["-m", "pip", "install", "-q", "icalendar", "tzdata"])
            .output()
            .is_ok_and(|output| output.status.success());
    (installed && has(&python)).then_some(python)
}

/// Prints every event as local times of two zones, as a calendar program shows them.
const SCRIPT: &str = r#"
import sys, zoneinfo, icalendar
calendar = icalendar.Calendar.from_ical(sys.stdin.buffer.read())
zone = zoneinfo.ZoneInfo("Europe/Berlin")
for event in calendar.walk("VEVENT"):
    begin, end = event.decoded("DTSTART"), event.decoded("DTEND")
    assert begin.utcoffset().total_seconds() == 0 and event["UID"] and event.decoded("DTSTAMP")
    show = lambda time: time.astimezone(zone).strftime("%a %Y-%m-%d %H:%M")
    print(show(begin), "|", show(end), "|", event["SUMMARY"], "|", event["DESCRIPTION"].splitlines()[-1])
"#;

#[test]
fn another_program_reads_the_right_local_times_across_changes_of_the_clocks() {
    let Some(python) = python() else {
        eprintln!("skipped: python3 with the package icalendar is not at hand");
        return;
    };
    let clusters = "  edge-01: {}\n  edge-02: {}\n";
    let spec = format!("{}{clusters}", &SPEC[..SPEC.find("  edge-01").unwrap()]);
    let file = Repository::new(&[("windows.yaml", &spec)]).stdout(&[
        "calendar",
        "--from",
        "2027-03-15",
        "--days",
        "35",
        "--time-zone",
        "Europe/Berlin",
        "--format",
        "ics",
    ]);
    let output = assert_cmd::Command::new(python).args(["-c", SCRIPT]).write_stdin(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen = String::from_utf8(output.stdout).unwrap();
    let days = [("15", "18"), ("22", "25"), ("29", "01"), ("05", "08"), ("12", "15")];
    let months = [("03", "03"), ("03", "03"), ("03", "04"), ("04", "04"), ("04", "04")];
    let expected: String = days
        .iter()
        .zip(months)
        .map(|((open, close), (opens, closes))| {
            format!(
                "Mon 2027-{opens}-{open} 08:00 | Thu 2027-{closes}-{close} 17:00 | rw open: edge-01, edge-02 | \
                 Clusters: edge-01, edge-02\n"
            )
        })
        .collect();
    assert_eq!(seen, expected);
}
