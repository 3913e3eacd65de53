//! Builds that read what their source leaves out.

use std::collections::BTreeMap;

use crate::delivery::{Applier, Lacking, Reached, World, appliers, rebuilt};
use crate::path::RepoPath;
use crate::render::{Object, RenderError, Renderer, Request};

/// A Flux Kustomization of which the source leaves out, or its ArtifactGenerator does not copy, what a build reads.
#[derive(Clone, Debug)]
pub(crate) struct Partial {
    /// The name of the Flux Kustomization.
    pub name: String,
    /// The first thing that the build lacks, where that is known.
    pub lacking: Option<Lacking>,
}

/// Finds the folders, of these, that build otherwise where a Flux Kustomization reads them than here, or of which another
/// folder does that is to be built in the same way.
///
/// A folder that does not build here is none of them.
pub(crate) fn partial(
    world: World<'_>,
    folders: &BTreeMap<RepoPath, Vec<RepoPath>>,
    renderer: &dyn Renderer,
) -> BTreeMap<RepoPath, Partial> {
    let is_meant = |one: &Applier<'_>| folders.contains_key(&one.path);
    let meant = appliers(world.model).into_iter().filter(is_meant);
    let found = meant.filter_map(|applier| {
        let found = partial_of(world, applier.kustomization?, &folders[&applier.path], renderer)?;
        Some((applier.path, found))
    });
    found.collect()
}

/// As [`partial`], of what one Flux Kustomization reads and the folders that are to be built in its way.
pub(crate) fn partial_of(
    world: World<'_>,
    one: &Reached,
    beside: &[RepoPath],
    renderer: &dyn Renderer,
) -> Option<Partial> {
    let (clusters, artifact) = (&world.model.delivered, Some(&one.artifact));
    let path = one.path.as_ref().filter(|_| !clusters.is_whole(artifact))?;
    let folders = || beside.iter().chain([path]);
    let of = |folder: &RepoPath| Request::flux(folder.clone(), &rebuilt(&one.value["spec"], path, folder));
    let requests: Vec<Request> = folders().map(of).collect();
    let here = renderer.render(world.snapshot, &requests);
    let there = renderer.render(&clusters.files(world.snapshot, artifact), &requests);
    let is_other = here.iter().zip(&there).any(|(here, there)| here.is_ok() && !is_same(here, there));
    let lacking = |folder| world.model.lacking_in(world.snapshot, artifact, folder);
    is_other.then(|| Partial { name: one.name().to_owned(), lacking: folders().flat_map(lacking).next() })
}

type Outcome = Result<Vec<Object>, RenderError>;

fn is_same(a: &Outcome, b: &Outcome) -> bool {
    let (Ok(a), Ok(b)) = (a, b) else { return false };
    a.iter().map(|object| &object.value).eq(b.iter().map(|object| &object.value))
}
