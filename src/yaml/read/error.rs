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

impl ReadError {
    /// Makes the error a [`Diagnostic`] that points into the file.
    pub fn diagnostic(&self, path: RepoPath, text: Arc<str>) -> Diagnostic {
        Diagnostic::error(format!("not valid YAML: {}", self.message)).at(Place::span(
            path,
            text,
            self.span.clone(),
        ))
    }
}
