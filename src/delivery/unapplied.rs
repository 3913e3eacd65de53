//! Entry points that were divided and that nothing applies any more.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::repo::flux::artifact_path;
use crate::repo::{FluxKustomization, built, umbrella};
use crate::spec::folder_of;

/// An entry point of which sides stand in Git, and nothing in Git applies them or the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unapplied {
    /// The cluster.
    pub cluster: String,
    /// The entry point that was divided.
    pub whole: RepoPath,
    /// Its sides by the position of their type.
    pub sides: BTreeMap<usize, RepoPath>,
}

/// Finds divided entry points that no Flux Kustomization applies, though others of their clusters are in
/// Git.
///
/// A commit leaves them that takes a Flux Kustomization away without what should come in its place:
/// half of a hand-over, or both of its successors. Parts of an app look the same, and are told apart by
/// who uses them, and by their place: they belong to no cluster. Where a cluster has no Flux
/// Kustomization in Git but the bootstrap one, only people know what is applied, unless it could not
/// have been divided without one.
pub fn unapplied(input: &Input<'_>) -> Vec<Unapplied> {
    let model = input.model;
    // With the bootstrap one alone in Git, people may have made the others in the cluster.
    let others = model.flux.iter().filter(|flux| !flux.applies_itself());
    let managed: BTreeSet<String> = others.map(|flux| flux.cluster.clone()).collect();
    let bootstrapped: BTreeSet<String> = model.flux.iter().map(|flux| flux.cluster.clone()).collect();
    // What is told to be an entry point by its place alone may have been divided so. Anything else was
    // divided since a Flux Kustomization in Git named it.
    let is_by_place = |folder: &RepoPath| model.entry(folder).is_some();
    if bootstrapped.is_empty() {
        return Vec::new();
    }
    // Of those that people keep unlisted it is known why nothing applies them.
    let flux = model.flux.iter().chain(&model.unlisted);
    // So it is of those that build from an artifact which is made of this repository.
    let path = |flux: &FluxKustomization| match &flux.path {
        Some(path) => Some(path.clone()),
        None => flux.spec("path").as_str().and_then(artifact_path),
    };
    let mut taken: BTreeSet<RepoPath> = flux.filter_map(path).collect();
    taken = taken.iter().flat_map(|path| built(&model.graph, path)).chain(taken.clone()).collect();
    let is_used = |folder: &RepoPath, whole: &RepoPath| {
        taken.contains(folder) || model.graph.referrers(folder).any(|user| user != whole)
    };
    let root = input.spec.folder();
    let sides = input.sides();
    let live = input.live(&sides);
    let is_app = |whole: &RepoPath| whole.parents().any(|above| live.contains(&above));
    let mut found: BTreeMap<RepoPath, Unapplied> = BTreeMap::new();
    let folders = model.graph.iter().map(|kustomization| &kustomization.folder);
    let may_be = |folder: &&RepoPath| {
        folder.is_within(&root) && !taken.contains(*folder) && model.graph.referrers(folder).count() < 2
    };
    for folder in folders.filter(may_be) {
        for (whole, position) in wholes(input, folder).into_iter().filter(|(whole, _)| !is_app(whole)) {
            let was_in_git = |cluster: &String| {
                bootstrapped.contains(cluster)
                    && (is_umbrella(input, &whole) || !model.graph.has(&whole))
                    && !is_by_place(folder)
                    && !is_by_place(&whole)
            };
            let cluster =
                owner(input, &whole).filter(|cluster| managed.contains(cluster) || was_in_git(cluster));
            let Some(cluster) = cluster.filter(|_| !is_used(folder, &whole) && !is_used(&whole, &whole))
            else {
                continue;
            };
            let one = Unapplied { cluster, whole: whole.clone(), sides: BTreeMap::new() };
            found.entry(whole).or_insert(one).sides.insert(position, folder.clone());
        }
    }
    // One side that is in use speaks for all.
    found.retain(|whole, one| {
        let standing = input.standing_sides(whole, &one.cluster);
        standing.keys().all(|position| one.sides.contains_key(position))
    });
    found.into_values().collect()
}

/// Returns whether a split left an umbrella of a folder.
fn is_umbrella(input: &Input<'_>, whole: &RepoPath) -> bool {
    input.model.graph.get(whole).is_some_and(|found| umbrella::original(&found.text).is_some())
}

/// Returns what a folder may be a side of: the entry points with the position of the type.
fn wholes(input: &Input<'_>, side: &RepoPath) -> Vec<(RepoPath, usize)> {
    let (root, template) = (input.spec.folder(), input.spec.layout.entry_point.as_str());
    let path = side.relative_to(&root);
    let clusters: Vec<&str> = match template.contains("{cluster}") {
        true => input.spec.clusters.keys().map(String::as_str).filter(|name| path.contains(name)).collect(),
        false => vec![""],
    };
    let mut found = Vec::new();
    for (position, change_type) in input.spec.types.iter().enumerate() {
        let of = change_type.name.value.as_str();
        for cluster in clusters.iter().filter(|_| path.contains(of)) {
            let whole = folder_of(template, &path, &[("type", of), ("cluster", cluster)]);
            found.extend(whole.and_then(|whole| root.join(&whole).ok()).map(|whole| (whole, position)));
        }
    }
    found
}

/// Returns the cluster of the spec that a folder belongs to: by its path, or by who builds what is around it.
fn owner(input: &Input<'_>, folder: &RepoPath) -> Option<String> {
    let is_known = |cluster: &String| input.spec.clusters.contains_key(cluster);
    let around = || {
        let mut above = folder.parents();
        let flux = above.find_map(|above| input.model.flux_at(&above).next())?;
        Some(flux.cluster.clone())
    };
    Some(input.model.cluster_of_folder(folder)).filter(is_known).or_else(around).filter(is_known)
}
