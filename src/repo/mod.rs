//! The repository as a value: paths, files, and the views that the plan reads.

mod git;
mod history;
mod name;
mod path;
mod read;
#[cfg(test)]
pub(crate) mod scratch;
mod snapshot;

pub use path::{RepoPath, RepoPathError};
pub use read::{GitDirs, Reading, Repository};
pub(crate) use read::{STATE, absent, is_executable, read_file};
pub use snapshot::{Entry, File, ResolveError, Snapshot};
