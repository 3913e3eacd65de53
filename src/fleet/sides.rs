//! What lands in a cluster by which Flux Kustomization, and what holds it back.

use std::collections::{BTreeMap, BTreeSet};

use crate::fleet::Schedules;
use crate::plan;
use crate::repo::{EntryPoint, FluxKustomization, Model, RepoPath, Role};
use crate::spec::{Spec, expand};

/// Everything that is known about who waits for what, in the order of clusters, entry points and types.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// One for each type of each entry point.
    pub sides: Vec<Side>,
    /// The clusters in order: those of the spec, or those found where it names none.
    pub clusters: Vec<String>,
}

/// A folder that a Flux Kustomization applies, or will.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The cluster.
    pub cluster: String,
    /// Which part of the changes it applies.
    pub part: Part,
    /// The folder; `None` where the cluster has no entry point in the repository.
    pub folder: Option<RepoPath>,
    /// The entry point that was or will be split; the folder itself where there is nothing to split.
    pub entry: Option<RepoPath>,
    /// The Flux Kustomization that applies it; `None` where nothing gives it a name.
    pub kustomization: Option<KustomizationName>,
    /// What holds changes back.
    pub gate: GateState,
    /// The windows, as a position in [`Schedules::distinct`]; also where nothing closes outside of them.
    pub schedule: Option<usize>,
}

/// Which changes an entry point applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All of them, as it is not split or not handed over yet.
    Whole,
    /// Those of the type at this position of [`Spec::types`].
    Type(usize),
    /// It carries gates or Flux Kustomizations and is never split.
    Support,
}

/// A Flux Kustomization by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KustomizationName {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`, or the spec's default where Git does not say it.
    pub namespace: String,
    /// Whether it stands in Git; otherwise the name is the one that the layout gives.
    pub in_git: bool,
    /// `spec.interval` as written.
    pub interval: Option<String>,
    /// Whether `spec.suspend` is true in Git, so that nothing lands at all.
    pub suspended: bool,
}

/// What holds changes back outside of the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateState {
    /// Nothing, and nothing should: there is no window.
    RealTime,
    /// CronJobs that stand in Git.
    Closes,
    /// Nothing: the spec keeps the CronJobs suspended.
    Off,
    /// Nothing that is known: the Flux Kustomization that they would suspend is not in Git.
    NotInGit,
    /// CronJobs that stand in Git, if the Flux Kustomization that they name was made in the cluster by hand: it is
    /// not in Git.
    Unseen,
    /// Nothing that is known: no CronJob in Git suspends the Flux Kustomization.
    NoJob,
    /// CronJobs that stand in Git and that the spec says nothing about.
    Foreign,
}

impl GateState {
    /// Gives the name by which programs know it.
    pub fn as_str(self) -> &'static str {
        match self {
            GateState::RealTime => "none",
            GateState::Closes => "closes",
            GateState::Off => "off",
            GateState::NotInGit => "not-in-git",
            GateState::Unseen => "unseen",
            GateState::NoJob => "no-job",
            GateState::Foreign => "foreign",
        }
    }
}

/// An entry point before its split, with what became of it.
#[derive(Default)]
struct Group<'m> {
    whole: Option<&'m EntryPoint>,
    split: BTreeMap<usize, &'m EntryPoint>,
}

impl Fleet {
    /// Brings spec and repository together.
    pub fn new(spec: &Spec, model: &Model, schedules: &Schedules) -> Fleet {
        let clusters: Vec<String> = if spec.clusters.is_empty() {
            model.clusters().into_iter().map(str::to_owned).collect()
        } else {
            spec.clusters.keys().cloned().collect()
        };
        let read = Reading { spec, model, schedules, targets: targets(model) };
        let index = plan::sides(spec, model);
        let mut groups: BTreeMap<(&str, RepoPath), Group<'_>> = BTreeMap::new();
        let mut support: BTreeMap<&str, Vec<&EntryPoint>> = BTreeMap::new();
        for entry in &model.entry_points {
            let cluster = entry.cluster.as_str();
            match index.get(&entry.path) {
                Some((base, position)) => {
                    groups.entry((cluster, base.clone())).or_default().split.insert(*position, entry);
                }
                None if entry.role == Role::Apps => {
                    groups.entry((cluster, entry.path.clone())).or_default().whole = Some(entry);
                }
                None => support.entry(cluster).or_default().push(entry),
            }
        }
        let mut by_cluster: BTreeMap<&str, Vec<Side>> = BTreeMap::new();
        for ((cluster, base), group) in &groups {
            by_cluster.entry(cluster).or_default().extend(read.group(cluster, base, group));
        }
        let mut sides = Vec::new();
        for cluster in &clusters {
            match by_cluster.remove(cluster.as_str()) {
                Some(found) => sides.extend(found),
                None => sides.extend(read.without_entry(cluster)),
            }
            let entries = support.remove(cluster.as_str()).unwrap_or_default();
            sides.extend(entries.into_iter().map(|entry| read.whole(entry, Part::Support)));
        }
        Fleet { sides, clusters }
    }
}

/// Gives the names of the Flux Kustomizations that CronJobs in Git close.
fn targets(model: &Model) -> BTreeSet<&str> {
    model.gates.iter().flat_map(|gate| gate.targets()).collect()
}

struct Reading<'m> {
    spec: &'m Spec,
    model: &'m Model,
    schedules: &'m Schedules,
    targets: BTreeSet<&'m str>,
}

impl Reading<'_> {
    fn group(&self, cluster: &str, base: &RepoPath, group: &Group<'_>) -> Vec<Side> {
        let mut sides = Vec::new();
        let whole = group.whole;
        if let Some(entry) = whole.filter(|entry| !entry.flux.is_empty()) {
            sides.push(self.whole(entry, Part::Whole));
        }
        let folder = |position: usize| plan::side(self.spec, base, cluster, &self.spec.types[position].name);
        let stands = |position: &usize| {
            group.split.contains_key(position)
                || folder(*position).is_some_and(|folder| self.model.graph.has(&folder))
        };
        let positions = 0..self.spec.types.len();
        let mut present: Vec<usize> = positions.clone().filter(stands).collect();
        if present.is_empty() {
            present = positions.collect();
        }
        let name = whole.map_or_else(
            || base.name().unwrap_or("apps").to_owned(),
            |entry| self.model.name_of(entry).to_owned(),
        );
        for position in present {
            let change_type = &self.spec.types[position].name.value;
            let flux = group.split.get(&position).and_then(|entry| self.model.flux_of(entry).next());
            let kustomization =
                flux.map_or_else(|| self.planned(&name, change_type), |flux| self.named(flux));
            sides.push(Side {
                cluster: cluster.to_owned(),
                part: Part::Type(position),
                folder: folder(position),
                entry: Some(base.clone()),
                gate: self.gate(cluster, change_type, Some(&kustomization)),
                kustomization: Some(kustomization),
                schedule: self.schedules.of(cluster, change_type),
            });
        }
        sides
    }

    /// The types of a cluster that has no entry point in the repository.
    fn without_entry(&self, cluster: &str) -> Vec<Side> {
        let types = self.spec.types.iter().enumerate();
        types
            .map(|(position, change_type)| Side {
                cluster: cluster.to_owned(),
                part: Part::Type(position),
                folder: None,
                entry: None,
                kustomization: None,
                gate: self.gate(cluster, &change_type.name, None),
                schedule: self.schedules.of(cluster, &change_type.name),
            })
            .collect()
    }

    fn whole(&self, entry: &EntryPoint, part: Part) -> Side {
        let kustomization = self.model.flux_of(entry).next().map(|flux| self.named(flux));
        let closed = kustomization.as_ref().is_some_and(|found| self.targets.contains(found.name.as_str()));
        Side {
            cluster: entry.cluster.clone(),
            part,
            folder: Some(entry.path.clone()),
            entry: Some(entry.path.clone()),
            kustomization,
            gate: if closed { GateState::Foreign } else { GateState::RealTime },
            schedule: None,
        }
    }

    fn named(&self, flux: &FluxKustomization) -> KustomizationName {
        let namespace = if flux.namespace.is_empty() { &self.spec.flux.namespace } else { &flux.namespace };
        KustomizationName {
            name: flux.name.clone(),
            namespace: namespace.clone(),
            in_git: true,
            interval: flux.spec("interval").as_str().map(str::to_owned),
            suspended: flux.spec("suspend").as_bool() == Some(true),
        }
    }

    fn planned(&self, name: &str, change_type: &str) -> KustomizationName {
        KustomizationName {
            name: expand(&self.spec.layout.kustomization, &[("name", name), ("type", change_type)]),
            namespace: self.spec.flux.namespace.clone(),
            in_git: false,
            interval: None,
            suspended: false,
        }
    }

    fn gate(&self, cluster: &str, change_type: &str, name: Option<&KustomizationName>) -> GateState {
        if self.schedules.of(cluster, change_type).is_none() {
            return GateState::RealTime;
        }
        if !self.spec.gate_enabled(cluster) {
            return GateState::Off;
        }
        match name {
            None => GateState::NotInGit,
            Some(found) => match (found.in_git, self.targets.contains(found.name.as_str())) {
                (true, true) => GateState::Closes,
                (true, false) => GateState::NoJob,
                (false, true) => GateState::Unseen,
                (false, false) => GateState::NotInGit,
            },
        }
    }
}
