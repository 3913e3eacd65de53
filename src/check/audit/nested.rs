//! Flux Kustomizations that others apply.

use crate::check::code::NESTED_KUSTOMIZATION;
use crate::check::subject::Subject;
use crate::delivery::Role;
use crate::delivery::{Applied, Cause, ClusterKey, Delivery, foreign};
use crate::diagnostic::Diagnostic;
use crate::mechanism::OPERATOR;
use crate::repo::flux::GROUP;
use crate::spec::ChangeType;

/// Finds Flux Kustomizations, and ResourceSets that make some, that wait for a window as objects and that nothing suspends.
///
/// Suspending the outer one freezes the manifest of the inner one and nothing that the inner one applies.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for (cluster, deliveries) in subject.clusters() {
        // What carries Flux Kustomizations and nothing else is no app; nobody would gate it by type. Where no gate holds the
        // outer one back, its manifests wait for nothing.
        let outer = |delivery: &&&Delivery| delivery.role != Role::Bootstrap && delivery.gated.is_some();
        for delivery in deliveries.iter().filter(outer) {
            findings.extend(delivery.objects.iter().filter_map(|made| made_of(subject, delivery, made)));
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
                    .help(remedy(subject, cluster, inner));
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

/// Says what makes an inner Flux Kustomization wait, or lets its manifest land at once too.
fn remedy(subject: &Subject<'_>, cluster: &ClusterKey, inner: &Applied) -> &'static str {
    if subject.spec.is_none() {
        return "name it in the command of both CronJobs, and in their Role";
    }
    let (namespace, name) = (&inner.live.namespace, &inner.live.name);
    let own = subject.model.delivered.named(&cluster.name).into_iter().flat_map(|own| &own.kustomizations);
    let mut own = own.filter(|one| one.namespace() == *namespace && one.name() == *name);
    // The types of what another repository holds are not known, so no gate of this one is made for it.
    if own.any(|one| foreign(one).is_some_and(|(cause, _)| cause == Cause::Source)) {
        return "give it a type that lands at once under `rules`\nor move its files into this repository, where a gate can suspend it";
    }
    "run `gitops-windows split --all` and `gitops-windows sync`: they gate it, or say why not\nor give it a type that lands at once under `rules`"
}

/// The kinds of objects of Flux that apply or fetch something by themselves.
const REQUESTS: [&str; 6] =
    ["Kustomization", "HelmRelease", "GitRepository", "OCIRepository", "HelmRepository", "Bucket"];

/// Finds a ResourceSet that waits for a window as an object and makes what goes on by itself: suspending what applies it
/// freezes its manifest alone.
fn made_of(subject: &Subject<'_>, delivery: &Delivery, set: &Applied) -> Option<Diagnostic> {
    let held = set.window().filter(|_| set.is(OPERATOR, "ResourceSet") && delivery.role != Role::Gate)?;
    let spec = &set.value()["spec"];
    let made = |kind: &str| {
        let own = spec["resources"].as_array().into_iter().flatten();
        let template = spec["resourcesTemplate"].as_str().unwrap_or_default();
        own.clone().any(|one| one["kind"] == kind)
            || template.lines().any(|line| line.trim().strip_prefix("kind: ") == Some(kind))
    };
    let kind = REQUESTS.into_iter().find(|kind| made(kind))?;
    let name = &set.live.name;
    Some(
        NESTED_KUSTOMIZATION
            .finding(format!(
                "ResourceSet {name} makes {kind} objects, which land at once. Only its manifest waits for {held}"
            ))
            .at(subject.sources.place(set, &["metadata", "name"]))
            .help("write its objects into Git, where a gate can suspend them\nor give it a type that lands at once"),
    )
}

/// Returns whether the spec lets all that a Flux Kustomization applies land at once, as on a real-time side.
fn is_real_time(subject: &Subject<'_>, delivery: &Delivery) -> bool {
    let types = subject.spec.map_or(&[][..], |spec| &spec.types);
    let lands = |applied: &Applied| {
        applied.change_type.and_then(|position| types.get(position)).is_some_and(ChangeType::is_real_time)
    };
    !delivery.objects.is_empty() && delivery.objects.iter().all(lands)
}
