//! Flux's own objects that no API server takes.

use crate::check::code::REFUSED_OBJECT;
use crate::check::subject::Subject;
use crate::delivery::refused;
use crate::diagnostic::Diagnostic;

/// Finds what Flux reads and every API server refuses: nothing of its build is applied, and what the cluster has goes on.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for delivery in subject.deliveries.iter().filter(|delivery| delivery.applied_by.is_some()) {
        let Some(flux) = subject.model.applying(delivery) else { continue };
        for applied in &delivery.objects {
            let Some(refused) = refused(&flux.post_build, applied.value()) else { continue };
            let keys = if refused.is_missing { &refused.keys[..1] } else { refused.keys };
            let finding = REFUSED_OBJECT
                .finding(format!("{refused}. {} applies nothing new", delivery.name))
                .at(subject.sources.place(applied, keys))
                .help(if refused.is_missing { "write the field" } else { "correct the field" })
                .about(delivery.key());
            if !findings.iter().any(|other| other.place == finding.place && other.message == finding.message)
            {
                findings.push(finding);
            }
        }
    }
    findings
}
