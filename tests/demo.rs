//! `demo` plays the main job, without git as far as that goes, writes nowhere else, and plays the same each time. `docs/demo.md` shows
//! what it prints.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, in folders of its own")]

mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use support::scratch::{Run, Tree, assert_same, link, tree};

const NOW: [&str; 2] = ["--now", "2026-11-23T12:00:00Z"];

/// Runs the demo with nothing in the environment but a path, on which nothing is but these programs.
fn play(folder: &Path, programs: &[&str], arguments: &[&str]) -> Run {
    let path = folder.join("bin");
    if !path.exists() {
        std::fs::create_dir(&path).unwrap();
        for program in programs {
            let places = std::env::var_os("PATH").unwrap();
            let mut places = std::env::split_paths(&places).map(|place| place.join(program));
            link(&places.find(|place| place.exists()).unwrap(), &path.join(program));
        }
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_gitops-windows"));
    command.env_clear().env("PATH", &path).env("TMPDIR", folder).current_dir(folder).stdin(Stdio::null());
    Run::of(&command.arg("demo").args(arguments).output().unwrap())
}

fn played(folder: &Path) -> (Run, Tree) {
    let run = play(folder, &["git"], &[&["fleet"], &NOW[..]].concat());
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    (run, tree(&folder.join("fleet")))
}

#[test]
fn it_plays_the_same_each_time_and_writes_nowhere_else() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [(first, left), (second, right)] = [played(folders[0].path()), played(folders[1].path())];
    assert_eq!((&first.stdout, &first.stderr), (&second.stdout, &second.stderr));
    assert_same(&left, &right, "the second run left something else");
    let mut names: Vec<_> =
        folders[0].path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["bin", "fleet"]);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        let output = git.args(arguments).current_dir(folders[0].path().join("fleet")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(git(&["status", "--short"]), "");
    assert_eq!(git(&["log", "--format=%s", "change"]).lines().count(), 6);
}

#[test]
fn a_folder_that_is_not_empty_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("fleet")).unwrap();
    std::fs::write(folder.path().join("fleet/mine.txt"), "mine\n").unwrap();
    let run = play(folder.path(), &["git"], &["fleet"]);
    insta::assert_snapshot!(format!("{}\n{}{}", run.code, run.stdout, run.stderr), @r"
    2
    error: fleet is not empty
     = help: name a folder that is new or empty
    ");
    assert_eq!(tree(&folder.path().join("fleet")).len(), 1);
}

#[test]
fn without_git_it_plays_what_needs_none() {
    let folder = tempfile::tempdir().unwrap();
    let run = play(folder.path(), &[], &[&["fleet"], &NOW[..]].concat());
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    let is_title =
        |line: &&str| line.split_once(". ").is_some_and(|(number, _)| number.parse::<usize>().is_ok());
    let titles: Vec<&str> = run.stdout.lines().filter(is_title).collect();
    insta::assert_snapshot!(titles.join("\n"), @r"
    1. The fleet as it is
    2. Say when
    3. See what a split would change
    4. Write it, and prove it again
    5. Ask when changes land
    ");
    let told =
        "git is not on PATH, so two steps were left out: `Hand over, then finish` and `Open a pull request`.";
    assert!(run.stdout.contains(told), "{}", run.stdout);
    assert!(!run.stdout.contains("git init") && !run.stdout.contains("git add"), "{}", run.stdout);
    assert!(!run.stdout.contains("gitops-windows pr"), "{}", run.stdout);
    assert!(folder.path().join("fleet/windows.yaml").exists());
}

#[test]
fn without_a_name_it_makes_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let run = play(folder.path(), &["git"], &NOW);
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    let made = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name());
    let made: Vec<_> = made.filter(|name| name != "bin").collect();
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(run.stdout.contains(&format!("cd {}", folder.path().join(&made[0]).display())));
}
