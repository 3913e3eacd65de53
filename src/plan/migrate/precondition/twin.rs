//! A name that two Flux Kustomizations of a cluster have.

use crate::delivery::Input;
use crate::plan::migrate::moving::Move;
use crate::plan::problem::Problem;
use crate::repo::FluxKustomization;

/// Two Flux Kustomizations of one name in a cluster.
pub fn check(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    let (found, other) = one.all().find_map(|found| {
        let mut named = input.model.flux_named(&one.cluster, &found.name);
        let is_twin = |other: &&FluxKustomization| {
            other.namespace == found.namespace
                && (&other.file, other.document) != (&found.file, found.document)
        };
        Some((found, named.find(is_twin)?))
    })?;
    let problem = Problem::lasting(
        format!(
            "Flux Kustomization {} stands twice, in {} and in {}. When one goes, the cluster may delete it with all of its objects",
            found.name, found.file, other.file
        ),
        "give both the annotation `kustomize.toolkit.fluxcd.io/prune: disabled`\nwait until the cluster has applied that",
        other.place("path"),
    );
    let removed = problem.then("remove one of the two from Git, and wait until the cluster has applied that");
    Some(removed.then("remove the annotation"))
}
