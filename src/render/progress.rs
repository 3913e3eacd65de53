//! How far the builds of a call have come.

use std::fmt;
use std::sync::Arc;

/// Hears after each build how many of a call are done, and of how many.
#[derive(Clone)]
pub struct Progress(pub Arc<dyn Fn(usize, usize) + Send + Sync>);

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}
