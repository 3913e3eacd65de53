//! Flux Kustomizations that stand in Git and reach no cluster.

use std::collections::BTreeSet;

use crate::repo::flux::FluxKustomization;
use crate::repo::{Graph, RepoPath, generated_children};

/// Takes out the Flux Kustomizations that nothing applies: Flux builds the folder around the file, and
/// no kustomization there lists it.
///
/// People disable an app that way, and keep copies. Such a one is no owner of anything, and no twin of
/// one that is applied. What Git does not decide stays: where nothing in Git builds the folder around the
/// file, where a kustomization lists it that something outside of Git may apply, where one that would
/// have to be asked can't be read, and one that builds its own file, since `flux bootstrap` applies it.
pub(super) fn take_unlisted(flux: &mut Vec<FluxKustomization>, graph: &Graph) -> Vec<FluxKustomization> {
    let mut unlisted = Vec::new();
    // What only one of these applies is not applied either.
    loop {
        let reach = Reach::new(flux, graph);
        let (gone, kept): (Vec<_>, Vec<_>) =
            std::mem::take(flux).into_iter().partition(|one| reach.leaves_out(one));
        *flux = kept;
        if gone.is_empty() {
            return unlisted;
        }
        unlisted.extend(gone);
    }
}

/// What the Flux Kustomizations of a repository build, all together.
struct Reach<'a> {
    graph: &'a Graph,
    /// The folders that they name.
    tops: BTreeSet<RepoPath>,
    /// The kustomization folders that their builds take in.
    built: BTreeSet<RepoPath>,
}

impl<'a> Reach<'a> {
    fn new(flux: &[FluxKustomization], graph: &'a Graph) -> Reach<'a> {
        let tops: BTreeSet<RepoPath> =
            flux.iter().filter_map(|one| one.path.as_ref()).map(|path| graph.real(path)).collect();
        let mut queue: Vec<RepoPath> = Vec::new();
        for top in &tops {
            if graph.has(top) {
                queue.push(top.clone());
            } else {
                queue.extend(generated_children(graph, top));
            }
        }
        queue.extend(flux.iter().flat_map(components));
        let mut built = BTreeSet::new();
        while let Some(next) = queue.pop() {
            if built.insert(next.clone()) {
                queue.extend(graph.children(&next));
            }
        }
        Reach { graph, tops, built }
    }

    /// Tells whether a Flux Kustomization would be applied if its file were listed, and is not.
    fn leaves_out(&self, one: &FluxKustomization) -> bool {
        let file = &one.file;
        let applies_itself = one.path.as_ref().is_some_and(|path| file.is_within(path));
        let around: Vec<RepoPath> = above(file).filter(|folder| self.tops.contains(folder)).collect();
        if applies_itself || around.is_empty() || around.iter().any(|top| self.takes(top, file)) {
            return false;
        }
        let listed_by = self.graph.builders(file);
        let may_be_applied = |folder: &RepoPath| {
            let is_top = self.graph.referrers(folder).next().is_none();
            self.built.contains(folder)
                || is_top && !above(folder).chain([folder.clone()]).any(|above| self.tops.contains(&above))
        };
        !listed_by.iter().any(may_be_applied)
    }

    /// Tells whether the build of a folder takes in a file below it, as far as can be told.
    fn takes(&self, top: &RepoPath, file: &RepoPath) -> bool {
        // The one that Flux generates lists every file down to the next kustomization
        // (fluxcd/pkg/kustomize, `scanManifests`).
        let between: Vec<RepoPath> = above(file).take_while(|folder| folder != top).collect();
        let decides = match self.graph.has(top) {
            true => Some(top),
            false => between.iter().rev().find(|folder| self.graph.has(folder)),
        };
        decides
            .is_none_or(|folder| self.graph.reach(folder).iter().any(|one| self.graph.broken(one).is_some()))
    }
}

/// The folders above a path, the nearest first.
fn above(path: &RepoPath) -> impl Iterator<Item = RepoPath> {
    std::iter::successors(path.parent(), RepoPath::parent)
}

/// The folders that `spec.components` of a Flux Kustomization names.
fn components(one: &FluxKustomization) -> Vec<RepoPath> {
    let Some(path) = &one.path else { return Vec::new() };
    let items = one.spec("components").as_array().into_iter().flatten();
    items.filter_map(|item| path.join(item.as_str()?).ok()).collect()
}
