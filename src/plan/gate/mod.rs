//! Gates: what opens and closes the gated types, in each cluster.
//!
//! [`Gates`] is what every mechanism has in common: the gated types and their windows, the Flux
//! Kustomizations that they hold back, and whether a cluster's gate is switched on. How a gate is
//! held closed is one [`Mechanism`]; a pair of CronJobs that suspends and resumes is the first, and
//! others can stand beside it.

mod adopted;
mod alerts;
mod carrier;
mod closing;
mod cron_jobs;
mod files;
mod folders;
mod leave;
mod lone;
mod loss;
mod own;
mod target;
mod unbuilt;
mod upkeep;
mod verify;
mod whole;

pub use carrier::{OUTSIDE, taken_in};
pub use closing::{Closings, released};
pub use files::{Leftover, conflict, sync};
pub use folders::{Carriers, GateFolders, carriers, cluster_folders, folder_of};
pub use leave::{Left, leave, told};
pub(crate) use lone::Lone;
pub use loss::{deletes, keeps_all};
pub use own::NAME as CARRIER_NAME;
pub use target::{GateTarget, OutOfReach, out_of_reach, shared};
pub(crate) use target::{is_namespace, is_object_name};
pub use unbuilt::unbuilt;
pub use upkeep::{follow, sync_verified};
pub use verify::verify;

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;

use crate::delivery::{EntryPoint, Role};
use crate::delivery::{Input, Sides};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::edit::prepare::{is_prepared, is_remembering};
use crate::plan::gate::folders::cluster_folder;
use crate::plan::gate::target::{check_target, is_held, no_name};
use crate::plan::gate::whole::{Whole, is_managed};
use crate::schedule::{CronPair, Deadlines, Timeline, WindowForm, deadlines, reference};

/// How a gate is held closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Two CronJobs a window: one suspends the Flux Kustomizations, the other resumes them.
    CronJobs,
}

/// One window of one gated type, by its place in the spec: the same in every cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The position of the type.
    pub change_type: usize,
    /// Which of the type's windows, from 0.
    pub number: usize,
    /// The name of the CronJob that opens.
    pub open_job: String,
    /// The name of the CronJob that closes.
    pub close_job: String,
}

/// The gates of one cluster.
#[derive(Clone, Debug)]
pub struct ClusterGate {
    /// The cluster.
    pub cluster: String,
    /// The folder of its patches.
    pub folder: RepoPath,
    /// Whether the spec wants the jobs to run.
    pub enabled: bool,
    /// The positions of the types whose jobs can run: what they hold back exists.
    pub switched_on: BTreeSet<usize>,
    /// By slot, the window; a slot that the cluster does not use is missing.
    pub windows: BTreeMap<usize, ClusterWindow>,
    /// By the position of the type, what is held back.
    pub targets: BTreeMap<usize, BTreeSet<GateTarget>>,
    /// Those of the targets that are held back whole, since all of their objects have one type.
    pub whole: BTreeSet<GateTarget>,
    /// What could have been held back whole, and is not.
    pub left: Vec<Diagnostic>,
}

impl ClusterGate {
    /// Tells whether there is nothing to hold back: what could be may still be `left`.
    pub fn is_idle(&self) -> bool {
        self.targets.values().all(BTreeSet::is_empty)
    }

    /// Gives all that is held back, by whatever type.
    pub fn held(&self) -> BTreeSet<GateTarget> {
        self.targets.values().flatten().cloned().collect()
    }
}

/// A window as a cluster's jobs get it.
#[derive(Clone, Debug)]
pub struct ClusterWindow {
    /// The two expressions.
    pub pair: CronPair,
    /// The zone as written; `None` leaves it to the controller.
    pub time_zone: Option<String>,
    /// How late its jobs may start.
    pub deadlines: Deadlines,
}

/// Everything that every mechanism needs.
#[derive(Clone, Debug)]
pub struct Gates {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The folder of the base.
    pub base: RepoPath,
    /// The slots in order.
    pub slots: Vec<Slot>,
    /// The clusters in the order of the spec.
    pub clusters: Vec<ClusterGate>,
}

/// The most characters that a CronJob's name may have: the controller adds eleven for its Jobs
/// (Kubernetes, `pkg/apis/batch/validation`).
pub(crate) const LONGEST_JOB_NAME: usize = 52;

impl Gates {
    /// Works out the gates of a spec; `None` where no type is gated.
    ///
    /// # Errors
    ///
    /// When a window has no pair of expressions, a name is too long, or two names are the same.
    pub fn of(input: &Input<'_>) -> Result<Option<Gates>, Error> {
        let spec = input.spec;
        let gated: Vec<usize> =
            (0..spec.types.len()).filter(|position| !spec.types[*position].is_real_time()).collect();
        if gated.is_empty() {
            return Ok(None);
        }
        let base = spec.folder().join(&spec.layout.gate).map_err(layout_error)?;
        let mut slots = Vec::new();
        for (order, position) in gated.iter().enumerate() {
            let name = spec.types[*position].name.value.as_str();
            let widest = spec.clusters.keys().map(|cluster| spec.windows_of(cluster, name).len()).max();
            for number in 0..widest.unwrap_or(spec.types[*position].windows.len()).max(1) {
                let mut suffix = String::new();
                if order > 0 {
                    suffix.push_str(&format!("-{name}"));
                }
                if number > 0 {
                    suffix.push_str(&format!("-{}", number + 1));
                }
                slots.push(Slot {
                    change_type: *position,
                    number,
                    open_job: format!("{}{suffix}", spec.layout.open_job),
                    close_job: format!("{}{suffix}", spec.layout.close_job),
                });
            }
        }
        check_names(input, &slots)?;
        let mut clusters = Vec::new();
        let mut measured = Measured::default();
        let sides = input.sides();
        Whole::prepare(input, &sides);
        let lone = Lone::of(input, &sides);
        for cluster in spec.clusters.keys() {
            clusters.push(cluster_gate(input, &sides, &lone, cluster, &gated, &slots, &mut measured)?);
        }
        Ok(Some(Gates { mechanism: Mechanism::CronJobs, base, slots, clusters }))
    }

    /// Gives everything that any cluster holds back.
    pub fn held(&self) -> BTreeSet<GateTarget> {
        self.clusters.iter().flat_map(ClusterGate::held).collect()
    }

    /// Gives everything that any cluster holds back by a type.
    pub fn targets(&self, change_type: usize) -> BTreeSet<GateTarget> {
        self.clusters
            .iter()
            .filter_map(|cluster| cluster.targets.get(&change_type))
            .flatten()
            .cloned()
            .collect()
    }
}

/// The deadlines of the windows of a type, measured once for all clusters that have the same.
#[derive(Default)]
struct Measured {
    known: BTreeMap<String, Vec<Deadlines>>,
}

impl Measured {
    fn of(&mut self, windows: &[(CronPair, TimeZone)]) -> &[Deadlines] {
        let line = |(pair, zone): &(CronPair, TimeZone)| {
            format!("{}\t{}\t{}\n", zone.iana_name().unwrap_or("UTC"), pair.open, pair.close)
        };
        let key = windows.iter().map(line).collect();
        self.known.entry(key).or_insert_with(|| deadlines(&Timeline::of_pairs(windows.iter().cloned())))
    }
}

fn cluster_gate(
    input: &Input<'_>,
    sides: &Sides,
    lone: &Lone,
    cluster: &str,
    gated: &[usize],
    slots: &[Slot],
    measured: &mut Measured,
) -> Result<ClusterGate, Error> {
    let spec = input.spec;
    let folder = cluster_folder(input, cluster)?;
    let mut windows = BTreeMap::new();
    let mut schedules: BTreeMap<usize, Vec<(CronPair, TimeZone)>> = BTreeMap::new();
    for (index, slot) in slots.iter().enumerate() {
        let name = &spec.types[slot.change_type].name.value;
        let Some(definition) = spec.windows_of(cluster, name).get(slot.number).copied() else { continue };
        let invalid = |diagnostics| Error { kind: ErrorKind::Invalid, diagnostics };
        let window = definition.schedule().map_err(invalid)?;
        // A pair that the tool makes of `for` or `from` and `to` must fire exactly then, changes of
        // the clocks included; expressions that people wrote are theirs, and `check` judges them.
        let pair = match window.form {
            WindowForm::OpenClose { .. } => window.pair(),
            _ => window.resolve(reference()),
        };
        let pair = pair.map_err(|error| {
            Error::invalid(Diagnostic::error(error.message).at(definition.place.clone()).help(error.help))
        })?;
        let time_zone = definition.time_zone.as_ref().map(|zone| zone.value.clone());
        schedules.entry(slot.change_type).or_default().push((pair.clone(), window.zone_or_utc()));
        windows.insert(index, ClusterWindow { pair, time_zone, deadlines: Deadlines::default() });
    }
    for (index, window) in &mut windows {
        let slot = &slots[*index];
        let all = schedules.get(&slot.change_type).map(Vec::as_slice).unwrap_or_default();
        window.deadlines = measured.of(all).get(slot.number).copied().unwrap_or_default();
    }
    let mut targets = BTreeMap::new();
    let mut switched_on = BTreeSet::new();
    let carrier = carrier::carrier_of(input, sides, cluster, &folder).map(|entry| &entry.path);
    let whole = Whole::of(input, sides, lone, cluster, carrier);
    for position in gated {
        let jobs =
            slots.iter().filter(|slot| slot.change_type == *position).map(|slot| slot.open_job.as_str());
        let jobs = (gated.len() > 1).then(|| jobs.collect::<Vec<_>>());
        let (names, exist) = targets_of(input, sides, cluster, *position, carrier, &whole, jobs.as_deref())?;
        if spec.gate_enabled(cluster) && exist {
            switched_on.insert(*position);
        }
        targets.insert(*position, names);
    }
    let enabled = spec.gate_enabled(cluster);
    let (cluster, held, left) = (cluster.to_owned(), whole.all(), whole.left);
    Ok(ClusterGate { cluster, folder, enabled, switched_on, windows, targets, whole: held, left })
}

/// Gives the Flux Kustomizations of a cluster that a type's gate holds back, and whether they exist.
///
/// `whole` are held back as they are. `jobs` are the type's own, where several types have some.
///
/// Those that stand in Git and have finished their migration are held back; what is only planned is
/// left out as soon as one of them does, so that a new entry point never stops a gate that works.
/// Where none stands, the planned names hold the place in jobs that are switched off. Where none of
/// the cluster's Kustomizations is in Git, only people know, and the spec's word counts.
fn targets_of(
    input: &Input<'_>,
    sides: &Sides,
    cluster: &str,
    change_type: usize,
    carrier: Option<&RepoPath>,
    whole: &Whole,
    jobs: Option<&[&str]>,
) -> Result<(BTreeSet<GateTarget>, bool), Error> {
    let folder = cluster_folder(input, cluster)?;
    let managed = input.model.entries_of(cluster).any(|entry| !entry.flux.is_empty());
    let type_name = &input.spec.types[change_type].name.value;
    let mut entries: BTreeMap<RepoPath, GateTarget> = BTreeMap::new();
    let in_git = is_managed(input, cluster);
    let mine = |entry: &&EntryPoint| {
        // Of what left the lists of the cluster nothing is applied.
        (!in_git || !entry.flux.is_empty() || entry.through.is_some() || sides.contains_key(&entry.path))
            && entry.role == Role::Apps
            && Some(&entry.path) != carrier
            // One that is split and stands outside is refused below, not overlooked.
            && (sides.contains_key(&entry.path) || out_of_reach(input, entry, cluster).is_none())
    };
    for entry in input.model.entries_of(cluster).filter(mine) {
        match sides.get(&entry.path) {
            Some((whole, _)) => {
                let name = whole.name().unwrap_or("apps");
                entries.entry(whole.clone()).or_insert_with(|| GateTarget::new(input, "", name));
            }
            None => {
                entries.insert(entry.path.clone(), GateTarget::of_entry(input, entry, cluster));
            }
        }
    }
    let side_of = |entry: &RepoPath| input.side(entry, cluster, type_name);
    let is_there = |entry: &&RepoPath| side_of(entry).is_some_and(|side| input.model.graph.has(&side));
    let split: BTreeSet<&RepoPath> = entries.keys().filter(is_there).collect();
    let (mut standing, mut planned) = (BTreeSet::new(), BTreeSet::new());
    for (path, target) in &entries {
        if let Some(targets) = whole.targets(path, change_type) {
            // Another cluster's may have the same path and name, in a namespace of its own.
            for kustomization in input.model.flux_at(path).filter(|flux| flux.cluster == cluster) {
                if targets.contains(&GateTarget::of(input, kustomization)) {
                    check_target(input, kustomization)?;
                }
            }
            if managed { &mut standing } else { &mut planned }.extend(targets);
            continue;
        }
        if !split.is_empty() && !split.contains(path) {
            continue;
        }
        let side = side_of(path);
        let live = side.iter().flat_map(|side| input.model.flux_at(side));
        let live: Vec<_> = live.filter(|one| one.cluster == cluster).collect();
        // With `targetNamespace`, several make different objects of one side.
        for kustomization in live.iter().filter(|one| !one.is_suspended()) {
            check_target(input, kustomization)?;
            // Until it has taken over its objects for good it must not be suspended.
            // One that is kept from pruning for a later split was live before.
            let finished = !is_remembering(kustomization) || is_prepared(kustomization);
            (if finished { &mut standing } else { &mut planned })
                .insert(GateTarget::of(input, kustomization));
        }
        if !live.is_empty() {
            continue;
        }
        if !whole.is_real_time(path)
            && !input.model.is_suspended(path, cluster)
            && is_held(input, &folder, path, target, jobs)
        {
            standing.insert(target.clone());
            continue;
        }
        let name = input.spec.layout.kustomization_of(&target.name, type_name);
        if !is_object_name(&name) {
            return Err(no_name(&name, Place::file(path.clone())));
        }
        planned.insert(GateTarget { name, ..target.clone() });
    }
    Ok(if standing.is_empty() { (planned, !managed) } else { (standing, true) })
}

fn check_names(input: &Input<'_>, slots: &[Slot]) -> Result<(), Error> {
    let mut diagnostics = Vec::new();
    let mut seen = BTreeSet::new();
    let place = Place::file(input.spec.path.clone());
    for slot in slots {
        for name in [&slot.open_job, &slot.close_job] {
            if name.len() > LONGEST_JOB_NAME {
                diagnostics.push(
                    Diagnostic::error(format!(
                        "the CronJob name `{name}` has {} characters; Kubernetes takes at most {LONGEST_JOB_NAME}",
                        name.len()
                    ))
                    .at(place.clone())
                    .help("shorten the type's name, or `openJob` and `closeJob` under `layout`"),
                );
            }
            if !seen.insert(name.as_str()) {
                diagnostics.push(
                    Diagnostic::error(format!("two windows would both have the CronJob `{name}`"))
                        .at(place.clone())
                        .help("rename the type whose name is a number, or `openJob` and `closeJob` under `layout`"),
                );
            }
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Invalid, diagnostics }) }
}

fn layout_error(error: crate::path::RepoPathError) -> Error {
    Error::invalid(
        Diagnostic::error(format!("`layout`: {error}")).help("name folders below the spec's folder"),
    )
}
