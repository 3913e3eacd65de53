//! A renderer that believes no other run.

use crate::render::{Object, RenderError, Renderer, Request};
use crate::repo::Snapshot;

/// Renders with another renderer, without anything that an earlier run has made: for proofs of what is about
/// to be written.
pub struct Anew<'a>(pub &'a dyn Renderer);

impl Renderer for Anew<'_> {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn render(&self, snapshot: &Snapshot, requests: &[Request]) -> Vec<Result<Vec<Object>, RenderError>> {
        self.0.render_anew(snapshot, requests)
    }
}
