//! Since when files stand in Git.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::path::RepoPath;
use crate::repo::{File, Repository};

/// Since when a file stands in Git, by the commits of the branch that is checked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appeared {
    /// Since a commit before the time that was asked for.
    Before,
    /// Since a commit of this time.
    At(Timestamp),
    /// It is in no commit.
    Nowhere,
    /// Git can't say: there is none, or the clone does not reach back that far.
    Unknown,
}

impl Repository {
    /// Tells since when files stand in Git by the commits of a revision, looking back to an instant.
    ///
    /// A commit counts as of when it came to the branch's own line: a merge, not what it merges. A file that was moved
    /// stands since it was made.
    pub fn appeared_at(
        &self,
        revision: &str,
        paths: &BTreeSet<RepoPath>,
        since: Timestamp,
    ) -> BTreeMap<RepoPath, Appeared> {
        let all = |what: Appeared| paths.iter().map(|path| (path.clone(), what)).collect();
        if self.git().is_none() {
            return all(Appeared::Unknown);
        }
        let git = self.ask_git();
        let Some(head) = self.commit(revision) else { return all(Appeared::Nowhere) };
        let arguments = ["ls-tree", "-r", "-z", "--full-tree", "--name-only", &head, "--"];
        let names: Vec<&str> = arguments.into_iter().chain(paths.iter().map(RepoPath::as_str)).collect();
        let Ok(listed) = git.run(&names) else { return all(Appeared::Unknown) };
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let listed: BTreeSet<&str> = listed.split('\0').collect();
        // Without paths, so that git sees what was moved.
        let since = format!("--since={}", since.as_second());
        let format = "--format=%x01%ct";
        let how = ["--first-parent", "-m", "--root", "--no-relative", "--no-show-signature", "--no-ext-diff"];
        let what = ["-M", "--diff-filter=AR", "--name-status", "-z", format, &since, &head, "--"];
        let Ok(log) = git.run(&["log"].into_iter().chain(how).chain(what).collect::<Vec<_>>()) else {
            return all(Appeared::Unknown);
        };
        let log = String::from_utf8_lossy(&log).into_owned();
        let is_whole = !self.is_shallow();
        let told = |path: &RepoPath| match () {
            () if !listed.contains(path.as_str()) => Appeared::Nowhere,
            // Where a shallow clone begins, every file seems to be new.
            () => match added(&log, path.as_str()) {
                Some(_) if !is_whole => Appeared::Unknown,
                Some(at) => Appeared::At(at),
                None => Appeared::Before,
            },
        };
        paths.iter().map(|path| (path.clone(), told(path))).collect()
    }

    /// Returns the time of the newest commit that changed one of some files; `None` where one of them is not as Git has
    /// it, or git can't say.
    pub fn changed_at(&self, files: &[(&RepoPath, &File)]) -> Option<Timestamp> {
        let git = self.ask_git();
        let head = self.git().and_then(|_| self.commit("HEAD"))?;
        let names = files.iter().map(|(path, _)| path.as_str());
        let listing = ["ls-tree", "-r", "-z", "--full-tree", &head, "--"].into_iter().chain(names.clone());
        let listed = git.run(&listing.collect::<Vec<_>>()).ok()?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let stored: BTreeMap<&str, &str> = listed
            .split('\0')
            .filter_map(|record| record.split_once('\t'))
            .filter_map(|(head, path)| Some((path, head.rsplit(' ').next()?)))
            .collect();
        let is_stored = |(path, file): &(&RepoPath, &File)| {
            stored.get(path.as_str()).is_some_and(|object| file.is_named(object))
        };
        if !files.iter().all(is_stored) {
            return None;
        }
        let how = ["log", "--max-count=1", "--no-show-signature", "--format=%ct", &head, "--"];
        let found = git.run(&how.into_iter().chain(names).collect::<Vec<_>>()).ok()?;
        let second = String::from_utf8_lossy(&found).trim().parse().ok()?;
        Timestamp::from_second(second).ok()
    }
}

/// Returns when a file was added, going back through `git log -z --name-status` with a time before each commit.
fn added(log: &str, path: &str) -> Option<Timestamp> {
    let (mut name, mut second) = (path, 0);
    let mut fields = log.split('\0');
    while let Some(field) = fields.next() {
        let field = field.trim_start_matches('\n');
        if let Some(time) = field.strip_prefix('\u{1}') {
            second = time.trim_end().parse().unwrap_or(second);
        } else if field.starts_with('R') {
            let (from, to) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            if to == name {
                name = from;
            }
        } else if field == "A" && fields.next() == Some(name) {
            return Timestamp::from_second(second).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_followed_through_its_moves() {
        let log = "\u{1}300\0\nR100\0a\0b\0A\0c\nd\0\u{1}200\0\nA\0e\0\u{1}100\0\nA\0a\0";
        let at = |path: &str| added(log, path).map(Timestamp::as_second);
        assert_eq!(
            [at("b"), at("c\nd"), at("e"), at("a"), at("f")],
            [Some(100), Some(300), Some(200), Some(100), None]
        );
    }
}
