//! Why an edit is refused.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::yaml::read::ReadError;

/// Why an edit can't be made without writing the file anew.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EditError {
    /// What stands in the way.
    pub message: String,
    /// Where, if it is at one place of the text.
    pub span: Option<Range<usize>>,
}

impl EditError {
    pub(crate) fn new(message: impl Into<String>) -> EditError {
        EditError { message: message.into(), span: None }
    }

    pub(crate) fn at(message: impl Into<String>, span: Range<usize>) -> EditError {
        EditError { message: message.into(), span: Some(span) }
    }

    /// Makes the error a [`Diagnostic`] that points into the file.
    pub fn diagnostic(&self, path: RepoPath, text: Arc<str>) -> Diagnostic {
        let place = match &self.span {
            Some(span) => Place::span(path, text, span.clone()),
            None => Place { path, text: Some(text), span: None },
        };
        Diagnostic::error(format!("the file can't be edited without rewriting all of it: {}", self.message))
            .at(place)
            .help("write this place in plain block style, or make the edit by hand")
    }
}

impl From<ReadError> for EditError {
    fn from(error: ReadError) -> EditError {
        EditError { message: format!("not valid YAML: {}", error.message), span: Some(error.span) }
    }
}
