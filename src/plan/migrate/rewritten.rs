//! A Flux Kustomization's document with what became of it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::delivery::Input;
use crate::repo::FluxKustomization;

/// A Flux Kustomization's document with what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Rewritten {
    pub(super) cluster: String,
    /// The namespace that it has in its cluster; empty where Git does not say it.
    pub(super) namespace: String,
    pub(super) before: Value,
    pub(super) after: Vec<Value>,
}

impl Rewritten {
    pub(super) fn of(cluster: &str, flux: &FluxKustomization, after: Vec<Value>) -> Rewritten {
        let (namespace, before) = (flux.namespace.clone(), (*flux.value).clone());
        Rewritten { cluster: cluster.to_owned(), namespace, before, after }
    }

    /// Returns the clusters in which something applies it: its own, and that of a hub whose build takes it in.
    pub(super) fn applied_in(&self, input: &Input<'_>) -> BTreeSet<String> {
        let is_it =
            |flux: &&FluxKustomization| *flux.value == self.before && flux.namespace == self.namespace;
        let own = input.model.flux_of_cluster(&self.cluster);
        let parents = own.filter(is_it).flat_map(|flux| input.parents(flux));
        parents.map(|parent| parent.cluster.clone()).chain([self.cluster.clone()]).collect()
    }
}
