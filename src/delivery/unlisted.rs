//! What came into a folder that Flux listed by itself, after a split has written that list down.

use std::collections::BTreeSet;

use crate::delivery::{Input, Model, app_name, base_part, shared};
use crate::path::RepoPath;
use crate::repo::flux::is_yaml;
use crate::repo::listing::is_listing;
use crate::repo::manifest::manifests;
use crate::repo::{Entry, umbrella};

/// A file or an app that reaches no cluster, and did before the split.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unlisted {
    /// The file, or the folder with a kustomization of its own.
    pub path: RepoPath,
    /// The entry point below which it lies.
    pub whole: RepoPath,
    /// The folder of which the list should have it.
    pub list: RepoPath,
    /// The name of the app, where it is a folder with a kustomization of its own and a side lists such.
    pub app: Option<String>,
}

/// Finds them: manifests and apps below divided entry points that nothing lists or builds.
///
/// Flux lists what lies below a folder without a kustomization.yaml (fluxcd/pkg/kustomize, `scanManifests`). A split
/// writes that list down, and from then on people have to add to it.
pub fn unlisted(input: &Input<'_>) -> Vec<Unlisted> {
    let model = input.model;
    let sides = input.sides();
    let mut found = BTreeSet::new();
    for whole in sides.divided(&model.graph) {
        let mut own: Vec<RepoPath> = sides.of_whole(whole).map(|(side, _)| side.clone()).collect();
        // The type that waits comes last, and what is new is best held back.
        own.reverse();
        let clusters = input.spec.clusters.keys();
        let all: BTreeSet<RepoPath> =
            clusters.filter_map(|cluster| shared(input.spec, whole, cluster)).collect();
        let lists = all.iter().chain([whole]).chain(&own);
        let Some(list) = lists.into_iter().find(|folder| is_of_flux(model, folder)) else { continue };
        let is_own_list = |path: &RepoPath| model.graph.get(whole).is_some_and(|found| found.file == *path);
        let is_made = |path: &RepoPath| own.iter().chain(&all).any(|folder| path.is_within(folder));
        for (path, entry) in input.snapshot.below(whole).filter(|(path, _)| !is_made(path)) {
            let Entry::File(file) = entry else { continue };
            if !is_yaml(path) || !model.delivered.is_fetched(path) {
                continue;
            }
            let above = || path.parents().take_while(|above| above.is_within(whole) && above != whole);
            // The topmost folder with a kustomization of its own is listed and not looked into.
            let app = above().filter(|above| model.graph.has(above)).last();
            let is_part_of_app = |above: RepoPath| is_divided(input, &own, &above);
            let is_manifest =
                || manifests(file).is_some_and(|all| all.iter().any(|one| !one.value["kind"].is_null()));
            let is_new = app.is_some() || !is_own_list(path) && is_manifest();
            if !is_new || above().any(is_part_of_app) {
                continue;
            }
            let is_listed_as_app = app.is_some() && !all.contains(list);
            let path = app.unwrap_or_else(|| path.clone());
            if !is_taken(model, &path) {
                let app = is_listed_as_app.then(|| app_name(&path, ""));
                found.insert(Unlisted { path, whole: whole.clone(), list: list.clone(), app });
            }
        }
    }
    found.into_iter().collect()
}

/// Returns whether the list of a folder is one that Flux made before.
fn is_of_flux(model: &Model, folder: &RepoPath) -> bool {
    let original = |text: &str| umbrella::original(text).is_some_and(|original| is_listing(&original));
    model.graph.get(folder).is_some_and(|found| is_listing(&found.text) || original(&found.text))
}

/// Returns whether a folder is that of an app of which a part stands: beside it by the layout, or in a side.
fn is_divided(input: &Input<'_>, sides: &[RepoPath], folder: &RepoPath) -> bool {
    let types = input.spec.types.iter();
    let parts = types.filter_map(|change_type| base_part(input.spec, folder, &change_type.name));
    let names = [folder.name().map(str::to_owned), Some(folder.segments().collect::<Vec<_>>().join("-"))];
    let in_side =
        |side: &RepoPath| names.iter().flatten().filter_map(|name| side.join(name).ok()).collect::<Vec<_>>();
    parts.chain(sides.iter().flat_map(in_side)).any(|part| input.model.graph.has(&part))
}

/// Returns whether a list or a Flux Kustomization takes a file or a folder in, or something of the folder.
pub(crate) fn is_taken(model: &Model, path: &RepoPath) -> bool {
    let graph = &model.graph;
    let listed = graph.below(path).chain([path]);
    let from_outside = |folder: &RepoPath| graph.referrers(folder).any(|user| !user.is_within(path));
    let paths = model.all_flux().iter().chain(model.outside()).filter_map(|one| one.path.as_ref());
    listed.into_iter().any(from_outside)
        || paths.into_iter().any(|built| built.is_within(path) || !graph.has(built) && path.is_within(built))
}
