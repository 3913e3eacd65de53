//! Making a repository and its commits, for the demo.

use std::path::Path;

use jiff::Timestamp;

use crate::error::Error;
use crate::repo::git::Git;
use crate::repo::{Repository, program};

/// What makes commits the same on every machine: nothing but the new repository's own configuration.
const PLAIN: [(&str, &str); 3] =
    [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_DEFAULT_HASH", "sha1")];

/// The configuration of a new repository: whoever plays in it needs neither a name nor a key.
const CONFIGURATION: [(&str, &str); 4] = [
    ("user.name", "Demo"),
    ("user.email", "demo@example.com"),
    ("commit.gpgSign", "false"),
    ("core.autocrlf", "false"),
];

impl Repository {
    /// Makes a git repository of a folder that is there. Where git is not installed it stays a folder.
    ///
    /// # Errors
    ///
    /// When git refuses.
    pub fn create(folder: &Path) -> Result<Repository, Error> {
        if program("git").is_none() {
            return Repository::discover(folder);
        }
        let git = plain(folder);
        let run =
            |arguments: &[&str]| git.run(arguments).map_err(|error| error.into_error("making a repository"));
        run(&["init", "--quiet", "--template=", "--initial-branch=main"])?;
        for (name, value) in CONFIGURATION {
            run(&["config", name, value])?;
        }
        Repository::discover(folder)
    }

    /// Commits every file as it stands, at a time.
    ///
    /// # Errors
    ///
    /// When git refuses.
    pub fn commit_all(&self, message: &str, at: Timestamp) -> Result<(), Error> {
        let date = format!("{} +0000", at.as_second());
        let git = plain(self.top()).with("GIT_AUTHOR_DATE", &date).with("GIT_COMMITTER_DATE", &date);
        let commit = git.run(&["add", "--all"]).and_then(|_| git.run(&["commit", "--quiet", "-m", message]));
        commit.map(drop).map_err(|error| error.into_error("making a commit"))
    }

    /// Begins a branch.
    ///
    /// # Errors
    ///
    /// When git refuses.
    pub fn begin_branch(&self, name: &str) -> Result<(), Error> {
        let begun = plain(self.top()).run(&["checkout", "--quiet", "-b", name]);
        begun.map(drop).map_err(|error| error.into_error("beginning a branch"))
    }
}

fn plain(folder: &Path) -> Git {
    PLAIN.into_iter().fold(Git::in_folder(folder), |git, (name, value)| git.with(name, value))
}
