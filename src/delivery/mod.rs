//! Which object a cluster gets, from which files, by which Flux Kustomization, and what it waits for.
//!
//! A cluster is read as Flux reads it. A [`Root`] is applied to it before anything else: the folder of a Flux
//! Kustomization that stands in it, the `sync` of a FluxInstance, or a folder that the spec names. What its build
//! brings is the next level, until nothing new comes ([`Clusters::read`]). What no root reaches is not alive.
//! Names of folders decide nothing but the names of clusters.
//!
//! Three views of it stand side by side: [`inventory`] is what each Flux Kustomization in Git applies, and what
//! a commit would delete; [`fleet`] is who waits for which window; a [`Delivery`] is what one Flux Kustomization
//! applies to one cluster, and what holds it back. [`Input`] is what all of them are worked out from.

mod about;
mod account;
mod alike;
mod api;
pub(crate) mod app;
mod applied;
mod applier;
mod artifacts;
mod begun;
mod bootstrap;
mod bringing;
mod broken;
mod brought;
mod build;
mod carried;
mod certain;
pub mod classify;
mod closing;
mod cluster;
mod clusters;
mod comparison;
mod copied;
mod counterpart;
mod difference;
mod doubt;
mod entry_point;
mod fetched;
mod fetching;
pub mod fleet;
mod former;
pub mod gate;
mod gate_job;
mod gate_patch;
mod generator;
mod glob;
mod guess;
mod hold;
mod input;
mod instance;
pub mod inventory;
mod jitter;
mod lacking;
mod leaving;
mod left_out;
mod left_suspended;
mod lookup;
mod made;
pub(crate) mod metadata;
mod mistyped;
mod model;
mod moved;
mod namespaces;
mod naming;
mod origins;
mod pace;
pub(crate) mod parent;
mod partial;
mod past;
mod pattern;
pub mod privilege;
mod propose;
mod readers;
mod reading;
mod refused;
mod release;
mod repository;
mod revisions;
mod root;
mod scope;
mod secure_join;
mod sides;
mod source;
mod sources;
mod strict;
mod stuck;
mod suggested;
mod target;
mod typed;
mod unapplied;
mod uncome;
mod undivided;
mod unlisted;
mod unplaced;
mod unseen;
pub mod values;
mod variables;
mod view;
mod walk;
mod withheld;

pub(crate) use alike::{GIVES, told_apart};
pub use app::{Apps, Child, app_names, base_part, whole_app};
pub(crate) use app::{app_name, children};
pub use applied::{Applied, Delivery};
pub(crate) use applied::{deliveries, names};
pub use applier::{Applier, appliers, unnamed};
pub(crate) use artifacts::Artifacts;
pub use begun::{
    ASSUMED, Begun, History, KEPT_OUT, State, UNBUILT, UNCLOSED, UNCOME, UNPRIVILEGED, UNSAID, UNTIL_FIRST,
    Unclosed, Waiting, begun, has_never_come, unclosed, unread,
};
pub(crate) use build::{beyond, build, builds, rebuilt, request};
pub use closing::{BuiltJob, Closings, resumes};
pub use cluster::ClusterKey;
pub use clusters::{Cluster, ClusterFolders, Clusters, Known, Reached};
pub use comparison::{Change, Comparison, Kind, Outcome, Pair, Part, World, build_all};
pub use counterpart::counterparts;
pub use doubt::Doubt;
pub use entry_point::{EntryPoint, Role};
pub use fetched::{Artifact, Ignore, is_ignore_file};
pub(crate) use gate_job::gate_jobs;
pub use gate_job::{GateJob, UnclearJob};
pub use gate_patch::{GatePatch, gate_patch};
pub(crate) use guess::CORRECT;
pub use hold::{Held, Hold, Holds};
pub use input::{Input, Later};
pub use jitter::Jitters;
pub use lacking::{Effect, Lacking};
pub use leaving::outside;
pub use left_out::LeftOut;
pub use left_suspended::left_suspended;
pub(crate) use made::is_collected;
pub(crate) use mistyped::MISTYPED;
pub use model::Model;
pub(crate) use moved::brought_by;
pub use pace::{Dependency, LACKED, Need, Paces, STEP};
pub(crate) use partial::{Partial, partial, partial_of};
pub use past::Past;
pub use readers::Readers;
pub(crate) use refused::REFUSED;
pub use refused::{Refused, refused};
pub use release::Release;
pub use root::{Reason, Root};
pub use scope::Scopes;
pub use secure_join::secure_join;
pub use sides::{Sides, by_place, shared, side};
pub use source::{SourceId, bare_url};
pub use sources::{Source, Sources};
pub use stuck::Stuck;
pub use typed::{Typed, TypedError};
pub use unapplied::{Unapplied, unapplied};
pub use undivided::OneType;
pub(crate) use unlisted::is_taken;
pub use unlisted::{Unlisted, unlisted};
pub(crate) use unplaced::{OtherGroup, REACHES, UNCLEAR, UNMAPPED, UnmappedGroup};
pub use variables::Brought;
pub use withheld::{Cause, foreign};
