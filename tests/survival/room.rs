//! Odd environments and small limits: each command ends as it does elsewhere, or says clearly why it can't.

use std::os::unix::fs::PermissionsExt;

use crate::ground::{PROGRAM, Trial, said, with_windows};
use crate::support::scratch::{Scratch, assert_same, clean, copy, tree};

/// What reads, with the code that it ends with.
const QUESTIONS: [(&[&str], i32); 7] = [
    (&["check"], 0),
    (&["clusters"], 0),
    (&["when", "--now", "2026-11-23T12:00:00Z"], 0),
    (&["calendar", "--now", "2026-11-23T12:00:00Z"], 0),
    (&["diff"], 0),
    (&["verify"], 0),
    (&["split", "--all", "--dry-run"], 1),
];

/// Runs every question twice, in the usual environment and by a line of shell, and compares all that is printed.
fn asks_the_same(scratch: &Scratch, line: &str) {
    let trial = Trial::of(scratch);
    for (question, code) in QUESTIONS {
        let usual = trial.run(question);
        assert_eq!(usual.status.code(), Some(code), "{question:?}: {}", said(&usual));
        let words = question.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let odd = trial.shell(&line.replace("RUN", &format!("\"$0\" {words}")));
        assert_eq!(odd.status.code(), Some(code), "{line}, {question:?}: {}", said(&odd));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&usual.stdout), text(&odd.stdout), "{line}, {question:?}");
        assert_eq!(said(&usual), said(&odd), "{line}, {question:?}");
    }
}

#[test]
fn no_home_no_temporary_folder_few_files_odd_languages_and_zones() {
    let scratch = with_windows();
    for line in [
        "unset HOME XDG_CACHE_HOME; RUN",
        "HOME=/proc XDG_CACHE_HOME=/proc RUN",
        "HOME=relative XDG_CACHE_HOME=relative RUN",
        "TMPDIR=/proc RUN",
        "TMPDIR=/nowhere RUN",
        "ulimit -n 64; RUN",
        "ulimit -s 512; RUN",
        "LC_ALL=tr_TR.ISO-8859-9 LANG=xx LANGUAGE=ja RUN",
        "LC_ALL=$'\\xff' LANG=$'\\xfe' TZ=$'\\xff' RUN",
        "TZ=:/etc/passwd RUN",
        "TZ=Nowhere/Nothing RUN",
        "TERM= NO_COLOR= CLICOLOR_FORCE= RUN",
        "umask 777; RUN",
        "exec <&-; RUN",
        "GIT_DIR=/nowhere GIT_WORK_TREE=/nowhere GIT_INDEX_FILE=/nowhere RUN",
    ] {
        asks_the_same(&scratch, line);
    }
}

#[test]
fn writes_without_home_in_small_limits_as_elsewhere() {
    let scratch = with_windows();
    let usual = Trial::of(&scratch);
    assert!(usual.run(&["split", "--all", "--yes"]).status.success());
    for line in ["unset HOME XDG_CACHE_HOME; RUN", "TMPDIR=/proc RUN", "ulimit -n 64; RUN", "exec <&-; RUN"] {
        let trial = Trial::of(&scratch);
        let run = trial.shell(&line.replace("RUN", "\"$0\" split --all --yes"));
        assert!(run.status.success(), "{line}: {}", said(&run));
        assert_same(&usual.tree(), &trial.tree(), line);
    }
}

#[test]
fn a_full_or_closed_output_is_told_and_nothing_is_lost() {
    let scratch = with_windows();
    let trial = Trial::of(&scratch);
    for (question, code) in QUESTIONS {
        let words = question.join(" ");
        let usual = trial.run(question);
        // Where there is something to print, a full disk is an error.
        let full = trial.shell(&format!("\"$0\" {words} >/dev/full"));
        let expected = if usual.stdout.is_empty() { Some(code) } else { Some(3) };
        assert_eq!(full.status.code(), expected, "{words}: {}", said(&full));
        if !usual.stdout.is_empty() {
            assert!(
                said(&full).contains("can't print the whole result: No space left"),
                "{words}: {}",
                said(&full)
            );
        }
        assert!(!said(&full).contains("panicked"), "{}", said(&full));
        for line in
            ["\"$0\" ARGS >&-", "\"$0\" ARGS 2>&-", "\"$0\" ARGS >&- 2>&- <&-", "\"$0\" ARGS 2>/dev/full"]
        {
            let closed = trial.shell(&line.replace("ARGS", &words));
            assert_eq!(closed.status.code(), Some(code), "{line} {words}: {}", said(&closed));
        }
        // The shell's own code of a program that a closed pipe ended would be 141.
        let piped = trial.shell(&format!("set -o pipefail; \"$0\" {words} | head -n 0"));
        assert!(piped.status.code().is_some_and(|code| code < 128), "{words}: {:?}", piped.status);
        assert!(!said(&piped).contains("panicked"), "{}", said(&piped));
    }
    let (old, new) = (trial.tree(), Trial::of(&scratch));
    assert!(new.run(&["split", "--all", "--yes"]).status.success());
    for line in [">/dev/full", "2>/dev/full", ">/dev/full 2>&1", ">&- 2>&-"] {
        let trial = Trial::of(&scratch);
        let run = trial.shell(&format!("\"$0\" split --all --yes {line}"));
        let there = trial.tree();
        assert!(there == old || there == new.tree(), "{line}: a torn tree");
        assert!(!run.status.success() || there == new.tree(), "{line}: success, and nothing done");
    }
}

#[test]
fn help_and_the_demo_tell_a_full_output_too() {
    let trial = Trial::of(&Scratch::empty());
    for words in ["--help", "-h", "split --help", "--version", "demo played"] {
        let full = trial.shell(&format!("\"$0\" {words} >/dev/full"));
        assert_eq!(full.status.code(), Some(3), "{words}: {}", said(&full));
        assert!(
            said(&full).contains("can't print the whole result: No space left"),
            "{words}: {}",
            said(&full)
        );
    }
}

/// An empty or relative folder of PATH is the repository, for what is started in it.
#[test]
fn no_program_of_the_repository_is_run() {
    let scratch = with_windows();
    let marker = scratch.outside().join("run");
    for name in ["git", "kustomize", "kubectl", "sh", "ssh"] {
        let script = format!("#!/bin/sh\ntouch {}\nexec /usr/bin/{name} \"$@\"\n", marker.display());
        scratch.write(name, script);
        std::fs::set_permissions(scratch.top().join(name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    scratch.commit();
    let trial = Trial::of(&scratch);
    let kubectl = "status --kubeconfig windows.yaml";
    let kustomize = "check --renderer kustomize";
    for path in [".:$PATH", ":$PATH", "$PATH:", "apps/..:$PATH", ".", ""] {
        for words in ["check", "-C . clusters", "split --all --yes", kubectl, kustomize] {
            trial.shell(&format!("p=\"{path}\"; PATH=\"$p\" \"$0\" {words}"));
            assert!(!marker.exists(), "{path} {words}");
        }
    }
}

#[test]
fn a_lock_that_is_a_pipe_is_told_and_not_waited_for() {
    let trial = Trial::of(&with_windows());
    let old = trial.tree();
    let pipe =
        "mkdir -p .git/gitops-windows && rm -f .git/gitops-windows/lock && mkfifo .git/gitops-windows/lock";
    assert!(trial.shell(pipe).status.success());
    for reader in ["", "sleep 50 <>.git/gitops-windows/lock & "] {
        let run = trial.shell(&format!(
            "{reader}timeout 40 \"$0\" split --all --yes; c=$?; kill %1 2>/dev/null; exit $c"
        ));
        assert_eq!(run.status.code(), Some(3), "{}", said(&run));
        assert!(said(&run).contains("can't lock"), "{}", said(&run));
        assert!(trial.tree() == old);
    }
}

#[test]
fn ten_columns_are_enough() {
    let trial = Trial::of(&with_windows());
    for (question, code) in QUESTIONS {
        let words = question.join(" ");
        let line = format!("stty cols 10 rows 5; '{PROGRAM}' {words}");
        let run = trial.command("script").args(["-qec", &line, "/dev/null"]).output().unwrap();
        let text = String::from_utf8_lossy(&run.stdout);
        assert_eq!(run.status.code(), Some(code), "{words}: {text}");
        assert!(!text.contains("panicked"), "{text}");
    }
}

#[test]
fn linked_worktrees_and_submodules_are_repositories_like_others() {
    let scratch = with_windows();
    let usual = Trial::of(&scratch);
    assert!(usual.run(&["split", "--all", "--yes"]).status.success());

    let linked = scratch.outside().join("linked");
    scratch.git(&["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    let around = Scratch::empty();
    let path = scratch.top().to_str().unwrap();
    around.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", path, "inner"]);
    around.commit();
    for place in [linked, around.top().join("inner")] {
        let before = tree(&place);
        let run = |arguments: &[&str]| {
            let mut command = clean(std::process::Command::new(PROGRAM), &place);
            command.env("XDG_CACHE_HOME", crate::ground::cache()).args(arguments).output().unwrap()
        };
        // Where git's folder is, a file says there: it is no part of the files.
        let without = |mut tree: crate::support::scratch::Tree| {
            tree.remove(std::path::Path::new(".git"));
            tree
        };
        let split = run(&["split", "--all", "--yes"]);
        assert!(split.status.success(), "{}", said(&split));
        assert_same(&without(usual.tree()), &without(tree(&place)), "elsewhere it is another split");
        assert!(run(&["undo", "--yes"]).status.success());
        assert_same(&before, &tree(&place), "not taken back");
    }
}

#[test]
fn what_is_a_submodule_here_is_never_written() {
    let scratch = with_windows();
    let inner = Scratch::empty();
    copy(&scratch.top().join("apps"), &inner.top().join("apps"));
    inner.commit();
    let path = inner.top().to_str().unwrap();
    scratch.git(&["rm", "-r", "--quiet", "apps"]);
    scratch.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", path, "apps"]);
    scratch.commit();
    let trial = Trial::of(&scratch);
    let before = trial.tree();
    let run = trial.run(&["split", "--all", "--yes"]);
    assert!(run.status.code().is_some_and(|code| code != 0) || !run.stderr.is_empty());
    let inside = |tree: crate::support::scratch::Tree| {
        tree.into_iter().filter(|(path, _)| path.starts_with("apps")).collect::<Vec<_>>()
    };
    assert!(inside(trial.tree()) == inside(before), "written into a submodule");
}
