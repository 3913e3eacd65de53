//! Freezes, overrides and the end of the table, edited as people and services do it.

use serde_json::Value;

use crate::support::scratch::{Scratch, assert_same};
use crate::{answer, sample};

pub const NOW: [&str; 2] = ["--now", "2026-11-24T19:03:20Z"];

/// The sample, handed over, with a table, and a label.
pub fn tabled() -> Scratch {
    let scratch = sample();
    for words in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        scratch.take(words);
    }
    scratch.replace(
        "windows.yaml",
        "gate:\n",
        "gate:\n  every: 5m\n  from: 2026-11-01\n  through: 2027-01-31\n",
    );
    scratch.replace("windows.yaml", "  edge-01:\n", "  edge-01:\n    labels: { region: eu }\n");
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    scratch
}

/// Runs a command that writes, and holds a second `sync` to finding nothing.
#[track_caller]
fn write(scratch: &Scratch, arguments: &[&str]) -> (String, String) {
    let run = scratch.expect(0, &[arguments, &["--yes"], &NOW].concat());
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "", "something was not brought along");
    (run.stdout, run.stderr)
}

fn paths(answer: &Value) -> Vec<&str> {
    answer["changes"].as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap()).collect()
}

#[test]
fn a_freeze_brings_the_tables_of_its_clusters_along() {
    let scratch = tabled();
    let start = scratch.tree();
    let add = ["freeze", "add", "year-end", "--from", "2026-12-18", "--to", "2027-01-07"];
    let about = ["--reason", "trading peak", "--label", "region=eu"];
    let add = [&add[..], &about].concat();
    let shown = scratch.expect(1, &[&add[..], &NOW].concat());
    insta::assert_snapshot!(format!("{}\n{}", shown.stdout, shown.stderr));
    assert_same(&start, &scratch.tree(), "something was written");
    let (told, _) = write(&scratch, &[&add[..], &["--format", "json"]].concat());
    let told = answer(&told);
    assert_eq!((&told["kind"], &told["written"]), (&"WindowChange".into(), &true.into()));
    assert!(paths(&told).iter().all(|path| path.contains("edge-01") || *path == "windows.yaml"), "{told:#}");
    let listed =
        answer(&scratch.expect(0, &[&["freeze", "list", "--format", "json"], &NOW[..]].concat()).stdout);
    assert_eq!(listed["freezes"][0]["clusters"], serde_json::json!(["edge-01"]));
    let opens = |cluster: &str| {
        let folder = format!("clusters/{cluster}/infra/reconciliation-windows");
        let patch = scratch.text(&format!("{folder}/open-reconciliation-window-patch.yaml"));
        patch.contains("# Sat 2026-12-19 22:00:00 +01:00 to Sun")
    };
    assert_eq!((opens("edge-01"), opens("edge-02")), (false, true));
    write(&scratch, &["freeze", "remove", "year-end"]);
    assert_same(&start, &scratch.tree(), "adding and removing left a difference");
    assert!(opens("edge-01"));
}

#[test]
fn an_override_opens_one_cluster_and_undo_takes_it_back() {
    let scratch = tabled();
    let start = scratch.tree();
    let add = ["override", "add", "--cluster", "edge-02", "--for", "2h", "--reason", "INC-1"];
    let (diff, said) = write(&scratch, &add);
    insta::assert_snapshot!(format!("{diff}\n{said}"));
    let list = ["override", "list"];
    let answers = [scratch.expect(0, &[&list[..], &NOW].concat()).stdout, scratch.expect(0, &list).stdout];
    insta::assert_snapshot!(answers[0]);
    answer(&scratch.expect(0, &["override", "list", "--format", "json"]).stdout);
    scratch.expect(0, &["undo", "--yes"]);
    assert_same(&start, &scratch.tree(), "undo left a difference");
}

#[test]
fn a_stop_is_one_command_and_so_is_its_end() {
    let scratch = tabled();
    let start = scratch.tree();
    let (diff, said) = write(&scratch, &["stop", "--reason", "INC-2"]);
    insta::assert_snapshot!(format!("{diff}\n{said}"));
    let list = scratch.expect(0, &[&["freeze", "list"], &NOW[..]].concat()).stdout;
    assert!(list.contains("until it is removed") && !list.contains("2200"), "{list}");
    let add = ["override", "add", "--cluster", "edge-02", "--for", "2h", "--reason", "INC-1", "--yes"];
    let refused = scratch.expect(2, &[&add[..], &NOW].concat());
    assert!(refused.stderr.contains("freeze `stop` (INC-2) takes all of the override"), "{}", refused.stderr);
    write(&scratch, &["stop", "--type", "rw", "--until", "2026-11-30"]);
    assert!(scratch.text("windows.yaml").contains("  stop-2:\n"));
    write(&scratch, &["freeze", "remove", "stop", "stop-2"]);
    assert_same(&start, &scratch.tree(), "stopping and going on left a difference");
}

#[test]
fn sync_extends_the_table_and_cleans_only_when_asked() {
    let scratch = tabled();
    write(&scratch, &["stop", "--until", "2026-11-24T21:00"]);
    write(
        &scratch,
        &["override", "add", "--cluster", "edge-01", "--until", "2026-11-24T22:30", "--reason", "INC-1"],
    );
    let before = scratch.text("windows.yaml");
    let later = ["--now", "2026-12-10T00:00:00Z"];
    let codes = || {
        let found = scratch.run(&[&["check", "--format", "json"], &later[..]].concat()).stdout;
        let found: Value = serde_json::from_str(&found).unwrap();
        let findings = found["findings"].as_array().unwrap().clone();
        findings.iter().map(|one| one["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(codes(), ["GW118", "GW119", "GW119"]);
    // Without being asked, a time changes nothing.
    assert_eq!(scratch.expect(0, &[&["sync"], &later[..]].concat()).stdout, "");
    let sync = |arguments: &[&str]| {
        scratch.expect(0, &[&["sync", "--yes", "--quiet"], arguments, &later].concat());
        scratch.commit();
    };
    sync(&["--extend", "--clean"]);
    let after = before[..before.find("freezes:").unwrap()].replace("2027-01-31", "\"2028-01-31\"");
    assert_eq!(scratch.text("windows.yaml"), after);
    assert_eq!(codes(), Vec::<String>::new());
    let tree = scratch.tree();
    sync(&["--clean", "--extend"]);
    sync(&[]);
    assert_same(&tree, &scratch.tree(), "a second time changes something");
    scratch.expect(1, &["diff", "--extend", "2028-06-30"]);
}

#[test]
fn bad_command_lines_end_with_2_and_nothing_written() {
    let scratch = tabled();
    let start = scratch.tree();
    let revision = "0".repeat(64);
    let mut all = String::new();
    for (code, line) in [
        (2, "freeze add x --from 2026-12-18 --to 2026-12-19 --reason r --cluster edge-1"),
        (2, "freeze add x --from 2026-12-18 --to 2026-12-19 --reason r --label region"),
        (2, "freeze add x --from 2026-12-18 --to 2026-12-19 --reason r --time-zone Europe/Berln"),
        (2, "freeze add x --from 2026-12-18 --to 2026-12-19 --reason r --cluster edge-01 --label region=eu"),
        (2, "freeze add x --from 2026-12-18 --to 2026-12-19"),
        (2, "freeze remove x"),
        (2, "override add --type rw --for 2h --reason r"),
        (2, "override add --cluster edge-01 --type rw --reason r"),
        (2, "override add --cluster edge-01 --type rw --for 2h --until 2026-11-25T00:00 --reason r"),
        (2, "override add --cluster edge-01 --type rt --for 2h --reason r"),
        (2, "override add --cluster edge-01 --for 2x --reason r"),
        (3, "override add --cluster edge-01 --until 2026-11-25T00:02 --reason r"),
        (2, "override remove --cluster edge-01"),
        (2, "stop --until 2026-11-23"),
        (4, &format!("stop --if-revision {revision}")),
        (2, "sync --extend 2027"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let run = scratch.run(&[&words[..], &["--yes"], &NOW].concat());
        all += &format!("$ {line}\n{}{}\n", run.stdout, run.stderr);
        assert_eq!(run.code, code, "{all}");
    }
    insta::assert_snapshot!(all);
    assert_same(&start, &scratch.tree(), "something was written");
    let pair = sample();
    let run = pair.expect(2, &[&["stop"], &NOW[..]].concat());
    insta::assert_snapshot!(run.stderr);
}

/// Days off, as a calendar program exports them.
const HOLIDAYS: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n\
    BEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261227\r\nSUMMARY:Weihnachten\r\nEND:VEVENT\r\n\
    BEGIN:VEVENT\r\nUID:2\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:20270101\r\nSUMMARY:Neujahr\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

/// A calendar of the repository freezes, event by event, and is read again as often as a command looks.
#[test]
fn a_calendar_file_freezes() {
    let scratch = tabled();
    let spec = scratch.text("windows.yaml");
    scratch.write(
        "windows.yaml",
        format!("{spec}freezes:\n  holidays: {{ calendar: calendars/de.ics, types: [rw] }}\n"),
    );
    let mut told = format!("## missing\n{}", scratch.expect(3, &["sync"]).stderr);
    scratch.write(
        "calendars/de.ics",
        HOLIDAYS.replace("SUMMARY:Neujahr", "RRULE:FREQ=YEARLY\r\nSUMMARY:Neujahr"),
    );
    told += &format!("## repeats\n{}", scratch.expect(3, &["sync"]).stderr);
    scratch.write("calendars/de.ics", HOLIDAYS);
    scratch.commit();
    write(&scratch, &["sync"]);
    let patch =
        scratch.text("clusters/edge-01/infra/reconciliation-windows/open-reconciliation-window-patch.yaml");
    let lines = patch.lines().filter(|line| line.contains("frozen"));
    told += &format!("## table\n{}\n", lines.collect::<Vec<_>>().join("\n"));
    told += &format!("## list\n{}", scratch.expect(0, &[&["freeze", "list"][..], &NOW].concat()).stdout);
    let listed =
        answer(&scratch.expect(0, &[&["freeze", "list", "--format", "json"][..], &NOW].concat()).stdout);
    told += &format!("{:#}\n", listed["freezes"][1]);
    let when = ["when", "--cluster", "edge-01", "--now", "2026-12-25T12:00:00Z"];
    told += &format!("## when\n{}", scratch.expect(0, &when).stdout);
    // An edit of the spec knows the calendar too, and what is over stays until somebody replaces it.
    let mut after = NOW;
    after[1] = "2027-01-10T00:00:00Z";
    let check = scratch.run(&[&["check", "--format", "json"][..], &after].concat()).stdout;
    let check: Value = serde_json::from_str(&check).unwrap();
    let ended = check["findings"].as_array().unwrap().iter().filter(|one| one["code"] == "GW119");
    told += &ended.map(|one| format!("## over\n{}\n", one["message"])).collect::<String>();
    scratch.expect(0, &[&["sync", "--clean", "--yes"][..], &after].concat());
    assert!(scratch.text("windows.yaml").contains("calendars/de.ics"));
    let add = ["freeze", "add", "peak", "--from", "tomorrow", "--to", "2026-11-30", "--reason", "peak"];
    write(&scratch, &add);
    // Another text of the calendar is another table.
    scratch.write("calendars/de.ics", HOLIDAYS.replace("20261227", "20261228"));
    scratch.commit();
    let changed = scratch.expect(1, &["sync"]).stdout;
    assert!(changed.contains("Mon 2026-12-28 00:00:00 +01:00: holidays: Weihnachten"), "{changed}");
    write(&scratch, &["sync"]);
    write(&scratch, &["freeze", "remove", "holidays"]);
    assert!(!scratch.text("windows.yaml").contains("calendar"));
    insta::assert_snapshot!(told);
}

/// What nothing holds back yet is not told to be closed: `when` says "at once".
#[test]
fn a_calendar_knows_where_nothing_waits() {
    let scratch = sample();
    let when = scratch.expect(0, &[&["when"], &NOW[..]].concat()).stdout;
    assert!(when.contains("at once") && !when.contains("closed"), "{when}");
    let told =
        |format: &str| scratch.expect(0, &[&["calendar", "--format", format], &NOW[..]].concat()).stdout;
    assert!(told("text").contains("rw (at once: nothing waits yet)"), "{}", told("text"));
    assert!(told("html").contains("at once: nothing waits yet") && !told("html").contains("closed now"));
    assert!(told("ics").contains("rw open (nothing waits yet)"), "{}", told("ics"));
    let json: Value = serde_json::from_str(&told("json")).unwrap();
    assert!(json["rows"].as_array().unwrap().iter().all(|row| row["enabled"] == false), "{json}");
}

/// Every instant says its zone, and one command as the other.
#[test]
fn instants_say_their_zone() {
    let scratch = tabled();
    scratch
        .replace(
            "windows.yaml",
            "timeZone: Europe/Berlin\nwindows:\n  saturday:\n",
            "windows:\n  saturday:\n    timeZone: Europe/Berlin\n",
        )
        .commit();
    let past =
        ["freeze", "add", "past", "--from", "2026-11-04", "--to", "2026-11-05", "--reason", "x", "--yes"];
    let refused = scratch.expect(2, &[&past[..], &NOW].concat()).stderr;
    assert!(refused.contains("would end on Fri 2026-11-06 00:00 Europe/Berlin"), "{refused}");
    let past = [&past[..], &["--now", "2026-11-01T00:00:00Z"]].concat();
    scratch.expect(0, &past);
    scratch.commit();
    let told = scratch.run(&[&["check", "--fail-on", "never"], &NOW[..]].concat()).stdout;
    assert!(told.contains("ended on Fri 2026-11-06 00:00 Europe/Berlin"), "{told}");
}

/// Words that a gate's `every` may have meant are lengths that are near.
#[test]
fn a_tick_is_told_the_next_ones() {
    let scratch = tabled();
    for (every, near) in [("7m", "did you mean `6m` or `10m`?"), ("1h", "did you mean `30m`?")] {
        let text = scratch.text("windows.yaml").replace("  every: 5m", &format!("  every: {every}"));
        scratch.write("windows.yaml", text);
        let told = scratch.run(&["sync"]).stderr;
        assert!(told.contains(near), "{told}");
        scratch.git(&["checkout", "--quiet", "windows.yaml"]);
    }
}
