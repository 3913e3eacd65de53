//! Invariants of the whole program, by the real binary. Those of one stage are tested beside it.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail, and reads files of its own"
)]

mod support;

use std::collections::BTreeSet;
use std::process::Command;

use support::scratch::{Scratch, WINDOW, clean};

/// The sample with its windows.
fn sample() -> Scratch {
    let scratch = Scratch::fixture("sample");
    scratch.expect(0, &[&["init", "--yes"], &WINDOW[..]].concat());
    scratch.commit();
    scratch
}

#[test]
fn invariant_1_the_plan_is_the_same_in_any_locale_zone_and_place() {
    let (one, other) = (sample(), sample());
    let plan = |scratch: &Scratch, locale: &str, zone: &str| {
        let program = Command::new(env!("CARGO_BIN_EXE_gitops-windows"));
        let mut command = clean(program, scratch.top());
        command.env("LC_ALL", locale).env("TZ", zone).args(["split", "--all", "--format", "json"]);
        command.output().unwrap().stdout
    };
    let first = plan(&one, "C", "UTC");
    assert!(!first.is_empty());
    assert_eq!(first, plan(&one, "tr_TR.UTF-8", "Pacific/Apia"));
    assert_eq!(first, plan(&other, "de_DE.UTF-8", "America/New_York"));
}

#[test]
fn invariant_2_a_second_run_is_empty_and_join_gives_back_every_byte() {
    let scratch = sample();
    let before = scratch.tree();
    scratch.take(&["split", "--all", "--yes"]);
    let split = scratch.tree();
    assert_ne!(before, split);
    for command in [&["split", "--all", "--yes"][..], &["sync", "--yes"], &["sync"]] {
        scratch.expect(0, command);
        assert_eq!(scratch.tree(), split, "{command:?}");
    }
    scratch.take(&["join", "--all", "--yes"]);
    scratch.expect(0, &["sync", "--yes"]);
    assert_eq!(scratch.tree(), before);
}

#[test]
fn invariant_4_bytes_outside_of_an_edit_stay() {
    let scratch = sample();
    let file = "clusters/edge-01/flux/apps.yaml";
    let odd = format!("\u{feff}# first\n{}# last, without an end of line", scratch.text(file))
        .replace('\n', "\r\n");
    scratch.write(file, &odd);
    scratch.commit();
    scratch.expect(0, &["split", "app", "web", "--yes"]);
    let after = scratch.text(file);
    let kept = |line: &&str| !line.contains("gitops-windows: was");
    let before: Vec<&str> = odd.split_inclusive('\n').filter(|line| !line.contains("prune:")).collect();
    let after: Vec<&str> = after.split_inclusive('\n').filter(kept).collect();
    assert_eq!(before, after);
}

/// Runs the binary and returns the names of the programs that were started, where strace can tell.
fn started(scratch: &Scratch, arguments: &[&str]) -> BTreeSet<String> {
    let traced = scratch.outside().join("started");
    let mut command = clean(Command::new("strace"), scratch.top());
    command.args(["-f", "-qq", "-e", "trace=execve", "-o"]).arg(&traced);
    let output = command.arg(env!("CARGO_BIN_EXE_gitops-windows")).args(arguments).output();
    let Ok(output) = output else {
        scratch.run(arguments);
        return BTreeSet::new();
    };
    assert!(matches!(output.status.code(), Some(0..=5)), "{arguments:?}: {output:?}");
    let text = std::fs::read_to_string(traced).unwrap();
    let calls = text.lines().filter(|line| line.ends_with(" = 0"));
    let names = calls.filter_map(|line| line.split('"').nth(1)?.rsplit('/').next());
    names.map(str::to_owned).collect()
}

#[test]
fn invariant_7_no_program_but_git_is_started_and_git_starts_none() {
    let scratch = sample();
    let marker = scratch.make_hostile();
    scratch.commit_hostile();
    let ours = BTreeSet::from(["git".to_owned(), "gitops-windows".to_owned()]);
    for arguments in [
        &["check"][..],
        &["check", "--base", "HEAD~1"],
        &["clusters"],
        &["when"],
        &["explain", "apps"],
        &["diff"],
        &["pr", "--base", "HEAD~1"],
        &["split", "app", "web", "--yes"],
        &["verify"],
        &["undo", "--yes"],
        &["sync", "--yes"],
        &["split", "--all", "--dry-run"],
        &["split", "--all", "--yes"],
        &["join", "--all", "--yes", "--allow-dirty"],
        &["undo", "--yes"],
        &["migrate", "--dry-run"],
        &["migrate", "--yes", "--allow-dirty"],
        &["windows", "set", "saturday", "--open", "0 21 * * SAT", "--yes", "--allow-dirty"],
        &["undo", "--yes"],
        &["freeze", "list"],
        &["init", "--dry-run", "--open", "0 22 * * SAT", "--close", "0 4 * * SUN", "--time-zone", "UTC"],
        &["fetch-bases", "--dry-run"],
        &["-C", "bare", "check"],
        &["-C", "bare", "split", "--all", "--yes"],
        &["-C", "elsewhere", "check"],
        &["-C", "elsewhere", "split", "--all", "--yes"],
    ] {
        // Written anew, a file may differ from what git has, so git has to look.
        for path in ["apps/web/deployment.yaml", "clusters/edge-01/flux/apps.yaml"] {
            if scratch.top().join(path).exists() {
                scratch.write(path, scratch.text(path));
            }
        }
        let started = started(&scratch, arguments);
        assert!(started.is_subset(&ours), "{arguments:?} started {started:?}");
        assert!(!marker.exists(), "{arguments:?} let git run what the repository names");
    }
}

#[test]
fn invariant_8_a_schedule_fires_when_kubernetes_fires_it() {
    // The whole of it is judged by robfig/cron itself in tests/robfig.rs; this is the sentence that
    // most tools get wrong: with both day fields restricted, either suffices.
    let scratch = Scratch::empty();
    let run =
        scratch.expect(0, &["cron", "0 22 1-7 * MON", "--from", "2026-06-01T23:00:00Z", "--count", "7"]);
    let days: Vec<&str> = run.stdout.lines().map(|line| &line[..10]).collect();
    let expected =
        ["2026-06-02", "2026-06-03", "2026-06-04", "2026-06-05", "2026-06-06", "2026-06-07", "2026-06-08"];
    assert_eq!(days, expected);
}

#[test]
fn apps_are_split_one_after_the_other() {
    let scratch = sample();
    for (app, code) in [("web", 0), ("probe", 0), ("probe", 0)] {
        scratch.expect(code, &["split", "app", app, "--yes"]);
        scratch.commit();
    }
    let run = scratch.expect(0, &["split", "--all", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    for entry in value["entryPoints"].as_array().unwrap().iter().filter(|entry| entry["after"][0].is_object())
    {
        assert_eq!(entry["remaining"], serde_json::json!([]));
        assert_eq!(entry["after"].as_array().unwrap().len(), 2, "{entry}");
    }
    scratch.expect(0, &["verify"]);
}
