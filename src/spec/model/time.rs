//! What takes time from windows, what gives some back, and the table that holds all of it.

use indexmap::IndexMap;

use crate::path::RepoPath;
use crate::schedule::{Interval, Length, Settle, Stretch};
use crate::spec::Placed;

/// The clusters that a freeze or an override is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clusters {
    /// Every cluster.
    All,
    /// These, by name.
    Named(Vec<Placed<String>>),
    /// Those that have all of these labels.
    Labelled(IndexMap<String, Placed<String>>),
}

/// A calendar file of the repository, each event of which is a freeze.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarFile {
    /// The file, from the top of the repository.
    pub path: RepoPath,
    /// The SHA-256 of its bytes.
    pub sha256: String,
}

/// A time in which nothing of some types reconciles, whatever windows and overrides say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// The name under `freezes`.
    pub name: Placed<String>,
    /// From its first instant to the first one after it.
    pub interval: Interval,
    /// Why, never empty.
    pub reason: String,
    /// The types, by name; none for every gated type.
    pub types: Vec<Placed<String>>,
    /// The clusters.
    pub clusters: Clusters,
    /// The calendar of which it is one event; all events of one have the name of its freeze.
    pub calendar: Option<CalendarFile>,
}

impl Freeze {
    /// Returns the time that it takes, with its name and why.
    pub fn stretch(&self) -> Stretch {
        Stretch { interval: self.interval, reason: format!("{}: {}", self.name.value, self.reason) }
    }
}

/// A time in which a type reconciles in some clusters beside its windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The clusters; never all.
    pub clusters: Clusters,
    /// The type, by name.
    pub type_name: Placed<String>,
    /// From its first instant to the first one after it.
    pub interval: Interval,
    /// Why, never empty.
    pub reason: String,
}

impl Override {
    /// Returns the time that it gives, with why.
    pub fn stretch(&self) -> Stretch {
        Stretch { interval: self.interval, reason: self.reason.clone() }
    }
}

/// How a gate looks at a table of open times, instead of firing at openings and closings alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDef {
    /// How often it looks, in minutes: a divisor of 60.
    pub every: u32,
    /// Where `every` stands.
    pub place: crate::diagnostic::Place,
    /// From the beginning of its first day to the end of its last.
    pub bounds: Interval,
    /// How long before the end of each open time nothing new is let in.
    pub settle: Settle,
}

/// Groups of clusters whose windows open one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waves {
    /// The label of clusters that names their wave.
    pub by: String,
    /// The waves, the first one at the times that windows say.
    pub order: Vec<Placed<String>>,
    /// How much later each of them is than the one before.
    pub offset: Placed<Length>,
}
