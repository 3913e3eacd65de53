//! The interface for services: `windows`, run as a service runs it.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, in a folder of its own")]

mod exceptions;
mod stop;
#[path = "../support/mod.rs"]
mod support;

use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use gitops_windows::spec::windows::revision;
use serde_json::Value;
use support::scratch::{Scratch, Tree, WINDOW, assert_same, clean, closed};

/// The sample with its gates.
fn sample() -> Scratch {
    static MADE: OnceLock<Tree> = OnceLock::new();
    let make = || {
        let scratch = Scratch::fixture("sample");
        scratch.take(&[&["init", "--yes"], &WINDOW[..]].concat());
        scratch.kept()
    };
    Scratch::again(MADE.get_or_init(make))
}

fn answer(text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let schema = closed(gitops_windows::spec::windows::schema());
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
    value
}

/// Sets something, and holds a second `sync` to finding nothing.
#[track_caller]
fn set(scratch: &Scratch, arguments: &[&str]) -> Value {
    let run = scratch.expect(0, &[&["windows"], arguments, &["--yes"]].concat());
    scratch.commit();
    assert_eq!(scratch.expect(0, &["diff"]).stdout, "", "something was not brought along");
    answer(&run.stdout)
}

fn paths(change: &Value) -> Vec<&str> {
    change["changes"].as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap()).collect()
}

#[test]
fn the_schema_is_printed_and_is_one() {
    let scratch = Scratch::empty();
    let printed: Value = serde_json::from_str(&scratch.expect(0, &["windows", "schema"]).stdout).unwrap();
    assert!(jsonschema::meta::is_valid(&printed));
    assert_eq!(printed, gitops_windows::spec::windows::schema());
}

#[test]
fn a_service_reads_what_there_is() {
    let scratch = sample();
    let list = answer(&scratch.expect(0, &["windows", "list"]).stdout);
    assert_eq!(list, answer(&scratch.expect(0, &["windows", "list", "--format", "json"]).stdout));
    assert_eq!(list["version"], 1);
    assert_eq!(list["revision"], revision(scratch.text("windows.yaml").as_bytes()).as_str());
    assert_eq!(list["windows"][0]["open"], "0 22 * * SAT");
    assert_eq!(list["windows"][0]["usedBy"][0]["type"], "rw");
    assert_eq!(list["clusters"][1]["types"][0]["own"], false);
    let one = answer(&scratch.expect(0, &["windows", "get", "saturday"]).stdout);
    assert_eq!(one["window"], list["windows"][0]);
    let cluster = answer(&scratch.expect(0, &["windows", "get", "--cluster", "edge-02"]).stdout);
    assert_eq!(cluster["cluster"], list["clusters"][1]);
    scratch.expect(2, &["windows", "get", "work"]);
    scratch.expect(2, &["windows", "get", "--cluster", "edge-3"]);
    scratch.expect(2, &["windows", "get"]);
}

#[test]
fn an_edit_brings_the_generated_files_along() {
    let scratch = sample();
    let before = scratch.text("windows.yaml");
    let change = set(&scratch, &["set", "saturday", "--open", "30 21 * * SAT"]);
    assert_eq!(change["written"], true);
    assert_eq!(change["before"], revision(before.as_bytes()).as_str());
    let after = before.replace("open: 0 22 * * SAT", "open: \"30 21 * * SAT\"");
    assert_ne!(after, before);
    assert_eq!(scratch.text("windows.yaml"), after);
    assert_eq!(change["revision"], revision(after.as_bytes()).as_str());
    // A closing may be late until the next opening, so its patch names that too.
    let patches = ["edge-01", "edge-02"].iter().flat_map(|cluster| {
        ["close", "open"].map(|action| {
            format!(
                "clusters/{cluster}/infra/reconciliation-windows/{action}-reconciliation-window-patch.yaml"
            )
        })
    });
    let expected: Vec<String> = patches.chain(["windows.yaml".to_owned()]).collect();
    assert_eq!(paths(&change), expected);
}

#[test]
fn a_cluster_gets_a_window_of_its_own_and_loses_it() {
    let scratch = sample();
    let start = scratch.tree();
    let own = ["set", "--cluster", "edge-02", "--time-zone", "America/New_York", "--open", "0 20 * * TUE"];
    let change = set(&scratch, &[&own[..], &["--for", "6h"]].concat());
    assert!(paths(&change).iter().all(|path| !path.contains("edge-01")), "{change}");
    let patch = "clusters/edge-02/infra/reconciliation-windows/close-reconciliation-window-patch.yaml";
    assert!(scratch.text(patch).contains("schedule: \"0 2 * * WED\""), "{}", scratch.text(patch));
    let cluster = answer(&scratch.expect(0, &["windows", "get", "--cluster", "edge-02"]).stdout);
    assert_eq!(cluster["cluster"]["types"][0]["own"], true);
    assert_eq!(cluster["cluster"]["types"][0]["windows"][0]["for"], "6h");
    set(&scratch, &["remove", "--cluster", "edge-02"]);
    assert_same(&start, &scratch.tree(), "setting and removing left a difference");
}

#[test]
fn windows_are_added_used_and_taken_away() {
    let scratch = sample();
    let start = scratch.tree();
    set(&scratch, &["set", "sunday", "--time-zone", "UTC", "--from", "Sun 10:00", "--to", "Sun 12:00"]);
    let change = set(&scratch, &["set", "--type", "rw", "--use", "saturday", "--use", "sunday"]);
    assert!(
        paths(&change).contains(&"infra/reconciliation-windows/open-reconciliation-window-2-job.yaml"),
        "{change}"
    );
    let refused = scratch.expect(2, &["windows", "remove", "sunday", "--yes"]);
    assert!(refused.stderr.contains("window `sunday` is used by type rw"), "{}", refused.stderr);
    set(&scratch, &["set", "--type", "rw", "--use", "saturday"]);
    set(&scratch, &["remove", "sunday"]);
    assert_same(&start, &scratch.tree(), "adding and removing left a difference");
}

#[test]
fn nothing_is_written_unasked() {
    let scratch = sample();
    let before = scratch.tree();
    let edit = ["windows", "set", "saturday", "--open", "0 21 * * SAT"];
    for dry in [&[][..], &["--dry-run"]] {
        let run = scratch.expect(1, &[&edit[..], dry].concat());
        assert_eq!(answer(&run.stdout)["written"], false);
    }
    let diff = scratch.expect(1, &[&edit[..], &["--format", "unified"]].concat()).stdout;
    assert!(diff.contains("-    open: 0 22 * * SAT\n+    open: \"0 21 * * SAT\""), "{diff}");
    let same = scratch.expect(0, &["windows", "set", "saturday", "--open", "0 22 * * SAT", "--yes"]);
    assert_eq!(answer(&same.stdout)["changes"].as_array().unwrap().len(), 0);
    assert_same(&before, &scratch.tree(), "something was written");
}

#[test]
fn bad_edits_end_with_a_place_and_nothing_written() {
    let scratch = sample();
    let before = scratch.tree();
    for (arguments, words) in [
        (&["set", "saturday", "--open", "0 25 * * *"][..], &["windows.yaml:14:", "help: "][..]),
        (
            &["set", "late", "--open", "0 1 * * *"],
            &["window `late` has `--open`", "add `--close`, or `--for`"],
        ),
        (&["set", "--cluster", "edge-01", "--type", "rt", "--use", "saturday"], &["real-time"]),
        (&["set", "--cluster", "edge-01"], &["nothing is to be set"]),
        (&["set", "--type", "rw", "--open", "0 1 * * *"], &["named windows only"]),
        (&["set", "saturday"], &["--open"]),
        (&["set"], &["NAME"]),
        (&["set", "saturday", "--cluster", "edge-01", "--for", "1h"], &["--cluster"]),
        (&["remove"], &["NAME"]),
    ] {
        let run = scratch.expect(2, &[&["windows"], arguments, &["--yes"]].concat());
        assert_eq!(run.stdout, "", "{arguments:?}");
        for word in words {
            assert!(run.stderr.contains(word), "{word:?} is not in:\n{}", run.stderr);
        }
    }
    assert_same(&before, &scratch.tree(), "something was written");
}

#[test]
fn an_edit_of_what_was_read_before_never_undoes_anothers() {
    let scratch = sample();
    let seen = answer(&scratch.expect(0, &["windows", "list"]).stdout);
    let seen = seen["revision"].as_str().unwrap();
    let guarded = |hour: &str| {
        let cron = format!("0 {hour} * * SAT");
        scratch.run(&["windows", "set", "saturday", "--open", &cron, "--if-revision", seen, "--yes"])
    };
    assert_eq!(guarded("21").code, 0);
    scratch.commit();
    let second = guarded("20");
    assert_eq!(second.code, 4, "{}", second.stderr);
    assert!(second.stderr.contains("this edit would undo that change"), "{}", second.stderr);
    assert!(scratch.text("windows.yaml").contains("open: \"0 21 * * SAT\""));
}

#[test]
fn a_dirty_tree_is_a_conflict() {
    let scratch = sample();
    scratch.write("windows.yaml", scratch.text("windows.yaml") + "# a note\n");
    let edit = ["windows", "set", "saturday", "--open", "0 21 * * SAT", "--yes"];
    scratch.expect(4, &edit);
    scratch.expect(0, &[&edit[..], &["--allow-dirty"]].concat());
    assert!(scratch.text("windows.yaml").ends_with("# a note\n"));
}

/// Writers at once: each that says it wrote did, each that did not says conflict.
#[test]
fn writers_at_once_lose_no_edit() {
    let scratch = sample();
    let start = |number: usize| -> Child {
        let (name, minute) = (format!("w{number}"), format!("{number} 1 * * *"));
        let mut command = clean(Command::new(env!("CARGO_BIN_EXE_gitops-windows")), scratch.top());
        command.args(["windows", "set", &name, "--time-zone", "UTC", "--open", &minute, "--for", "1h"]);
        command.args(["--yes", "--allow-dirty"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let mut left: Vec<usize> = (1..=4).collect();
    let mut rounds = 0;
    while !left.is_empty() {
        rounds += 1;
        assert!(rounds <= 4, "nobody gets on");
        let writers: Vec<(usize, Child)> = left.iter().map(|number| (*number, start(*number))).collect();
        let mut lost = Vec::new();
        for (number, child) in writers {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            match output.status.code() {
                Some(0) => assert_eq!(answer(&String::from_utf8_lossy(&output.stdout))["written"], true),
                Some(4) => lost.push(number),
                code => panic!("{code:?}: {said}"),
            }
        }
        assert!(lost.len() < left.len(), "of writers at once one gets on");
        let text = scratch.text("windows.yaml");
        for number in &left {
            let there = text.contains(&format!("  w{number}:\n"));
            assert_eq!(there, !lost.contains(number), "w{number}\n{text}");
        }
        left = lost;
    }
    scratch.commit();
    assert_eq!(scratch.expect(0, &["diff"]).stdout, "");
}

#[test]
fn a_revision_is_a_digest_in_any_case() {
    let scratch = sample();
    let listed = answer(&scratch.expect(0, &["windows", "list"]).stdout);
    let revision = listed["revision"].as_str().unwrap().to_uppercase();
    for (revision, code) in [("", 2), ("abc", 2), (revision.as_str(), 0)] {
        let set =
            ["windows", "set", "saturday", "--open", "0 21 * * SAT", "--if-revision", revision, "--yes"];
        scratch.expect(code, &set);
    }
}
