//! What tells the Flux Kustomizations of all clusters apart, as findings are about them.

use crate::delivery::{Cluster, Delivery, Reached};
use crate::repo::FluxKustomization;

fn key(cluster: &str, remote: &str, namespace: &str, name: &str) -> String {
    [cluster, remote, namespace, name].join("\n")
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
