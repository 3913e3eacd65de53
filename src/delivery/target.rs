//! Flux Kustomizations of a repository as gates name them.

use crate::delivery::{EntryPoint, Input};
use crate::mechanism::GateTarget;
use crate::repo::FluxKustomization;

impl GateTarget {
    /// Returns the target of a name in a namespace; an empty one is that of the spec.
    pub fn new(input: &Input<'_>, namespace: &str, name: impl Into<String>) -> GateTarget {
        let namespace = input.spec.flux.namespace_of(namespace).to_owned();
        GateTarget { namespace, name: name.into() }
    }

    /// Returns the target that a Flux Kustomization in Git is.
    pub fn of(input: &Input<'_>, kustomization: &FluxKustomization) -> GateTarget {
        GateTarget::new(input, &kustomization.namespace, &kustomization.name)
    }

    /// Returns the target that an entry point's Flux Kustomization is in a cluster, or would be.
    pub fn of_entry(input: &Input<'_>, entry: &EntryPoint, cluster: &str) -> GateTarget {
        let mut own = input.model.flux_in(entry, cluster);
        let namespace = own.next().map_or("", |flux| &flux.namespace);
        GateTarget::new(input, namespace, input.model.name_in(entry, cluster))
    }
}
