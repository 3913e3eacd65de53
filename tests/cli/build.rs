//! Which builds are made, and which are kept.

use std::process::Command;

use crate::sample;
use crate::support::scratch::{Run, assert_same, clean};

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
