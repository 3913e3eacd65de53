//! What reverting the last step of a migration brings back.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Input, Sides};
use crate::path::RepoPath;
use crate::plan::split::left_list::{LeftList, left_list};
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::{Entry, Graph, Removal, Repository, Snapshot};

/// A list that a revert restores, and that its sides have changed since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The commit that took it away, in short.
    pub commit: String,
    /// It, as it would be beside the sides of today.
    pub left: LeftList,
}

/// Finds such lists of entry points of which only sides stand, as far as git says which commit left them so.
pub fn undone(input: &Input<'_>, repository: &Repository) -> BTreeMap<RepoPath, Undone> {
    let sides = input.sides();
    let graph = &input.model.graph;
    let mut removals: BTreeMap<Removal, BTreeSet<&RepoPath>> = BTreeMap::new();
    for whole in sides.divided(graph).filter(|whole| !graph.has(whole)) {
        if sides.standing(graph, whole).keys().all(|side| input.is_applied(side))
            && let Some(removal) = repository.removal_of(&lists(whole))
        {
            removals.entry(removal).or_default().insert(whole);
        }
    }
    let mut found = BTreeMap::new();
    for (removal, wholes) in removals {
        let Some((files, lists)) = restored(input.snapshot, repository, &removal) else { continue };
        let then = input.later(&files);
        found.extend(of_one(&then.input(), &sides, (&removal, &lists), &wholes));
    }
    found
}

fn of_one(
    then: &Input<'_>,
    sides: &Sides,
    (removal, lists): (&Removal, &Graph),
    wholes: &BTreeSet<&RepoPath>,
) -> Vec<(RepoPath, Undone)> {
    let one = |whole: &RepoPath| {
        let left = left_list(then, sides, whole, Some(lists))?;
        Some((whole.clone(), Undone { commit: removal.short().to_owned(), left }))
    };
    wholes.iter().filter_map(|whole| one(whole)).collect()
}

fn lists(folder: &RepoPath) -> Vec<RepoPath> {
    FILE_NAMES.iter().filter_map(|name| folder.join(name).ok()).collect()
}

/// Returns the files with those that a commit removed, and the lists of the time before it.
fn restored(snapshot: &Snapshot, repository: &Repository, removal: &Removal) -> Option<(Snapshot, Graph)> {
    let before = repository.snapshot_beside(&format!("{}^", removal.commit), snapshot).ok()?.snapshot;
    let mut files = snapshot.clone();
    for path in removal.files.iter().filter(|path| snapshot.entry(path).is_none()) {
        if let Some(Entry::File(file)) = before.entry(path) {
            files.insert(path.clone(), file.clone());
        }
    }
    Some((files, Graph::read(&before)))
}
