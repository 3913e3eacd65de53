//! Keys that land at once and decrypt what waits at its source.

use crate::check::Subject;
use crate::delivery::Kind;
use crate::pr::clock::Clock;
use crate::pr::finding::at_once::kustomization;
use crate::pr::finding::values::still_waiting;
use crate::pr::finding::{Finding, Topic};
use crate::pr::landing::State;
use crate::pr::report::Line;

/// Finds the Flux Kustomizations whose objects can't be decrypted until their window opens, as their keys change before.
///
/// Nothing suspends what reads a held source, so it decrypts the commit that was let in last anew at each interval
/// (kustomize-controller, `generate`). A key that only comes beside the others takes nothing away.
pub(super) fn keys(clock: &Clock<'_>, changes: &[Line], after: &Subject<'_>) -> Vec<Finding> {
    let is_lost = |line: &&Line| {
        let mut fields = line.fields.iter().filter(|field| !field.path.starts_with("metadata"));
        line.id.group.is_empty()
            && line.id.kind == "Secret"
            && line.lands.state == State::AtOnce
            && (line.kind == Kind::Deleted || fields.any(|field| field.before.is_some()))
    };
    let mut found = Vec::new();
    for line in changes.iter().filter(is_lost) {
        let own = after.deliveries.iter().filter(|delivery| {
            delivery.reconciled_in.name == line.cluster && delivery.namespace == line.id.namespace
        });
        for delivery in own.filter(|delivery| after.held_source(delivery).is_some()) {
            let is_read = after
                .flux(delivery)
                .is_some_and(|flux| flux.spec("decryption")["secretRef"]["name"] == *line.id.name);
            let Some(hold) = still_waiting(clock, line, delivery).filter(|_| is_read) else { continue };
            found.push(Finding {
                topic: Topic::OutsideWindow,
                cluster: line.cluster.clone(),
                object: Some(kustomization(&delivery.namespace, &delivery.name)),
                message: format!(
                    "{} waits for {hold}, but its keys in {} change at once. Its build may fail until then",
                    delivery.name, line.id
                ),
                from: line.lands.earliest,
                help: "merge it while the window is open; or keep the old key too until then".to_owned(),
                ..Finding::default()
            });
        }
    }
    found
}
