//! Help, and the options of commands.

use crate::support::scratch::assert_same;
use crate::{SPLIT, sample};

#[test]
fn yes_and_dry_run_contradict_each_other() {
    let scratch = sample();
    let before = scratch.tree();
    scratch.expect(2, &["split", "--all", "--yes", "--dry-run"]);
    assert_same(&before, &scratch.tree(), "something was written");
}

/// Whoever asks for help sees all commands at once, in the order of a first week.
#[test]
fn help_fits_on_a_screen() {
    let scratch = sample();
    let help = scratch.expect(0, &["-h"]).stdout;
    assert!(help.lines().count() <= 42, "{help}");
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    let headings: Vec<&str> = help.lines().filter(|line| line.ends_with(':')).collect();
    insta::assert_snapshot!(headings.join("\n"), @r"
    Look around:
    Set up:
    Every day:
    Change windows:
    Later:
    This program:
    Options (--help shows all):
    ");
    // A command that is in no group is told among those about the program.
    assert!(help.contains("\n  schema, completions, man, version, licenses\n"), "{help}");
    assert!(scratch.expect(0, &["--help"]).stdout.contains("--no-cache"));
}

#[test]
fn commands_know_only_options_that_mean_something_to_them() {
    let scratch = sample();
    for command in ["calendar", "when", "check", "clusters", "diff", "verify", "pr", "cron", "schema"] {
        let arguments: &[&str] = if command == "cron" { &["cron", "@daily"] } else { &[command] };
        for option in ["--yes", "--dry-run", "--allow-dirty"] {
            let run = scratch.expect(2, &[arguments, &[option]].concat());
            assert!(run.stderr.contains(&format!("unexpected argument '{option}'")), "{}", run.stderr);
        }
    }
}

#[test]
fn options_without_a_meaning_are_refused() {
    let scratch = sample().with_binary();
    for (arguments, option) in [
        (&["cron", "@daily", "--spec", "nope"][..], "spec"),
        (&["cron", "@daily", "--renderer", "kustomize"], "renderer"),
        (&["--no-cache", "cron", "@daily"], "no-cache"),
        (&["-C", ".", "licenses"], "directory"),
        (&["schema", "--now", "2026-11-28T00:00:00Z"], "now"),
    ] {
        let run = scratch.expect(2, arguments);
        let told = format!(
            "error: `{}` has no use for --{option}",
            arguments.iter().find(|one| ["cron", "licenses", "schema"].contains(one)).unwrap()
        );
        assert!(run.stderr.starts_with(&told), "{}", run.stderr);
    }
    scratch.expect(0, &["cron", "@daily", "--now", "2026-11-28T00:00:00Z"]);
    scratch.expect(0, &["schema", "--color", "never"]);
}

#[test]
fn what_people_type_first_works_or_names_what_does() {
    let scratch = sample();
    let expected = scratch.expect(1, &SPLIT);
    for arguments in [&["split", "web"][..], &["split", "--app", "web"]] {
        let run = scratch.expect(1, arguments);
        assert_eq!((run.stdout, run.stderr), (expected.stdout.clone(), expected.stderr.clone()));
    }
    scratch.expect(2, &["split", "web", "--all"]);
    assert_eq!(scratch.expect(0, &["version"]).stdout, scratch.expect(0, &["--version"]).stdout);
    insta::assert_snapshot!(scratch.expect(2, &["list"]).stderr, @r"
    error: unrecognized subcommand 'list'

      tip: some similar subcommands exist: 'clusters', 'when', 'windows list', 'freeze list'

    Usage: gitops-windows [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}
