//! Flux Kustomizations that begin to apply to another cluster.

use crate::diagnostic::Place;
use crate::pr::clock::Clock;
use crate::pr::finding::{Finding, Topic};

/// Finds the Flux Kustomizations of which another `spec.kubeConfig` names another cluster: what they applied stays where it is.
/// The inventory has no cluster, so that nothing seems to have left it (kustomize-controller, `reconcile`).
pub(super) fn retargeted(clock: &Clock<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for cluster in &clock.after.world.model.delivered.all {
        let Some(was) = clock.after.former_cluster(&cluster.name) else { continue };
        for one in &cluster.kustomizations {
            let old = was.reached(&one.remote, (one.namespace(), one.name()));
            if old.is_none_or(|old| old.target() == one.target()) {
                continue;
            }
            let name = one.name();
            let place = clock.after.world.model.standing(one).map(|flux| flux.place("kubeConfig"));
            found.push(Finding {
                topic: Topic::Check,
                cluster: cluster.name.clone(),
                message: format!(
                    "spec.kubeConfig of {name} changes, so it applies to another cluster. Its objects stay in the former one, and nothing prunes them"
                ),
                help: "delete those objects by hand, or remove the Flux Kustomization first and add it later".to_owned(),
                line: place.as_ref().and_then(Place::line),
                file: place.map(|place| place.path),
                zone: clock.after.zone_of(&cluster.name),
                ..Finding::default()
            });
        }
    }
    found
}
