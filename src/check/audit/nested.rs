//! Flux Kustomizations that others apply.

use crate::check::code::NESTED_KUSTOMIZATION;
use crate::check::subject::Subject;
use crate::delivery::Role;
use crate::delivery::{Applied, Delivery};
use crate::diagnostic::Diagnostic;
use crate::repo::flux::GROUP;
use crate::spec::ChangeType;

/// Finds Flux Kustomizations that wait for a window as objects and that nothing suspends.
///
/// Suspending the outer one freezes the manifest of the inner one and nothing that the inner one applies.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for (cluster, deliveries) in subject.clusters() {
        // What carries Flux Kustomizations and nothing else is no app; nobody would gate it by type. Where no gate holds the
        // outer one back, its manifests wait for nothing.
        let outer = |delivery: &&&Delivery| delivery.role != Role::Bootstrap && delivery.gated.is_some();
        for delivery in deliveries.iter().filter(outer) {
            for inner in delivery.objects.iter().filter(|applied| applied.is(GROUP, "Kustomization")) {
                let Some(held) = inner.window() else { continue };
                // By the name that it has in the cluster: a component names it `${APP}-db`.
                let (namespace, name) = (&inner.live.namespace, &inner.live.name);
                let mut own = subject.reconciled_in(cluster).filter(|other| other.is_named(namespace, name));
                let gated = own.clone().any(|other| {
                    other.held.is_some()
                        || !other.objects.is_empty()
                            && other.objects.iter().all(|applied| applied.held.is_some())
                });
                let named = subject.jobs_of(cluster).any(|job| job.turns(namespace, name));
                // What carries a gate is never to be suspended.
                let may_land = own.any(|other| other.role == Role::Gate || is_real_time(subject, other));
                if gated || named || may_land {
                    continue;
                }
                let mut finding = NESTED_KUSTOMIZATION
                    .finding(format!(
                        "Flux Kustomization {name} lands at once. Only its manifest waits for {held}, and no gate suspends it"
                    ))
                    .at(subject.sources.place(inner, &["metadata", "name"]))
                    .help("let the gate suspend it too, or give it a type that lands at once");
                if let Some(flux) = subject.flux(delivery) {
                    finding = finding.related(format!("{} applies it", delivery.name), flux.place("path"));
                }
                if !findings.iter().any(|other| other.place == finding.place) {
                    findings.push(finding);
                }
            }
        }
    }
    findings
}

/// Tells whether the spec lets all that a Flux Kustomization applies land at once, as on a real-time side.
fn is_real_time(subject: &Subject<'_>, delivery: &Delivery) -> bool {
    let types = subject.spec.map_or(&[][..], |spec| &spec.types);
    let lands = |applied: &Applied| {
        applied.change_type.and_then(|position| types.get(position)).is_some_and(ChangeType::is_real_time)
    };
    !delivery.objects.is_empty() && delivery.objects.iter().all(lands)
}
