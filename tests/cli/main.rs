//! Bad input, given to the real binary: a message with place and remedy, the right exit code, and
//! nothing written.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, in a folder of its own")]

mod build;
mod init;
mod kustomization;
mod option;
mod spec;
#[path = "../support/mod.rs"]
mod support;

use std::process::Command;

use support::scratch::{Run, SPEC, Scratch, assert_same, clean};

/// The sample with a spec.
fn sample() -> Scratch {
    let scratch = Scratch::fixture("sample").with_binary();
    scratch.write("windows.yaml", SPEC).commit();
    scratch
}

/// Runs a command that must end with a code, say all of these words and write nothing, whether it
/// may write or not.
#[track_caller]
fn refused(scratch: &Scratch, code: i32, arguments: &[&str], words: &[&str]) -> Run {
    scratch.commit();
    let before = scratch.tree();
    let outside = outside(scratch);
    for yes in [&[][..], &["--dry-run"], &["--yes"]] {
        let run = scratch.expect(code, &[arguments, yes].concat());
        for word in words {
            assert!(run.stderr.contains(word), "{word:?} is not in:\n{}", run.stderr);
        }
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        assert_same(&before, &scratch.tree(), "something was written");
        assert_eq!(outside, self::outside(scratch), "something was written outside");
    }
    scratch.run(arguments)
}

fn outside(scratch: &Scratch) -> Vec<std::path::PathBuf> {
    let mut names: Vec<_> =
        std::fs::read_dir(scratch.outside()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
}

const SPLIT: [&str; 3] = ["split", "app", "web"];

#[test]
fn an_unknown_app_names_the_nearest() {
    let scratch = sample();
    refused(&scratch, 2, &["split", "app", "wbe"], &["wbe", "did you mean `web`?", "help: "]);
    refused(&scratch, 2, &["split", "app", "web", "no-such"], &["no-such"]);
    refused(&scratch, 2, &["split", "app", "../web"], &["../web"]);
    refused(&scratch, 2, &["split", "app", ""], &["error: "]);
    // A folder is no name: what stands in it has one.
    refused(&scratch, 2, &["split", "app", "apps/web/"], &["did you mean `web`?"]);
}

#[test]
fn nothing_named() {
    let scratch = sample();
    refused(&scratch, 2, &["split"], &["split app NAME", "--all"]);
    refused(&scratch, 2, &["split", "app"], &["NAME"]);
    refused(&scratch, 2, &["spilt"], &["split"]);
}

#[test]
fn an_app_that_is_split_already() {
    let scratch = sample();
    scratch.expect(0, &[&SPLIT[..], &["--yes"]].concat());
    let run = refused(&scratch, 0, &SPLIT, &["split already", "Nothing to change."]);
    assert_eq!(run.stdout, "");
}

#[test]
fn a_dirty_tree_is_refused_and_may_be_allowed() {
    let scratch = sample();
    scratch.write("notes.txt", "mine\n");
    let before = scratch.tree();
    let run = scratch.expect(4, &[&SPLIT[..], &["--yes"]].concat());
    assert!(run.stderr.contains("notes.txt") && run.stderr.contains("--allow-dirty"), "{}", run.stderr);
    assert_same(&before, &scratch.tree(), "something was written");
    scratch.expect(1, &SPLIT);
    scratch.expect(0, &[&SPLIT[..], &["--yes", "--allow-dirty"]].concat());
    assert_eq!(scratch.text("notes.txt"), "mine\n");
}

#[test]
fn without_a_terminal_nothing_is_written() {
    let scratch = sample();
    let before = scratch.tree();
    for arguments in [&SPLIT[..], &["split", "app", "web", "--dry-run"], &["sync"], &["diff"]] {
        let run = scratch.expect(1, arguments);
        assert!(run.stdout.starts_with("diff --git "), "{}", run.stdout);
        assert_same(&before, &scratch.tree(), "something was written");
    }
}

#[test]
fn a_folder_that_is_not_there_or_in_no_repository() {
    let scratch = sample();
    refused(&scratch, 3, &["-C", "no-such", "split", "--all"], &["no-such", "help: "]);
    let run = scratch.run_in(scratch.outside(), &["split", "--all"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("help: "), "{}", run.stderr);
}

#[test]
fn a_generated_file_that_was_edited_by_hand() {
    let scratch = sample();
    scratch.expect(0, &[&SPLIT[..], &["--yes"]].concat());
    let file = "clusters/edge-01/apps/apps-rt/web/kustomization.yaml";
    scratch.replace(file, "ConfigMap|Namespace", "ConfigMap|Namespace|Service");
    refused(&scratch, 4, &["sync"], &[file, "edited by hand", "help: "]);
}

#[test]
fn undo_refuses_what_was_edited_since() {
    let scratch = sample();
    scratch.expect(0, &[&SPLIT[..], &["--yes"]].concat());
    scratch.replace("apps/web/web-rt/configmap.yaml", "on time", "late");
    let before = scratch.tree();
    let run = scratch.expect(4, &["undo", "--yes"]);
    assert!(run.stderr.contains("apps/web/web-rt/configmap.yaml"), "{}", run.stderr);
    assert_same(&before, &scratch.tree(), "something was taken back");
}

#[test]
fn control_characters_never_reach_a_terminal() {
    let scratch = sample();
    scratch.replace("windows.yaml", "nights }", "\"ni\\e[31mghts\\a\" }");
    let run = refused(&scratch, 3, &SPLIT, &["windows.yaml:4:"]);
    assert!(!run.stderr.contains(['\u{1b}', '\u{7}']), "{:?}", run.stderr);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let scratch = sample();
    let script = format!("'{}' split --all 2>/dev/null | head -n 1", env!("CARGO_BIN_EXE_gitops-windows"));
    let mut shell = clean(Command::new("sh"), scratch.top());
    let output = shell.args(["-c", &script]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("diff --git "));
    assert!(output.stderr.is_empty());
}

#[test]
fn what_is_wanted_is_not_told_by_sync_either() {
    let scratch = Scratch::fixture("sample").with_binary();
    scratch.expect(
        0,
        &["init", "--open", "0 8 1 * MON", "--close", "0 17 1 * MON", "--time-zone", "UTC", "--yes"],
    );
    scratch.commit();
    assert!(scratch.expect(0, &["sync"]).stderr.contains("GW103"));
    for line in ["open: 0 8 1 * MON", "close: 0 17 1 * MON"] {
        let wanted = format!("{line} # gitops-windows: ignore[GW103, GW113] the first and each Monday");
        scratch.replace("windows.yaml", line, &wanted);
    }
    // Of what `sync` does not look for, nothing can be said to be unused.
    scratch.replace("windows.yaml", "rules:", "# gitops-windows: ignore[GW009] of `check` alone\nrules:");
    scratch.commit();
    let run = scratch.expect(0, &["sync"]);
    assert!(!run.stderr.contains("GW"), "{}", run.stderr);
    assert!(scratch.run(&["check"]).stdout.contains("GW037"));
}

/// What a command looks at is said where it is not the folder that somebody stands in.
#[test]
fn check_says_what_it_looked_at() {
    let scratch = Scratch::fixture("sample").with_binary();
    let told = |run: Run| run.stdout + &run.stderr;
    insta::assert_snapshot!(told(scratch.expect(0, &["check"])), @r"
    note: the folders of edge-01, edge-02 are a guess: nothing in Git names their roots
     = help: where that is wrong, correct that cluster in windows.yaml
             or before that is written: `gitops-windows init --cluster-folder NAME=FOLDER`
    Nothing to report.
    ");
    let below = scratch.run_in(&scratch.top().join("apps/web"), &["check"]);
    insta::assert_snapshot!(told(below), @r"
    note: the folders of edge-01, edge-02 are a guess: nothing in Git names their roots
     = help: where that is wrong, correct that cluster in windows.yaml
             or before that is written: `gitops-windows init --cluster-folder NAME=FOLDER`
    Nothing to report.
    Looked at the whole repository: 2 clusters, 4 Flux Kustomizations.
    ");
    let apart = scratch.expect(0, &["-C", "apps/web", "check"]);
    insta::assert_snapshot!(told(apart), @r"
    Looked at no cluster: no Flux Kustomization was found. `gitops-windows clusters` says more.
    ");
}

#[test]
fn each_hook_of_pre_commit_runs_and_writes_nothing() {
    let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |file: &str| std::fs::read_to_string(top.join(file)).unwrap();
    let (hooks, guide) = (text(".pre-commit-hooks.yaml"), text("docs/pr.md"));
    let hooks = gitops_windows::yaml::read_documents(&hooks).unwrap().remove(0).root.to_json();
    let scratch = sample();
    let before = scratch.tree();
    let mut ids = Vec::new();
    for hook in hooks.as_array().unwrap() {
        let id = hook["id"].as_str().unwrap();
        assert!(guide.contains(&format!("`{id}`")), "{id}");
        let words: Vec<&str> = hook["entry"].as_str().unwrap().split(' ').collect();
        assert_eq!((words[0], &hook["pass_filenames"]), ("gitops-windows", &false.into()), "{id}");
        // It may find something; it may not be called wrongly.
        let run = scratch.run(&words[1..]);
        assert!(run.code < 2, "{id}: {}", run.stderr);
        assert_same(&before, &scratch.tree(), "something was written");
        ids.push(id.to_owned());
    }
    let example = guide.split("# .pre-commit-config.yaml").nth(1).unwrap().split("```").next().unwrap();
    let named = example.lines().filter_map(|line| line.trim().strip_prefix("- id: "));
    assert!(
        named.clone().count() > 0 && named.clone().all(|id| ids.iter().any(|known| known == id)),
        "{example}"
    );
}
