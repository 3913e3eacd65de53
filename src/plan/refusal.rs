//! Why something can't be divided, and what to do about it.

use crate::delivery::TypedError;
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::plan::EntryOutcome;

/// What is said where the `components` of a Flux Kustomization bring objects of a type that its folder has none of.
pub(super) const ADDED_TYPES: &str = "the `components` of its Flux Kustomization bring objects of another type than those of its folder, and no side would have them alone";

/// What to do about these.
pub(super) const REMEDY_FOR_TYPES: &str = "list the components in its kustomization.yaml in place of the `spec` of the Flux Kustomization, and split it then; or give what they bring the type of the rest, by a rule or by the annotation `gitops-windows/type`";

/// What to do where a Flux Kustomization adds to its folder what counts for a split.
pub(super) const REMEDY_FOR_ADDED: &str = "move what every cluster takes from the `spec` of its Flux Kustomization into its kustomization.yaml; or leave it whole: a gate holds it back where all of its objects have one type";

/// Makes an outcome a refusal for a folder that can't be built and typed.
pub(super) fn refuse(outcome: EntryOutcome, folder: &RepoPath, error: &TypedError) -> EntryOutcome {
    let refusal = Refusal::of(folder, error);
    let mut outcome = outcome.refused(refusal.reason, refusal.remedy);
    outcome.invalid = matches!(error, TypedError::Render(message) if !is_remote(message));
    outcome.place = Some(Place::file(folder.clone()));
    outcome
}

/// As [`refuse`], for an entry point that builds with what its Flux Kustomizations add, and not without.
pub(super) fn refuse_alone(outcome: EntryOutcome, folder: &RepoPath, error: &TypedError) -> EntryOutcome {
    let outcome = refuse(outcome, folder, error);
    let reason = format!("without what its Flux Kustomization adds {}", outcome.reason);
    EntryOutcome { invalid: false, ..outcome.refused(reason, REMEDY_FOR_ADDED) }
}

/// Tells whether a build failed only since it needs the network.
pub(crate) fn is_remote(message: &str) -> bool {
    message.contains("needs the remote base") || message.contains("needs a remote base")
}

/// Why an entry point can't be split, and what to do about it.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) reason: String,
    pub(super) remedy: String,
}

impl Refusal {
    pub(super) fn of(folder: &RepoPath, error: &TypedError) -> Refusal {
        match error {
            TypedError::Render(message) if is_remote(message) => Refusal {
                reason: format!("{folder} {message}, and the proof never asks the network"),
                remedy: "put a copy of it into the repository and list that, or leave this entry point whole"
                    .into(),
            },
            TypedError::Render(message) => Refusal {
                reason: format!("{folder} does not build: {message}"),
                remedy: format!("mend it until `kustomize build {folder}` works"),
            },
            TypedError::Classify(error) => {
                Refusal { reason: error.message.clone(), remedy: error.help.clone() }
            }
        }
    }

    pub(super) fn of_error(error: &crate::error::Error) -> Refusal {
        let help = error.diagnostics.first().and_then(|diagnostic| diagnostic.help.clone());
        Refusal { reason: error.to_string(), remedy: help.unwrap_or_default() }
    }

    pub(super) fn of_diagnostic(diagnostic: &crate::diagnostic::Diagnostic) -> Refusal {
        Refusal { reason: diagnostic.message.clone(), remedy: diagnostic.help.clone().unwrap_or_default() }
    }

    pub(super) fn of_edit(file: &RepoPath, reason: &str) -> Refusal {
        Refusal {
            reason: format!("{file} can't be edited: {reason}"),
            remedy: "write its lists in block style".into(),
        }
    }

    /// A template that names segments of a path which has fewer.
    pub(super) fn of_layout(template: &str, folder: &RepoPath) -> Refusal {
        Refusal {
            reason: format!("`{template}` of the layout names segments that {folder} does not have"),
            remedy: "choose a template that fits every folder, such as `{path}/{name}-{type}`".into(),
        }
    }

    pub(super) fn bug(reason: &str) -> Refusal {
        Refusal { reason: reason.to_owned(), remedy: "report this".into() }
    }
}
