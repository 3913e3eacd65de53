//! Flux Kustomizations as the commands name them.

use std::time::Duration;

use crate::delivery::{Doubt, Release, Stuck};

/// A Flux Kustomization by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KustomizationName {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`, or the spec's default where Git does not say it.
    pub namespace: String,
    /// Whether it stands in Git, or a FluxInstance in Git makes it; otherwise the name is the one that the layout gives.
    pub in_git: bool,
    /// `spec.interval` as written.
    pub interval: Option<String>,
    /// How long it takes at most until it applies a commit, with what it depends on, if nothing holds that back; `None`
    /// where Git does not say it, or something holds back what it depends on.
    pub within: Option<Duration>,
    /// What has to happen after a merge, where `within` counts from that.
    pub release: Option<Release>,
    /// Why it applies no commit at all, where Git itself says so.
    pub stuck: Option<Stuck>,
    /// What it depends on, itself or through others, and that is not in Git: nobody knows when that is ready.
    pub unsaid: Option<String>,
    /// Whether its build fails, as far as that was made to read the cluster.
    pub fails: bool,
    /// Why it is open whether the cluster has it.
    pub doubt: Option<Doubt>,
}
