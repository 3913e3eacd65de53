//! Folders that Flux builds.

use std::collections::BTreeSet;

use crate::path::RepoPath;

/// A folder that a Flux Kustomization builds, or would build where none stands in Git.
#[derive(Clone, Debug)]
pub struct EntryPoint {
    /// The folder.
    pub path: RepoPath,
    /// The cluster that applies it; of several the first.
    pub cluster: String,
    /// Further clusters that apply the same folder.
    pub also: BTreeSet<String>,
    /// The Flux Kustomizations that name it, as positions in the model: see
    /// [`Model::flux_of`](crate::delivery::Model::flux_of).
    pub flux: Vec<usize>,
    /// Why it is what it is.
    pub role: Role,
    /// The root of the cluster that applies it, or that it is, where it has no Flux Kustomization of its own in Git.
    pub through: Option<RepoPath>,
}

impl EntryPoint {
    pub(super) fn new(path: RepoPath, cluster: String, through: Option<RepoPath>) -> EntryPoint {
        EntryPoint { path, cluster, also: BTreeSet::new(), flux: Vec::new(), role: Role::Apps, through }
    }

    /// Returns the clusters that apply it.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.cluster.as_str()).chain(self.also.iter().map(String::as_str))
    }

    /// Returns the clusters that apply it, for people.
    pub fn named_clusters(&self) -> String {
        self.clusters().collect::<Vec<_>>().join(", ")
    }
}

/// What an entry point is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It applies apps: the one that a split divides.
    Apps,
    /// It carries a gate, so it must stay real-time.
    Gate,
    /// It applies the cluster's Flux Kustomizations and nothing else, or itself too.
    Bootstrap,
}
