//! Bad input, given to the real binary: a message with place and remedy, the right exit code, and
//! nothing written.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, in a folder of its own")]

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
fn a_missing_spec() {
    let scratch = Scratch::fixture("sample").with_binary();
    for command in [&SPLIT[..], &["sync"]] {
        refused(&scratch, 3, command, &["there is no spec", "--> windows.yaml", "gitops-windows init"]);
    }
}

#[test]
fn a_folder_below_the_spec_and_one_without_anything() {
    let scratch = sample();
    let below = scratch.top().join("apps/web");
    let run = scratch.run_in(&below, &["verify"]);
    assert_eq!((run.code, run.stdout), (0, scratch.run(&["verify"]).stdout), "{}", run.stderr);
    let run = scratch.run_in(&below, &["explain", "deployment.yaml"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout, scratch.run(&["explain", "apps/web/deployment.yaml"]).stdout);
    std::fs::remove_file(scratch.top().join("windows.yaml")).unwrap();
    let run = scratch.run_in(&below, &["clusters"]);
    assert!(run.stdout.contains("edge-01"), "{}", run.stdout);
    let empty = Scratch::empty().with_binary();
    for command in ["check", "clusters"] {
        let run = empty.expect(3, &[command]);
        assert!(run.stderr.contains("this folder has no windows.yaml and no YAML file"), "{}", run.stderr);
    }
}

#[test]
fn an_empty_spec() {
    let scratch = sample();
    for text in ["", "# nothing\n", "---\n", "[]\n", "text\n"] {
        scratch.write("windows.yaml", text);
        refused(&scratch, 3, &SPLIT, &["error: ", "windows.yaml", "help: "]);
    }
}

#[test]
fn errors_of_the_spec_are_told_at_once() {
    let scratch = sample();
    scratch
        .replace("windows.yaml", "Europe/Berlin", "Europe/berlin")
        .replace("windows.yaml", "0 22 * * *", "0 22 * * 7")
        .replace("windows.yaml", "gate:", "gates:")
        .replace("windows.yaml", "  edge-02: {}", "  edge-01: {}");
    refused(
        &scratch,
        3,
        &SPLIT,
        &["windows.yaml:6:", "Europe/Berlin", "windows.yaml:9:", "windows.yaml:10:", "`gate`", "^", "help: "],
    );
}

#[test]
fn an_unknown_key_names_the_nearest() {
    let scratch = sample();
    scratch.replace("windows.yaml", "timeZone:", "timezone:");
    refused(&scratch, 3, &SPLIT, &["windows.yaml:6:", "timezone", "timeZone", "^^^"]);
}

#[test]
fn a_duplicate_key() {
    let scratch = sample();
    scratch.replace("windows.yaml", "  rt: {}\n", "  rt: {}\n  rt: {}\n");
    refused(&scratch, 3, &SPLIT, &["windows.yaml:4:", "rt", "help: "]);
}

#[test]
fn a_wrong_cron_expression() {
    let scratch = sample();
    for wrong in ["0 22 * *", "0 25 * * *", "0 22 * * FRI-SUN", "@reboot", "TZ=UTC 0 22 * * *"] {
        scratch.write("windows.yaml", SPEC.replace("0 22 * * *", wrong));
        refused(&scratch, 3, &SPLIT, &["windows.yaml:6:", "^", "help: "]);
    }
}

#[test]
fn a_spec_that_is_no_utf_8() {
    let scratch = sample();
    scratch.write("windows.yaml", [SPEC.as_bytes(), b"# \xff\xfe\n"].concat());
    refused(&scratch, 3, &SPLIT, &["windows.yaml", "UTF-8", "help: "]);
}

#[test]
fn a_spec_outside_of_the_repository() {
    let scratch = sample();
    std::fs::write(scratch.outside().join("other.yaml"), SPEC).unwrap();
    refused(&scratch, 2, &["--spec", "../other.yaml", "split", "--all"], &["--spec", "help: "]);
    refused(&scratch, 2, &["--spec", "/etc/passwd", "split", "--all"], &["--spec", "help: "]);
}

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
fn a_kustomization_that_does_not_build() {
    let scratch = sample();
    scratch.replace("apps/web/kustomization.yaml", "service.yaml", "servise.yaml");
    refused(&scratch, 3, &SPLIT, &["clusters/edge-01/apps", "servise.yaml", "help: "]);
}

#[test]
fn one_cluster_that_does_not_build_leaves_the_others_their_way() {
    let scratch = sample();
    scratch
        .replace("clusters/edge-01/apps/web/kustomization.yaml", "- namespace.yaml", "- gone.yaml")
        .commit();
    let run = scratch.expect(1, &SPLIT);
    assert!(
        run.stderr.contains("clusters/edge-01/apps in cluster edge-01 is left as it is"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("edge-02\n  clusters/edge-02/apps  "), "{}", run.stderr);
    assert!(!run.stdout.contains("clusters/edge-01"), "{}", run.stdout);
    // What could be done was done: a second run ends as the first.
    scratch.expect(0, &[&SPLIT[..], &["--yes"]].concat());
    scratch.commit();
    let again = scratch.expect(0, &[&SPLIT[..], &["--yes"]].concat());
    assert!(again.stderr.contains("clusters/edge-01/apps in cluster edge-01"), "{}", again.stderr);
}

#[test]
fn what_git_ignores_would_be_missing_in_the_commit() {
    let scratch = sample();
    scratch.write(".gitignore", "*-rt\n");
    let exceptions = "add a line for each exception: `!/apps/web/web-rt/`, `!/apps/web/web-rt/**`";
    let words = ["git ignores apps/web/web-rt/", "git check-ignore -v apps/web/web-rt/", exceptions];
    refused(&scratch, 4, &SPLIT, &words);
    scratch.write(".gitignore", "*-other\n").commit();
    scratch.expect(0, &[&SPLIT[..], &["--yes"]].concat());
}

#[test]
fn two_kustomization_files_in_a_folder() {
    let scratch = sample();
    scratch.write("apps/web/kustomization.yml", "resources: []\n");
    refused(&scratch, 3, &SPLIT, &["apps/web", "kustomization.yml", "help: "]);
}

#[test]
fn a_duplicate_key_in_a_kustomization() {
    let scratch = sample();
    let text = scratch.text("apps/web/kustomization.yaml");
    scratch.write("apps/web/kustomization.yaml", format!("{text}Resources: []\n"));
    refused(&scratch, 3, &SPLIT, &["apps/web/kustomization.yaml", "esources", "help: "]);
}

#[test]
fn a_cycle() {
    let scratch = sample();
    scratch.replace(
        "apps/web/kustomization.yaml",
        "  - service.yaml",
        "  - service.yaml\n  - ../../clusters/edge-01/apps/web",
    );
    refused(&scratch, 3, &SPLIT, &["apps/web", "circle", "help: "]);
}

#[test]
fn a_path_that_leaves_the_repository() {
    let scratch = sample();
    std::fs::create_dir(scratch.outside().join("other")).unwrap();
    std::fs::write(scratch.outside().join("other/secret.yaml"), "apiVersion: v1\nkind: Secret\n").unwrap();
    for path in ["../../../other/secret.yaml", "/etc/passwd"] {
        scratch.git(&["checkout", "--quiet", "--", "apps"]);
        let item = format!("  - service.yaml\n  - {path}");
        scratch.replace("apps/web/kustomization.yaml", "  - service.yaml", &item);
        let run = refused(&scratch, 3, &SPLIT, &["clusters/edge-01/apps", "help: "]);
        assert!(!run.stdout.contains("Secret") && !run.stderr.contains("root:"), "{}", run.stderr);
        scratch.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leaves_the_repository() {
    let scratch = sample();
    let other = scratch.outside().join("other");
    std::fs::create_dir(&other).unwrap();
    let file = "clusters/edge-01/apps/web/namespace.yaml";
    std::fs::rename(scratch.top().join(file), other.join("namespace.yaml")).unwrap();
    std::os::unix::fs::symlink(other.join("namespace.yaml"), scratch.top().join(file)).unwrap();
    scratch.commit();
    let content = std::fs::read(other.join("namespace.yaml")).unwrap();
    let run = scratch.run(&[&SPLIT[..], &["--yes"]].concat());
    assert!(run.stderr.contains("clusters/edge-01/apps"), "{}", run.stderr);
    assert!(!run.stdout.contains("clusters/edge-01"), "{}", run.stdout);
    assert_eq!(std::fs::read(other.join("namespace.yaml")).unwrap(), content);
}

#[cfg(unix)]
#[test]
fn a_folder_to_write_into_that_leads_outside() {
    let scratch = sample();
    let other = scratch.outside().join("other");
    std::fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(&other, scratch.top().join("apps/web/web-rt")).unwrap();
    scratch.commit();
    let run = scratch.run(&[&SPLIT[..], &["--yes"]].concat());
    assert!(run.stderr.contains("apps/web/web-rt: leads out of the repository"), "{}", run.stderr);
    assert!(scratch.top().join("apps/web/web-rt").is_symlink());
    assert_eq!(std::fs::read_dir(&other).unwrap().count(), 0, "something was written outside");
}

#[test]
fn a_manifest_that_is_no_utf_8() {
    let scratch = sample();
    let text = scratch.text("apps/web/deployment.yaml");
    scratch.write("apps/web/deployment.yaml", [text.as_bytes(), b"# \xff\n"].concat());
    refused(&scratch, 3, &SPLIT, &["deployment.yaml", "help: "]);
}

#[test]
fn a_kustomization_that_is_no_utf_8() {
    let scratch = sample();
    let text = scratch.text("apps/web/kustomization.yaml");
    scratch.write("apps/web/kustomization.yaml", [text.as_bytes(), b"# \xff\n"].concat());
    refused(&scratch, 3, &SPLIT, &["apps/web/kustomization.yaml", "UTF-8", "help: "]);
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
fn yes_and_dry_run_contradict_each_other() {
    let scratch = sample();
    let before = scratch.tree();
    scratch.expect(2, &["split", "--all", "--yes", "--dry-run"]);
    assert_same(&before, &scratch.tree(), "something was written");
}

#[test]
fn init_twice() {
    let scratch = sample();
    refused(&scratch, 3, &["init"], &["windows.yaml is there already", "gitops-windows sync"]);
}

#[test]
fn init_with_half_a_window() {
    let scratch = Scratch::fixture("sample").with_binary();
    refused(&scratch, 2, &["init", "--open", "0 8 * * *"], &["--close", "help: "]);
    let window = |open, zone| ["init", "--open", open, "--close", "0 9 * * *", "--time-zone", zone];
    refused(&scratch, 2, &window("0 8 * *", "UTC"), &["--open '0 8 * *'", "help: "]);
    refused(
        &scratch,
        2,
        &window("0 8 * * *", "europe/berlin"),
        &["--time-zone 'europe/berlin'", "Europe/Berlin?"],
    );
}

#[test]
fn init_where_nothing_is() {
    let scratch = Scratch::empty().with_binary();
    refused(&scratch, 3, &["init"], &["help: ", "--cluster"]);
}

#[test]
fn hostile_names_for_a_new_repository() {
    let scratch = Scratch::empty().with_binary();
    for name in ["../out", "a/b", "", "a b", "-x", "A\u{202e}b", "x: y", "{{ a }}", "."] {
        let run = scratch.run(&["init", &format!("--cluster={name}"), "--app=web", "--yes"]);
        assert!([2, 3].contains(&run.code), "{name:?}: {} {}", run.code, run.stderr);
        assert!(run.stderr.contains("error: "), "{}", run.stderr);
        assert!(scratch.tree().is_empty(), "{name:?} was written");
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

#[test]
fn verbose_tells_how_many_builds_it_took() {
    let scratch = sample();
    let told = |arguments: &[&str]| {
        let stderr = scratch.run(arguments).stderr;
        stderr.lines().filter(|line| line.starts_with("Builds: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        told(&["check", "-v"]),
        ["Builds: 4 asked for, 4 distinct, 4 made, 0 from memory, 0 from the cache."]
    );
    assert_eq!(told(&["check"]), [""; 0]);
    assert_eq!(told(&["check", "-v", "-q"]), [""; 0]);
    let none = "Builds: 0 asked for, 0 distinct, 0 made, 0 from memory, 0 from the cache.";
    assert_eq!(told(&["when", "-v"]), [none]);
}

/// A question about one file builds what reads that file.
#[test]
fn explain_builds_what_reads_the_file() {
    let scratch = sample();
    for (path, made) in [
        ("clusters/edge-01/apps/kustomization.yaml", "1 distinct, 1 made"),
        ("apps/probe/deployment.yaml", "2 distinct, 2 made"),
        ("clusters/edge-02/flux/apps.yaml", "0 distinct, 0 made"),
        ("clusters", "4 distinct, 4 made"),
    ] {
        let told = scratch.expect(0, &["explain", path, "-v", "--no-cache"]).stderr;
        assert!(told.contains(made), "{path}: {told}");
    }
}

#[test]
fn builds_are_kept_between_runs_outside_of_the_repository() {
    let scratch = sample();
    let home = tempfile::tempdir().unwrap();
    let before = scratch.tree();
    let told = |arguments: &[&str]| {
        let mut command = clean(Command::new(env!("CARGO_BIN_EXE_gitops-windows")), scratch.top());
        let run = Run::of(&command.env("XDG_CACHE_HOME", home.path()).args(arguments).output().unwrap());
        let line = run.stderr.lines().find(|line| line.starts_with("Builds: ")).unwrap_or_default();
        (run.stdout, line.to_owned())
    };
    let (first, line) = told(&["check", "-v", "--no-cache"]);
    assert_eq!(line, "Builds: 4 asked for, 4 distinct, 4 made, 0 from memory, 0 from the cache.");
    let kept: Vec<_> = home
        .path()
        .join("gitops-windows")
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(kept, ["code"], "the program's own code, which is no build");
    assert_eq!(told(&["check", "-v"]), (first.clone(), line));
    let kept = "Builds: 4 asked for, 4 distinct, 0 made, 0 from memory, 4 from the cache.";
    assert_eq!(told(&["check", "-v"]), (first, kept.to_owned()));
    assert_same(&before, &scratch.tree(), "something was written");
    // What is proven is built, however often it was before.
    let split = ["split", "--all", "--dry-run", "-v"];
    let (first, _) = told(&split);
    let (second, line) = told(&split);
    assert_eq!(first, second);
    assert!(!line.contains(" 0 made") && !line.contains(" 0 from the cache"), "{line}");
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

/// A window that somebody gives and does not get is told.
#[test]
fn init_says_which_windows_are_not_used() {
    let scratch = Scratch::fixture("adopted").with_binary();
    let window = ["--open", "0 22 * * SAT", "--close", "0 4 * * SUN"];
    let run = scratch.expect(1, &[&["init", "--now", "2026-11-23T12:00:00Z"], &window[..]].concat());
    insta::assert_snapshot!(run.stderr, @"
    note: the folders of plant-north, plant-south are a guess: nothing in Git names their roots
     = help: where that is wrong, correct that cluster in windows.yaml
             or before that is written: `gitops-windows init --cluster-folder NAME=FOLDER`

    warning: --open and --close are not used: the gate in infra/maintenance keeps its window
     = help: to change it: `gitops-windows windows set reconciliation-window --open '0 22 * * SAT' --close '0 4 * * SUN'`
    plant-north, plant-south
      clusters/{cluster}/apps   Flux Kustomization apps   apps web
      clusters/{cluster}/infra  Flux Kustomization infra  carries the gate
    gate infra/maintenance: begin-maintenance and end-maintenance over apps
    Gate: what opens and closes the windows in a cluster.
    Proven with embedded kustomize api/v0.21.1: 4 comparisons over 20 objects, no difference.
    2 files would change. Run it again with --yes to write.
    Nothing changes: 2 Flux Kustomizations wait for their windows as before.
    After `gitops-windows split --all` and `gitops-windows migrate`, 2 Flux Kustomizations in 2 clusters wait for their windows.
    ");
    let scratch = sample();
    let run = scratch.expect(3, &[&["init"], &window[..]].concat());
    insta::assert_snapshot!(run.stderr, @r"
    error: windows.yaml is there already
     --> windows.yaml
     = help: its windows stay; to change one: `gitops-windows windows set NAME --open '0 22 * * SAT' --close '0 4 * * SUN'`
    ");
}

#[test]
fn init_ends_with_what_will_wait() {
    let last = |scratch: &Scratch, more: &[&str]| {
        let window = ["--open", "0 22 * * SAT", "--close", "0 4 * * SUN", "--time-zone", "Europe/Berlin"];
        let run = scratch.run(&[&["init", "--now", "2026-11-23T12:00:00Z"], more, &window[..]].concat());
        run.stderr.lines().last().unwrap_or_default().to_owned()
    };
    let scratch = Scratch::fixture("sample").with_binary();
    insta::assert_snapshot!(last(&scratch, &["--yes"]), @"After `gitops-windows split --all` and `gitops-windows migrate`, 2 Flux Kustomizations in 2 clusters wait for their windows.");
    // Where the objects of an entry point have one type, its Flux Kustomization waits as a whole.
    let scratch = Scratch::fixture("sample").with_binary();
    for cluster in ["edge-01", "edge-02"] {
        let apps = format!("clusters/{cluster}/apps/kustomization.yaml");
        scratch.replace(&apps, "  - web\n", "");
    }
    scratch.commit();
    insta::assert_snapshot!(last(&scratch, &[]), @"From Sun 2026-11-29 04:00 Europe/Berlin, 2 Flux Kustomizations in 2 clusters wait for Sat 2026-12-05 22:00 Europe/Berlin. Nothing else changes.");
}

#[test]
fn init_refuses_times_that_make_no_window() {
    let scratch = Scratch::fixture("sample");
    let before = scratch.tree();
    let cases = [
        ("0 20 * * TUE", "0 20 * * TUE", "UTC", "GW107"),
        ("0 20 30 2 *", "0 20 * * TUE", "UTC", "GW102"),
        ("0 1 * * SUN", "30 2 * * SUN", "Europe/Berlin", "GW104"),
    ];
    for (open, close, zone, code) in cases {
        let given = ["init", "--open", open, "--close", close, "--time-zone", zone, "--yes"];
        let told = scratch.expect(3, &given).stderr;
        assert!(told.contains("error: the given times make no window. Nothing was written"), "{told}");
        assert!(told.contains(&format!("error[{code}]")), "{told}");
        assert_eq!(scratch.tree(), before);
    }
}

#[test]
fn no_command_writes_what_follows_from_a_broken_window() {
    let scratch = sample();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    scratch.replace("windows.yaml", "close: 0 4 * * *", "close: 0 22 * * *");
    scratch.commit();
    let before = scratch.tree();
    for command in [&["sync"][..], &["diff"], &["split", "--all"], &["migrate"]] {
        let asked = [command, if command == ["diff"] { &[] } else { &["--yes"] }].concat();
        let told = scratch.expect(3, &asked).stderr;
        assert!(told.contains("error[GW107]"), "{command:?}: {told}");
        assert_eq!(scratch.tree(), before, "{command:?}");
    }
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

/// Flux takes paths from the top of Git, wherever the spec stands.
#[test]
fn a_spec_below_the_top_is_named_and_so_are_paths_that_begin_there() {
    let scratch = Scratch::fixture("sample");
    scratch.write("deploy/README.md", "Moved.\n");
    scratch.git(&["mv", "apps", "clusters", "infra", "deploy/"]);
    scratch.write("deploy/windows.yaml", SPEC).commit();
    let told = scratch.expect(3, &["when"]).stderr;
    assert!(told.contains("deploy/windows.yaml is one: `gitops-windows -C deploy …`"), "{told}");
    let told = scratch.expect(0, &["-C", "deploy", "clusters"]).stdout;
    let said = "edge-02  its Flux Kustomizations name paths that are not there: clusters/edge-02/apps stands in deploy. Flux begins at the top of Git\n";
    assert!(told.contains(said), "{told}");
}
