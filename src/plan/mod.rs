//! The plan: which files are created, edited, moved and removed, and what must stay true.
//!
//! Everything in here is pure. A [`Plan`] is made once and has several consumers: the proof, the
//! diff and the writer.

mod absence;
mod adopt;
mod ahead;
pub mod app;
mod build;
mod builder;
mod child;
pub mod classify;
mod command;
mod documents;
mod entry;
mod flux_create;
mod folder;
mod free_namespace;
pub mod gate;
pub(crate) mod generated;
mod init;
mod input;
mod join;
mod later;
mod layout;
mod listing;
mod lone;
pub mod migrate;
pub(crate) mod newcomer;
mod obligations;
mod origins;
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
mod umbrella;
mod unapplied;
mod whole;

use std::collections::BTreeMap;

pub use app::app_names;
pub(crate) use app::{app_name, children};
pub(crate) use build::{beyond, build, builds, rebuilt, request};
pub use builder::Builder;
pub use command::Command;
pub use flux_create::{SourceUrl, flux_create};
pub(crate) use generated::is_generated;
pub use init::{InitOptions, init};
pub use input::{Input, Sides, Typed, TypedError, side, sides};
pub use join::join;
pub use later::needs_base;
pub(crate) use lone::Lone;
pub use migrate::{MigrateOptions, Standing, migrate, under_way};
pub use outcome::{AppOutcome, EntryOutcome, Way};
pub(crate) use refusal::is_remote;
pub use scaffold::scaffold;
pub use settle::split;
pub(crate) use split::BACK;
pub use split::Selection;
pub use stop::Stop;
pub use sync::{SCHEMA_FILE, schema_text, sync};
pub use unapplied::{Unapplied, unapplied};

use crate::diagnostic::Diagnostic;
use crate::proof::Obligation;
use crate::repo::{File, RepoPath, Snapshot};

/// What happens at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file as the plan found it; `None` where there was none.
    pub before: Option<File>,
    /// The file as the plan leaves it; `None` where it is removed.
    pub after: Option<File>,
    /// The path whose content was moved here byte for byte, if it was.
    pub moved_from: Option<RepoPath>,
}

/// Every change of one command, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changed paths. A path whose content stays the same is not here.
    pub changes: BTreeMap<RepoPath, Change>,
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

impl Plan {
    /// Counts the files that change; one that moves counts once.
    pub fn files(&self) -> usize {
        let moved = self.changes.values().filter_map(|change| change.moved_from.as_ref());
        let sources =
            moved.filter(|from| self.changes.get(*from).is_some_and(|change| change.after.is_none()));
        self.changes.len() - sources.count()
    }

    /// Takes in one more change; one that changes nothing is left out.
    pub fn include(&mut self, path: RepoPath, change: Change) {
        if change.before != change.after {
            self.changes.insert(path, change);
        }
    }

    /// Gives the tree that writing this plan leaves.
    pub fn apply(&self, snapshot: &Snapshot) -> Snapshot {
        let mut after = snapshot.clone();
        for (path, change) in &self.changes {
            match &change.after {
                Some(file) => after.insert(path.clone(), file.clone()),
                None => after.remove(path),
            }
        }
        after
    }
}
