//! The plan: which files are created, edited, moved and removed, and what must stay true.
//!
//! Everything in here is pure. A [`Plan`] is made once and has several consumers: the proof, the
//! diff and the writer.

use std::collections::BTreeMap;

use crate::repo::{File, RepoPath, Snapshot};

/// What happens at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file as the plan found it; `None` where there was none.
    pub before: Option<File>,
    /// The file as the plan leaves it; `None` where it is removed.
    pub after: Option<File>,
    /// The path whose content was moved here byte for byte, if it was.
    pub moved_from: Option<RepoPath>,
}

/// Every change of one command, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changed paths. A path whose content stays the same is not here.
    pub changes: BTreeMap<RepoPath, Change>,
}

impl Plan {
    /// Gives the tree that writing this plan leaves.
    pub fn apply(&self, snapshot: &Snapshot) -> Snapshot {
        let mut after = snapshot.clone();
        for (path, change) in &self.changes {
            match &change.after {
                Some(file) => after.insert(path.clone(), file.clone()),
                None => after.remove(path),
            }
        }
        after
    }
}
