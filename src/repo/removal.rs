//! Which commit took files away.

use crate::path::RepoPath;
use crate::repo::Repository;

/// How many digits name a commit.
const SHORT: usize = 10;

/// A commit that took files away.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Removal {
    /// Its hash.
    pub commit: String,
    /// All files that it took away.
    pub files: Vec<RepoPath>,
}

impl Removal {
    /// Returns the hash as people write it.
    pub fn short(&self) -> &str {
        self.commit.get(..SHORT).unwrap_or(&self.commit)
    }
}

impl Repository {
    /// Returns the newest commit that took one of some files away; `None` where git knows of none.
    pub fn removal_of(&self, paths: &[RepoPath]) -> Option<Removal> {
        self.git()?;
        let head = self.commit("HEAD")?;
        let how =
            ["log", "--max-count=1", "--diff-filter=D", "--no-renames", "--full-diff", "--name-only", "-z"];
        let what = ["--no-relative", "--no-show-signature", "--no-ext-diff", "--format=%H", &head, "--"];
        let names = paths.iter().map(RepoPath::as_str);
        let answer =
            self.ask_git().run(&how.into_iter().chain(what).chain(names).collect::<Vec<_>>()).ok()?;
        read(&String::from_utf8_lossy(&answer))
    }
}

/// Reads `git log -z --name-only --format=%H` of one commit.
fn read(log: &str) -> Option<Removal> {
    let mut fields = log.split(['\0', '\n']).filter(|field| !field.is_empty());
    let commit = fields.next()?.to_owned();
    Some(Removal { commit, files: fields.filter_map(|path| RepoPath::parse(path).ok()).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_read_with_what_it_took_away() {
        let removal = read("0123456789abcdef\0\napps/a\0b c\0").unwrap();
        assert_eq!(removal.short(), "0123456789");
        assert_eq!(removal.files.iter().map(RepoPath::as_str).collect::<Vec<_>>(), ["apps/a", "b c"]);
        assert_eq!(read(""), None);
    }
}
