use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::*;
use crate::diagnostic::render;
use crate::path::RepoPath;
use crate::schedule::Length;
use crate::spec::{Parsed, parse};

const NOW: &str = "2026-11-24T19:03:20Z";

const SPEC: &str = "\
apiVersion: gitops-windows/v1 # the only one
timeZone: Europe/Berlin
types:
  rt: {}
  rw: { window: nights } # gated
windows:
  nights: { open: 0 22 * * *, close: 0 4 * * * }
clusters:
  # the first
  edge-01: { labels: { region: eu, wave: canary } }
  edge-02: { labels: { region: us } }
gate: { every: 5m, through: 2027-12-31 } # looks at a table
";

type Result = std::result::Result<(String, Parsed), Error>;

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn spec(text: &str) -> Spec {
    parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap().spec
}

fn freeze(text: &str, change: impl FnOnce(&mut NewFreeze)) -> Result {
    let mut new = NewFreeze {
        name: "year-end".into(),
        from: Some("2026-12-18".into()),
        to: Some("2027-01-07".into()),
        reason: "trading peak: no changes".into(),
        types: Vec::new(),
        about: About::default(),
        time_zone: None,
    };
    change(&mut new);
    add_freeze(&spec(text), text, &new, now())
}

fn given(text: &str, change: impl FnOnce(&mut NewOverride)) -> Result {
    let mut new = NewOverride {
        about: cluster("edge-02"),
        change_type: None,
        from: None,
        end: End::After("2h".parse::<Length>().unwrap()),
        reason: "INC-1234".into(),
        time_zone: None,
    };
    change(&mut new);
    add_override(&spec(text), text, &new, now())
}

fn cluster(name: &str) -> About {
    About { clusters: vec![name.into()], ..About::default() }
}

fn label(key: &str, value: &str) -> About {
    About { labels: vec![(key.into(), value.into())], ..About::default() }
}

/// The lines that an edit took away and brought, or what was said instead.
fn told(before: &str, result: Result) -> String {
    match result {
        Ok((after, parsed)) => {
            let diff = similar::TextDiff::from_lines(before, &after);
            let changed = diff.iter_all_changes().filter(|change| change.tag() != similar::ChangeTag::Equal);
            let lines: String = changed.map(|change| format!("{}{}", change.tag(), change.value())).collect();
            lines + &render(&parsed.warnings, false, 120)
        }
        Err(error) => {
            format!("exit {}: {}", error.exit_code(), render(&error.diagnostics, false, 120))
        }
    }
}

#[test]
fn a_freeze_is_written_as_it_was_named() {
    insta::assert_snapshot!(told(SPEC, freeze(SPEC, |_| ())));
    let narrow = freeze(SPEC, |new| {
        new.types = vec!["rw".into()];
        new.about = label("region", "eu");
        new.time_zone = Some(TimeZone::get("America/New_York").unwrap());
    });
    insta::assert_snapshot!(told(SPEC, narrow));
    let by_name = freeze(SPEC, |new| {
        new.about.clusters = vec!["edge-02".into(), "edge-01".into()];
        new.time_zone = Some(TimeZone::get("Europe/Berlin").unwrap());
    });
    insta::assert_snapshot!(told(SPEC, by_name));
}

#[test]
fn a_stop_begins_at_the_last_run_and_has_no_end() {
    let stop = freeze(SPEC, |new| (new.from, new.to) = (None, None));
    insta::assert_snapshot!(told(SPEC, stop));
    let (text, parsed) =
        freeze(SPEC, |new| (new.name, new.from, new.to) = ("stop".into(), None, None)).unwrap();
    let times = parsed.spec.open_times("edge-01", "rw").unwrap().unwrap();
    assert_eq!(times.cut(now(), Timestamp::MAX).next(), None, "something opens after a stop");
    assert_eq!(free_name(&spec(&text), "stop"), "stop-2");
}

#[test]
fn an_override_from_now_lasts_to_a_run_of_the_gate() {
    insta::assert_snapshot!(told(SPEC, given(SPEC, |_| ())));
    let later = given(SPEC, |new| {
        new.about = label("region", "us");
        new.from = Some("2026-11-30T12:00".into());
    });
    insta::assert_snapshot!(told(SPEC, later));
    let until = given(SPEC, |new| new.end = End::At("2026-11-25T06:00".into()));
    insta::assert_snapshot!(told(SPEC, until));
}

/// A day is meant as `freeze add` means it: an end is the last one.
#[test]
fn an_override_takes_days() {
    let of = |from: &str, end: End| {
        let (text, parsed) = given(SPEC, |new| (new.from, new.end) = (Some(from.into()), end)).unwrap();
        let lines = text.lines().filter(|line| line.contains("from:") || line.contains("until:"));
        let lines: Vec<&str> = lines.map(|line| line.trim_start_matches([' ', '-'])).collect();
        (lines.join("; "), parsed.spec.overrides[0].interval)
    };
    let (text, interval) = of("2026-12-01", End::At("2026-12-02".into()));
    assert_eq!(text, "from: \"2026-12-01T00:00\"; until: \"2026-12-03T00:00\"");
    assert_eq!(interval.open.to_string(), "2026-11-30T23:00:00Z");
    let (text, _) = of("2026-12-01", End::After("2h".parse().unwrap()));
    assert_eq!(text, "from: \"2026-12-01T00:00\"; until: \"2026-12-01T02:00\"");
}

/// At the hour that comes twice a time says which of the two it is.
#[test]
fn an_override_in_the_hour_that_comes_twice_has_its_offset() {
    let text = SPEC.replace("2027-12-31", "2027-12-31, from: 2026-01-01");
    let new = |now: &str| {
        let new = NewOverride {
            about: cluster("edge-02"),
            change_type: Some("rw".into()),
            from: None,
            end: End::After("1h".parse().unwrap()),
            reason: "INC-1".into(),
            time_zone: None,
        };
        let (_, parsed) = add_override(&spec(&text), &text, &new, now.parse().unwrap()).unwrap();
        parsed.spec.overrides[0].interval
    };
    for now in
        ["2027-10-30T23:30:00Z", "2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z", "2027-03-28T00:30:00Z"]
    {
        let (at, interval) = (now.parse::<Timestamp>().unwrap(), new(now));
        assert_eq!((interval.open, interval.close.as_second()), (at, at.as_second() + 3600), "{now}");
    }
}

#[test]
fn without_a_zone_only_times_from_now_are_taken() {
    let of = |others: &str| {
        let nights = format!("{{ timeZone: UTC, open: 0 22 * * *, close: 0 4 * * * }}{others}");
        let text = SPEC.replace("timeZone: Europe/Berlin\n", "");
        text.replace("{ open: 0 22 * * *, close: 0 4 * * * }", &nights)
    };
    // The one that all windows name is meant.
    let one = of("");
    insta::assert_snapshot!(told(&one, given(&one, |_| ())));
    insta::assert_snapshot!(told(&one, freeze(&one, |_| ())));
    let several = of("\n  noon: { timeZone: Asia/Tokyo, open: 0 12 * * *, close: 0 13 * * * }");
    insta::assert_snapshot!(told(&several, given(&several, |_| ())));
    insta::assert_snapshot!(told(&several, freeze(&several, |_| ())));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut all = String::new();
    let mut say = |what: &str, result: Result| all += &format!("## {what}\n{}\n", told(SPEC, result));
    say("no such cluster", freeze(SPEC, |new| new.about = cluster("edge-1")));
    say("no such type", freeze(SPEC, |new| new.types = vec!["rv".into()]));
    say("real-time", freeze(SPEC, |new| new.types = vec!["rt".into()]));
    say("no such label", freeze(SPEC, |new| new.about = label("region", "ue")));
    say(
        "label twice",
        freeze(SPEC, |new| {
            new.about.labels = vec![("region".into(), "eu".into()), ("region".into(), "us".into())];
        }),
    );
    say(
        "no cluster with both",
        freeze(SPEC, |new| {
            new.about.labels = vec![("wave".into(), "canary".into()), ("region".into(), "us".into())];
        }),
    );
    say("inverted", freeze(SPEC, |new| new.to = Some("2026-12-17".into())));
    say(
        "over",
        freeze(SPEC, |new| {
            (new.from, new.to) = (Some("2025-12-18".into()), Some("2026-01-07".into()));
        }),
    );
    say("the year is wrong", freeze(SPEC, |new| new.from = Some("2025-12-18".into())));
    say("no date", freeze(SPEC, |new| new.from = Some("some day".into())));
    say("no reason", freeze(SPEC, |new| new.reason = " ".into()));
    say("a bad name", freeze(SPEC, |new| new.name = "Year end".into()));
    say("ends before it begins", given(SPEC, |new| new.end = End::At("2026-11-24T19:00".into())));
    say(
        "an override that is over",
        given(SPEC, |new| {
            (new.from, new.end) = (Some("2026-11-24T18:00".into()), End::At("2026-11-24T19:00".into()));
        }),
    );
    say(
        "behind the table",
        given(SPEC, |new| {
            (new.from, new.end) = (Some("2027-12-31T23:00".into()), End::At("2028-01-01T02:00".into()));
        }),
    );
    say("a bad start", given(SPEC, |new| new.from = Some("2026-13-01T00:00".into())));
    let pair = SPEC.replace("every: 5m, through: 2027-12-31", "enabled: true");
    let none = freeze(&pair, |_| ());
    say("a pair of CronJobs", none);
    say("a pair of CronJobs, no date", freeze(&pair, |new| new.to = Some("2026-13-45".into())));
    say("a pair of CronJobs, over", freeze(&pair, |new| new.to = Some("2026-01-07".into())));
    say("a pair of CronJobs, an override to no date", given(&pair, |new| new.end = End::At("soon".into())));
    let none = given(&pair, |_| ());
    say("a pair of CronJobs, an override", none);
    let (frozen, _) =
        freeze(SPEC, |new| (new.from, new.to) = (None, Some("2026-11-24T21:00".into()))).unwrap();
    say("twice", freeze(&frozen, |_| ()));
    insta::assert_snapshot!(all);
}

#[test]
fn a_freeze_wins_over_an_override_and_that_is_said() {
    let until = |to: &str| freeze(SPEC, |new| (new.from, new.to) = (None, Some(to.into()))).unwrap().0;
    let part = until("2026-11-24T21:00");
    insta::assert_snapshot!(told(&part, given(&part, |_| ())));
    let all = until("2026-11-25");
    insta::assert_snapshot!(told(&all, given(&all, |_| ())));
}

/// Whatever stands around it: what was added and taken away leaves every byte as it was.
#[test]
fn adding_and_removing_leave_every_byte() {
    let with = "freezes: # ours\n  a: { from: 2026-12-01, to: 2026-12-02, reason: one } # keep\n\
        overrides:\n  - { cluster: edge-01, type: rw, from: 2026-12-01T10:00, until: 2026-12-01T11:00, reason: two } # keep\n";
    let flow = "freezes: { a: { from: 2026-12-01, to: 2026-12-02, reason: one } }\n\
        overrides: [{ cluster: edge-01, type: rw, from: 2026-12-01T10:00, until: 2026-12-01T11:00, reason: two }]\n";
    let texts = [
        SPEC.to_owned(),
        SPEC.replace('\n', "\r\n"),
        format!("\u{feff}{SPEC}# the end\n"),
        format!("{SPEC}{with}"),
        format!("{SPEC}{flow}"),
        SPEC.replace("gate:", &format!("{with}gate:")),
        SPEC.replace("clusters:\n", "freezes: {} # none yet\noverrides: [] # none yet\nclusters:\n"),
    ];
    for text in texts {
        let (added, _) = freeze(&text, |new| new.about = label("region", "eu")).unwrap();
        let (removed, _) = remove_freeze(&spec(&added), &added, &["year-end".into()]).unwrap();
        assert_eq!(removed, text);
        let (added, _) = given(&text, |_| ()).unwrap();
        let which = Which { about: cluster("edge-02"), ..Which::default() };
        let (removed, _) = remove_override(&spec(&added), &added, &which).unwrap();
        assert_eq!(removed, text);
    }
}

const SEVERAL: &str = "\
freezes:
  # the last one
  summer: { from: 2026-07-01, to: 2026-07-31, reason: holidays }
  year-end: { from: 2026-12-18, to: 2027-01-07, reason: trading peak }
overrides:
  - { cluster: edge-01, type: rw, from: 2026-11-24T10:00, until: 2026-11-24T11:00, reason: over } # done
  - { cluster: edge-01, type: rw, from: 2026-11-24T20:00, until: 2026-11-24T22:00, reason: runs }
  # of all in the us
  - { labels: { region: us }, type: rw, from: 2026-11-24T19:00, until: 2026-11-24T20:00, reason: over }
";

#[test]
fn what_is_over_is_taken_away_and_no_more() {
    let text = format!("{SPEC}{SEVERAL}");
    let cleaned = clean(&spec(&text), &text, now());
    insta::assert_snapshot!(told(&text, cleaned.clone()));
    let (once, parsed) = cleaned.unwrap();
    assert_eq!(clean(&parsed.spec, &once, now()).unwrap().0, once);
    let (none, _) = clean(&parsed.spec, &once, "2028-01-01T00:00:00Z".parse().unwrap()).unwrap();
    assert!(!none.contains("freezes:") && !none.contains("overrides:"), "{none}");
}

#[test]
fn an_override_that_is_meant_is_found_or_asked_for() {
    let text = format!("{SPEC}{SEVERAL}");
    let which =
        |about: About, from: Option<&str>| Which { about, from: from.map(str::to_owned), change_type: None };
    let mut all = String::new();
    let mut say = |what: &str, which: Which| {
        all += &format!("## {what}\n{}\n", told(&text, remove_override(&spec(&text), &text, &which)));
    };
    say("by label", which(label("region", "us"), None));
    say("which one?", which(cluster("edge-01"), None));
    say("by its beginning", which(cluster("edge-01"), Some("2026-11-24T20:00")));
    say("by its beginning in UTC", which(cluster("edge-01"), Some("2026-11-24T19:00Z")));
    say("none", which(cluster("edge-02"), None));
    say("of another type", Which { change_type: Some("rt".into()), ..which(cluster("edge-01"), None) });
    let none = remove_freeze(&spec(&text), &text, &["yearend".into()]);
    all += &format!("## no such freeze\n{}\n", told(&text, none));
    insta::assert_snapshot!(all);
}

#[test]
fn lists_say_what_is_over() {
    let text = format!("{SPEC}{SEVERAL}");
    let spec = spec(&text);
    let lists = [
        freezes_text(&spec, now()),
        overrides_text(&spec, now()),
        format!("{:#}\n", freezes(&spec, b"", now())),
        format!("{:#}\n", overrides(&spec, b"", now())),
    ];
    insta::assert_snapshot!(lists.join("\n"));
}

#[test]
fn the_table_ends_a_year_ahead_at_least() {
    let through = |text: &str, wish: Option<&str>, now: &str| {
        let now = now.parse().unwrap();
        extend(&spec(text), text, wish, now).map(|(after, parsed)| {
            assert_eq!(extend(&parsed.spec, &after, None, now).unwrap().0, after, "a second time changes it");
            after
        })
    };
    let same = |through: &str| SPEC.replace("2027-12-31", &format!("\"{through}\""));
    assert_eq!(through(SPEC, None, NOW).unwrap(), SPEC);
    for (now, wish, wanted) in [
        ("2026-12-31T12:00:00Z", None, "2027-12-31"),
        ("2026-12-31T23:30:00Z", None, "2028-12-31"),
        ("2027-12-01T00:00:00Z", None, "2028-12-31"),
        ("2031-01-01T00:00:00Z", None, "2032-12-31"),
        (NOW, Some("2028-06-30"), "2028-06-30"),
    ] {
        let wanted = if wanted == "2027-12-31" { SPEC.to_owned() } else { same(wanted) };
        assert_eq!(through(SPEC, wish, now).unwrap(), wanted, "{now}");
    }
    let leap = SPEC.replace("2027-12-31", "2028-02-29");
    assert_eq!(through(&leap, None, "2027-06-01T00:00:00Z").unwrap(), same("2029-02-28"));
    let mut all = String::new();
    for wish in ["2027-12-30", "2028", "2029-01-31", "2199-12-31"] {
        let result = extend(&spec(SPEC), SPEC, Some(wish), now());
        all += &format!("## {wish}\n{}\n", told(SPEC, result));
    }
    let pair = SPEC.replace("every: 5m, through: 2027-12-31", "enabled: true");
    all += &format!("## without a table\n{}", told(&pair, extend(&spec(&pair), &pair, None, now())));
    insta::assert_snapshot!(all);
}

#[test]
fn a_gate_gets_a_table_or_another_period() {
    let looked = |text: &str, every: &str| look(&spec(text), text, every, now()).map(|(after, _)| after);
    assert_eq!(looked(SPEC, "5m").unwrap(), SPEC);
    assert_eq!(looked(SPEC, "10m").unwrap(), SPEC.replace("every: 5m", "every: 10m"));
    let head = SPEC.split_once("gate: ").unwrap().0;
    let pair = |gate: &str| format!("{head}{gate}");
    for gate in ["", "gate: { enabled: true }\n", "gate:\n  namespace: jobs\n"] {
        let before = pair(gate);
        let after = looked(&before, "5m").unwrap();
        let table = spec(&after).gate.table.clone().unwrap();
        assert_eq!((table.every, after.contains("2027-12-31")), (5, true), "{after}");
        assert!(after.starts_with(head), "{after}");
    }
    let operator = pair("gate: { mechanism: flux-operator, provider: { secret: s } }\n");
    assert!(looked(&operator, "5m").is_err());
}

#[test]
fn times_are_taken_as_people_say_them() {
    let freezes = [
        ("tomorrow", "2026-11-28"),
        ("2026-11-28 23:00", "now+1w"),
        ("tonight", "tomorrow 08:00"),
        ("soon", "later"),
    ];
    let freezes = freezes.map(|(from, to)| {
        told(SPEC, freeze(SPEC, |new| (new.from, new.to) = (Some(from.into()), Some(to.into()))))
    });
    let overrides =
        [("now", "now+90m"), ("tonight", "2026-11-25T02:00:00Z"), ("tomorrow", "2026-11-25 12:00")];
    let overrides = overrides.map(|(from, until)| {
        told(SPEC, given(SPEC, |new| (new.from, new.end) = (Some(from.into()), End::At(until.into()))))
    });
    insta::assert_snapshot!([freezes.join("--\n"), overrides.join("--\n")].join("==\n"));
}

/// Whoever freezes may not know who needs the time that an override gives.
#[test]
fn a_freeze_says_what_it_takes_of_overrides() {
    // One until 22:03 from now on, and one of tomorrow evening.
    let (text, _) = given(SPEC, |_| ()).unwrap();
    let (text, _) = given(&text, |new| {
        (new.from, new.end) = (Some("2026-11-25T20:00".into()), End::At("2026-11-25T22:00".into()));
        (new.about, new.reason) = (label("region", "us"), "CHG-7".into());
    })
    .unwrap();
    let warnings = |change: &dyn Fn(&mut NewFreeze)| {
        let (_, parsed) = freeze(&text, change).unwrap();
        parsed.warnings.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("\n")
    };
    let of = |from: &str, to: &str| {
        warnings(&|new| (new.from, new.to) = (Some(from.to_owned()), Some(to.to_owned())))
    };
    let all = [
        warnings(&|new| (new.from, new.to) = (None, None)),
        of("2026-11-25T21:00", "2026-11-26"),
        of("2026-11-25", "2026-11-25T21:00"),
        // One that is over before the override is.
        of("2026-11-24", "2026-11-24T21:00"),
        of("2026-11-25T20:30", "2026-11-25T21:00"),
        of("2026-11-26", "2026-11-27"),
        warnings(&|new| (new.from, new.to, new.about) = (None, None, cluster("edge-01"))),
    ];
    insta::assert_snapshot!(all.join("\n---\n"));
}

/// No step sends people to a command that refuses.
#[test]
fn a_misspelt_cluster_comes_before_the_table_and_the_zone_with_it() {
    let pair = SPEC.replace("every: 5m, through: 2027-12-31", "enabled: true");
    let misspelt = [
        told(&pair, freeze(&pair, |new| new.about = cluster("edge-1"))),
        told(&pair, given(&pair, |new| new.about = cluster("edge-1"))),
    ];
    assert!(misspelt.iter().all(|said| said.contains("there is no cluster `edge-1`")), "{misspelt:?}");
    assert!(!table_steps(&spec(&pair), now()).contains("timeZone"));
    let without = pair.replace("timeZone: Europe/Berlin\n", "");
    let steps = table_steps(&spec(&without), now());
    assert!(
        steps.starts_with("add `timeZone`, such as `Europe/Berlin`, at the top of windows.yaml\n"),
        "{steps}"
    );
    assert!(look(&spec(&without), &without, "5m", now()).is_err());
}
