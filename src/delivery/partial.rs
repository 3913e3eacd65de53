//! Builds that read what their source leaves out.

use std::collections::BTreeMap;

use crate::delivery::{Applier, Lacking, World, appliers, rebuilt};
use crate::path::RepoPath;
use crate::render::{Object, RenderError, Renderer, Request};

/// Finds the folders, of these, that build otherwise where a Flux Kustomization reads them than here, or of which another
/// folder does that is to be built in the same way, each with that one's name and the first thing that it lacks: its source leaves out, or its
/// ArtifactGenerator does not copy, what the build reads.
///
/// A folder that does not build here is none of them.
pub(crate) fn partial(
    world: World<'_>,
    folders: &BTreeMap<RepoPath, Vec<RepoPath>>,
    renderer: &dyn Renderer,
) -> BTreeMap<RepoPath, (String, Option<Lacking>)> {
    let clusters = &world.model.delivered;
    let is_meant = |one: &Applier<'_>| folders.contains_key(&one.path) && !clusters.is_whole(one.artifact());
    let mut found = BTreeMap::new();
    for applier in appliers(world.model).into_iter().filter(is_meant) {
        let beside = folders[&applier.path].iter();
        let of = |folder: &RepoPath| {
            Request::flux(folder.clone(), &rebuilt(applier.spec(), &applier.path, folder))
        };
        let requests: Vec<Request> = beside.chain([&applier.path]).map(of).collect();
        let here = renderer.render(world.snapshot, &requests);
        let there = renderer.render(&clusters.files(world.snapshot, applier.artifact()), &requests);
        let is_other = here.iter().zip(&there).any(|(here, there)| here.is_ok() && !is_same(here, there));
        if let Some(one) = applier.kustomization.filter(|_| is_other) {
            let folders = folders[&applier.path].iter().chain([&applier.path]);
            let lacking = |folder| world.model.lacking_in(world.snapshot, applier.artifact(), folder);
            let first = folders.flat_map(lacking).next();
            found.insert(applier.path.clone(), (one.name().to_owned(), first));
        }
    }
    found
}

type Outcome = Result<Vec<Object>, RenderError>;

fn is_same(a: &Outcome, b: &Outcome) -> bool {
    let (Ok(a), Ok(b)) = (a, b) else { return false };
    a.iter().map(|object| &object.value).eq(b.iter().map(|object| &object.value))
}
