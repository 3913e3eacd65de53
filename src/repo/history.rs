//! Reading a commit's tree instead of the disk.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::limit::FILE;
use crate::path::RepoPath;
use crate::repo::flux::is_yaml;
use crate::repo::name::{keep, records};
use crate::repo::revision::named;
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
    /// Returns whether a commit, given by its hash, contains a revision.
    pub fn relation(&self, commit: &str, revision: &str) -> Relation {
        let (Some(commit), Some(revision)) = (self.commit(commit), self.commit(revision)) else {
            return Relation::Unknown;
        };
        // It fails where history is missing, as in a shallow clone.
        match self.ask_git().run(&["rev-list", "--max-count=1", &revision, "--not", &commit]) {
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
    /// When there is no git, the revision is unknown, or the clone lacks most of what Flux reads, or anything of it that a
    /// partial clone can fetch.
    pub fn snapshot_at(&self, revision: &str) -> Result<Reading, Error> {
        self.snapshot_near(revision, &Snapshot::default())
    }

    /// As [`snapshot_at`](Repository::snapshot_at), beside another tree of which nothing is told: it only spares reading.
    ///
    /// # Errors
    ///
    /// As [`snapshot_at`](Repository::snapshot_at).
    pub fn snapshot_near(&self, revision: &str, other: &Snapshot) -> Result<Reading, Error> {
        let reading = self.read_beside(revision, other)?;
        let mut texts = 0;
        let mut lacking = Vec::new();
        for (path, entry) in reading.snapshot.entries().filter(|(path, _)| is_text(path)) {
            texts += 1;
            lacking.extend(matches!(entry, Entry::Lacking { .. }).then_some(path));
        }
        // Without them roots would not be found, and all would look well.
        match lacking.first() {
            Some(path) if self.is_partial() || lacking.len() * 2 > texts => {
                Err(lacking_content(&doing(revision), path.as_str()))
            }
            _ => Ok(reading),
        }
    }

    /// Returns whether git can fetch what the clone lacks.
    fn is_partial(&self) -> bool {
        let promised = ["config", "--get-regexp", r"^(remote\..*\.promisor|extensions\.partialclone)$"];
        self.ask_git().run(&promised).is_ok()
    }

    /// As [`snapshot_at`](Repository::snapshot_at), beside a tree that it is compared with: what stands there too at the
    /// same path is shared with it, and not read again.
    ///
    /// # Errors
    ///
    /// As [`snapshot_at`](Repository::snapshot_at), and when the clone lacks what Flux reads and one of the two has
    /// otherwise: what that means is not known.
    pub fn snapshot_beside(&self, revision: &str, other: &Snapshot) -> Result<Reading, Error> {
        let reading = self.read_beside(revision, other)?;
        let is_lacking = |path: &RepoPath| {
            let mut sides = [&reading.snapshot, other].into_iter().filter_map(|files| files.entry(path));
            is_text(path) && sides.any(|entry| matches!(entry, Entry::Lacking { .. }))
        };
        match reading.snapshot.differing(other).into_iter().find(is_lacking) {
            Some(path) => Err(lacking_content(&doing(revision), path.as_str())),
            None => Ok(reading),
        }
    }

    fn read_beside(&self, revision: &str, other: &Snapshot) -> Result<Reading, Error> {
        let doing = doing(revision);
        if self.git().is_none() {
            let message =
                format!("{doing} is not possible: `{}` is in no git repository", self.top().display());
            return Err(Error::invalid(Diagnostic::error(message).help("run inside a git repository")));
        }
        let unknown = || self.unknown(revision);
        let tree = named(revision, "tree").ok_or_else(unknown)?;
        let git = self.ask_git();
        let listing = git.run(&["ls-tree", "-r", "-z", "--full-tree", &tree]).map_err(|error| match self
            .object(&tree)
        {
            Some(_) => error.into_error(&doing),
            None => unknown(),
        })?;

        let mut notes = Vec::new();
        let (mut listed, mut submodules) = (BTreeMap::new(), BTreeMap::new());
        for record in records(&listing) {
            // "<mode> <type> <object>\t<path>".
            let Some(tab) = record.iter().position(|byte| *byte == b'\t') else { continue };
            let head = std::str::from_utf8(&record[..tab]).unwrap_or_default();
            let mut fields = head.split_ascii_whitespace();
            match (fields.next(), fields.next(), fields.next()) {
                (Some(mode), Some("blob"), Some(object)) => {
                    keep(&record[tab + 1..], (mode, object), &mut listed, &mut notes);
                }
                (_, Some("commit"), _) => keep(&record[tab + 1..], (), &mut submodules, &mut notes),
                _ => {}
            }
        }

        let mut snapshot = other.clone();
        if !snapshot.hollow().eq(submodules.keys()) {
            snapshot = snapshot.with_hollow(submodules.into_keys().collect());
        }
        let gone = other.entries().map(|(path, _)| path).filter(|path| !listed.contains_key(*path));
        gone.for_each(|path| snapshot.remove(path));
        listed.retain(|path, (mode, object)| {
            !other.entry(path).is_some_and(|entry| is_stored(entry, mode, object))
        });
        if listed.is_empty() {
            return Ok(Reading { snapshot, notes });
        }
        let ask = |how: &str, objects: String| {
            let answer = git.run_with(&["cat-file", how], objects.into_bytes(), &[0]);
            answer.map_err(|error| error.into_error(&doing))
        };
        let sizes = ask("--batch-check", listed.values().map(|(_, object)| format!("{object}\n")).collect())?;
        let sizes = String::from_utf8_lossy(&sizes);
        // "<object> blob <size>", or "<object> missing" for what a partial clone lacks.
        let size = |line: &str| line.rsplit_once(" blob ")?.1.parse::<u64>().ok();
        let sizes: Vec<Option<u64>> = sizes.lines().map(size).collect();
        let small = listed.values().zip(&sizes).filter(|(_, size)| size.is_some_and(|size| size <= FILE));
        let answer = ask("--batch", small.map(|((_, object), _)| format!("{object}\n")).collect())?;
        let mut blobs = Blobs { rest: &answer };
        for ((path, (mode, object)), size) in listed.into_iter().zip(sizes) {
            let content = |blobs: &mut Blobs<'_>| {
                let bytes = blobs.next_blob(object).ok_or_else(|| lacking_content(&doing, path.as_str()))?;
                Ok(match mode {
                    "120000" => Entry::Symlink { target: String::from_utf8_lossy(bytes).into_owned() },
                    mode => Entry::File(File::new(bytes).with_mode(mode == "100755")),
                })
            };
            let entry = match size {
                None if mode == "120000" => return Err(lacking_content(&doing, path.as_str())),
                None => Entry::Lacking { object: object.to_owned() },
                Some(bytes) if bytes > FILE => Entry::Large { bytes },
                Some(_) => content(&mut blobs)?,
            };
            snapshot.put(path, entry);
        }
        Ok(Reading { snapshot, notes })
    }
}

fn doing(revision: &str) -> String {
    format!("reading the revision `{}`", revision.escape_debug())
}

/// Returns whether Flux or kustomize reads a file of this name for what it says itself, and not as a value.
fn is_text(path: &RepoPath) -> bool {
    is_yaml(path) || matches!(path.name(), Some("Kustomization" | ".sourceignore"))
}

/// Says that the clone lacks a file of a commit.
fn lacking_content(doing: &str, path: &str) -> Error {
    let message = format!("{doing} failed: git has no content for `{path}`");
    Error::invalid(
        Diagnostic::error(message).help("the clone is partial: fetch the whole commit, then run this again"),
    )
}

/// Returns whether git stores an entry as this object with this mode.
fn is_stored(entry: &Entry, mode: &str, object: &str) -> bool {
    let file = match entry {
        Entry::File(file) => file,
        Entry::Lacking { object: own } => return mode.starts_with("100") && own == object,
        _ => return false,
    };
    let is_same_mode = match mode {
        "100755" => file.executable,
        mode => mode.starts_with("100") && !file.executable,
    };
    is_same_mode && file.is_named(object)
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
