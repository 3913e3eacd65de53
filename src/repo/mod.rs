//! The repository as a value: paths, files, and the views that the plan reads.

mod appeared;
mod clone;
mod conflict;
mod create;
pub(crate) mod duration;
pub mod envsubst;
pub mod field;
mod file;
pub mod flux;
mod flux_api;
mod followed;
mod git;
mod graph;
mod history;
pub mod kustomization;
pub(crate) mod listing;
pub mod made;
pub mod manifest;
mod name;
mod outline;
pub mod post_build;
mod read;
mod remote;
mod revision;
mod salvage;
#[cfg(test)]
pub(crate) mod scratch;
pub mod secret;
mod snapshot;
pub(crate) mod umbrella;

pub use appeared::Appeared;
pub use clone::Fetched;
pub use conflict::conflict;
pub use file::File;
pub use flux::FluxKustomization;
pub use flux_api::FluxApi;
pub use followed::{Followed, OtherRevision};
pub use graph::{Graph, built, built_any, generated_children};
pub use history::Relation;
pub use kustomization::{COMPONENTS, Kustomization, Reference, Target};
pub use read::{GitDirs, Reading, Repository};
pub(crate) use read::{STATE, absent, is_executable, read_file};
pub use remote::RemoteBase;
pub(crate) use remote::segment;
pub use revision::Merged;
pub use snapshot::{Entry, ResolveError, Snapshot};
