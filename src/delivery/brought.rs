//! What the builds that bring the CronJobs of gates come to, and whether they fail.

use std::collections::BTreeMap;

use crate::delivery::carried::{Carried, carried};
use crate::delivery::{Artifact, Model};
use crate::path::RepoPath;
use crate::render::{Object, Renderer, Request};
use crate::repo::flux::is_yaml;
use crate::repo::{File, Snapshot, Target, built};

/// A build with what it brings.
pub(super) struct Brought {
    /// The build.
    pub carried: Carried,
    /// Its objects; of a build that fails those that the files say. `None` where these can't be read either.
    pub objects: Option<Vec<Object>>,
    /// Whether what applies it does not build, so that Flux leaves alone what the cluster has.
    pub is_unbuilt: bool,
}

/// A build, by the position of what it is for.
type Asked = (usize, Request);

/// Builds what may bring CronJobs, each of the files that its source fetches.
///
/// What fails is built again of all files of the repository, and then without what its lists name in vain: the CronJobs
/// that the cluster has came from a commit that did not fail.
pub(super) fn brought(snapshot: &Snapshot, model: &Model, renderer: &dyn Renderer) -> Vec<Brought> {
    let all = carried(model, snapshot);
    let mut by_artifact: BTreeMap<Option<&Artifact>, Vec<Asked>> = BTreeMap::new();
    for (position, one) in all.iter().enumerate() {
        let asked = (position, one.request.clone().with_origins());
        by_artifact.entry(one.artifact.as_ref()).or_default().push(asked);
    }
    let mut objects: BTreeMap<usize, Vec<Object>> = BTreeMap::new();
    let mut failed: Vec<Asked> = Vec::new();
    let mut unbuilt = Vec::new();
    for (artifact, asked) in by_artifact {
        let (positions, requests): (Vec<usize>, Vec<Request>) = asked.into_iter().unzip();
        let results = renderer.render(&model.delivered.files(snapshot, artifact), &requests);
        for ((position, request), result) in positions.into_iter().zip(requests).zip(results) {
            match result {
                Ok(found) => _ = objects.insert(position, found),
                Err(error) => {
                    unbuilt.extend((!error.is_of_here()).then_some(position));
                    failed.push((position, request));
                }
            }
        }
    }
    failed.sort_by_key(|(position, _)| *position);
    let is_whole = |position: usize| model.delivered.is_whole(all[position].artifact.as_ref());
    let (again, left): (Vec<Asked>, Vec<Asked>) =
        failed.into_iter().partition(|(position, _)| !is_whole(*position));
    let left = left.into_iter().chain(built_of(snapshot, again, renderer, &mut objects)).collect::<Vec<_>>();
    if !left.is_empty() {
        let filled = filled(snapshot, model, left.iter().map(|(_, request)| &request.path));
        built_of(&filled, left, renderer, &mut objects);
    }
    let brought = |(position, carried): (usize, Carried)| Brought {
        objects: objects.remove(&position),
        is_unbuilt: carried.is_failing || unbuilt.contains(&position),
        carried,
    };
    all.into_iter().enumerate().map(brought).collect()
}

/// Builds of other files, and returns what fails there too.
fn built_of(
    files: &Snapshot,
    asked: Vec<Asked>,
    renderer: &dyn Renderer,
    objects: &mut BTreeMap<usize, Vec<Object>>,
) -> Vec<Asked> {
    let requests: Vec<Request> = asked.iter().map(|(_, request)| request.clone()).collect();
    if requests.is_empty() {
        return asked;
    }
    let results = renderer.render(files, &requests);
    let mut failed = Vec::new();
    for ((position, request), result) in asked.into_iter().zip(results) {
        match result {
            Ok(found) => _ = objects.insert(position, found),
            Err(_) => failed.push((position, request)),
        }
    }
    failed
}

/// Returns the files with empty ones in the place of those that lists name and that are not there.
fn filled<'p>(snapshot: &Snapshot, model: &Model, folders: impl Iterator<Item = &'p RepoPath>) -> Snapshot {
    let mut filled = snapshot.clone();
    let lists = folders.flat_map(|folder| built(&model.graph, folder));
    for list in lists.filter_map(|folder| model.graph.get(&folder)) {
        for reference in list.resources() {
            let Target::Path(path) = &reference.target else { continue };
            if is_yaml(path) && snapshot.entry(path).is_none() && !snapshot.is_dir(path) {
                filled.insert(path.clone(), File::new(&b"# not there\n"[..]));
            }
        }
    }
    filled
}
