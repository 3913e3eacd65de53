//! What a split takes for granted on its way, and proves of all entry points together.
//!
//! A build takes far longer than the planning of an entry point, and one by one they use one core.

use std::collections::BTreeSet;

use crate::delivery::{Input, Typed};
use crate::path::RepoPath;
use crate::plan::outcome::EntryOutcome;
use crate::proof::{Mismatch, compare};
use crate::render::{Object, Renderer, Request};
use crate::repo::Snapshot;

/// The objects that each side of an entry point must build.
pub struct Promise {
    /// The entry point.
    pub entry: RepoPath,
    /// For each type the folder that must build its objects; none where there must be no objects.
    types: Vec<(Option<RepoPath>, Vec<Object>)>,
}

impl Promise {
    /// Promises of a divided entry point that each side builds the objects of its type.
    pub fn new(input: &Input<'_>, outcome: &EntryOutcome, typed: &Typed) -> Promise {
        Promise::of(input, &outcome.before, typed, |position| {
            let name = &input.spec.types[position].name.value;
            outcome.after.iter().find(|(of, _)| of == name).map(|(_, folder)| folder.clone())
        })
    }

    /// Promises that the folder of each type, by its position, builds the objects of that type.
    pub fn of(
        input: &Input<'_>,
        entry: &RepoPath,
        typed: &Typed,
        folder: impl Fn(usize) -> Option<RepoPath>,
    ) -> Promise {
        let types = (0..input.spec.types.len()).map(|position| (folder(position), typed.of(position)));
        Promise { entry: entry.clone(), types: types.collect() }
    }

    /// Returns the first difference between what a tree builds and what was promised.
    pub fn mismatch(&self, tree: &Snapshot, renderer: &dyn Renderer) -> Option<Mismatch> {
        let requests: Vec<Request> = self.requests().collect();
        let mut builds = renderer.render(tree, &requests).into_iter();
        self.types.iter().find_map(|(folder, objects)| {
            let build = folder.as_ref().and_then(|folder| Some((folder, builds.next()?)));
            let parts: Vec<_> = build.iter().map(|(folder, build)| (*folder, build)).collect();
            compare(objects, &parts).into_iter().next()
        })
    }

    /// Returns the builds that show whether it is kept.
    pub fn requests(&self) -> impl Iterator<Item = Request> + '_ {
        self.types.iter().filter_map(|(folder, _)| folder.clone()).map(Request::delivered)
    }
}

/// Returns the entry points of which a promise is not kept in this tree.
pub fn unkept(input: &Input<'_>, tree: &Snapshot, promises: &[Promise]) -> BTreeSet<RepoPath> {
    let unkept = promises.iter().filter(|promise| promise.mismatch(tree, input.renderer).is_some());
    unkept.map(|promise| promise.entry.clone()).collect()
}
