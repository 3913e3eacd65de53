//! A gate as all mechanisms see it: what it holds back, and when.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::mechanism::{Action, SourceKind, Turn};
use crate::path::RepoPath;
use crate::schedule::{Deadline, Slot};
use crate::spec::Spec;
use crate::template::Templates;

/// A Flux Kustomization as a gate names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GateTarget {
    /// Its namespace in the cluster.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

impl GateTarget {
    /// Returns its name, with the namespace where that is not the one of the spec.
    pub fn shown(&self, spec: &Spec) -> String {
        if self.namespace == spec.flux.namespace {
            self.name.clone()
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }
}

/// Names targets one after another, as [`GateTarget::shown`] does.
pub fn shown<'t>(targets: impl IntoIterator<Item = &'t GateTarget>, spec: &Spec) -> String {
    targets.into_iter().map(|target| target.shown(spec)).collect::<Vec<_>>().join(", ")
}

impl From<Turn> for GateTarget {
    fn from(turn: Turn) -> GateTarget {
        GateTarget { namespace: turn.namespace, name: turn.name }
    }
}

/// A CronJob of the gates: the same in every cluster but for its [`Schedule`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// `metadata.name`.
    pub name: String,
    /// The position of the type that it turns.
    pub change_type: usize,
    /// Which way it turns that.
    pub action: Action,
}

/// When a CronJob runs in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The cron expression.
    pub cron: String,
    /// The zone as written; `None` leaves it to the controller.
    pub time_zone: Option<String>,
    /// How late it may start, and how long it may run.
    pub deadline: Option<Deadline>,
}

/// A time in which something is open, where a schedule says it without an object that closes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// When it begins, and how long it lasts.
    pub slot: Slot,
    /// The zone of its times.
    pub time_zone: String,
}

/// The CronJobs of the gates of a spec.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    /// All of them, in order.
    pub all: Vec<Job>,
    /// By cluster and by position of the job, when it runs; a job for which the cluster has no use is missing.
    pub schedules: BTreeMap<String, BTreeMap<usize, Schedule>>,
    /// By cluster and by position of the type, the table at which its jobs look, where the gates have tables.
    pub tables: BTreeMap<String, BTreeMap<usize, Vec<String>>>,
    /// By cluster and by position of the type, its windows, where no job closes.
    pub windows: BTreeMap<String, BTreeMap<usize, Vec<Window>>>,
}

/// A source that stays at a commit, or at a digest, until a window opens, and the one that it follows.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldSource {
    /// The position of the type that reads it.
    pub change_type: usize,
    /// The name of the CronJob that moves it.
    pub job: String,
    /// What reads it.
    pub targets: BTreeSet<GateTarget>,
    /// The kind of both.
    pub kind: SourceKind,
    /// The namespace of both.
    pub namespace: String,
    /// The name of the one that it follows.
    pub live: String,
    /// Its own name.
    pub name: String,
    /// Its `spec`.
    pub spec: Value,
}

/// The gate of one cluster.
#[derive(Clone, Debug)]
pub struct ClusterGate {
    /// The cluster.
    pub cluster: String,
    /// The folder of its files.
    pub folder: RepoPath,
    /// Whether the spec wants the jobs to run.
    pub enabled: bool,
    /// The positions of the types whose jobs can run: what they hold back exists.
    pub switched_on: BTreeSet<usize>,
    /// By the position of the job, when it runs.
    pub schedules: BTreeMap<usize, Schedule>,
    /// By the position of the type, the table at which its jobs look, where the gates have tables.
    pub tables: BTreeMap<usize, Vec<String>>,
    /// By the position of the type, its windows, where no job closes.
    pub windows: BTreeMap<usize, Vec<Window>>,
    /// By the position of the type, what is held back.
    pub targets: BTreeMap<usize, BTreeSet<GateTarget>>,
    /// The positions of the types that hold back nothing: the names among the targets hold the place.
    pub without: BTreeSet<usize>,
    /// The sources that what is held back reads, for mechanisms that have some: one for each type and source that it
    /// follows.
    pub sources: Vec<HeldSource>,
    /// Those of the targets that are held back whole, since all of their objects have one type.
    pub whole: BTreeSet<GateTarget>,
    /// What could have been held back whole, and is not.
    pub left: Vec<Diagnostic>,
    /// What stands in Git and no gate suspends, although objects of it have a window.
    pub unheld: BTreeMap<GateTarget, Unheld>,
}

/// A Flux Kustomization that no gate suspends, although objects of it have a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unheld {
    /// The positions of the gated types that its objects have, or may have.
    pub types: BTreeSet<usize>,
    /// Why no gate suspends it.
    pub why: WhyUnheld,
}

/// Why no gate suspends a Flux Kustomization of which objects have a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyUnheld {
    /// This one waits for no window and depends on it.
    NeededBy(GateTarget),
    /// Its objects have several types, and nothing divides them.
    Unsplit,
    /// It is divided, and still applies all of it.
    NotHandedOver,
    /// A gate can't name it, or can't tell its types.
    Unreachable,
}

impl ClusterGate {
    /// Returns whether there is nothing to hold back: what could be may still be `left`.
    pub fn is_idle(&self) -> bool {
        self.targets.values().all(BTreeSet::is_empty)
    }

    /// Returns all that is held back, by whatever type.
    pub fn held(&self) -> BTreeSet<GateTarget> {
        self.targets.values().flatten().cloned().collect()
    }
}

/// The gates of all clusters.
#[derive(Clone, Debug)]
pub struct Gates {
    /// The folder of the base.
    pub base: RepoPath,
    /// The jobs in order.
    pub jobs: Vec<Job>,
    /// The clusters in the order of the spec.
    pub clusters: Vec<ClusterGate>,
    /// By the position of the type, everything that any cluster holds back.
    pub targets: BTreeMap<usize, BTreeSet<GateTarget>>,
    /// Everything that any cluster holds back.
    pub held: BTreeSet<GateTarget>,
}

impl Gates {
    /// Makes the gates of some clusters.
    pub fn new(base: RepoPath, jobs: Vec<Job>, clusters: Vec<ClusterGate>) -> Gates {
        let mut targets: BTreeMap<usize, BTreeSet<GateTarget>> = BTreeMap::new();
        for (change_type, own) in clusters.iter().flat_map(|cluster| &cluster.targets) {
            targets.entry(*change_type).or_default().extend(own.iter().cloned());
        }
        let held = targets.values().flatten().cloned().collect();
        Gates { base, jobs, clusters, targets, held }
    }

    /// Returns the gate of a cluster; `None` where it can't have one.
    pub fn of(&self, cluster: &str) -> Option<&ClusterGate> {
        self.clusters.iter().find(|one| one.cluster == cluster)
    }
}

/// What a mechanism writes its files from.
#[derive(Clone, Copy)]
pub struct Writing<'a> {
    /// What is wanted.
    pub spec: &'a Spec,
    /// The texts.
    pub templates: &'a Templates,
    /// The gates of all clusters.
    pub gates: &'a Gates,
    /// Whether the base belongs to its authors.
    pub has_adopted_base: bool,
}

/// Files with their texts.
pub type Files = BTreeMap<RepoPath, String>;

/// Returns the path of a file in a folder of a gate.
///
/// # Errors
///
/// When the layout's name leads out of it.
pub fn join(folder: &RepoPath, name: &str) -> Result<RepoPath, Error> {
    folder.join(name).map_err(|error| {
        Error::invalid(Diagnostic::error(format!("`layout`: {error}")).help("use plain file names"))
    })
}

/// Adds a file to what is wanted; `what` it holds is told where something else has its place.
///
/// # Errors
///
/// When the layout has another one of that name.
pub fn add(
    spec: &Spec,
    wanted: &mut Files,
    path: RepoPath,
    (what, text): (&str, String),
) -> Result<(), Error> {
    if wanted.insert(path.clone(), text).is_none() {
        return Ok(());
    }
    Err(Error::invalid(
        Diagnostic::error(format!("{path} would hold both {what} and a patch of a CronJob"))
            .at(Place::file(spec.path.clone()))
            .help("choose another name for the patch under `layout`"),
    ))
}
