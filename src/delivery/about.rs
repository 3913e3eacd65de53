//! What tells the Flux Kustomizations of all clusters apart, as findings are about them.

use crate::delivery::{Cluster, Delivery, Reached};
use crate::repo::FluxKustomization;

fn key(cluster: &str, remote: &str, namespace: &str, name: &str) -> String {
    [cluster, remote, namespace, name].join("\n")
}

/// What tells those of one cluster apart: the secrets of `kubeConfig` on the way, the namespace and the name.
pub type Id<'c> = (&'c str, &'c str, &'c str);

/// Returns an id that outlives its cluster.
pub(super) fn owned((remote, namespace, name): Id<'_>) -> [String; 3] {
    [remote, namespace, name].map(str::to_owned)
}

impl Reached {
    /// Returns what tells it from the others of its cluster.
    pub fn key(&self) -> Id<'_> {
        (&self.remote, self.namespace(), self.name())
    }
}

impl Delivery {
    /// Returns the key of what applies it.
    pub fn key(&self) -> String {
        let lies = &self.reconciled_in;
        key(&lies.name, &lies.remote, &self.namespace, &self.name)
    }
}

impl FluxKustomization {
    /// Returns its key.
    pub fn key(&self) -> String {
        key(&self.cluster, &self.remote, &self.namespace, &self.name)
    }
}

impl Cluster {
    /// Returns the key of a Flux Kustomization that it gets.
    pub fn key(&self, one: &Reached) -> String {
        key(&self.name, &one.remote, one.namespace(), one.name())
    }
}
