//! `gitops-windows` says when each kind of change may reach each cluster of a Flux + kustomize
//! repository, restructures the repository so that this is true, and proves that nothing else
//! changed.
//!
//! # The flow
//!
//! Data flows one way:
//!
//! ```text
//! windows.yaml ─► spec ─┐
//!                       ├─► plan ─┬─► proof   (render before and after, compare objects)
//! disk ─► repo::Snapshot┘         ├─► diff    (unified, patch, markdown, json)
//!                                 └─► write   (journal, swap, undo)
//! ```
//!
//! * [`repo`] is the only reader: it turns the disk into a [`repo::Snapshot`] once.
//! * [`spec`] turns `windows.yaml` into a validated model.
//! * [`plan`] is pure: the same spec and snapshot give the same [`plan::Plan`], byte for byte.
//! * [`proof`], [`diff`] and [`write`](mod@write) consume the one plan; none of them derives it again.
//! * [`commands`] wires these stages, one file a subcommand, and holds no logic.
pub mod calendar;
pub mod change;
pub mod check;
pub mod cli;
pub mod commands;
pub mod delivery;
pub mod diagnostic;
pub mod diff;
pub mod error;
pub mod explain;
pub mod live;
pub mod output;
pub mod path;
pub mod plan;
pub mod proof;
pub mod render;
pub mod repo;
pub mod schedule;
pub mod spec;
pub mod template;
pub mod text;
pub mod verify;
pub mod when;
pub mod write;
pub mod yaml;
