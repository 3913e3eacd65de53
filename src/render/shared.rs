//! A renderer that several commands of one process use.

use std::fmt;
use std::sync::Arc;

use crate::render::{Object, RenderError, Renderer, Request, Tally};
use crate::repo::Snapshot;

/// Builds with a renderer that others hold too, so that what one command built another need not build again.
#[derive(Clone)]
pub struct Shared(pub Arc<dyn Renderer + Send + Sync>);

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}

impl Renderer for Shared {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn render(&self, snapshot: &Snapshot, requests: &[Request]) -> Vec<Result<Vec<Object>, RenderError>> {
        self.0.render(snapshot, requests)
    }

    fn render_anew(
        &self,
        snapshot: &Snapshot,
        requests: &[Request],
    ) -> Vec<Result<Vec<Object>, RenderError>> {
        self.0.render_anew(snapshot, requests)
    }

    fn prepare(&self, snapshot: &Snapshot, requests: &[Request]) {
        self.0.prepare(snapshot, requests);
    }

    fn rest(&self) {
        self.0.rest();
    }

    fn tally(&self) -> Option<Tally> {
        self.0.tally()
    }
}
