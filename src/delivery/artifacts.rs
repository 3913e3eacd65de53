//! How the artifacts of two trees differ.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Applier, Artifact, Pair, World};
use crate::path::RepoPath;
use crate::repo::Graph;

/// What differs between artifacts of two trees, worked out once for each two.
pub(super) struct Artifacts<'a> {
    before: World<'a>,
    after: World<'a>,
    touched: BTreeMap<[Option<&'a Artifact>; 2], Touched>,
}

/// The paths at which two artifacts hold something else, and these with all folders above them.
struct Touched {
    files: BTreeSet<RepoPath>,
    around: BTreeSet<RepoPath>,
}

impl<'a> Artifacts<'a> {
    pub(super) fn new(before: World<'a>, after: World<'a>) -> Artifacts<'a> {
        Artifacts { before, after, touched: BTreeMap::new() }
    }

    /// Tells whether the build of a pair may read something that differs: content, or what its source leaves out.
    pub(super) fn may_differ(&mut self, pair: &Pair<'a>) -> bool {
        let (Some(old), Some(new)) = (&pair.before, &pair.after) else { return true };
        let sides = [(self.before, old), (self.after, new)];
        let touched = self.touched.entry([old.artifact(), new.artifact()]).or_insert_with(|| {
            let [before, after] =
                sides.map(|(world, applier)| world.model.delivered.files(world.snapshot, applier.artifact()));
            let files = after.differing(&before);
            Touched { around: files.iter().flat_map(RepoPath::ancestors).collect(), files }
        });
        !touched.files.is_empty()
            && sides.into_iter().any(|(World { model, .. }, applier)| {
                let graph = model.delivered.graph(applier.artifact());
                touched.may_be_read(applier, graph.unwrap_or(&model.graph))
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
