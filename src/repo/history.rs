//! Reading a commit's tree instead of the disk.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::repo::name::{keep, records};
use crate::repo::read::LIMIT;
use crate::repo::{Entry, File, Reading, Repository, Snapshot};

/// How a commit stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is the other, or has it among its ancestors.
    Contains,
    /// It lacks the other.
    Lacks,
    /// The repository does not have it.
    Unknown,
}

impl Repository {
    /// Tells whether a commit, given by its hash, contains a revision.
    pub fn relation(&self, commit: &str, revision: &str) -> Relation {
        let git = self.ask_git();
        let resolve = |text: &str| {
            // A revision is data, never an option.
            if text.is_empty() || text.starts_with('-') {
                return None;
            }
            let named = format!("{text}^{{commit}}");
            let found = git.run(&["rev-parse", "--verify", "--quiet", &named]).ok()?;
            Some(String::from_utf8_lossy(&found).trim().to_owned())
        };
        let (Some(commit), Some(revision)) = (resolve(commit), resolve(revision)) else {
            return Relation::Unknown;
        };
        // It fails where history is missing, as in a shallow clone.
        match git.run(&["rev-list", "--max-count=1", &revision, "--not", &commit]) {
            Ok(missing) if missing.is_empty() => Relation::Contains,
            Ok(_) => Relation::Lacks,
            Err(_) => Relation::Unknown,
        }
    }

    /// Reads the tree of a commit, a tag or a tree, as git stores it.
    ///
    /// The same files are left out as by [`Repository::read`]. Contents are git's own: no line
    /// ending conversion and no filter is applied.
    ///
    /// # Errors
    ///
    /// When there is no git, the revision is unknown, or an object is missing (a shallow or
    /// partial clone).
    pub fn snapshot_at(&self, revision: &str) -> Result<Reading, Error> {
        let doing = format!("reading the revision `{}`", revision.escape_debug());
        if self.git().is_none() {
            let message =
                format!("{doing} is not possible: `{}` is in no git repository", self.top().display());
            return Err(Error::invalid(Diagnostic::error(message).help("run inside a git repository")));
        }
        let unknown = || {
            Error::invalid(
                Diagnostic::error(format!("git knows no revision `{}`", revision.escape_debug()))
                    .help("name a commit, branch or tag that is here; in a shallow clone, fetch it first"),
            )
        };
        // A revision is data: never an option, and never more than one.
        if revision.is_empty() || revision.starts_with('-') || revision.contains(char::is_control) {
            return Err(unknown());
        }
        let git = self.ask_git();
        let named = format!("{revision}^{{tree}}");
        let tree = git.run(&["rev-parse", "--verify", "--quiet", &named]).map_err(|_| unknown())?;
        let tree = String::from_utf8_lossy(&tree).trim().to_owned();
        let listing = git
            .run(&["ls-tree", "-r", "-z", "-l", "--full-tree", &tree])
            .map_err(|error| error.into_error(&doing))?;

        let mut notes = Vec::new();
        let mut listed = BTreeMap::new();
        for record in records(&listing) {
            // "<mode> <type> <object> <size>\t<path>", the size padded with spaces.
            let Some(tab) = record.iter().position(|byte| *byte == b'\t') else { continue };
            let head = String::from_utf8_lossy(&record[..tab]).into_owned();
            let mut fields = head.split_ascii_whitespace();
            let (Some(mode), Some("blob"), Some(object), Some(size)) =
                (fields.next(), fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let size = size.parse().unwrap_or(u64::MAX);
            keep(&record[tab + 1..], (mode.to_owned(), object.to_owned(), size), &mut listed, &mut notes);
        }

        let small = listed.values().filter(|(_, _, size)| *size <= LIMIT);
        let wanted: String = small.map(|(_, object, _)| format!("{object}\n")).collect();
        let answer = git
            .run_with(&["cat-file", "--batch"], wanted.into_bytes(), &[0])
            .map_err(|error| error.into_error(&doing))?;
        let mut blobs = Blobs { rest: &answer };
        let mut entries = BTreeMap::new();
        for (path, (mode, object, size)) in listed {
            let entry = if size > LIMIT {
                Entry::Large { bytes: size }
            } else {
                let Some(bytes) = blobs.next_blob(&object) else {
                    let message = format!("{doing} failed: git has no content for `{path}`");
                    return Err(Error::invalid(Diagnostic::error(message).help("fetch the whole commit")));
                };
                match mode.as_str() {
                    "120000" => Entry::Symlink { target: String::from_utf8_lossy(bytes).into_owned() },
                    mode => Entry::File(File { bytes: bytes.into(), executable: mode == "100755" }),
                }
            };
            entries.insert(path, entry);
        }
        Ok(Reading { snapshot: Snapshot::new(entries), notes })
    }
}

/// The answers of `git cat-file --batch`: `<object> blob <size>\n<bytes>\n`, one after another.
struct Blobs<'a> {
    rest: &'a [u8],
}

impl<'a> Blobs<'a> {
    fn next_blob(&mut self, object: &str) -> Option<&'a [u8]> {
        let line = self.rest.iter().position(|byte| *byte == b'\n')?;
        let header = std::str::from_utf8(&self.rest[..line]).ok()?;
        let size: usize = header.strip_prefix(object)?.strip_prefix(" blob ")?.parse().ok()?;
        let bytes = self.rest.get(line + 1..line + 1 + size)?;
        self.rest = self.rest.get(line + 2 + size..)?;
        Some(bytes)
    }
}
