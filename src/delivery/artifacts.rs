//! What artifacts hold in one tree and in another.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Applier, Artifact, Pair, World};
use crate::path::RepoPath;
use crate::repo::{Graph, Snapshot};

/// The artifacts of two trees, each worked out once.
pub(super) struct Artifacts<'a> {
    before: Side<'a>,
    after: Side<'a>,
    touched: BTreeMap<[Option<&'a Artifact>; 2], Touched>,
}

/// The artifacts of one tree.
struct Side<'a> {
    world: World<'a>,
    known: BTreeMap<Option<&'a Artifact>, Files>,
}

/// The files of one artifact; `None` of the graph is that of the tree.
struct Files {
    snapshot: Snapshot,
    graph: Option<Graph>,
}

/// The paths at which two artifacts hold something else, and these with all folders above them.
struct Touched {
    files: BTreeSet<RepoPath>,
    around: BTreeSet<RepoPath>,
}

impl<'a> Artifacts<'a> {
    pub(super) fn new(before: World<'a>, after: World<'a>) -> Artifacts<'a> {
        let side = |world| Side { world, known: BTreeMap::new() };
        Artifacts { before: side(before), after: side(after), touched: BTreeMap::new() }
    }

    /// Returns the files of an artifact of one of the trees.
    pub(super) fn files(&mut self, is_after: bool, artifact: Option<&'a Artifact>) -> &Snapshot {
        let side = if is_after { &mut self.after } else { &mut self.before };
        &side.files(artifact).snapshot
    }

    /// Tells whether the build of a pair may read something that differs: content, or what its source leaves out.
    pub(super) fn may_differ(&mut self, pair: &Pair<'a>) -> bool {
        let (Some(old), Some(new)) = (&pair.before, &pair.after) else { return true };
        let models = [self.before.world.model, self.after.world.model];
        let (before, after) = (self.before.files(old.artifact()), self.after.files(new.artifact()));
        let touched = self.touched.entry([old.artifact(), new.artifact()]).or_insert_with(|| {
            let files = after.snapshot.differing(&before.snapshot);
            Touched { around: files.iter().flat_map(RepoPath::ancestors).collect(), files }
        });
        if touched.files.is_empty() {
            return false;
        }
        let mut sides = [(old, before), (new, after)].into_iter().zip(models);
        sides.any(|((applier, files), model)| {
            touched.may_be_read(applier, files.graph.as_ref().unwrap_or(&model.graph))
        })
    }
}

impl<'a> Side<'a> {
    fn files(&mut self, artifact: Option<&'a Artifact>) -> &Files {
        let World { snapshot, model } = self.world;
        self.known.entry(artifact).or_insert_with(|| {
            let is_whole = model.delivered.is_whole(artifact);
            let snapshot = model.delivered.files(snapshot, artifact);
            Files { graph: (!is_whole).then(|| Graph::read(&snapshot)), snapshot }
        })
    }
}

impl Touched {
    fn may_be_read(&self, applier: &Applier<'_>, graph: &Graph) -> bool {
        let known = applier.surroundings(graph);
        // A link to a folder may have been one before.
        let is_below = |path: &RepoPath| path.ancestors().any(|above| self.files.contains(&above));
        known.is_none_or(|known| known.iter().any(|path| self.around.contains(path) || is_below(path)))
    }
}
