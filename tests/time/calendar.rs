//! `calendar`.

use icalendar::{CalendarComponent, CalendarDateTime, Component, DatePerhapsTime};
use jiff::Timestamp;

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
    for width in ["30", "40", "79", "133"] {
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
        let width: usize = width.parse().unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
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
        (["calendar", "--from", "someday"], "is no day and no time"),
        (["calendar", "--days", "0"], "1..=3660"),
        (["calendar", "--time-zone", "europe/berlin"], "did you mean `Europe/Berlin`?"),
        (["calendar", "--cluster", "edge-1"], "did you mean"),
        (["calendar", "--from", "9999-12-30"], "after the year 9999"),
        (["calendar", "--from", "9999-12-31"], "begin earlier"),
        (["calendar", "--from", "9999-12-31T12:00:00Z"], "give one before 9999-12-30"),
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

/// Reads a file with another program's parser, and writes each event in the local times of a zone.
fn read(file: &str, zone: &str) -> Vec<String> {
    let calendar: icalendar::Calendar = file.parse().unwrap();
    let utc = |time: Option<DatePerhapsTime>| match time {
        Some(DatePerhapsTime::DateTime(CalendarDateTime::Utc(time))) => {
            Timestamp::from_second(time.timestamp()).unwrap()
        }
        other => panic!("{other:?} is no time in UTC"),
    };
    let zone = jiff::tz::TimeZone::get(zone).unwrap();
    let show = |at: Timestamp| at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M").to_string();
    calendar
        .iter()
        .map(|component| {
            let CalendarComponent::Event(event) = component else { panic!("{component:?} is no event") };
            assert!(event.get_uid().is_some() && event.get_timestamp().is_some());
            let description = event.get_description().unwrap();
            let clusters = description.rsplit('\n').next().unwrap();
            format!(
                "{} | {} | {} | {clusters}",
                show(utc(event.get_start())),
                show(utc(event.get_end())),
                event.get_summary().unwrap()
            )
        })
        .collect()
}

#[test]
fn another_program_reads_the_right_local_times_across_changes_of_the_clocks() {
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
    let seen = read(&file, "Europe/Berlin");
    let days = [("15", "18"), ("22", "25"), ("29", "01"), ("05", "08"), ("12", "15")];
    let months = [("03", "03"), ("03", "03"), ("03", "04"), ("04", "04"), ("04", "04")];
    let expected: Vec<String> = days
        .iter()
        .zip(months)
        .map(|((open, close), (opens, closes))| {
            format!(
                "Mon 2027-{opens}-{open} 08:00 | Thu 2027-{closes}-{close} 17:00 | rw open: edge-01, edge-02 | \
                 Clusters: edge-01, edge-02"
            )
        })
        .collect();
    assert_eq!(seen, expected);
}

#[test]
fn windows_in_several_zones_are_told_in_the_zone_of_the_one_that_opens() {
    let spec = SPEC.replace("window: work-week", "window: [work-week, evening]").replace(
        "windows:\n  work",
        "windows:\n  evening: { timeZone: America/New_York, open: 0 20 * * FRI, close: 0 22 * * FRI }\n  work",
    );
    let text = Repository::new(&[("windows.yaml", &spec)]).stdout(&with(&["--cluster", "edge-01"]));
    assert!(text.contains("  Mon 2026-11-23 08:00 – Thu 2026-11-26 17:00 Europe/Berlin\n"), "{text}");
    assert!(text.contains("  Fri 2026-11-27 20:00 – Fri 2026-11-27 22:00 America/New_York\n"), "{text}");
}

#[test]
fn windows_that_touch_are_a_race_here_too() {
    let spec = SPEC.replace("window: work-week", "window: [work-week, next]").replace(
        "windows:\n  work",
        "windows:\n  next: { timeZone: Europe/Berlin, open: 0 17 * * THU, close: 0 20 * * THU }\n  work",
    );
    let repository = Repository::new(&[("windows.yaml", &spec)]);
    let text = repository.stdout(&with(&["--cluster", "edge-01"]));
    assert!(text.contains("Thu 2026-11-26 17:00 Europe/Berlin: an opening and a closing coincide"), "{text}");
    assert!(!text.contains("20:00"), "{text}");
    let picture = repository.stdout(&with(&["--cluster", "edge-01", "--format", "svg"]));
    assert!(picture.contains("open and close at the same instant"), "{picture}");
}

/// A freeze in a window, an override beside one, and one within one.
const EXCEPTIONS: &str = "timeZone: Europe/Berlin\n\
    gate: { every: 5m, from: 2026-11-01, through: 2027-12-31 }\n\
    freezes: { peak: { from: 2026-11-24T12:00, to: 2026-11-24, reason: 'peak, <b>', labels: { region: eu } } }\n\
    overrides:\n\
    - { cluster: edge-01, type: rw, from: 2026-11-28T20:00, until: 2026-11-28T22:00, reason: INC-1 }\n\
    - { cluster: edge-01, type: rw, from: 2026-11-25T20:00, until: 2026-11-26T20:00, reason: INC-2 }\n";

fn with_exceptions() -> Repository {
    let spec = SPEC.replace("edge-01: {}", "edge-01: { labels: { region: eu } }");
    Repository::new(&[("windows.yaml", &format!("{spec}{EXCEPTIONS}"))])
}

#[test]
fn freezes_and_overrides_are_told_with_their_reasons_in_all_forms() {
    let repository = with_exceptions();
    insta::assert_snapshot!(repository.stdout(&with(&["--cluster", "edge-01"])));
    insta::assert_snapshot!(format!(
        "{:#}",
        repository.json(&with(&["--cluster", "edge-01", "--format", "json"]))
    ));
    insta::assert_snapshot!(
        repository.stdout(&with(&["--cluster", "edge-01", "--format", "ics"])).replace("\r\n", "\n")
    );
    let picture = repository.stdout(&with(&["--cluster", "edge-01", "--format", "svg"]));
    let titles: Vec<&str> =
        picture.split("<title>").skip(1).filter_map(|rest| rest.split('<').next()).collect();
    insta::assert_snapshot!(titles.join("\n"));
}

/// A page shows a freeze as the cluster's clocks do, whoever reads it, and no end where there is none.
#[test]
fn a_page_tells_freezes_in_the_time_of_the_cluster() {
    let of = |spec: &str| {
        let repository = Repository::new(&[("windows.yaml", spec)]);
        let asked = ["calendar", "--from", "2026-11-23", "--time-zone", "UTC", "--cluster", "edge-01"];
        repository.stdout(&[&asked[..], &["--format", "html"]].concat())
    };
    let spec = SPEC.replace("edge-01: {}", "edge-01: { labels: { region: eu } }") + EXCEPTIONS;
    let page = of(&spec);
    let own =
        "<td>frozen Tue 2026-11-24 12:00 – Wed 2026-11-25 00:00 Europe/Berlin (peak: peak, &lt;b&gt;)</td>";
    assert!(page.contains(own), "{page}");
    let page = of(&spec.replace("to: 2026-11-24,", "to: 2199-12-31,"));
    assert!(page.contains("</time> – until it is removed</td>") && !page.contains("2199-12-31 "), "{page}");
}

/// Who subscribes gets the same bytes from the same commit, whenever they are made, and each event again by its name.
#[test]
fn a_calendar_file_can_be_subscribed_to() {
    let repository = with_exceptions();
    repository.commit("2026-11-20T12:00:00Z");
    let asked = with(&["--format", "ics"]);
    let file = repository.stdout(&asked);
    let later = super::program()
        .current_dir(repository.path())
        .args(&asked)
        .args(["--now", "2026-11-21T15:00:00Z"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(later.stdout).unwrap(), file);
    assert!(file.contains("DTSTAMP:20261120T120000Z\r\n"), "{file}");
    // What does not change the windows does not change the file.
    repository.write("docs/note.md", "more\n");
    repository.commit("2026-11-20T13:00:00Z");
    assert_eq!(repository.stdout(&asked), file);
    // A window that closes later is the same event, and so is one in whose week there is a new freeze.
    let uids = |file: &str| -> Vec<String> {
        let lines = file.lines().filter_map(|line| line.strip_prefix("UID:"));
        lines.map(str::to_owned).collect()
    };
    let spec = std::fs::read_to_string(repository.path().join("windows.yaml")).unwrap();
    let spec = spec.replace("close: 0 17 * * THU", "close: 0 18 * * THU");
    repository.write(
        "windows.yaml",
        &spec.replace("reason: 'peak, <b>'", "timeZone: Asia/Tokyo, reason: 'peak, <b>'"),
    );
    let after = repository.stdout(&asked);
    assert_ne!(after, file);
    assert!(after.contains("DTSTAMP:20261121T120000Z\r\n"), "an edit that is in no commit is of now");
    let known = uids(&file);
    let kept = uids(&after).iter().filter(|uid| known.contains(uid)).count();
    assert_eq!((kept, known.len()), (known.len() - 2, uids(&after).len()));
    let mut all = known.clone();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), known.len());
}

#[test]
fn a_range_may_end_at_a_day() {
    let repository = repository();
    let of = |arguments: &[&str]| {
        repository.stdout(&[&["calendar", "--time-zone", "Europe/Berlin"], arguments].concat())
    };
    assert_eq!(of(&["--from", "2026-11-23", "--until", "2026-11-29"]), repository.stdout(&WEEK));
    assert_eq!(of(&["--from", "today", "--until", "tomorrow"]), of(&["--days", "2"]));
    // A day is one of the windows' zone, as with `when`; the days that are shown are those of the machine.
    let berlin = SPEC.split_inclusive('\n').filter(|line| !line.contains("edge-02")).collect::<String>();
    let berlin = Repository::new(&[("windows.yaml", &berlin)]);
    let of = |arguments: &[&str]| {
        let mut command = super::program();
        command.env("TZ", "Asia/Tokyo").args(["calendar", "--now", super::NOW]).args(arguments);
        String::from_utf8(command.current_dir(berlin.path()).output().unwrap().stdout).unwrap()
    };
    let day = of(&["--from", "2026-11-23", "--until", "2026-11-23"]);
    assert!(day.starts_with("Mon 2026-11-23 08:00 – Tue 2026-11-24 08:00, Asia/Tokyo\n"), "{day}");
    let tonight = of(&["--from", "tonight", "--days", "1", "--format", "json"]);
    assert!(tonight.contains("\"from\": \"2026-11-21T21:00:00Z\""), "{tonight}");
    assert!(of(&["--days", "1"]).starts_with("Sat 2026-11-21 00:00 – "), "{}", of(&["--days", "1"]));
    let (code, told) = repository.failure(&["calendar", "--until", "2026-11-20"]);
    assert!(code == 2 && told.contains("not after the first one"), "{told}");
}
