//! Which object a cluster gets, from which files, by which Flux Kustomization, and what it waits for.
//!
//! Three views of it stand side by side: [`inventory`] is what each Flux Kustomization in Git applies, and what
//! a commit would delete; [`fleet`] is who waits for which window; a [`Delivery`] is what one Flux Kustomization
//! applies to one cluster, and what holds it back. [`Input`] is what all of them are worked out from.

pub(crate) mod app;
mod applied;
mod build;
pub mod classify;
mod cluster;
pub mod fleet;
mod gate_job;
mod input;
pub mod inventory;
mod origins;
pub(crate) mod parent;
mod sources;
mod unapplied;

pub use app::{Apps, Child, app_names};
pub(crate) use app::{app_name, children};
pub use applied::{Applied, Delivery};
pub(crate) use applied::{deliveries, names};
pub(crate) use build::{beyond, build, builds, rebuilt, request};
pub use cluster::ClusterKey;
pub(crate) use gate_job::gate_jobs;
pub use gate_job::{GateJob, UnclearJob};
pub use input::{Input, Sides, Typed, TypedError, divided, side, sides, sides_of};
pub use sources::{Source, Sources};
pub use unapplied::{Unapplied, unapplied};
