//! Commits by name: which one is meant, and where two histories part.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::path::RepoPath;
use crate::repo::Repository;
use crate::text::did_you_mean;

/// The branches that are taken for the upstream's default one where git does not know it.
const DEFAULTS: [&str; 4] =
    ["refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"];

impl Repository {
    /// Returns the hash of the commit that a revision names; `None` where git knows none.
    ///
    /// A revision is data: a text that begins with `-` or holds a control character names nothing.
    pub fn commit(&self, revision: &str) -> Option<String> {
        self.object(&named(revision, "commit")?)
    }

    /// Returns the hash of what a revision is a name of.
    pub(super) fn object(&self, named: &str) -> Option<String> {
        let found = self.ask_git().run(&["rev-parse", "--verify", "--quiet", named]).ok()?;
        Some(String::from_utf8_lossy(&found).trim().to_owned())
    }

    /// Returns the upstream's default branch: what `origin/HEAD` leads to, else `main` or `master` of `origin`, else
    /// the local ones.
    pub fn default_branch(&self) -> Option<String> {
        let git = self.ask_git();
        let head = git.run(&["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"]).ok();
        let head = head.map(|found| String::from_utf8_lossy(&found).trim().to_owned());
        let known = head.into_iter().chain(DEFAULTS.map(str::to_owned));
        known.into_iter().find(|name| self.commit(name).is_some())
    }

    /// Returns the name of the branch into which the upstream merges; `None` where no `origin/HEAD` says it.
    pub fn upstream_branch(&self) -> Option<String> {
        let head = self.default_branch()?;
        head.strip_prefix("refs/remotes/origin/").map(str::to_owned)
    }

    /// Returns the commit at which two histories part.
    ///
    /// # Errors
    ///
    /// When a revision is unknown, or the clone is too shallow to hold the commit; then with the command that
    /// fetches it.
    pub fn merge_base(&self, base: &str, head: &str) -> Result<String, Error> {
        let commit = |revision: &str| named(revision, "commit").ok_or_else(|| self.unknown(revision));
        let answer = self.ask_git().run(&["merge-base", &commit(base)?, &commit(head)?]);
        let found = answer.map(|found| String::from_utf8_lossy(&found).trim().to_owned());
        found.ok().filter(|hash| !hash.is_empty()).ok_or_else(|| {
            if let Some(unknown) = [base, head].into_iter().find(|revision| self.commit(revision).is_none()) {
                return self.unknown(unknown);
            }
            let (base, head) = (base.escape_debug(), head.escape_debug());
            let problem =
                Diagnostic::error(format!("git finds no commit that `{base}` and `{head}` have in common"));
            Error::invalid(match self.is_shallow() {
                true => {
                    problem.help("the clone is shallow: run `git fetch --unshallow`, then run this again")
                }
                false => problem.help("name another revision with --base"),
            })
        })
    }

    /// Says that git knows no such commit, and what fetches it.
    pub fn unknown(&self, revision: &str) -> Error {
        let problem = Diagnostic::error(format!("git knows no commit `{}`", revision.escape_debug()));
        let branch = revision.strip_prefix("refs/remotes/").unwrap_or(revision);
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        let fetch = branch.strip_prefix("origin/").filter(|branch| is_plain(branch));
        Error::invalid(match (fetch, self.is_shallow()) {
            (Some(branch), _) => problem.help(format!(
                "run `git fetch origin {branch}:refs/remotes/origin/{branch}`, then run this again"
            )),
            (None, true) => {
                problem.help("the clone is shallow: run `git fetch --unshallow`, then run this again")
            }
            (None, false) => {
                let names = self.names();
                let near = did_you_mean(revision, names.iter().map(String::as_str));
                problem.help(near.unwrap_or_else(|| "name a commit, branch or tag that is here".to_owned()))
            }
        })
    }

    /// Returns the names of all branches and tags.
    fn names(&self) -> Vec<String> {
        let answer = self.ask_git().run(&["for-each-ref", "--format=%(refname:short)"]).unwrap_or_default();
        String::from_utf8_lossy(&answer).lines().map(str::to_owned).collect()
    }

    /// Returns whether the clone lacks a part of its history.
    pub(crate) fn is_shallow(&self) -> bool {
        let answer = self.ask_git().run(&["rev-parse", "--is-shallow-repository"]);
        matches!(answer, Ok(answer) if answer.starts_with(b"true"))
    }

    /// Returns the newest commit of a branch's own line at an instant, by the times of its commits; `None` where the
    /// clone does not reach back that far.
    pub fn commit_at(&self, branch: &str, at: Timestamp) -> Option<String> {
        let until = format!("--until={}", at.as_second());
        let tip = self.commit(branch)?;
        let answer =
            self.ask_git().run(&["rev-list", "--first-parent", "--max-count=1", &until, &tip]).ok()?;
        Some(String::from_utf8_lossy(&answer).trim().to_owned()).filter(|hash| !hash.is_empty())
    }

    /// Returns when a commit was made, by its own word; `None` where git knows no such commit.
    pub fn made_at(&self, commit: &str) -> Option<Timestamp> {
        let commit = self.commit(commit)?;
        let arguments = ["log", "--max-count=1", "--no-show-signature", "--format=%ct", &commit, "--"];
        let answer = self.ask_git().run(&arguments).ok()?;
        Timestamp::from_second(String::from_utf8_lossy(&answer).trim().parse().ok()?).ok()
    }

    /// Returns the commits of a branch's own line after another one, or all, the newest first, each with what it changed;
    /// what it merged is its own. `None` where the clone lacks some.
    pub fn merged_since(&self, since: Option<&str>, until: &str) -> Option<Vec<Merged>> {
        let range = since.map_or_else(|| until.to_owned(), |since| format!("{since}..{until}"));
        let how = ["log", "--first-parent", "-m", "--root", "--no-relative", "--no-ext-diff"];
        let what = ["--no-show-signature", "--no-renames", "--name-only", "-z", FORMAT, &range, "--"];
        Some(merged(&self.ask_git().run(&[&how[..], &what].concat()).ok()?))
    }

    /// Returns the commits of a branch's own line after another one, the newest first, with the first line of their
    /// messages.
    pub fn commits_since(&self, since: &str, until: &str) -> Vec<(String, String)> {
        let range = format!("{since}..{until}");
        let arguments = ["log", "--first-parent", "--no-show-signature", "--format=%H%x00%s", &range, "--"];
        let answer = self.ask_git().run(&arguments).unwrap_or_default();
        let text = String::from_utf8_lossy(&answer).into_owned();
        text.lines()
            .filter_map(|line| line.split_once('\0'))
            .map(|(hash, subject)| (hash.to_owned(), subject.to_owned()))
            .collect()
    }
}

/// A commit of a branch's own line, with what it brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// Its hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
    /// Its time.
    pub at: Timestamp,
    /// The paths that it changed.
    pub paths: BTreeSet<RepoPath>,
}

/// How `git log` writes each commit for [`merged`].
const FORMAT: &str = "--format=%x00%H%x00%ct%x00%s";

/// Reads what `git log --name-only -z` prints as [`FORMAT`] says: an empty record stands before each commit, and a line
/// break before its first path.
fn merged(printed: &[u8]) -> Vec<Merged> {
    let mut found: Vec<Merged> = Vec::new();
    let mut records = printed.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    while let Some(record) = records.next() {
        if !record.is_empty() {
            if let (Some(last), Ok(path)) =
                (found.last_mut(), RepoPath::parse(record.trim_start_matches('\n')))
            {
                last.paths.insert(path);
            }
        } else if let (Some(hash), Some(second), Some(subject)) =
            (records.next(), records.next(), records.next())
        {
            let at = second.parse().ok().and_then(|second| Timestamp::from_second(second).ok());
            found.push(Merged {
                hash: hash.into_owned(),
                subject: subject.into_owned(),
                at: at.unwrap_or_default(),
                paths: BTreeSet::new(),
            });
        }
    }
    found
}

/// Names an object of a kind for git; `None` for a text that can't be a revision: one that git would take for an option,
/// or that holds a control character.
pub(super) fn named(revision: &str, kind: &str) -> Option<String> {
    let is_name = !revision.is_empty() && !revision.starts_with('-') && !revision.contains(char::is_control);
    is_name.then(|| format!("{revision}^{{{kind}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_with_what_they_changed() {
        let printed = b"\0aa\x007\0empty\0\0bb\x006\0\0\nc\0\0cc\x005\0two: x\0\na\0b/d\0";
        let told: Vec<String> = merged(printed)
            .into_iter()
            .map(|one| {
                let paths: Vec<&str> = one.paths.iter().map(RepoPath::as_str).collect();
                format!("{} {} {:?} {paths:?}", one.hash, one.at.as_second(), one.subject)
            })
            .collect();
        assert_eq!(told, [r#"aa 7 "empty" []"#, r#"bb 6 "" ["c"]"#, r#"cc 5 "two: x" ["a", "b/d"]"#]);
    }
}
