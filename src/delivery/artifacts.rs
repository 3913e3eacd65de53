//! How the artifacts of two trees differ.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::applier::Around;
use crate::delivery::{Applier, Artifact, World};
use crate::path::RepoPath;
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::{Entry, Graph, Snapshot};

/// What differs between artifacts of two trees, worked out once for each two.
pub(crate) struct Artifacts<'a> {
    before: World<'a>,
    after: World<'a>,
    touched: BTreeMap<[Option<&'a Artifact>; 2], Touched>,
}

/// What a difference of two artifacts reaches.
struct Touched {
    differing: Differing,
    /// Whether the lists of both are the same, so that the newer ones tell all.
    is_listed_alike: bool,
    /// The folders of which a build may read something that differs, in the older artifact and in the newer one, once
    /// somebody has asked.
    reading: [Option<BTreeSet<RepoPath>>; 2],
}

/// The paths at which two artifacts hold something else, and these with all folders above them.
struct Differing {
    files: BTreeSet<RepoPath>,
    around: BTreeSet<RepoPath>,
}

impl<'a> Artifacts<'a> {
    pub(crate) fn new(before: World<'a>, after: World<'a>) -> Artifacts<'a> {
        Artifacts { before, after, touched: BTreeMap::new() }
    }

    /// Returns whether a build may read something that differs from what it read before: content, or what its source leaves out.
    pub(crate) fn may_differ(&mut self, old: &Applier<'a>, new: &Applier<'a>) -> bool {
        let sides = [(self.before, old), (self.after, new)];
        let touched = self.touched.entry([old.artifact(), new.artifact()]).or_insert_with(|| {
            let files =
                sides.map(|(world, applier)| world.model.delivered.files(world.snapshot, applier.artifact()));
            Touched::of(&files)
        });
        let skipped = usize::from(touched.is_listed_alike);
        !touched.differing.files.is_empty()
            && sides.into_iter().enumerate().skip(skipped).any(|(side, (World { model, .. }, applier))| {
                let graph = model.delivered.graph(applier.artifact());
                touched.may_be_read(side, applier, graph.unwrap_or(&model.graph))
            })
    }
}

impl Touched {
    fn of([before, after]: &[Snapshot; 2]) -> Touched {
        let files = after.differing(before);
        let is_list = |path: &RepoPath| path.name().is_some_and(|name| FILE_NAMES.contains(&name));
        let is_link = |path: &RepoPath| {
            let mut entries = [before, after].into_iter().filter_map(|files| files.entry(path));
            entries.any(|entry| matches!(entry, Entry::Symlink { .. }))
        };
        Touched {
            is_listed_alike: !files.iter().any(|path| is_list(path) || is_link(path)),
            differing: Differing { around: files.iter().flat_map(RepoPath::ancestors).collect(), files },
            reading: [None, None],
        }
    }

    fn may_be_read(&mut self, side: usize, applier: &Applier<'_>, graph: &Graph) -> bool {
        let Some(begins) = applier.begins(graph) else { return true };
        let differing = &self.differing;
        let reading = self.reading[side].get_or_insert_with(|| differing.reading(graph));
        differing.touches(&applier.path)
            || begins.iter().any(|folder| reading.contains(folder) || differing.touches(folder))
    }
}

impl Differing {
    /// Returns whether something differs at a path, below it or above it: a link to a folder may have been one before.
    fn touches(&self, path: &RepoPath) -> bool {
        let text = path.as_str();
        let mut above = text.match_indices('/').map(|(end, _)| &text[..end]);
        self.around.contains(path) || self.files.contains("") || above.any(|above| self.files.contains(above))
    }

    /// Returns the folders with a list of which the build may read something that differs.
    fn reading(&self, graph: &Graph) -> BTreeSet<RepoPath> {
        let mut users: BTreeMap<RepoPath, Vec<&RepoPath>> = BTreeMap::new();
        let mut queue: Vec<RepoPath> = Vec::new();
        for folder in graph.folders() {
            let around = Around::of(graph, folder);
            let touched = |around: &Around| around.paths.iter().any(|path| self.touches(path));
            if self.touches(folder) || around.as_ref().is_none_or(touched) {
                queue.push(folder.clone());
            }
            for part in around.into_iter().flat_map(|around| around.folders) {
                users.entry(part).or_default().push(folder);
            }
        }
        let mut found = BTreeSet::new();
        while let Some(next) = queue.pop() {
            if !found.contains(&next) {
                queue.extend(users.get(&next).into_iter().flatten().map(|user| (*user).clone()));
                found.insert(next);
            }
        }
        found
    }
}
