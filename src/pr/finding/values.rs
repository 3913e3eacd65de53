//! Values that land at once and are read by a HelmRelease that waits.

use std::sync::Arc;

use crate::check::Subject;
use crate::delivery::values::{HELM, read_by};
use crate::delivery::{Delivery, Hold, Kind};
use crate::pr::clock::Clock;
use crate::pr::finding::{Finding, Topic};
use crate::pr::landing::State;
use crate::pr::report::Line;

/// Finds the HelmReleases that are upgraded outside of their windows, as the values that they read change.
///
/// What counts is what gates hold back, and not what a spec wants.
pub(super) fn values(clock: &Clock<'_>, changes: &[Line], after: &Subject<'_>) -> Vec<Finding> {
    let is_read = |line: &&Line| {
        line.kind == Kind::Changed
            && line.id.group.is_empty()
            && ["ConfigMap", "Secret"].contains(&line.id.kind.as_str())
            && line.lands.state == State::AtOnce
    };
    let mut found = Vec::new();
    for line in changes.iter().filter(is_read) {
        let own = after.deliveries.iter().filter(|delivery| delivery.cluster.name == line.cluster);
        for delivery in own {
            let Some(hold) = still_waiting(clock, line, delivery) else { continue };
            let releases = delivery.objects.iter().filter(|applied| applied.is(HELM, "HelmRelease"));
            let readers = releases.filter(|release| read_by(release.value()).any(|named| named.is(&line.id)));
            found.extend(readers.map(|release| Finding {
                topic: Topic::OutsideWindow,
                cluster: line.cluster.clone(),
                object: Some(Arc::unwrap_or_clone(release.id.clone())),
                message: format!(
                    "{} waits for {hold}, but its values in {} land at once. They upgrade it outside of the window",
                    release.id, line.id
                ),
                from: line.lands.earliest,
                help: "merge it while the window is open; or add a rule with `valuesOf: HelmRelease`".to_owned(),
                ..Finding::default()
            }));
        }
    }
    found
}

/// Returns what holds back what a Flux Kustomization applies when a change lands; `None` where nothing does by then: what is
/// open at the merge lands with it.
pub(super) fn still_waiting<'d>(clock: &Clock<'_>, line: &Line, delivery: &'d Delivery) -> Option<&'d Hold> {
    let hold = delivery.gated.as_ref().filter(|hold| hold.opens())?;
    let from = line.lands.earliest.unwrap_or(clock.now);
    let is_open = clock.opens(&line.cluster, hold).is_some_and(|until| until <= from);
    (!is_open).then_some(hold)
}
