//! What keeps a Flux Kustomization from its next step.

use crate::diagnostic::{Place, line_column};
use crate::error::Error;
use crate::path::RepoPath;
use crate::plan::EntryOutcome;
use crate::repo::FluxKustomization;
use crate::yaml::EditError;

/// What helps where a file can't be edited in its place.
const PLAIN: &str = "write that place in plain block style, without anchors, aliases and merge keys, and commit that; then give the same command again";

/// The way back from a migration, in which nothing is deleted.
pub(crate) const BACK: &str = "go back as you came, a step at a time: `git revert` the commit of the last `migrate`, which takes `prune: true` away again, and let it reach every cluster; then `git revert` that of the hand-over, and let it reach every cluster; then";

/// Why one entry point of one cluster can't take its next step, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What is in the way.
    pub reason: String,
    /// What to do.
    pub remedy: String,
    /// Where it stands, if it is in a file; boxed, since stops travel as errors.
    pub place: Option<Box<Place>>,
    /// Whether it is how files are written, so that no step would come to be: what is not begun yet
    /// should not be.
    pub is_lasting: bool,
}

impl Stop {
    /// Something that may be otherwise at another time.
    pub fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Stop {
        Stop { reason: reason.into(), remedy: remedy.into(), place: None, is_lasting: false }
    }

    /// Something that no step leads past until a file is written otherwise.
    pub fn lasting(reason: impl Into<String>, remedy: impl Into<String>, place: Place) -> Stop {
        Stop { is_lasting: true, ..Stop::new(reason, remedy).at(place) }
    }

    /// The same with its place.
    pub fn at(self, place: Place) -> Stop {
        Stop { place: Some(Box::new(place)), ..self }
    }

    /// The same of the revision that clusters are taken to have.
    pub fn still(self, base: &str) -> Stop {
        Stop { reason: format!("{}, as {base} has it", self.reason), ..self }
    }

    /// A file that can't be edited.
    pub fn file(reason: impl Into<String>, file: &RepoPath) -> Stop {
        Stop::lasting(reason, PLAIN, Place::file(file.clone()))
    }

    /// A place of a file that can't be edited; the error points into this text of it.
    pub fn edit(file: &RepoPath, text: &str, error: &EditError) -> Stop {
        let Some(span) = &error.span else {
            return Stop::file(format!("{file} can't be edited: {}", error.message), file);
        };
        let line = line_column(text, span.start).0;
        let place = Place::span(file.clone(), text.into(), span.clone());
        Stop::lasting(format!("line {line} of {file} can't be edited: {}", error.message), PLAIN, place)
    }

    /// A file that can't be written, with the error's own remedy.
    pub fn write(file: &RepoPath, error: &Error) -> Stop {
        let help = error.diagnostics.first().and_then(|diagnostic| diagnostic.help.clone());
        Stop::lasting(error.to_string(), help.unwrap_or_default(), Place::file(file.clone()))
    }

    /// A Flux Kustomization that is an item of a list.
    pub fn listed(one: &FluxKustomization) -> Stop {
        Stop::lasting(
            format!("Flux Kustomization {} stands inside a list in {}", one.name, one.file),
            "write it as a document of its own and commit that; then give the same command again",
            one.place("metadata"),
        )
    }

    /// Makes an outcome a refusal for this reason.
    pub fn refuse(self, outcome: EntryOutcome) -> EntryOutcome {
        let mut outcome = outcome.refused(self.reason, self.remedy);
        outcome.place = self.place.map(|place| *place);
        outcome
    }
}
