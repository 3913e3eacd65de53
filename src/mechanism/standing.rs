//! What holds a type back in a cluster as its gate stands in Git, whatever the spec wants by now.

use std::collections::BTreeSet;

use crate::mechanism::{GateTarget, HeldId, Parameter};

/// A part of a gate that stands: what jobs of one kind hold back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The Flux Kustomizations that are held back.
    pub targets: BTreeSet<GateTarget>,
    /// The sources that they read, where sources are held.
    pub sources: BTreeSet<StandingSource>,
    /// Where the jobs keep whether the type is open, where policies ask.
    pub parameters: BTreeSet<Parameter>,
    /// The same of other types of which some are opened too: their others stay closed.
    pub beside: BTreeSet<Parameter>,
    /// Whether the jobs look at a table.
    pub has_table: bool,
    /// Whether the jobs obey the annotation by which people stop them, which earlier versions did not know.
    pub obeys_stop: bool,
}

/// A held source that stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StandingSource {
    /// What names it.
    pub held: HeldId,
    /// The name of the one that it follows.
    pub live: String,
    /// The name of what moves it.
    pub job: String,
}
