//! The commands of gates.

use crate::check::code::{FIELD_MANAGER, TRUSTED_EXIT_CODE};
use crate::check::gate_job::GateJob;
use crate::check::subject::Subject;
use crate::diagnostic::Diagnostic;
use crate::repo::command::Action;

/// Finds commands that may leave a window open without a word.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for job in &subject.jobs {
        for finding in trusted(job).into_iter().chain(managed(subject, job)) {
            if !findings.iter().any(|other| other.place == finding.place && other.code == finding.code) {
                findings.push(finding);
            }
        }
    }
    findings
}

/// With names given, `flux suspend` only logs what goes wrong (flux2 `cmd/flux/suspend.go`).
fn trusted(job: &GateJob) -> Option<Diagnostic> {
    let suspends = job.containers().any(|container| {
        let line = GateJob::line(container);
        let image = container["image"].as_str().unwrap_or_default();
        let by_entry = container["command"].is_null() && image.contains("flux-cli");
        let by_name = line.contains("flux suspend") || (by_entry && line.starts_with("suspend"));
        // Whoever asks afterwards does not trust it.
        by_name
            && !["kubectl get", "flux get", "kubectl wait", "jsonpath"].iter().any(|asks| line.contains(asks))
    });
    (job.action == Action::Close && suspends).then(|| {
        TRUSTED_EXIT_CODE
            .finding(format!(
                "CronJob `{}` runs `flux suspend`, which exits 0 when the Kustomization is missing, forbidden or can't \
                 be patched, so the window stays open and the job counts as done",
                job.name
            ))
            .at(job.place.clone())
            .help(
                "use `kubectl patch … --type=merge --field-manager=flux`, which fails loudly, or ask for \
                 `spec.suspend` afterwards",
            )
    })
}

/// kustomize-controller takes back what managers that begin with `kubectl` have set, of what it applies
/// itself (`ssa.ApplyOptions.FieldManagers` in kustomization_controller.go).
fn managed(subject: &Subject<'_>, job: &GateJob) -> Option<Diagnostic> {
    let patches = job.containers().any(|container| {
        let line = GateJob::line(container);
        let manager = line
            .split_once("--field-manager")
            .map(|(_, rest)| rest.trim_start_matches(['=', ' ', '"', '\'']));
        line.contains("kubectl")
            && line.contains("patch")
            && line.contains("suspend")
            && !line.contains("flux suspend")
            && !line.contains("flux resume")
            && manager.is_none_or(|manager| manager.starts_with("kubectl"))
    });
    // One that was made by hand is applied by nobody, so nothing takes the patch back.
    let in_git = subject.deliveries.iter().find(|delivery| {
        delivery.cluster == job.cluster
            && delivery.flux.is_some()
            && job.targets.iter().any(|(namespace, name)| delivery.is_named(namespace, name))
    })?;
    patches.then(|| {
        FIELD_MANAGER
            .finding(format!(
                "CronJob `{}` patches {} as kubectl, and Flux takes such changes back when it applies {} from Git",
                job.name, in_git.name, in_git.name
            ))
            .at(job.place.clone())
            .help("add `--field-manager=flux` to the command")
    })
}
