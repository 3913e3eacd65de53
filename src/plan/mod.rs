//! The plan: which files are created, edited, moved and removed, and what must stay true.
//!
//! Everything in here is pure. A [`Plan`] is made once and has several consumers: the proof, the
//! diff and the writer.

mod apart;
mod by_hand;
pub mod command;
pub mod edit;
mod found;
pub mod gate;
pub mod migrate;
mod outcome;
mod problem;
mod release;
mod report;
mod schema;
pub mod split;
mod stage;
mod unfetched;

pub(crate) use apart::{OBJECTS_OUT_OF_ROOT, OUT_OF_ROOT, apart, apart_from_made};
pub use by_hand::Command;
pub use found::{Found, FoundEntry, Holding, by_cluster};
pub use outcome::{AppOutcome, EntryOutcome, MOST_ALIKE, Way};
pub(crate) use problem::{BACK, is_remote};
pub use problem::{Nature, Problem};
pub(crate) use release::{Purpose, on_branches, unreleased};
pub use report::{Beside, Report};
pub use schema::schema;
pub use stage::{Stage, Standing};
pub(crate) use unfetched::{for_people, refuse_unfetched};

use std::collections::BTreeSet;

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
    /// What people must run by hand.
    pub commands: Vec<Command>,
    /// What else is to be said.
    pub remarks: Vec<Diagnostic>,
    /// What the command has to say of it.
    pub report: Report,
    /// The clusters that should hear of it and don't, as `remarks` say.
    pub unreached: BTreeSet<String>,
    /// The clusters that it must reach while their windows are open.
    pub while_open: BTreeSet<String>,
    /// Whether it may be written beside uncommitted edits of files that it does not change.
    pub is_urgent: bool,
}
