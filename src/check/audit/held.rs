//! What reaches the objects of a held source without it.

use serde_json::Value;

use crate::check::code::REAL_TIME_VARIABLES;
use crate::check::subject::Subject;
use crate::delivery::Delivery;
use crate::diagnostic::Diagnostic;

/// Finds Flux Kustomizations that read a held source, and variables from what lands at once.
///
/// Nothing suspends such a one, so kustomize-controller fills in the values anew at each interval (`postBuild`).
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for deliveries in subject.clusters().values() {
        for delivery in deliveries.iter().filter(|delivery| is_held(subject, delivery)) {
            findings.extend(variables(subject, deliveries, delivery));
        }
    }
    findings
}

fn is_held(subject: &Subject<'_>, delivery: &Delivery) -> bool {
    let own = subject.model.delivered.named(&delivery.cluster.name);
    own.is_some_and(|own| {
        own.held().any(|(one, _)| delivery.flux.is_some() && delivery.is_named(one.namespace(), one.name()))
    })
}

fn variables(subject: &Subject<'_>, deliveries: &[&Delivery], delivery: &Delivery) -> Vec<Diagnostic> {
    let Some(flux) = subject.flux(delivery) else { return Vec::new() };
    let list = flux.spec("postBuild")["substituteFrom"].as_array();
    let found = list.into_iter().flatten().filter_map(|item: &Value| {
        let (kind, name) = (item["kind"].as_str()?, item["name"].as_str()?);
        let objects = deliveries.iter().flat_map(|other| &other.objects);
        let mut sources = objects.filter(|other| {
            other.is("", kind) && other.id.name == name && other.id.namespace == delivery.namespace
        });
        let source = sources.find(|other| other.window().is_none())?;
        Some(
            REAL_TIME_VARIABLES
                .finding(format!(
                    "{} reads a held source, but its variables come from {}, which lands at once. Its objects change outside of the window",
                    delivery.name, source.id
                ))
                .at(flux.place("postBuild"))
                .related("this lands at once", subject.sources.place(source, &["metadata", "name"]))
                .help("write the values into `postBuild.substitute`\nor give their object the type of the same window"),
        )
    });
    found.collect()
}
