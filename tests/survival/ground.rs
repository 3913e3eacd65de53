//! A repository that is copied for each trial, and a cache in which the program keeps its builds.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use crate::support::scratch::{Scratch, Tree, WINDOW, clean, copy, tree};

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_gitops-windows");

/// The sample with windows, not divided yet.
pub fn with_windows() -> Scratch {
    let scratch = Scratch::fixture("sample");
    scratch.take(&[&["init", "--yes"], &WINDOW[..]].concat());
    scratch
}

/// A copy of a repository, for one trial.
pub struct Trial {
    folder: tempfile::TempDir,
}

impl Trial {
    /// Copies a repository with all that git and the program keep there.
    pub fn of(scratch: &Scratch) -> Trial {
        let trial = Trial { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(trial.top()).unwrap();
        copy(scratch.top(), &trial.top());
        trial
    }

    /// Returns the top of the repository.
    pub fn top(&self) -> PathBuf {
        self.folder.path().join("fleet")
    }

    /// Prepares a program to be started at the top, with builds of other runs at hand.
    pub fn command(&self, program: &str) -> Command {
        let mut command = clean(Command::new(program), &self.top());
        command.env("XDG_CACHE_HOME", cache());
        command
    }

    /// Runs the program under test.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(PROGRAM).args(arguments).output().unwrap()
    }

    /// Runs a line of shell, in which `$0` is the program under test.
    pub fn shell(&self, line: &str) -> Output {
        self.command("bash").args(["-c", line, PROGRAM]).output().unwrap()
    }

    /// Returns the files as they are now.
    pub fn tree(&self) -> Tree {
        tree(&self.top())
    }
}

/// Returns a cache of all trials.
pub fn cache() -> &'static Path {
    static MADE: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("survival");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    });
    &MADE
}

/// Returns what a run said to people.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
