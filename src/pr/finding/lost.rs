//! Values that a Flux Kustomization needs and that are deleted.

use crate::check::lost_values;
use crate::delivery::Kind;
use crate::diagnostic::{Place, one_line};
use crate::pr::clock::Clock;
use crate::pr::finding::Finding;
use crate::pr::landing::State;
use crate::pr::report::Line;

/// Finds the Flux Kustomizations that fail once an object is deleted from which they take values. Each goes on until then.
pub(super) fn losing(clock: &Clock<'_>, changes: &[Line]) -> Vec<Finding> {
    let mut found = Vec::new();
    for cluster in &clock.after.world.model.delivered.all {
        for (one, id) in cluster.losing_values() {
            let is_it =
                |line: &&Line| line.kind == Kind::Deleted && line.cluster == cluster.name && line.id == id;
            let deleted = changes.iter().find(is_it).map(|line| &line.lands);
            if deleted.is_some_and(|lands| lands.state == State::Never) {
                continue;
            }
            let from = deleted.and_then(|lands| lands.earliest);
            let at = from.map(|at| format!(" at {at}")).unwrap_or_default();
            let flux = clock.after.world.model.standing(one);
            let place = flux.map(|flux| flux.place("postBuild"));
            let (message, help) = lost_values(one, &id, &at);
            found.push(Finding {
                cluster: cluster.name.clone(),
                message,
                from,
                help: one_line(&help),
                line: place.as_ref().and_then(Place::line),
                file: place.map(|place| place.path),
                zone: clock.after.zone_of(&cluster.name),
                ..Finding::default()
            });
        }
    }
    found
}
