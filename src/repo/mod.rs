//! The repository as a value: paths, files, and the views that the plan reads.

mod path;
mod snapshot;

pub use path::{RepoPath, RepoPathError};
pub use snapshot::{Entry, File, Snapshot};
