//! What a change waits for before it lands in a cluster.

use std::collections::BTreeMap;
use std::fmt;

use crate::delivery::gate::Gate;
use crate::delivery::{Model, Sides};
use crate::path::RepoPath;
use crate::spec::{ChangeType, Spec};

/// What keeps a Flux Kustomization, or an object of it, from landing at once.
///
/// Shown, it is the noun of a sentence such as "waits for type `rw`".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// The windows of a type, by its name.
    Window(String),
    /// A CronJob of which no spec says a window, by its name.
    Job(String),
    /// `spec.suspend: true` in Git: no window opens it.
    Suspended,
}

impl Hold {
    /// Returns the windows for which the type at a position of the spec waits; `None` for a real-time one.
    pub fn of_type(spec: &Spec, position: usize) -> Option<Hold> {
        let change_type = spec.types.get(position).filter(|change_type| !change_type.is_real_time())?;
        Some(Hold::Window(change_type.name.value.clone()))
    }

    /// Returns the name of the type or the CronJob; `None` for what Git suspends.
    pub fn name(&self) -> Option<&str> {
        match self {
            Hold::Window(name) | Hold::Job(name) => Some(name),
            Hold::Suspended => None,
        }
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hold::Window(name) => write!(f, "type `{name}`"),
            Hold::Job(name) => write!(f, "CronJob `{name}`"),
            Hold::Suspended => f.write_str("`spec.suspend: true`"),
        }
    }
}

/// What the gates in Git hold back, cluster by cluster.
#[derive(Clone, Debug)]
pub struct Holds<'m> {
    spec: Option<&'m Spec>,
    sides: Sides,
    gates: BTreeMap<&'m str, Vec<&'m Gate>>,
}

impl<'m> Holds<'m> {
    /// Finds the gates of all clusters.
    pub fn new(model: &'m Model, spec: Option<&'m Spec>) -> Holds<'m> {
        let gates = model.clusters().into_iter().map(|cluster| (cluster, model.gates_of(cluster)));
        let sides = spec.map(|spec| Sides::of(spec, model)).unwrap_or_default();
        Holds { spec, sides, gates: gates.collect() }
    }

    /// Returns what holds back a Flux Kustomization over a folder: nothing where the spec keeps the CronJobs of the
    /// cluster suspended.
    pub fn of(&self, cluster: &str, namespace: &str, name: &str, path: Option<&RepoPath>) -> Option<Hold> {
        let is_on = self.spec.is_none_or(|spec| spec.gate_enabled(cluster));
        self.by_jobs(cluster, namespace, name, path).filter(|_| is_on)
    }

    /// As [`of`](Holds::of), whether or not the spec keeps the CronJobs suspended.
    ///
    /// The type counts where the spec says it: that of the side, or the only one that has windows.
    pub fn by_jobs(
        &self,
        cluster: &str,
        namespace: &str,
        name: &str,
        path: Option<&RepoPath>,
    ) -> Option<Hold> {
        let mut gates = self.gates.get(cluster)?.iter();
        let gate = gates.find(|gate| gate.holds(namespace, name))?;
        let change_type = self.spec.and_then(|spec| self.change_type(spec, path));
        Some(match change_type {
            Some(change_type) => Hold::Window(change_type.name.value.clone()),
            None => Hold::Job(gate.close.name.clone()),
        })
    }

    /// Returns the type whose windows hold a folder back: its own, or the only one that has some.
    fn change_type(&self, spec: &'m Spec, path: Option<&RepoPath>) -> Option<&'m ChangeType> {
        let is_gated = |change_type: &&ChangeType| !change_type.is_real_time();
        if let Some((_, position)) = path.and_then(|path| self.sides.get(path)) {
            return spec.types.get(*position).filter(is_gated);
        }
        let mut gated = spec.types.iter().filter(is_gated);
        gated.next().filter(|_| gated.next().is_none())
    }
}
