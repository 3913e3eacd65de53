//! What lands in a cluster by which Flux Kustomization, and what holds it back.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery;
use crate::delivery::fleet::wait::Waits;
use crate::delivery::fleet::{GateState, KustomizationName, Schedules};
use crate::delivery::{Cluster, EntryPoint, Hold, Holds, Model, Reached, Release, Role, Sides, Stuck};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::repo::{FluxKustomization, Kustomization, built};
use crate::spec::Spec;

/// Everything that is known about who waits for what, in the order of clusters, entry points and types.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// One for each type of each entry point that is split, and one for each that is not.
    pub sides: Vec<Side>,
    /// The clusters in order: those of the spec, or those found where it names none.
    pub clusters: Vec<String>,
    /// Those of which the spec wants no gate (`hasGate: false`), in order.
    pub ungated: Vec<String>,
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
    /// The Flux Kustomization that applies it; `None` where neither Git nor a CronJob names one.
    pub kustomization: Option<KustomizationName>,
    /// What holds changes back.
    pub gate: GateState,
    /// The type for whose windows it waits; also where nothing closes outside of them.
    pub waits_for: Option<String>,
    /// The windows, as a position in [`Schedules::distinct`], alike.
    pub schedule: Option<usize>,
    /// What it waits for without waiting for a window of its own.
    pub awaited: Option<Awaited>,
    /// Why no split divides it, as far as that is plain without a build; [`None`] also where a build says more.
    pub undivided: Option<Undivided>,
}

/// Why a split divides nothing of an entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undivided {
    /// It applies Flux Kustomizations of other entry points.
    Parent,
    /// It is built on what lies in another repository, which a split does not ask the network for.
    Remote,
    /// It renders no objects.
    Empty,
    /// No object of it has a window.
    RealTime,
    /// Every object of it has a window.
    Gated,
    /// A root applies it with all else: every object of it has a window, or it is all that the cluster gets.
    Root,
    /// It is read at another revision of this repository.
    Elsewhere,
}

/// A Flux Kustomization that another one depends on, and that is held back or not in Git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// `metadata.name`.
    pub name: String,
    /// The windows for which it waits, as a position in [`Schedules::distinct`]; `None` where none are known.
    pub schedule: Option<usize>,
}

/// Which changes an entry point applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All of them, as it is not split.
    Whole,
    /// All of them, though it is split: its types are not handed over to their Flux Kustomizations yet.
    Remaining,
    /// Those of the type at this position of [`Spec::types`].
    Type(usize),
    /// It carries gates or Flux Kustomizations and is never split.
    Support,
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
        let clusters: Vec<String> = if spec.clusters.is_empty() && spec.ungated.is_empty() {
            model.clusters().into_iter().map(str::to_owned).collect()
        } else {
            spec.clusters.keys().cloned().collect()
        };
        let (holds, parents) = (Holds::new(model, Some(spec)), delivery::parent::children(model));
        let parents = parents.into_keys().cloned().collect();
        let read = Reading { spec, model, schedules, waits: Waits::new(holds), parents };
        let index = Sides::of(spec, model);
        let mut groups: BTreeMap<(&str, RepoPath), Group<'_>> = BTreeMap::new();
        let mut support: BTreeMap<&str, Vec<&EntryPoint>> = BTreeMap::new();
        let owned = model.all_entries().iter();
        for (entry, cluster) in owned.flat_map(|entry| entry.clusters().map(move |cluster| (entry, cluster)))
        {
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
        for cluster in clusters.iter().chain(spec.ungated.keys()) {
            let held = read.elsewhere(cluster);
            if !held.is_empty() {
                by_cluster.entry(cluster).or_default().extend(held);
            }
        }
        let mut sides = Vec::new();
        for cluster in &clusters {
            let entries = support.remove(cluster.as_str()).unwrap_or_default();
            let own = by_cluster.remove(cluster.as_str());
            // Without entry points, what a root applies is all that the cluster gets from this repository.
            let is_all = |entry: &EntryPoint| own.is_none() && entry.role == Role::Bootstrap;
            let of_root = |entry: &&EntryPoint| is_all(entry);
            if own.is_none() && !entries.iter().any(of_root) {
                sides.extend(read.without_entry(cluster));
            }
            let support = entries.iter().flat_map(|entry| {
                let mut own = read.wholes(entry, cluster, Part::Support);
                for side in own.iter_mut().filter(|_| is_all(entry)) {
                    side.undivided = Some(Undivided::Root);
                }
                own
            });
            let support: Vec<Side> = support.collect();
            sides.extend(own.into_iter().flatten().chain(support));
        }
        let ungated: Vec<String> = spec.ungated.keys().cloned().collect();
        let own = ungated.iter().filter_map(|cluster| by_cluster.remove(cluster.as_str()));
        sides.extend(own.flatten().map(Side::ungated));
        Fleet { sides, clusters, ungated }
    }

    /// Returns all clusters that a question may name.
    pub fn known(&self) -> Vec<String> {
        self.clusters.iter().chain(&self.ungated).cloned().collect()
    }

    /// Returns the types, by cluster, of which nothing moves the held sources: no window opens them.
    pub fn unmoved(&self) -> BTreeSet<(String, String)> {
        let of = |is_it: fn(GateState) -> bool| -> BTreeSet<(String, String)> {
            let sides = self.sides.iter().filter(|side| is_it(side.gate));
            sides.filter_map(|side| Some((side.cluster.clone(), side.waits_for.clone()?))).collect()
        };
        let moved = of(|gate| matches!(gate, GateState::Closes | GateState::Unseen));
        of(|gate| gate == GateState::Unmoved).difference(&moved).cloned().collect()
    }
}

impl Side {
    /// Makes it one of a cluster that has no windows: a gate that is left there is nobody's.
    fn ungated(self) -> Side {
        let is_held = matches!(
            self.gate,
            GateState::Closes | GateState::Unseen | GateState::Foreign | GateState::Unmoved
        );
        let gate = if is_held { GateState::Foreign } else { GateState::RealTime };
        let schedule = self.schedule.filter(|_| is_held && self.gate != GateState::Unmoved);
        Side { gate, waits_for: None, schedule, ..self }
    }
}

/// Says what has to happen after a merge before the source of one has the commit.
fn release(cluster: &Cluster, one: &Reached) -> Option<Release> {
    cluster.release(&cluster.followed(&one.source()))
}

/// What sides are made of.
pub(super) struct Reading<'m> {
    pub(super) spec: &'m Spec,
    pub(super) model: &'m Model,
    schedules: &'m Schedules,
    pub(super) waits: Waits<'m>,
    /// The entry points that apply Flux Kustomizations of others.
    parents: BTreeSet<RepoPath>,
}

impl<'m> Reading<'m> {
    fn group(&self, cluster: &str, base: &RepoPath, group: &Group<'_>) -> Vec<Side> {
        let mut sides = Vec::new();
        let folder =
            |position: usize| delivery::side(self.spec, base, cluster, &self.spec.types[position].name);
        let stands = |position: &usize| {
            group.split.contains_key(position)
                || folder(*position).is_some_and(|folder| self.model.graph.has(&folder))
        };
        let mut present: Vec<usize> = (0..self.spec.types.len()).filter(stands).collect();
        let is_divided = !present.is_empty();
        let name = group.whole.map_or_else(
            || self.model.name_of_folder(base).to_owned(),
            |entry| self.model.name_in(entry, cluster).to_owned(),
        );
        let namespace = self.namespace(group.whole, cluster);
        let is_closed = || self.waits.holds.by_jobs(cluster, namespace, &name, None).is_some();
        // Flux applies it as it is; where it does not, it is only the list of the parts that are applied.
        let is_applied = |entry: &EntryPoint| {
            self.applier(entry, cluster).is_some() || self.model.made(entry, cluster).is_some()
        };
        let whole = group.whole.filter(|entry| is_applied(entry));
        if let Some(entry) = whole {
            let part = if present.is_empty() { Part::Whole } else { Part::Remaining };
            sides.extend(self.wholes(entry, cluster, part));
        } else if let Some(entry) = group.whole.filter(|_| present.is_empty() && is_closed()) {
            sides.extend(self.wholes(entry, cluster, Part::Whole));
        } else if present.is_empty() {
            present = (0..self.spec.types.len()).collect();
        }
        if self.spec.types.len() == 1 && !sides.is_empty() {
            // With one type alone, all of its changes are of that type, split or not.
            sides.iter_mut().for_each(|side| side.part = Part::Type(0));
            return sides;
        }
        let each = |position: usize| {
            let entry = group.split.get(&position);
            let appliers = entry.map_or_else(|| vec![None], |entry| self.appliers(entry, cluster));
            appliers.into_iter().map(move |flux| (position, flux))
        };
        for (position, flux) in present.into_iter().flat_map(each) {
            let change_type = &self.spec.types[position].name.value;
            let kustomization =
                flux.map_or_else(|| self.planned(namespace, &name, change_type), |flux| self.named(flux));
            let gate = match self.gate(cluster, change_type, Some(&kustomization)) {
                _ if whole.is_some() && !kustomization.in_git => GateState::NotHandedOver,
                gate => gate,
            };
            let own = self.schedules.held(cluster, Some(&self.target(&kustomization)), Some(change_type));
            // Of what is not divided and that nothing in Git applies only a CronJob tells a name.
            let is_named = flux.is_some()
                || is_divided
                || matches!(gate, GateState::Unseen | GateState::Foreign | GateState::NotHandedOver);
            sides.push(Side {
                cluster: cluster.to_owned(),
                part: Part::Type(position),
                folder: folder(position),
                entry: Some(base.clone()),
                gate,
                kustomization: Some(kustomization).filter(|_| is_named),
                waits_for: Some(change_type.clone()),
                schedule: own.filter(|_| gate != GateState::Unmoved),
                awaited: flux.and_then(|flux| self.awaited(flux)),
                undivided: None,
            });
        }
        sides
    }

    /// Returns the Flux Kustomization that applies an entry point in a cluster: its own, or the bootstrap one above.
    fn applier<'f>(&'f self, entry: &'f EntryPoint, cluster: &str) -> Option<&'f FluxKustomization> {
        let above = entry.through.as_ref().and_then(|above| self.model.entry(above));
        let own = |entry| self.model.flux_in(entry, cluster).chain(self.model.flux_of(entry)).next();
        own(entry).or_else(|| above.and_then(own))
    }

    /// As [`applier`](Reading::applier), each of those that apply it in the cluster, and none where Git has none.
    fn appliers<'f>(&'f self, entry: &'f EntryPoint, cluster: &str) -> Vec<Option<&'f FluxKustomization>> {
        let mut own: Vec<&FluxKustomization> = self.model.flux_in(entry, cluster).collect();
        own.dedup_by_key(|flux| (&flux.namespace, &flux.name));
        if own.is_empty() {
            return vec![self.applier(entry, cluster)];
        }
        own.into_iter().map(Some).collect()
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
                waits_for: Some(change_type.name.value.clone()),
                schedule: self.schedules.of(cluster, &change_type.name),
                awaited: None,
                undivided: None,
            })
            .collect()
    }

    /// Returns what each of those that apply all of an entry point does in a cluster.
    fn wholes(&self, entry: &EntryPoint, cluster: &str, part: Part) -> Vec<Side> {
        let appliers = self.appliers(entry, cluster).into_iter();
        appliers.map(|flux| self.whole(entry, cluster, part, flux)).collect()
    }

    fn whole(&self, entry: &EntryPoint, cluster: &str, part: Part, flux: Option<&FluxKustomization>) -> Side {
        let in_git = flux.map(|flux| self.named(flux));
        let kustomization =
            in_git.or_else(|| self.made(entry, cluster)).or_else(|| self.turned(entry, cluster));
        Side {
            awaited: flux.and_then(|flux| self.awaited(flux)),
            undivided: self.undivided(&entry.path),
            ..self.applied(cluster, part, &entry.path, kustomization)
        }
    }

    /// Returns what one does that applies a folder in a cluster, or that nothing names.
    pub(super) fn applied(
        &self,
        cluster: &str,
        part: Part,
        folder: &RepoPath,
        kustomization: Option<KustomizationName>,
    ) -> Side {
        let names = kustomization.as_ref().map(|found| (found.namespace.as_str(), found.name.as_str()));
        let hold = names.and_then(|(space, name)| self.waits.holds.of(cluster, space, name, Some(folder)));
        let (is_running, is_unmoved) = (hold.is_some(), matches!(hold, Some(Hold::Source(_))));
        let by_jobs = || self.waits.holds.by_jobs(cluster, names?.0, names?.1, Some(folder));
        let hold = hold.filter(|_| !is_unmoved).or_else(by_jobs);
        // Of several gated types nobody can tell by which one it waits.
        let is_foreign = matches!(hold, Some(Hold::Job(_) | Hold::Provider(_)));
        let waits_for = match hold {
            Some(Hold::Window(change_type)) => Some(change_type),
            _ => None,
        };
        let target = kustomization.as_ref().map(|found| self.target(found));
        let times = |of_type: Option<&str>| self.schedules.held(cluster, target.as_ref(), of_type);
        let schedule = waits_for.as_deref().filter(|_| !is_unmoved).and_then(|of_type| times(Some(of_type)));
        let foreign = (is_foreign && is_running && !is_unmoved).then(|| times(None)).flatten();
        let gate = match schedule {
            _ if is_unmoved => GateState::Unmoved,
            Some(_) if !is_running => {
                kustomization.as_ref().map_or(GateState::Off, |found| self.not_closed(cluster, found))
            }
            Some(_) if kustomization.as_ref().is_some_and(|found| found.in_git) => GateState::Closes,
            Some(_) => GateState::Unseen,
            None if is_running => GateState::Foreign,
            None => GateState::RealTime,
        };
        Side {
            cluster: cluster.to_owned(),
            part,
            folder: Some(folder.clone()),
            entry: Some(folder.clone()),
            kustomization,
            gate,
            waits_for,
            schedule: schedule.or(foreign),
            awaited: None,
            undivided: None,
        }
    }

    fn undivided(&self, entry: &RepoPath) -> Option<Undivided> {
        if self.parents.contains(entry) {
            return Some(Undivided::Parent);
        }
        let graph = &self.model.graph;
        let is_remote = |folder: &RepoPath| graph.get(folder).is_some_and(Kustomization::is_remote);
        built(graph, entry).iter().any(is_remote).then_some(Undivided::Remote)
    }

    pub(super) fn named(&self, flux: &FluxKustomization) -> KustomizationName {
        let model: &'m Model = self.model;
        let one = model.reached(flux);
        let own = model.delivered.named(&flux.cluster).zip(one);
        let stuck = own.and_then(|(cluster, one)| cluster.stuck(one));
        KustomizationName {
            name: flux.name.clone(),
            namespace: self.spec.flux.namespace_of(&flux.namespace).to_owned(),
            in_git: true,
            interval: flux.spec("interval").as_str().map(str::to_owned),
            within: own.and_then(|(cluster, one)| self.waits.pace(cluster, one)),
            release: own.and_then(|(cluster, one)| release(cluster, one)),
            stuck: stuck.or_else(|| flux.is_suspended().then_some(Stuck::Suspended)),
            unsaid: own.and_then(|(cluster, one)| cluster.unsaid(one)).map(str::to_owned),
            fails: one.is_some_and(Reached::fails),
            doubt: model.doubt(flux).cloned(),
        }
    }

    /// Names what a FluxInstance makes to apply an entry point, or the folder above by which it is applied.
    fn made(&self, entry: &EntryPoint, cluster: &str) -> Option<KustomizationName> {
        let one = self.model.made(entry, cluster)?;
        let own = self.model.delivered.named(cluster);
        Some(KustomizationName {
            name: one.name().to_owned(),
            namespace: one.namespace().to_owned(),
            in_git: true,
            interval: one.value["spec"]["interval"].as_str().map(str::to_owned),
            within: own.and_then(|own| self.waits.pace(own, one)),
            release: own.and_then(|own| release(own, one)),
            stuck: own.and_then(|own| own.stuck(one)),
            unsaid: own.and_then(|own| own.unsaid(one)).map(str::to_owned),
            fails: one.fails(),
            doubt: own.and_then(|own| own.doubt(one)).cloned(),
        })
    }

    /// Names what CronJobs suspend in the name of an entry point that nothing in Git applies.
    fn turned(&self, entry: &EntryPoint, cluster: &str) -> Option<KustomizationName> {
        let (namespace, name) = (&self.spec.flux.namespace, self.model.name_in(entry, cluster));
        self.waits.holds.by_jobs(cluster, namespace, name, None)?;
        Some(self.unseen(namespace, name.to_owned()))
    }

    pub(super) fn awaited(&self, flux: &FluxKustomization) -> Option<Awaited> {
        let model: &'m Model = self.model;
        let cluster = model.delivered.named(&flux.cluster)?;
        let (name, other) = self.waits.awaited(cluster, model.reached(flux)?)?;
        let other = other.filter(|other| !cluster.is_stuck(other));
        let hold = other.and_then(|other| self.waits.hold(cluster, other));
        let target = other.map(|other| self.waits.holds.target(other.namespace(), other.name()));
        let times = |of_type: Option<&str>| self.schedules.held(&cluster.name, target.as_ref(), of_type);
        let schedule = match hold {
            Some(Hold::Window(change_type)) => times(Some(&change_type)),
            Some(Hold::Job(_) | Hold::Provider(_)) => times(None),
            _ => None,
        };
        Some(Awaited { name: name.to_owned(), schedule })
    }

    /// Returns the namespace of an entry point's Flux Kustomization in a cluster, which its sides share.
    fn namespace<'f>(&'f self, entry: Option<&'f EntryPoint>, cluster: &str) -> &'f str {
        let flux = entry.and_then(|entry| self.applier(entry, cluster));
        self.spec.flux.namespace_of(flux.map_or("", |flux| &flux.namespace))
    }

    fn target(&self, found: &KustomizationName) -> GateTarget {
        self.waits.holds.target(&found.namespace, &found.name)
    }

    fn planned(&self, namespace: &str, name: &str, change_type: &str) -> KustomizationName {
        self.unseen(namespace, self.spec.layout.kustomization_of(name, change_type))
    }

    fn unseen(&self, namespace: &str, name: String) -> KustomizationName {
        KustomizationName {
            name,
            namespace: namespace.to_owned(),
            in_git: false,
            interval: None,
            within: None,
            release: None,
            stuck: None,
            unsaid: None,
            fails: false,
            doubt: None,
        }
    }

    /// Says why CronJobs close nothing.
    fn not_closed(&self, cluster: &str, found: &KustomizationName) -> GateState {
        if self.waits.holds.is_resumed(cluster, &found.namespace, &found.name) {
            return GateState::Resumed;
        }
        if self.spec.gate_enabled(cluster) { GateState::NoJob } else { GateState::Off }
    }

    fn gate(&self, cluster: &str, change_type: &str, name: Option<&KustomizationName>) -> GateState {
        let hold = name.and_then(|found| self.waits.holds.of(cluster, &found.namespace, &found.name, None));
        let has_window = self.schedules.of(cluster, change_type).is_some();
        match name {
            Some(_) if matches!(hold, Some(Hold::Source(_))) => GateState::Unmoved,
            Some(found) if hold.is_some() => match (has_window, found.in_git) {
                (false, _) => GateState::Foreign,
                (true, true) => GateState::Closes,
                (true, false) => GateState::Unseen,
            },
            _ if !has_window => GateState::RealTime,
            Some(found) if found.in_git => self.not_closed(cluster, found),
            _ if self.spec.gate_enabled(cluster) => GateState::NotInGit,
            _ => GateState::Off,
        }
    }
}
