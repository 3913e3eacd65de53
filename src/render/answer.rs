//! What the renderer answers.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::render::tree::{Found, Tree};
use crate::render::values::{Values, Written};
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
    objects: Option<Vec<Arc<Written>>>,
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
        let all = |texts: Vec<&RawValue>| texts.into_iter().map(|text| values.written(text.get())).collect();
        Ok(Answer { index, twin, objects: objects.map(all), origins, error })
    }

    /// Returns what the build of this tree came to, as it is remembered.
    pub(super) fn kept(self, tree: &Tree) -> Result<Vec<Kept>, RenderError> {
        let Some(objects) = self.objects else { return Err(RenderError::reported(&self.error)) };
        let mut origins = self.origins.into_iter();
        let objects = objects.into_iter().map(|written| {
            let origin = origins.next().flatten().and_then(|told| told.origin(tree));
            Kept { written, origin }
        });
        Ok(objects.collect())
    }
}

/// One object of a build that is remembered.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    written: Arc<Written>,
    origin: Option<Origin>,
}

impl Kept {
    /// Returns the object.
    ///
    /// # Errors
    ///
    /// When it is no JSON, or is nested too deeply.
    pub(super) fn object(&self) -> Result<Object, RenderError> {
        let unreadable =
            |error| RenderError { message: format!("kustomize's answer can't be read: {error}") };
        let value = self.written.value().map_err(unreadable)?;
        Ok(Object { value, origin: self.origin.clone() })
    }
}

impl AnswerOrigin {
    /// Returns the origin with its path without links; `None` unless there is such a file.
    fn origin(self, tree: &Tree) -> Option<Origin> {
        match tree.find(&self.path) {
            Found::File(place, _) => Some(Origin { path: tree.path(&place)?, generator: self.generator }),
            _ => None,
        }
    }
}
