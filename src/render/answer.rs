//! What the renderer answers.

use std::sync::Arc;

use serde::Deserialize;

use crate::path::RepoPath;
use crate::render::tree::{Found, Tree};
use crate::render::{Object, Origin, RenderError};

/// An answer as `renderer/main.go` writes it.
#[derive(Deserialize)]
pub(super) struct Answer {
    /// Which request it belongs to.
    pub(super) index: usize,
    objects: Option<Vec<serde_json::Value>>,
    #[serde(default)]
    origins: Vec<Option<AnswerOrigin>>,
    /// Whether the request's twin has the same answer.
    #[serde(default)]
    pub(super) twin: bool,
    #[serde(default)]
    error: String,
}

#[derive(Deserialize)]
struct AnswerOrigin {
    path: String,
    generator: Option<String>,
}

impl Answer {
    /// Reads one line.
    pub(super) fn read(line: &[u8]) -> Result<Answer, serde_json::Error> {
        serde_json::from_slice(line)
    }

    /// Returns what the build of this tree came to.
    pub(super) fn outcome(self, tree: &Tree) -> Result<Vec<Object>, RenderError> {
        let Some(values) = self.objects else { return Err(RenderError::reported(&self.error)) };
        let mut origins = self.origins.into_iter();
        let objects = values.into_iter().map(|value| {
            let origin = origins.next().flatten().and_then(|told| told.origin(tree));
            Object { value: Arc::new(value), origin }
        });
        Ok(objects.collect())
    }
}

impl AnswerOrigin {
    /// Returns the origin with its path without links; `None` unless there is such a file.
    fn origin(self, tree: &Tree) -> Option<Origin> {
        match tree.find(&self.path) {
            Found::File(place, _) => {
                Some(Origin { path: RepoPath::parse(&place).ok()?, generator: self.generator })
            }
            _ => None,
        }
    }
}
