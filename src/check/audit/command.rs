//! The commands of gates.

use serde_json::Value;

use crate::check::code::{FIELD_MANAGER, PATCH_TYPE, TRUSTED_EXIT_CODE, UNCLEAR_COMMAND};
use crate::check::subject::Subject;
use crate::delivery::gate;
use crate::delivery::{GateJob, UnclearJob};
use crate::diagnostic::Diagnostic;
use crate::mechanism::{Action, SuspendPatch};

/// Finds commands that fail, that may leave a window open without a word, and that are not understood.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for job in &subject.jobs {
        let patches = job.reading.patches.iter().find_map(|patch| patch_type(subject, job, patch));
        for finding in trusted(job).into_iter().chain(managed(subject, job)).chain(patches) {
            if !findings.iter().any(|other| other.place == finding.place && other.code == finding.code) {
                findings.push(finding);
            }
        }
    }
    findings.extend(subject.unclear.iter().map(not_understood));
    findings
}

/// What is turned there is not known, so nothing that depends on it is told.
fn not_understood(job: &UnclearJob) -> Diagnostic {
    UNCLEAR_COMMAND
        .finding(format!("{}. The targets of this CronJob are not checked", gate::not_understood(&job.name, &job.unclear)))
        .at(job.place.clone())
        .help("name each Kustomization in the command\nor check by hand that the CronJobs suspend and resume the same Kustomizations")
}

/// The type of a patch has to fit the patch, and a custom resource takes no strategic merge patch (kubectl
/// `cmd/patch/patch.go`, whose default that is; apiextensions-apiserver `customresource_handler.go`).
fn patch_type(subject: &Subject<'_>, job: &GateJob, patch: &SuspendPatch) -> Option<Diagnostic> {
    // What Git writes is always there, and told as GW001.
    let in_git = subject.reconciled_in(&job.cluster).any(|delivery| {
        job.turns(&delivery.namespace, &delivery.name)
            && subject.flux(delivery).is_some_and(|flux| !flux.spec("suspend").is_null())
    });
    let kind = patch.kind.as_deref().unwrap_or("strategic");
    let replaces = patch.patch.as_array().into_iter().flatten().find_map(|operation| {
        let op = operation["op"].as_str().filter(|_| operation["path"] == "/spec/suspend")?;
        (op == "replace").then_some(op)
    });
    let (why, help) = match (kind, &patch.patch) {
        ("merge", Value::Object(_)) => return None,
        ("json", Value::Array(_)) => (
            format!(
                "`{}` of `/spec/suspend` fails where the field is missing, as before the first closing",
                replaces.filter(|_| job.action == Action::Close && !in_git)?
            ),
            "use the operation `add`, which also sets a missing field",
        ),
        ("json", _) => (
            "`--type=json` takes a list of operations, and this is an object".to_owned(),
            "use `--type=merge`",
        ),
        (_, Value::Array(_)) => ("a list of operations needs `--type=json`".to_owned(), "use `--type=json`"),
        ("strategic", _) if patch.kind.is_none() => (
            "without `--type` it is a strategic merge patch, which custom resources do not take".to_owned(),
            "use `--type=merge`",
        ),
        ("strategic", _) => (
            "the API server refuses a strategic merge patch for a custom resource".to_owned(),
            "use `--type=merge`",
        ),
        // A variable may stand there, or what only a later kubectl knows.
        _ => return None,
    };
    let consequence = match job.action {
        Action::Close => "close",
        _ => "open",
    };
    Some(
        PATCH_TYPE
            .finding(format!(
                "the `kubectl patch` of CronJob `{}` fails: {why}. The window does not {consequence}",
                job.name
            ))
            .at(job.place.clone())
            .help(help),
    )
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
                "CronJob `{}` trusts `flux suspend`, which exits 0 even where it suspends nothing. The window may stay open unnoticed",
                job.name
            ))
            .at(job.place.clone())
            .help(
                "use `kubectl patch … --type=merge --field-manager=flux`, which fails visibly\nor read `spec.suspend` afterwards",
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
    let mut own = subject.reconciled_in(&job.cluster);
    let in_git =
        own.find(|delivery| delivery.flux.is_some() && job.turns(&delivery.namespace, &delivery.name))?;
    patches.then(|| {
        FIELD_MANAGER
            .finding(format!(
                "CronJob `{}` patches {} as kubectl. Flux reverts such changes when it applies {} from Git",
                job.name, in_git.name, in_git.name
            ))
            .at(job.place.clone())
            .help("add `--field-manager=flux` to the command")
    })
}
