//! References that lead from one build into another.

use std::collections::BTreeMap;

use crate::check::code::{NEEDS_GATED, REFERENCE_ACROSS_SPLIT};
use crate::check::reference::{NameReference, references};
use crate::check::subject::Subject;
use crate::delivery::{Applied, Delivery};
use crate::diagnostic::Diagnostic;

/// Finds references that a prefix, suffix or hash of another build breaks, and such that lead from what
/// lands at once to what waits.
///
/// kustomize rewrites references only within one build (`nameReferenceTransformer`).
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for deliveries in subject.clusters().values() {
        let mut by_name: BTreeMap<(&str, &str), Vec<&Applied>> = BTreeMap::new();
        for applied in deliveries.iter().flat_map(|delivery| &delivery.objects) {
            by_name.entry((applied.id.kind.as_str(), applied.id.name.as_str())).or_default().push(applied);
        }
        for delivery in deliveries {
            for applied in &delivery.objects {
                for reference in references(applied.value()) {
                    let named = by_name.get(&(reference.kind.as_str(), reference.name.as_str()));
                    let named: Vec<&Applied> = named
                        .into_iter()
                        .flatten()
                        .copied()
                        .filter(|other| reference.names(&other.id))
                        .collect();
                    let finding = if named.is_empty() {
                        renamed(subject, deliveries, delivery, applied, &reference)
                    } else {
                        waiting(subject, applied, &reference, &named)
                    };
                    findings.extend(finding);
                }
            }
        }
    }
    findings
}

/// Looks for an object of another build that was declared under the name that is asked for.
fn renamed(
    subject: &Subject<'_>,
    deliveries: &[&Delivery],
    delivery: &Delivery,
    applied: &Applied,
    reference: &NameReference,
) -> Option<Diagnostic> {
    if reference.optional {
        return None;
    }
    let others = deliveries.iter().filter(|other| !std::ptr::eq(**other, delivery));
    let candidates = others.flat_map(|other| other.objects.iter().map(move |found| (*other, found)));
    let (other, found) = candidates
        .filter(|(_, found)| found.id.kind == reference.kind && found.id.group == reference.group)
        .filter(|(_, found)| reference.same_namespace(&found.id) && found.id.name.contains(&reference.name))
        .find(|(_, found)| subject.sources.first_name(found).as_deref() == Some(reference.name.as_str()))?;
    Some(
        REFERENCE_ACROSS_SPLIT
            .finding(format!(
                "{} refers to {} {}, which {} builds as {}. The cluster has no object of the first name",
                applied.id, reference.kind, reference.name, other.name, found.id.name
            ))
            .at(subject.sources.place(applied, &reference.path))
            .related("it is declared here", subject.sources.place(found, &["metadata", "name"]))
            .help("build both in one Flux Kustomization: kustomize follows changed names only within one build\nor set the name without prefix, suffix and hash"),
    )
}

fn waiting(
    subject: &Subject<'_>,
    applied: &Applied,
    reference: &NameReference,
    named: &[&Applied],
) -> Option<Diagnostic> {
    let first = named.iter().min_by_key(|other| other.rank())?;
    let held = first.window().filter(|_| first.rank() > applied.rank() && !reference.optional)?;
    let lands = applied.lands();
    Some(
        NEEDS_GATED
            .finding(format!(
                "{} {lands} and needs {}, which waits for {held}. On a new cluster it is missing until the window opens",
                applied.id, first.id
            ))
            .at(subject.sources.place(applied, &reference.path))
            .related("this waits", subject.sources.place(first, &["metadata", "name"]))
            .help("give both one type, or the needed object the earlier type"),
    )
}
