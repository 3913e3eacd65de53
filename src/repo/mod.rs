//! The repository as a value: paths, files, and the views that the plan reads.

mod clusters;
pub mod command;
pub mod flux;
pub mod gate;
mod git;
mod graph;
mod history;
mod homes;
pub mod kustomization;
pub(crate) mod listing;
pub mod manifest;
mod model;
mod name;
mod namespaces;
pub mod post_build;
mod read;
#[cfg(test)]
pub(crate) mod scratch;
mod shell;
mod snapshot;
pub(crate) mod umbrella;
pub(crate) mod unlisted;

pub use flux::FluxKustomization;
pub use graph::Graph;
pub use history::Relation;
pub use kustomization::{Kustomization, Reference, Target};
pub use model::{ClusterFolders, EntryPoint, Model, Role, built, generated_children};
pub use read::{GitDirs, Reading, Repository};
pub(crate) use read::{STATE, absent, is_executable, read_file};
pub use snapshot::{Entry, File, ResolveError, Snapshot};
