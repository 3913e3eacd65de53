//! Which folders a change of a file reaches.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Model;
use crate::path::RepoPath;
use crate::repo::flux::is_yaml;
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::{OtherRevision, Snapshot};

/// Returns every folder whose build reads a file, or any file of a folder: the kustomization folders that refer
/// to it, directly or through others, entry points for which Flux generates the kustomization.yaml, and those whose Flux
/// Kustomization names it as a component.
///
/// What a build reads is not always in what it makes: a projection reads everything and drops what is not of
/// its type.
pub fn reached_by(model: &Model, snapshot: &Snapshot, path: &RepoPath) -> BTreeSet<RepoPath> {
    let mut reached: BTreeSet<RepoPath> = BTreeSet::new();
    let mut queue: Vec<RepoPath> = Vec::new();
    for (file, _) in snapshot.entries().filter(|(file, _)| file.is_within(path)) {
        queue.push(file.clone());
    }
    // A link stands for what it leads to, and the other way round.
    queue.extend(snapshot.resolve(path).ok().filter(|resolved| resolved != path));
    queue.push(path.clone());
    let generated: Vec<&RepoPath> = model
        .all_entries()
        .iter()
        .map(|entry| &entry.path)
        .filter(|folder| !model.graph.has(folder))
        .collect();
    let mut users: BTreeMap<RepoPath, BTreeSet<&RepoPath>> = BTreeMap::new();
    for one in &model.flux {
        for component in one.components() {
            users.entry(model.graph.real(&component)).or_default().extend(&one.path);
        }
    }
    while let Some(next) = queue.pop() {
        if !reached.insert(next.clone()) {
            continue;
        }
        queue.extend(model.graph.referrers(&next).cloned());
        if next.name().is_some_and(|name| FILE_NAMES.contains(&name)) {
            queue.extend(next.parent());
        }
        queue.extend(users.get(&next).into_iter().flatten().map(|user| (*user).clone()));
        for folder in &generated {
            if next != **folder && next.is_within(folder) && takes_in(model, snapshot, folder, &next) {
                queue.push((*folder).clone());
            }
        }
    }
    reached
}

/// Returns whether the kustomization.yaml that Flux generates for a folder lists a path: manifests in folders
/// without a kustomization, and the topmost folders that have one (fluxcd/pkg/kustomize, `scanManifests`).
fn takes_in(model: &Model, snapshot: &Snapshot, folder: &RepoPath, path: &RepoPath) -> bool {
    let is_file = snapshot.entry(path).is_some();
    if is_file && !is_yaml(path) || !is_file && !model.graph.has(path) {
        return false;
    }
    let mut above = path.parents();
    above.by_ref().take_while(|above| above != folder).all(|above| !model.graph.has(&above))
}

/// Returns how sources follow another revision of this repository of which some clusters read a path, or all clusters where
/// none is named; `reached` is what a change of it reaches ([`reached_by`]).
pub fn others_reading(
    model: &Model,
    reached: &BTreeSet<RepoPath>,
    path: &RepoPath,
    clusters: &[String],
) -> BTreeSet<OtherRevision> {
    let takes =
        |folder: &RepoPath| reached.contains(folder) || !model.graph.has(folder) && path.is_within(folder);
    let own = model.delivered.all.iter();
    let own = own.filter(|cluster| clusters.is_empty() || clusters.contains(&cluster.name));
    let all = own.flat_map(|cluster| &cluster.kustomizations);
    let all = all.filter(|one| one.read_elsewhere().is_some_and(|folder| takes(&folder)));
    all.filter_map(|one| one.other.clone()).collect()
}
