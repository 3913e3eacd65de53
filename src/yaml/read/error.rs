//! Why a text is no YAML.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;

/// Why a text could not be read as YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReadError {
    /// What is wrong.
    pub message: String,
    /// Where it was noticed; within the text and on character boundaries.
    pub span: Range<usize>,
}

/// Begins what is said of a document whose aliases stand for too much.
pub(super) const ALIASED: &str = "aliases stand for more than";

impl ReadError {
    /// Returns whether it is for what the aliases of a document stand for, all expanded.
    pub fn is_of_aliases(&self) -> bool {
        self.message.starts_with(ALIASED)
    }

    /// Makes the error a [`Diagnostic`] that points into the file.
    pub fn diagnostic(&self, path: RepoPath, text: Arc<str>) -> Diagnostic {
        Diagnostic::error(format!("not valid YAML: {}", self.message)).at(Place::span(
            path,
            text,
            self.span.clone(),
        ))
    }
}
