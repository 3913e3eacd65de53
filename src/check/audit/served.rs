//! Versions of Flux's kinds that the Flux in Git does not serve.

use crate::check::code::UNSERVED_VERSION;
use crate::check::subject::Subject;
use crate::delivery::Cluster;
use crate::diagnostic::Diagnostic;
use crate::repo::FluxApi;

/// Finds objects of versions that the CustomResourceDefinitions of their cluster lack: Flux applies nothing of a build in which
/// one object has no kind (kustomize-controller, `apply`).
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for delivery in subject.deliveries.iter().filter(|delivery| delivery.cluster.remote.is_empty()) {
        let api = subject.model.delivered.named(&delivery.cluster.name).and_then(Cluster::api);
        let Some(api) = api else { continue };
        for applied in &delivery.objects {
            let (kind, version) =
                (&applied.id.kind, applied.value()["apiVersion"].as_str().unwrap_or_default());
            if api.serves_kind(version, kind) != Some(false) {
                continue;
            }
            let since = FluxApi::version_serving(version, kind);
            let finding = UNSERVED_VERSION
                .finding(format!(
                    "{api} does not serve `{version}` of {kind} {}. {} applies nothing new",
                    applied.id.name, delivery.name
                ))
                .at(subject.sources.place(applied, &["apiVersion"]))
                .help(format!(
                    "upgrade Flux of cluster {} to {since}, and let that reach it first\nor write a version that it serves",
                    delivery.cluster.name
                ))
                .related("what is served".to_owned(), api.place.clone());
            if !findings.iter().any(|other| other.place == finding.place) {
                findings.push(finding);
            }
        }
    }
    findings
}
