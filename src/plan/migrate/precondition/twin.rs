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
            "Flux Kustomization {} stands twice, in {} and in {}: a cluster keeps one of them, and may delete it with all that it applied when the other goes",
            found.name, found.file, other.file
        ),
        "give both the annotation `kustomize.toolkit.fluxcd.io/prune: disabled`, and let that reach the cluster",
        other.place("path"),
    );
    let removed = problem.then("remove one of the two from Git, and let that reach the cluster");
    Some(removed.then("take the annotation out again"))
}
