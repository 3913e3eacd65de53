//! What tells clusters apart.

use serde_json::Value;

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
    /// The Secrets and ConfigMaps with the way to another cluster; empty for the cluster itself.
    pub remote: String,
}

impl ClusterKey {
    /// Returns the cluster in which a Flux Kustomization applies what it builds.
    pub fn of(model: &Model, flux: &FluxKustomization) -> ClusterKey {
        let own = target_of(flux.spec("kubeConfig")).unwrap_or_default();
        ClusterKey { remote: format!("{}{own}", flux.remote), ..ClusterKey::around(model, flux) }
    }

    /// Returns the cluster in which a Flux Kustomization lies itself: there Flux reconciles it, finds what it depends on,
    /// and there a gate suspends it.
    pub fn around(model: &Model, flux: &FluxKustomization) -> ClusterKey {
        ClusterKey {
            home: model.home_of(flux).to_owned(),
            name: flux.cluster.clone(),
            remote: flux.remote.clone(),
        }
    }
}

/// Returns the Secret or the ConfigMap by which `spec.kubeConfig` leads to another cluster.
pub(super) fn target_of(config: &Value) -> Option<&str> {
    ["secretRef", "configMapRef"].into_iter().find_map(|key| config[key]["name"].as_str())
}
