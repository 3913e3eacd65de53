//! The repository's files as one value.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::repo::RepoPath;

/// A regular file: its bytes and the one mode bit that git keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The content.
    pub bytes: Arc<[u8]>,
    /// Whether git's mode is 100755.
    pub executable: bool,
}

impl File {
    /// Makes a plain, not executable file.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> File {
        File { bytes: bytes.into(), executable: false }
    }

    /// Gives the content as text where it is UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A regular file.
    File(File),
    /// A symbolic link with its target as written.
    Symlink {
        /// The link's text, relative to the folder that holds it unless absolute.
        target: String,
    },
    /// A file above the size that the reader takes; present, but its content is unknown.
    Large {
        /// Its size in bytes.
        bytes: u64,
    },
}

/// The files of a repository at one moment: what git tracks and what it would track.
///
/// A snapshot is cheap to clone (contents are shared) and never changes; a plan applied to it
/// gives another snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    entries: BTreeMap<RepoPath, Entry>,
}

impl Snapshot {
    /// Makes a snapshot of the given entries.
    pub fn new(entries: BTreeMap<RepoPath, Entry>) -> Snapshot {
        Snapshot { entries }
    }

    /// Gives everything, in the order of paths.
    pub fn entries(&self) -> impl Iterator<Item = (&RepoPath, &Entry)> {
        self.entries.iter()
    }

    /// Gives the entry at exactly this path, links not followed.
    pub fn entry(&self, path: &RepoPath) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Gives the regular file at exactly this path, links not followed.
    pub fn file(&self, path: &RepoPath) -> Option<&File> {
        match self.entries.get(path) {
            Some(Entry::File(file)) => Some(file),
            _ => None,
        }
    }

    /// Puts a file in place of whatever stands at the path.
    pub fn insert(&mut self, path: RepoPath, file: File) {
        self.entries.insert(path, Entry::File(file));
    }

    /// Takes away what stands at the path.
    pub fn remove(&mut self, path: &RepoPath) {
        self.entries.remove(path);
    }
}
