//! `gitops-windows` says when each kind of change may reach each cluster of a Flux + kustomize
//! repository, restructures the repository so that this is true, and proves that nothing else
//! changed.
//!
//! `docs/glossary.md` has the words that code, messages and docs use, one for each thing.
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
//! * [`delivery`] says what each cluster gets, from which files, by which Flux Kustomization.
//! * [`plan`] is pure: the same spec and snapshot give the same [`plan::Plan`], byte for byte.
//! * [`proof`], [`diff`] and [`write`](mod@write) consume the one plan; none of them derives it again.
//! * [`commands`] wires these stages, one file a subcommand, and holds no logic.
//!
//! # The rooms
//!
//! A room uses only rooms that stand before it; `tests/rooms.rs` reads the imports and holds them to it.
//!
//! ```text
//! path  limit  diagnostic  error  yaml  text  no domain
//! repo  schedule  spec  template              files, kustomize, Git | time | windows.yaml | generated texts
//! mechanism                                   how gates open and close: written and read
//! render  live                                builds | kubectl
//! delivery                                    who gets what from where, and what it waits for
//! change  proof  diff  write                  what becomes of a plan
//! page                                        pages for a browser
//! plan                                        what a plan says: outcomes, problems, standings, commands by hand
//! plan/edit                                   edits of text: builder, lists of resources, generated files
//! plan/gate                                   what opens and closes: wanted files, reading, removal
//! plan/migrate                                from one Flux Kustomization to several, step by step
//! plan/split                                  divides plainly or by projection, proves, joins
//! plan/command                                init, sync, adopt, scaffold, flux-create
//! clusters  check  when  calendar             questions
//! explain  verify  pr                         over one delivery, or over two
//! status                                      what clusters have against it
//! post                                        a report on its forge
//! cli  output  commands                       wiring; a command's arguments stand beside it
//! ```
//!
//! # How a cluster is read
//!
//! As Flux reads it. Only builds whose files may bring a Flux Kustomization or a source are asked for, and kustomize
//! is run only for those that do more than put files together.
//!
//! ```text
//! delivery::root      roots that Git names: what applies its own folder, FluxInstance, the spec
//!      │              delivery::propose, where Git names none: what stands there and nothing brings
//!      ▼
//! delivery::walk ◄────────────────────────────────┐
//!      │   folder ◄ source, spec.path (secure_join)│ the next level: Flux Kustomizations and
//!      │   files  ◄ spec.ignore, .sourceignore     │ sources among the built objects,
//!      │            (fetched, view)                │ postBuild applied
//!      └─► build: View::listed, else the renderer ─┘
//!      │
//!      ▼   nothing new comes
//! delivery::Clusters ─► delivery::Model: entry points, gates, what is not alive
//! ```
//!
//! # How a split is planned and proven
//!
//! ```text
//! plan::split::driver ──► draft: plan all ──► prove all in one batch ──► nothing new: the plan
//!        ▲                 selection            plan::split::promise, proof        │
//!        │                 step: folder, or projection                           ▼
//!        │                 admission: newcomers                      commands::apply: proof anew,
//!        └── what fails is doubted, then refused ◄──┘                diff, write
//!            what no migration could hand over is refused (plan::migrate::hindrance)
//! ```
//!
//! # How it is migrated
//!
//! ```text
//! plan::migrate::standing   where each entry point of each cluster stands, from Git alone
//!        │
//!        ├─► precondition::state   what is wrong whatever the step is
//!        ├─► precondition::step    what the next step asks for, and what the clusters say
//!        ▼
//! plan::migrate::round      the steps that may go together: prepare, hand_over, finish
//!        │                  judged by what each cluster would get (verify) and lose (inventory)
//!        └─► those that must wait are left out, and the round begins again
//! ```
//!
//! CONTRIBUTING.md says which file to open for which change.
pub mod calendar;
pub mod change;
pub mod check;
pub mod cli;
pub mod clusters;
pub mod commands;
pub mod delivery;
pub mod diagnostic;
pub mod diff;
pub mod error;
pub mod explain;
pub mod limit;
pub mod live;
pub mod mechanism;
pub mod output;
pub mod page;
pub mod path;
pub mod plan;
pub mod post;
pub mod pr;
pub mod proof;
pub mod render;
pub mod repo;
pub mod schedule;
pub mod spec;
pub mod status;
pub mod template;
pub mod text;
pub mod verify;
pub mod when;
pub mod write;
pub mod yaml;

/// Returns whether tests are to try all cases, as `.ci/run` lets them, and not the few of every day.
#[cfg(test)]
fn is_thorough() -> bool {
    std::env::var_os("GITOPS_WINDOWS_TEST_THOROUGH").is_some()
}
