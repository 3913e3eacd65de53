//! What the renderer answers.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::path::RepoPath;
use crate::render::tree::{Found, Tree};
use crate::render::values::Values;
use crate::render::{Object, Origin, RenderError};

/// An answer as `renderer/main.go` writes it.
#[derive(Deserialize)]
struct Line<'a> {
    index: usize,
    #[serde(borrow)]
    objects: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    origins: Vec<Option<AnswerOrigin>>,
    #[serde(default)]
    twin: bool,
    #[serde(default)]
    error: String,
}

/// An answer that was read.
pub(super) struct Answer {
    /// Which request it belongs to.
    pub(super) index: usize,
    /// Whether the request's twin has the same answer.
    pub(super) twin: bool,
    objects: Option<Vec<Arc<Value>>>,
    origins: Vec<Option<AnswerOrigin>>,
    error: String,
}

#[derive(Deserialize)]
struct AnswerOrigin {
    path: String,
    generator: Option<String>,
}

impl Answer {
    /// Reads one line.
    pub(super) fn read(line: &[u8], values: &Values) -> Result<Answer, serde_json::Error> {
        let Line { index, objects, origins, twin, error } = serde_json::from_slice(line)?;
        let all = |texts: Vec<&RawValue>| texts.into_iter().map(|text| values.read(text.get())).collect();
        Ok(Answer { index, twin, objects: objects.map(all).transpose()?, origins, error })
    }

    /// Returns what the build of this tree came to.
    pub(super) fn outcome(self, tree: &Tree) -> Result<Vec<Object>, RenderError> {
        let Some(values) = self.objects else { return Err(RenderError::reported(&self.error)) };
        let mut origins = self.origins.into_iter();
        let objects = values.into_iter().map(|value| {
            let origin = origins.next().flatten().and_then(|told| told.origin(tree));
            Object { value, origin }
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
