//! `spec.suspend` in Git.

use crate::check::code::{SUSPEND_FALSE, SUSPEND_IN_GIT};
use crate::check::subject::Subject;
use crate::delivery::Hold;
use crate::diagnostic::Diagnostic;
use crate::mechanism::Action;

/// Finds `spec.suspend` where a gate, or a person, would have to own it.
///
/// kustomize-controller applies what Git says by server-side apply, so a field that Git writes is Git's
/// again at the next reconciliation of the parent.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for delivery in &subject.deliveries {
        let Some(flux) = subject.flux(delivery) else { continue };
        let Some(suspend) = flux.spec("suspend").as_bool() else { continue };
        let name = &flux.name;
        let jobs =
            subject.jobs_of(&delivery.cluster).filter(|job| job.turns(&delivery.namespace, &delivery.name));
        let job = jobs.max_by_key(|job| job.action);
        let waits = delivery.change_type.and_then(|position| Hold::of_type(subject.spec?, position));
        // A job that is switched off may be switched on any time.
        let closes = job.filter(|job| job.action == Action::Close).map(|job| Hold::Job(job.name.clone()));
        let waits = waits.or_else(|| delivery.gated.clone()).or(closes);
        // What waits at its source needs nobody to suspend it.
        let follows =
            job.is_some_and(|job| job.action == Action::Follow) || subject.held_source(delivery).is_some();
        let waits = waits.filter(|_| suspend || !follows);
        let finding = match (&waits, suspend) {
            (Some(held), false) => SUSPEND_IN_GIT
                .finding(format!(
                    "`suspend: false` in Git resumes {name} at every reconciliation of its parent. {held} never keeps it suspended"
                ))
                .help("remove the line; the gate then owns the field"),
            (Some(held), true) => SUSPEND_IN_GIT
                .finding(format!(
                    "`suspend: true` in Git suspends {name} at every reconciliation of its parent. It stays suspended in the windows of {held}"
                ))
                .help(
                    "remove the line while a window is open, as removing it resumes the Kustomization at once",
                ),
            // Said of all in the same words: a gate that comes to follow leaves one in each that it holds.
            (None, false) if follows => SUSPEND_FALSE
                .finding("`suspend: false` in Git resumes what a former gate suspended. Suspending it by hand does not last")
                .help("leave it until every cluster has applied it\nthen remove the line"),
            (None, false) => SUSPEND_FALSE
                .finding(format!(
                    "`suspend: false` in Git resumes {name}. Suspending it by hand does not last"
                ))
                .help("remove the line; false is the default"),
            (None, true) => continue,
        };
        let mut finding = finding.at(flux.place("suspend"));
        if let Some(job) = job {
            finding = finding
                .related(format!("CronJob `{}` {} it", job.name, job.action.verb()), job.place.clone());
        }
        if !findings.iter().any(|other| other.place == finding.place) {
            findings.push(finding);
        }
    }
    findings
}
