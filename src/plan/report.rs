//! What a command has to say beside its changes.

use crate::delivery::Held;
use crate::plan::{EntryOutcome, Found, Standing};

/// What a plan says, by the command that it is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Report {
    /// Nothing but its changes and remarks.
    #[default]
    Changes,
    /// `init` and `scaffold`.
    Init {
        /// What was found in the repository.
        found: Found,
        /// What gates hold back already.
        held: Held,
        /// Whether the window is the guide's, since nothing else was found or given.
        default_window: bool,
    },
    /// `split`, `join` and `sync`: what became of each entry point.
    EntryPoints(Vec<EntryOutcome>),
    /// `migrate`.
    Migrate {
        /// Where each entry point stands on its way to several Flux Kustomizations.
        standings: Vec<Standing>,
        /// What the steps change beside.
        beside: Vec<Beside>,
        /// Those that can't take their next step.
        refused: Vec<EntryOutcome>,
    },
}

/// What a step of a migration changes beside where entry points stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The cluster.
    pub cluster: String,
    /// The lines that tell people, below its name.
    pub lines: Vec<String>,
    /// Whether it is a new `dependsOn` and no more, of which there may be many.
    pub is_usual: bool,
}

impl Report {
    /// Returns what became of entry points; empty where the command was not about them.
    pub fn entries(&self) -> &[EntryOutcome] {
        match self {
            Report::EntryPoints(entries) | Report::Migrate { refused: entries, .. } => entries,
            Report::Changes | Report::Init { .. } => &[],
        }
    }

    /// Returns what a migration changes beside; empty where the command was not `migrate`.
    pub fn beside(&self) -> &[Beside] {
        match self {
            Report::Migrate { beside, .. } => beside,
            _ => &[],
        }
    }

    /// Returns how far entry points have come; empty where the command was not `migrate`.
    pub fn standings(&self) -> &[Standing] {
        match self {
            Report::Migrate { standings, .. } => standings,
            _ => &[],
        }
    }
}
