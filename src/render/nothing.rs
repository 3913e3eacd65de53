//! A renderer for tests that build nothing.

use crate::render::{Object, RenderError, Renderer, Request};
use crate::repo::Snapshot;

/// Builds no object of any folder.
pub struct Nothing;

impl Renderer for Nothing {
    fn describe(&self) -> String {
        "nothing".to_owned()
    }

    fn render(&self, _: &Snapshot, requests: &[Request]) -> Vec<Result<Vec<Object>, RenderError>> {
        requests.iter().map(|_| Ok(Vec::new())).collect()
    }
}
