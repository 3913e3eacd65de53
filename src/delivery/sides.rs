//! The folders into which entry points are divided.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use crate::delivery::Model;
use crate::path::RepoPath;
use crate::repo::Graph;
use crate::spec::{ChangeType, Spec, expand_folder, folder_of};

/// The sides of entry points: side → (entry point, position of the type).
#[derive(Clone, Debug, Default)]
pub struct Sides {
    by_side: BTreeMap<RepoPath, (RepoPath, usize)>,
    by_whole: BTreeMap<RepoPath, BTreeSet<RepoPath>>,
}

impl Deref for Sides {
    type Target = BTreeMap<RepoPath, (RepoPath, usize)>;

    fn deref(&self) -> &Self::Target {
        &self.by_side
    }
}

impl Sides {
    /// Returns the sides of every entry point, present or not.
    ///
    /// An entry point whose own path is a side of another folder is the result of a split, so that
    /// folder counts as an entry point too, be it gone from Git or not.
    pub fn of(spec: &Spec, model: &Model) -> Sides {
        let mut by_side = BTreeMap::new();
        for entry in model.all_entries() {
            let above = entry.path.ancestors();
            for candidate in above.take_while(|path| !path.is_top()) {
                for (position, change_type) in spec.types.iter().enumerate() {
                    let side = side(spec, &candidate, &entry.cluster, &change_type.name);
                    by_side.extend(side.map(|side| (side, (candidate.clone(), position))));
                }
            }
        }
        // With the folder first, each side lies below it.
        if !spec.layout.entry_point.starts_with("{path}/") {
            by_side.extend(elsewhere(spec, model, &by_side));
        }
        let mut by_whole: BTreeMap<RepoPath, BTreeSet<RepoPath>> = BTreeMap::new();
        for (side, (whole, _)) in &by_side {
            by_whole.entry(whole.clone()).or_default().insert(side.clone());
        }
        Sides { by_side, by_whole }
    }

    /// Returns the sides of one entry point, present or not, with the positions of their types.
    pub fn of_whole(&self, whole: &RepoPath) -> impl Iterator<Item = (&RepoPath, usize)> {
        let sides = self.by_whole.get(whole).into_iter().flatten();
        sides.filter_map(|side| Some((side, self.by_side.get(side)?.1)))
    }

    /// As [`of_whole`](Sides::of_whole), of one type.
    pub fn of_type(&self, whole: &RepoPath, position: usize) -> impl Iterator<Item = &RepoPath> {
        self.of_whole(whole).filter(move |(_, of)| *of == position).map(|(side, _)| side)
    }

    /// As [`of_whole`](Sides::of_whole), those that stand.
    pub fn standing(&self, graph: &Graph, whole: &RepoPath) -> BTreeMap<RepoPath, usize> {
        let standing = self.of_whole(whole).filter(|(side, _)| graph.has(side));
        standing.map(|(side, position)| (side.clone(), position)).collect()
    }

    /// Returns whether a side of a type stands.
    pub fn has(&self, graph: &Graph, whole: &RepoPath, position: usize) -> bool {
        self.of_type(whole, position).any(|side| graph.has(side))
    }

    /// Returns the entry points of which a side stands.
    pub fn divided(&self, graph: &Graph) -> impl Iterator<Item = &RepoPath> {
        let is_divided = |sides: &BTreeSet<RepoPath>| sides.iter().any(|side| graph.has(side));
        self.by_whole.iter().filter(move |(_, sides)| is_divided(sides)).map(|(whole, _)| whole)
    }
}

/// Returns the entry point of a type beside or below the one that is split.
pub fn side(spec: &Spec, entry: &RepoPath, cluster: &str, change_type: &str) -> Option<RepoPath> {
    let root = spec.folder();
    let values = [("type", change_type), ("cluster", cluster)];
    root.join(&expand_folder(&spec.layout.entry_point, &entry.relative_to(&root), &values)?).ok()
}

/// Returns the entry point of which a folder is a side by its place alone, with the position of the type.
pub fn by_place(spec: &Spec, folder: &RepoPath, cluster: &str) -> Option<(RepoPath, usize)> {
    let (root, mut types) = (spec.folder(), spec.types.iter().enumerate());
    let path = folder.relative_to(&root);
    types.find_map(|(position, change_type)| {
        let values = [("type", change_type.name.value.as_str()), ("cluster", cluster)];
        let first = || root.join(&folder_of(&spec.layout.entry_point, &path, &values)?).ok();
        let is_it = |whole: &RepoPath| side(spec, whole, cluster, &change_type.name).as_ref() == Some(folder);
        let mut above = folder.ancestors().take_while(|path| !path.is_top());
        Some((above.find(is_it).or_else(|| first().filter(is_it))?, position))
    })
}

/// Returns the folder that all sides of an entry point build where they are projections.
pub fn shared(spec: &Spec, entry: &RepoPath, cluster: &str) -> Option<RepoPath> {
    side(spec, entry, cluster, "all")
}

/// Finds the sides of entry points that are no folder above any side, and may be gone from Git.
fn elsewhere(
    spec: &Spec,
    model: &Model,
    known: &BTreeMap<RepoPath, (RepoPath, usize)>,
) -> BTreeMap<RepoPath, (RepoPath, usize)> {
    let root = spec.folder();
    let mut found = BTreeMap::new();
    for entry in model.all_entries().iter().filter(|entry| !known.contains_key(&entry.path)) {
        let path = entry.path.relative_to(&root);
        let of = |change_type: &ChangeType| {
            let values = [("type", change_type.name.value.as_str()), ("cluster", entry.cluster.as_str())];
            root.join(&folder_of(&spec.layout.entry_point, &path, &values)?).ok()
        };
        let Some(whole) = spec.types.iter().find_map(of) else { continue };
        let of_whole = spec.types.iter().enumerate().filter_map(|(position, change_type)| {
            Some((side(spec, &whole, &entry.cluster, &change_type.name)?, (whole.clone(), position)))
        });
        let of_whole: Vec<(RepoPath, (RepoPath, usize))> = of_whole.collect();
        // What merely has such a name stands alone.
        let is_another = |side: &RepoPath| *side != entry.path && model.graph.has(side);
        if model.graph.has(&whole) || of_whole.iter().any(|(side, _)| is_another(side)) {
            found.extend(of_whole);
        }
    }
    found
}
