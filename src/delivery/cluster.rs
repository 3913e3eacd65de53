//! What tells clusters apart.

use crate::delivery::Model;
use crate::repo::FluxKustomization;

/// One cluster of the repository.
///
/// A repository may hold several projects that each have a cluster of one name, so the folder
/// that holds `clusters/` counts too, as does the cluster that a `spec.kubeConfig` leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClusterKey {
    /// The folder above `clusters/`; empty at the top and where there is none.
    pub home: String,
    /// The name.
    pub name: String,
    /// The Secret with the way to another cluster; empty for the cluster itself.
    pub remote: String,
}

impl ClusterKey {
    /// Gives the cluster in which a Flux Kustomization applies what it builds.
    pub fn of(model: &Model, flux: &FluxKustomization) -> ClusterKey {
        let remote = flux.spec("kubeConfig")["secretRef"]["name"].as_str().unwrap_or_default().to_owned();
        ClusterKey { home: model.home_of(flux).to_owned(), name: flux.cluster.clone(), remote }
    }
}
