//! What a change waits for before it lands in a cluster.

use std::collections::BTreeMap;
use std::fmt;

use crate::delivery::{BuiltJob, Model, Reached, Sides};
use crate::mechanism::{self, GateTarget};
use crate::path::RepoPath;
use crate::spec::{ChangeType, FluxDefaults, MechanismName, Spec};

/// What keeps a Flux Kustomization, or an object of it, from landing at once.
///
/// Shown, it is the noun of a sentence such as "waits for type `rw`".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// The windows of a type, by its name.
    Window(String),
    /// A CronJob of which no spec says a window, by its name.
    Job(String),
    /// A ResourceSetInputProvider of which no spec says a window, by its name.
    Provider(String),
    /// A held source that no CronJob lets follow another one, by its name.
    Source(String),
    /// `spec.suspend: true` in Git: no window opens it.
    Suspended,
}

impl Hold {
    /// Returns the windows for which the type at a position of the spec waits; `None` for a real-time one.
    pub fn of_type(spec: &Spec, position: usize) -> Option<Hold> {
        let change_type = spec.types.get(position).filter(|change_type| !change_type.is_real_time())?;
        Some(Hold::Window(change_type.name.value.clone()))
    }

    /// Returns the name of the type, the CronJob or the source; `None` for what Git suspends.
    pub fn name(&self) -> Option<&str> {
        match self {
            Hold::Window(name) | Hold::Job(name) | Hold::Provider(name) | Hold::Source(name) => Some(name),
            Hold::Suspended => None,
        }
    }

    /// Returns whether it ends by itself: `spec.suspend` in Git does not.
    pub fn opens(&self) -> bool {
        matches!(self, Hold::Window(_) | Hold::Job(_) | Hold::Provider(_))
    }

    /// Says when it ends, as the end of a sentence.
    pub fn end(&self) -> String {
        match self {
            Hold::Window(_) | Hold::Job(_) | Hold::Provider(_) | Hold::Source(_) => {
                format!("when {}", self.opening())
            }
            Hold::Suspended => format!("when {self} leaves Git"),
        }
    }

    /// Says when it lets changes through, as the end of a sentence: now, where its window is open.
    pub fn within(&self) -> String {
        self.open().map_or_else(|| self.end(), |open| format!("while {open}"))
    }

    /// Says that its window is open, as a clause; `None` where no window suspends what it holds.
    pub fn open(&self) -> Option<String> {
        match self {
            Hold::Window(_) => Some(format!("{self} is open")),
            Hold::Job(_) | Hold::Provider(_) => Some(format!("the window of {self} is open")),
            Hold::Source(_) | Hold::Suspended => None,
        }
    }

    /// Says that its window opens, as a clause.
    pub fn opening(&self) -> String {
        match self {
            Hold::Job(_) | Hold::Provider(_) => format!("the window of {self} opens"),
            Hold::Window(_) | Hold::Suspended => format!("{self} opens"),
            Hold::Source(_) => format!("a CronJob moves {self}"),
        }
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hold::Window(name) => write!(f, "type `{name}`"),
            Hold::Job(name) => write!(f, "CronJob `{name}`"),
            Hold::Provider(name) => write!(f, "ResourceSetInputProvider `{name}`"),
            Hold::Source(name) => write!(f, "held source `{name}`"),
            Hold::Suspended => f.write_str("`spec.suspend: true`"),
        }
    }
}

/// The Flux Kustomizations that gates hold back: cluster, namespace and name, with what holds.
pub type Held = BTreeMap<(String, String, String), Hold>;

/// What the gates in Git hold back, cluster by cluster.
#[derive(Clone, Debug)]
pub struct Holds<'m> {
    spec: Option<&'m Spec>,
    sides: Sides,
    model: &'m Model,
    /// By their names, the types of which the gate of the spec has jobs, where there are several.
    of_jobs: BTreeMap<&'m str, &'m ChangeType>,
}

impl<'m> Holds<'m> {
    /// Asks the gates of all clusters.
    pub fn new(model: &'m Model, spec: Option<&'m Spec>) -> Holds<'m> {
        Holds::with(model, spec, spec.map(|spec| Sides::of(spec, model)).unwrap_or_default())
    }

    /// As [`new`](Holds::new), with the sides of the spec where these are known.
    pub fn with(model: &'m Model, spec: Option<&'m Spec>, sides: Sides) -> Holds<'m> {
        let several = spec.filter(|spec| spec.gated_types().nth(1).is_some());
        let mut of_jobs = BTreeMap::new();
        if let Some(spec) = several {
            let all: BTreeMap<&str, _> =
                model.closings.all().map(|job| (&*job.name, job.mechanism)).collect();
            let own = |(name, of): (&'m str, MechanismName)| {
                Some((name, spec.types.get(mechanism::of(of).type_of(spec, name)?)?))
            };
            of_jobs.extend(all.into_iter().filter_map(own));
        }
        Holds { spec, sides, model, of_jobs }
    }

    /// Returns what the gates hold a Flux Kustomization over a folder back by: a CronJob that is suspended holds nothing
    /// back, nor does one whose work Git [undoes](Holds::is_resumed). One that a suspended Flux Kustomization brings runs
    /// on where the cluster has it.
    ///
    /// An empty namespace is that of the spec. The type counts where the spec says it: that of the side, or that of
    /// the job by its name, or the only one that has windows.
    pub fn of(&self, cluster: &str, namespace: &str, name: &str, path: Option<&RepoPath>) -> Option<Hold> {
        let target = self.target(namespace, name);
        let running = self.model.closings.running(cluster, &target);
        running.map(|job| self.hold(job, path)).or_else(|| self.by_source(cluster, &target))
    }

    /// Returns whether a gate suspends a Flux Kustomization and Git resumes it each time.
    pub fn is_resumed(&self, cluster: &str, namespace: &str, name: &str) -> bool {
        self.model.closings.is_resumed(cluster, &self.target(namespace, name))
    }

    /// Returns all that the gates hold back.
    pub fn all(&self) -> Held {
        let all = self.model.delivered.all.iter();
        let all = all.flat_map(|cluster| cluster.kustomizations.iter().map(move |one| (cluster, one)));
        let held = all.filter_map(|(cluster, one)| {
            let hold = self.of(&cluster.name, one.namespace(), one.name(), one.path.as_ref())?;
            let id = (cluster.name.clone(), one.namespace().to_owned(), one.name().to_owned());
            Some((id, hold))
        });
        held.collect()
    }

    /// Returns what the running gates of a cluster hold back, each with the job that does, by the name of the type; of none
    /// where nothing says one.
    pub fn gated(&self, cluster: &str) -> BTreeMap<Option<String>, BTreeMap<GateTarget, &'m BuiltJob>> {
        let mut found: BTreeMap<Option<String>, BTreeMap<GateTarget, &BuiltJob>> = BTreeMap::new();
        let all = self.model.delivered.named(cluster).into_iter().flat_map(|own| &own.kustomizations);
        let reached: BTreeMap<GateTarget, &Reached> = all
            .filter(|one| one.remote.is_empty())
            .map(|one| (self.target(one.namespace(), one.name()), one))
            .collect();
        for job in self.model.closings.of(cluster).iter().filter(|job| job.is_running && job.action.holds()) {
            let named = job.targets.iter().filter(|target| target.name != "*");
            let all = named.chain(reached.keys().filter(|target| job.turns(target)));
            for target in all.filter(|target| !job.resumed.contains(target)) {
                let path = reached.get(target).and_then(|one| one.path.as_ref());
                let change_type = match self.of(cluster, &target.namespace, &target.name, path) {
                    Some(Hold::Window(name)) => Some(name),
                    _ => None,
                };
                found.entry(change_type).or_default().entry(target.clone()).or_insert(job);
            }
        }
        found
    }

    /// Returns what a Flux Kustomization waits for whose source is held, and that no CronJob moves.
    fn by_source(&self, cluster: &str, target: &GateTarget) -> Option<Hold> {
        let mut held = self.model.delivered.named(cluster)?.held_as(&target.name);
        let is_it = |one: &Reached| self.target(one.namespace(), one.name()) == *target;
        held.find(|(one, _)| is_it(one)).map(|(_, source)| Hold::Source(source.name))
    }

    /// As [`of`](Holds::of), whether or not the CronJobs run.
    pub fn by_jobs(
        &self,
        cluster: &str,
        namespace: &str,
        name: &str,
        path: Option<&RepoPath>,
    ) -> Option<Hold> {
        let job = self.model.closings.any(cluster, &self.target(namespace, name))?;
        Some(self.hold(job, path))
    }

    /// Names a Flux Kustomization; an empty namespace is that of the spec.
    pub fn target(&self, namespace: &str, name: &str) -> GateTarget {
        let usual = FluxDefaults::default();
        let namespace = self.spec.map_or(&usual, |spec| &spec.flux).namespace_of(namespace).to_owned();
        GateTarget { namespace, name: name.to_owned() }
    }

    fn hold(&self, job: &BuiltJob, path: Option<&RepoPath>) -> Hold {
        match self.spec.and_then(|spec| self.change_type(spec, job, path)) {
            Some(change_type) => Hold::Window(change_type.name.value.clone()),
            None => job.hold(),
        }
    }

    fn change_type(&self, spec: &'m Spec, job: &BuiltJob, path: Option<&RepoPath>) -> Option<&'m ChangeType> {
        if let Some((_, position)) = path.and_then(|path| self.sides.get(path)) {
            return spec.types.get(*position).filter(|change_type| !change_type.is_real_time());
        }
        let mut gated = spec.gated_types();
        let only = || gated.next().filter(|_| gated.next().is_none());
        self.of_jobs.get(&*job.name).copied().or_else(only)
    }
}
