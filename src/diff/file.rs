//! What happens to each file, with a removal and a creation of similar bytes told as one move.

use std::collections::BTreeSet;

use crate::change::Changes;
use crate::path::RepoPath;
use crate::repo::File;
use crate::text::words;

words! {
    /// What happens to a file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Kind {
        /// The file is new.
        Create = "create",
        /// The file's content or mode changes.
        Edit = "edit",
        /// The file's bytes go to another path, unchanged or edited.
        Move = "move",
        /// The file goes.
        Remove = "remove",
    }
}

/// One file's change as the forms show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileChange<'a> {
    /// The file's path; for a move, where it goes.
    pub path: &'a RepoPath,
    /// Where a moved file comes from.
    pub from: Option<&'a RepoPath>,
    /// The file before, at `from` for a move.
    pub before: Option<&'a File>,
    /// The file after.
    pub after: Option<&'a File>,
}

impl FileChange<'_> {
    /// Says what happens to the file.
    pub fn kind(&self) -> Kind {
        match (self.from, self.before, self.after) {
            (Some(_), _, _) => Kind::Move,
            (None, None, _) => Kind::Create,
            (None, Some(_), Some(_)) => Kind::Edit,
            (None, Some(_), None) => Kind::Remove,
        }
    }

    /// Returns whether either side holds a NUL byte, which no text does.
    pub fn is_binary(&self) -> bool {
        [self.before, self.after].iter().flatten().any(|file| file.bytes().contains(&0))
    }

    pub(super) fn bytes(&self) -> (&[u8], &[u8]) {
        (self.before.map_or(&[], |file| file.bytes()), self.after.map_or(&[], |file| file.bytes()))
    }
}

/// Returns each file's change, in the order of paths; what [moves](Changes::moves) is one change.
///
/// A change that changes nothing is left out.
pub fn file_changes(plan: &Changes) -> Vec<FileChange<'_>> {
    let moves = plan.moves();
    let moved: BTreeSet<&RepoPath> = moves.values().copied().collect();
    let changes = plan.iter().filter(|(path, _)| !moved.contains(path)).filter_map(|(path, change)| {
        let from = moves.get(path).copied();
        let before = match from {
            Some(from) => plan.get(from)?.before.as_ref(),
            None => change.before.as_ref(),
        };
        let after = change.after.as_ref();
        (from.is_some() || before != after).then_some(FileChange { path, from, before, after })
    });
    changes.collect()
}
