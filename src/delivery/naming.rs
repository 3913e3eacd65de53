//! The names of clusters, by the folders of their roots.

use std::collections::BTreeSet;

use crate::delivery::ClusterFolders;
use crate::path::RepoPath;

/// Folder names that say what a folder is for, and not which cluster it is.
const GENERIC: [&str; 9] =
    ["apps", "base", "bootstrap", "clusters", "config", "core", "flux", "flux-system", "kubernetes"];

/// Returns the folder of the cluster that a root is a part of: `clusters/NAME` where that is on its way, the nearest
/// to the root, else the root itself. Roots of one such folder are one cluster.
pub(super) fn prefix(root: &RepoPath) -> RepoPath {
    root.ancestors().find(is_named).unwrap_or_else(|| root.clone())
}

/// Tells whether a folder is `clusters/NAME`.
fn is_named(folder: &RepoPath) -> bool {
    folder.parent().is_some_and(|above| above.name() == Some("clusters"))
}

/// Returns a name for each cluster, of the folders that [`prefix`] gives; no two are equal.
///
/// `clusters/NAME` says it; otherwise it is the last word in which the folder differs from the others, so that
/// `kubernetes/main/flux` and `kubernetes/edge/flux` are `main` and `edge`. These are names only: what a cluster gets
/// is read from its root.
pub(super) fn names(folders: &[RepoPath]) -> Vec<String> {
    let all: BTreeSet<&RepoPath> = folders.iter().collect();
    let name = |folder: &RepoPath| below_clusters(folder).unwrap_or_else(|| unlike(&all, folder));
    let short: Vec<String> = folders.iter().map(name).collect();
    let is_double = |name: &String| short.iter().filter(|other| *other == name).count() > 1;
    let long = |folder: &RepoPath| {
        folder.segments().filter(|name| *name != "clusters").collect::<Vec<_>>().join("-")
    };
    let pairs = folders.iter().zip(&short);
    pairs.map(|(folder, short)| if is_double(short) { long(folder) } else { short.clone() }).collect()
}

/// Returns the name of the nearest folder below `clusters` that a path lies in.
pub(super) fn below_clusters(path: &RepoPath) -> Option<String> {
    path.ancestors().find(is_named).and_then(|folder| folder.name().map(str::to_owned))
}

/// Returns the last word of a folder in which it differs from those that end alike.
fn unlike(all: &BTreeSet<&RepoPath>, folder: &RepoPath) -> String {
    let own: Vec<&str> = folder.segments().rev().collect();
    let shared =
        |other: &&RepoPath| own.iter().zip(other.segments().rev()).take_while(|(a, b)| **a == *b).count();
    let others = all.iter().filter(|other| **other != folder).copied();
    let shared = others.map(|other| shared(&other)).max().unwrap_or_default();
    let own: Vec<&str> = own.into_iter().skip(shared).collect();
    own.iter().find(|name| !GENERIC.contains(name)).map_or("cluster", |name| name).to_owned()
}

/// Names the cluster of a folder after the spec, or else after its path alone.
pub(super) fn of_path(known: &ClusterFolders, root: &RepoPath, path: &RepoPath) -> String {
    by_spec(known, path).or_else(|| by_folder_name(root, path)).unwrap_or_else(|| by_last_name(path))
}

/// Returns the folder above `clusters/` on the way to a folder of a cluster; empty where there is none.
///
/// A folder `cluster` may be anything, as people call databases so. It counts where the folder below it has the name of
/// the cluster.
pub(super) fn home(path: &RepoPath, cluster: &str) -> String {
    let segments: Vec<&str> = path.segments().collect();
    let is_it = |position: &usize| match segments[*position] {
        "clusters" => true,
        "cluster" => segments.get(position + 1) == Some(&cluster),
        _ => false,
    };
    let found = (0..segments.len()).find(is_it);
    found.map(|position| segments[..position].join("/")).unwrap_or_default()
}

/// Returns the cluster that the spec says to own a folder, or what lies around it.
pub(super) fn by_spec(known: &ClusterFolders, path: &RepoPath) -> Option<String> {
    let owner = |(name, folders): (&String, &Vec<RepoPath>)| {
        let depth =
            folders.iter().filter(|folder| path.is_within(folder)).map(|f| f.segments().count()).max();
        depth.map(|depth| (depth, name.clone()))
    };
    known.iter().filter_map(owner).max_by_key(|(depth, _)| *depth).map(|(_, name)| name)
}

pub(super) fn by_folder_name(root: &RepoPath, path: &RepoPath) -> Option<String> {
    below(root, path, &["clusters", "cluster"])
}

fn below(root: &RepoPath, path: &RepoPath, names: &[&str]) -> Option<String> {
    let mut segments = path.segments().skip(root.segments().count());
    segments.find(|segment| names.contains(segment))?;
    segments.next().map(str::to_owned)
}

fn by_last_name(path: &RepoPath) -> String {
    path.name().unwrap_or("cluster").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_below_clusters_is_the_cluster() {
        let of = |root: &str| prefix(&RepoPath::parse(root).unwrap()).to_string();
        assert_eq!(of("clusters/prod/flux-system"), "clusters/prod");
        assert_eq!(of("clusters/stages/dev/clusters/eu/flux"), "clusters/stages/dev/clusters/eu");
        assert_eq!(of("kubernetes/main/flux"), "kubernetes/main/flux");
    }

    #[test]
    fn a_cluster_is_named_by_what_tells_it_from_the_others() {
        let named = |folders: &[&str]| {
            names(&folders.iter().map(|folder| RepoPath::parse(folder).unwrap()).collect::<Vec<_>>())
        };
        assert_eq!(named(&["clusters/dev", "clusters/prod"]), ["dev", "prod"]);
        assert_eq!(named(&["a/clusters/one", "b/clusters/one"]), ["a-one", "b-one"]);
        assert_eq!(
            named(&["clusters/stages/dev/clusters/eu", "clusters/stages/dev/clusters/us"]),
            ["eu", "us"]
        );
        assert_eq!(named(&["kubernetes/edge/flux", "kubernetes/main/flux"]), ["edge", "main"]);
        assert_eq!(named(&["k/main/cluster/config", "k/staging/cluster/config"]), ["main", "staging"]);
        assert_eq!(named(&["kubernetes/flux/cluster"]), ["cluster"]);
        assert_eq!(named(&["home/bootstrap"]), ["home"]);
        assert_eq!(named(&["apps"]), ["cluster"]);
        assert_eq!(named(&[""]), ["cluster"]);
    }
}
