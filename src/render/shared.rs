//! A renderer that several commands of one process use.

use std::fmt;
use std::sync::Arc;

use crate::render::Renderer;
use crate::render::forward::forward;

/// Builds with a renderer that others hold too, so that what one command built another need not build again.
#[derive(Clone)]
pub struct Shared(pub Arc<dyn Renderer + Send + Sync>);

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}

forward!(Shared);
