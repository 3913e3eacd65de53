//! The plan: which files are created, edited, moved and removed, and what must stay true.
//!
//! Everything in here is pure. A [`Plan`] is made once and has several consumers: the proof, the
//! diff and the writer.

mod absence;
mod adopt;
mod ahead;
mod builder;
mod child;
mod command;
mod documents;
mod entry;
mod flux_create;
mod folder;
mod free_namespace;
pub mod gate;
pub(crate) mod generated;
mod init;
mod join;
mod later;
mod layout;
pub mod migrate;
mod obligations;
mod outcome;
mod parent;
mod part;
mod prepare;
mod projection;
mod promise;
mod refresh;
mod refusal;
pub(crate) mod relocation;
mod resources;
mod restore;
mod scaffold;
mod settle;
mod side;
mod split;
mod step;
mod stop;
mod sync;
mod transfer;
mod whole;

pub use builder::Builder;
pub use command::Command;
pub use flux_create::{SourceUrl, flux_create};
pub use init::{InitOptions, init};
pub use join::join;
pub use later::needs_base;
pub use migrate::{MigrateOptions, Standing, migrate, under_way};
pub use outcome::{AppOutcome, EntryOutcome, Way};
pub(crate) use refusal::is_remote;
pub use scaffold::scaffold;
pub use settle::split;
pub(crate) use split::BACK;
pub use split::Selection;
pub use stop::Stop;
pub use sync::{SCHEMA_FILE, schema_text, sync};

use crate::change::Changes;
use crate::diagnostic::Diagnostic;
use crate::proof::Obligation;

/// Every change of one command, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// What it changes.
    pub changes: Changes,
    /// What must be true of renders before and after; the proof holds the plan to it.
    pub obligations: Vec<Obligation>,
    /// What became of each entry point, where the command was about them.
    pub entries: Vec<EntryOutcome>,
    /// What people must run by hand.
    pub commands: Vec<Command>,
    /// What else is to be said.
    pub remarks: Vec<Diagnostic>,
    /// Where each entry point stands on its way to several Flux Kustomizations.
    pub standings: Vec<Standing>,
    /// What was found in the repository, line by line.
    pub findings: Vec<String>,
    /// Whether the window is the guide's, since nothing else was found or given.
    pub default_window: bool,
}
