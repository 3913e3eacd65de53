//! What was found, as all forms of the answer tell it.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::mechanism::{GateTarget, State};
use crate::spec::MechanismName;
use crate::status::{LiveJob, Problem, Setter, Waits};

/// The answer about some clusters.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The instant that was asked for.
    pub now: Timestamp,
    /// In the order of their names.
    pub clusters: Vec<Cluster>,
}

impl Answer {
    /// Returns whether every cluster answered and is as it should be.
    pub fn is_fine(&self) -> bool {
        self.clusters.iter().all(Cluster::is_fine)
    }

    /// Returns whether no cluster answered.
    pub fn is_unread(&self) -> bool {
        self.clusters.iter().all(|cluster| cluster.unread.is_some())
    }
}

/// One cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// The context of kubectl that was asked; `None` for the current one.
    pub context: Option<String>,
    /// Why it gave no answer; `None` where it did.
    pub unread: Option<String>,
    /// Its gates, in the order of types.
    pub gates: Vec<Gated>,
    /// What is not as it should be.
    pub problems: Vec<Problem>,
}

impl Cluster {
    /// Returns whether it answered and is as it should be.
    pub fn is_fine(&self) -> bool {
        self.unread.is_none() && self.problems.is_empty()
    }
}

/// A gated type in a cluster.
#[derive(Clone, Debug)]
pub struct Gated {
    /// The type; `None` where the spec does not say for which one the Flux Kustomizations wait.
    pub change_type: Option<String>,
    /// What the spec says now; `None` without a type.
    pub window: Option<Window>,
    /// The Flux Kustomizations that wait.
    pub held: Vec<Held>,
    /// The CronJobs of the gate.
    pub jobs: Vec<LiveJob>,
    /// What waits.
    pub waits: Waits,
}

/// The windows of a type at an instant, as the spec has them.
#[derive(Clone, Debug)]
pub struct Window {
    /// Whether one is open.
    pub is_open: bool,
    /// Whether it is open only because nothing has closed yet.
    pub is_first: bool,
    /// Since when; `None` where that is too long ago.
    pub since: Option<Timestamp>,
    /// Until when; `None` where that is too far ahead.
    pub until: Option<Timestamp>,
    /// The freeze that holds, or the override that opens.
    pub reason: Option<String>,
    /// The zone in which its times are told.
    pub zone: TimeZone,
    /// How many minutes lie between two looks of the gate; 0 where it acts at openings and closings alone.
    pub tick: u32,
}

/// A Flux Kustomization that waits, as its cluster has it.
#[derive(Clone, Debug)]
pub struct Held {
    /// Its namespace and its name.
    pub target: GateTarget,
    /// The mechanism that holds it back.
    pub mechanism: MechanismName,
    /// Whether what is new gets in; `None` where the cluster does not have it as Git does.
    pub state: Option<State>,
    /// The object of which a field decides that, as kind and name.
    pub decider: String,
    /// The namespace of that object.
    pub decider_namespace: String,
    /// The annotation that this field is; `None` for any other.
    pub annotation: Option<&'static str>,
    /// What was done by setting that field, as a verb in the past.
    pub verb: &'static str,
    /// Who did that.
    pub setter: Option<Setter>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// Since when there is something that could get in; `None` where that does not matter.
    pub newest_since: Option<Timestamp>,
    /// The commit at which its source is held.
    pub pin: Option<String>,
    /// What the gate has written down for people.
    pub note: Option<String>,
    /// The commit that it has applied.
    pub applied: Option<String>,
    /// The newest commit that the cluster has fetched.
    pub newest: Option<String>,
    /// Why one of the two is not known.
    pub unknown: Option<String>,
}

impl Held {
    /// Returns its name, with its namespace where that is not the usual one.
    pub fn shown(&self, usual: &str) -> String {
        match self.target.namespace == usual {
            true => self.target.name.clone(),
            false => format!("{}/{}", self.target.namespace, self.target.name),
        }
    }
}
