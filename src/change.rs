//! What a plan changes, path by path: all that the diff and the writer know of it.

mod moves;

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use crate::path::RepoPath;
use crate::repo::{File, Snapshot};

pub use moves::similarity;

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

/// The changed paths. A path whose content stays the same is not here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes(BTreeMap<RepoPath, Change>);

impl Changes {
    /// Counts the files that change; one that the plan moves as it is counts once.
    pub fn files(&self) -> usize {
        let moved = self.values().filter_map(|change| change.moved_from.as_ref());
        let sources = moved.filter(|from| self.get(*from).is_some_and(|change| change.after.is_none()));
        self.len() - sources.count()
    }

    /// Takes in one more change; one that changes nothing is left out.
    pub fn include(&mut self, path: RepoPath, change: Change) {
        if change.before != change.after {
            self.insert(path, change);
        }
    }

    /// Returns the tree that writing these changes leaves.
    pub fn apply(&self, snapshot: &Snapshot) -> Snapshot {
        let mut after = snapshot.clone();
        for (path, change) in &self.0 {
            match &change.after {
                Some(file) => after.insert(path.clone(), file.clone()),
                None => after.remove(path),
            }
        }
        after
    }
}

impl Deref for Changes {
    type Target = BTreeMap<RepoPath, Change>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Changes {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl FromIterator<(RepoPath, Change)> for Changes {
    fn from_iter<T: IntoIterator<Item = (RepoPath, Change)>>(changes: T) -> Changes {
        Changes(changes.into_iter().collect())
    }
}
