//! What is in the way of a step, and what to do about it.

use crate::delivery::classify::ClassifyError;
use crate::delivery::{Partial, TypedError};
use crate::diagnostic::{Diagnostic, Place, line_column, numbered, steps};
use crate::error::Error;
use crate::path::RepoPath;
use crate::repo::FluxKustomization;
use crate::yaml::EditError;

/// What helps where a file can't be edited in its place.
const PLAIN: &str = "write that place in plain block style, without anchors, aliases and merge keys\ncommit that\nrun the same command again";

/// What helps where one file can't say what several clusters need.
pub(super) const OF_ITS_OWN: &str =
    "give each cluster its own file with a Flux Kustomization, and remove the shared one";

/// The way back from a migration, in which nothing is deleted.
pub(crate) const BACK: &str = "run `git revert` for the commit of the last `migrate`\nwait until every cluster has applied that\nrun `git revert` for the commit of the hand-over\nwait until every cluster has applied that";

/// What is said where the `components` of a Flux Kustomization bring objects of a type that its folder has none of.
pub(super) const ADDED_TYPES: &str =
    "the `components` of its Flux Kustomization add objects of another type. No side would have them alone";

/// What to do about these.
pub(super) const REMEDY_FOR_TYPES: &str = "list the components in its kustomization.yaml instead of the Flux Kustomization's `spec`\nsplit it then\nor give their objects the type of the rest, by a rule or the annotation `gitops-windows/type`";

/// What to do where a Flux Kustomization adds to its folder what counts for a split.
pub(super) const REMEDY_FOR_ADDED: &str = "move the fields that every cluster has in its Flux Kustomization's `spec` into its kustomization.yaml\nor leave it undivided: a gate suspends it where all of its objects have one type";

/// Why one entry point can't be divided, or can't take its next step in a cluster, and what to do about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// What is in the way.
    pub reason: String,
    /// What to do, one step after the other.
    pub steps: Vec<String>,
    /// Where it stands, if it is in a file; boxed, since problems travel as errors.
    pub place: Option<Box<Place>>,
    /// What it would take to be otherwise.
    pub nature: Nature,
}

/// What it would take for a problem to be gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nature {
    /// Time, another command or another step: what is begun can be finished.
    #[default]
    Passing,
    /// An open window: the same command writes it then.
    Window,
    /// A file written otherwise. No step would come to be before, so what is not begun should not be.
    Lasting,
    /// A repository that builds: it is broken, and nothing here is unsafe.
    Broken,
}

impl Problem {
    /// Something that may be otherwise at another time.
    ///
    /// The remedy's steps stand one a line.
    pub fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem { reason: reason.into(), steps: steps(&remedy.into()), ..Problem::default() }
    }

    /// Something that no step leads past until a file is written otherwise.
    pub fn lasting(reason: impl Into<String>, remedy: impl Into<String>, place: Place) -> Problem {
        Problem { nature: Nature::Lasting, ..Problem::new(reason, remedy).at(place) }
    }

    /// Something that may only be merged while the window is open.
    pub fn window(reason: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem { nature: Nature::Window, ..Problem::new(reason, remedy) }
    }

    /// A fault in the repository, with the fault's own words and place.
    pub fn broken(fault: &Diagnostic) -> Problem {
        let place = fault.place.clone().map(Box::new);
        Problem { place, nature: Nature::Broken, ..Problem::from(fault) }
    }

    /// A folder that can't be built, or not be typed.
    pub fn unbuilt(folder: &RepoPath, error: &TypedError) -> Problem {
        match error {
            TypedError::Render(message) if is_remote(message) => Problem::new(
                format!("{folder} {message}. The proof never asks the network"),
                "copy it into the repository with `gitops-windows fetch-bases`\nor leave this entry point undivided",
            ),
            TypedError::Render(message) => Problem {
                nature: Nature::Broken,
                ..Problem::new(
                    format!("{folder} does not build: {message}"),
                    format!("correct it until `kustomize build {folder}` works"),
                )
            },
            TypedError::Unfetched { message, remedy } => Problem {
                nature: Nature::Broken,
                ..Problem::new(format!("{folder} does not build: {message}"), remedy)
            },
            TypedError::Classify(ClassifyError { message, help }) => Problem::new(message, help),
        }
        .at(Place::file(folder.clone()))
    }

    /// A build that its source does not fetch all of.
    pub(super) fn unfetched(partial: &Partial) -> Problem {
        let name = &partial.name;
        match &partial.lacking {
            Some(lacking) => Problem::new(lacking.never_seen_by(name), lacking.why.remedy()),
            None => Problem::new(
                format!("the source of Flux Kustomization {name} lacks files that its build reads"),
                "let the source fetch, or its ArtifactGenerator copy, all that the folder reads",
            ),
        }
    }

    /// A file that can't be edited.
    pub fn file(reason: impl Into<String>, file: &RepoPath) -> Problem {
        Problem::lasting(reason, PLAIN, Place::file(file.clone()))
    }

    /// A place of a file that can't be edited; the error points into this text of it.
    pub fn edit(file: &RepoPath, text: &str, error: &EditError) -> Problem {
        let Some(span) = &error.span else {
            return Problem::file(format!("{file} can't be edited: {}", error.message), file);
        };
        let line = line_column(text, span.start).0;
        let place = Place::span(file.clone(), text.into(), span.clone());
        Problem::lasting(format!("line {line} of {file} can't be edited: {}", error.message), PLAIN, place)
    }

    /// A kustomization whose lists can't be edited.
    pub(super) fn list(file: &RepoPath, error: &EditError) -> Problem {
        Problem::new(format!("{file} can't be edited: {error}"), "write its lists in block style")
    }

    /// A file that can't be written, with the error's own remedy.
    pub fn write(file: &RepoPath, error: &Error) -> Problem {
        Problem { nature: Nature::Lasting, ..Problem::from(error).at(Place::file(file.clone())) }
    }

    /// A Flux Kustomization that is an item of a list.
    pub fn listed(one: &FluxKustomization) -> Problem {
        Problem::lasting(
            format!("Flux Kustomization {} stands inside a list in {}", one.name, one.file),
            "write it as a document of its own\ncommit that\nrun the same command again",
            one.place("metadata"),
        )
    }

    /// A template that names segments of a path which has fewer.
    pub(super) fn layout(template: &str, folder: &RepoPath) -> Problem {
        Problem::new(
            format!("`{template}` of the layout needs more path segments than {folder} has"),
            "choose a template that fits every folder, such as `{path}/{name}-{type}`",
        )
    }

    /// Something that only a fault of this program can lead to.
    pub(super) fn bug(reason: impl ToString) -> Problem {
        Problem::new(reason.to_string(), "report this")
    }

    /// Adds what to do next.
    #[must_use]
    pub fn then(mut self, step: impl Into<String>) -> Problem {
        self.steps.push(step.into());
        self
    }

    /// Adds what else would help.
    #[must_use]
    pub fn or(mut self, other: &str) -> Problem {
        self.steps.push(format!("or {other}"));
        self
    }

    /// Returns what to do, a step a line, with numbers where there are several.
    pub fn remedy(&self) -> String {
        numbered(&self.steps.join("\n"))
    }

    /// Adds where it stands.
    #[must_use]
    pub fn at(self, place: Place) -> Problem {
        Problem { place: Some(Box::new(place)), ..self }
    }

    /// Says it of the revision that clusters are taken to have.
    #[must_use]
    pub fn still(self, base: &str) -> Problem {
        Problem { reason: format!("in {base}: {}", self.reason), ..self }
    }
}

impl From<&Diagnostic> for Problem {
    fn from(diagnostic: &Diagnostic) -> Problem {
        Problem::new(&diagnostic.message, diagnostic.help.as_deref().unwrap_or_default())
    }
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Problem {
        let help = error.diagnostics.first().and_then(|diagnostic| diagnostic.help.clone());
        Problem::new(error.to_string(), help.unwrap_or_default())
    }
}

/// Returns whether a build failed only since it needs the network.
pub(crate) fn is_remote(message: &str) -> bool {
    message.contains("needs the remote base") || message.contains("needs a remote base")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_steps_have_numbers() {
        let problem = Problem::new("it stands twice", "remove one");
        assert_eq!(problem.remedy(), "remove one");
        assert_eq!(problem.then("wait").remedy(), "1. remove one\n2. wait");
        let problem = Problem::new("it stands twice", "remove one").or("wait");
        assert_eq!(problem.remedy(), "remove one\nor wait");
    }
}
