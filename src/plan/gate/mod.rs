//! Gates: what opens and closes the gated types, in each cluster.
//!
//! What every mechanism has in common stands here: which Flux Kustomizations a gate holds back, whether it is
//! switched on, what carries it, and that it does what the spec says. How it opens and closes is for its
//! [`mechanism`].

mod adopted;
mod alerts;
mod by_hand;
mod carrier;
mod elsewhere;
mod files;
mod first_run;
mod folders;
mod held;
mod landing;
mod leave;
mod left_out;
mod lone;
mod loss;
mod mixed;
mod needed;
mod own;
mod own_source;
mod point;
mod renamed;
mod stranded;
mod tables;
mod target;
mod unbuilt;
mod unheld;
mod upkeep;
mod verify;
mod whole;

pub use by_hand::ByHand;
pub use carrier::{OUTSIDE, taken_in};
pub use files::{Leftover, conflict, sync, unmerged};
pub use folders::{Carriers, GateFolders, carriers, cluster_folders};
pub use leave::{Left, kept, leave, remains, told, waits_for_window};
pub(crate) use lone::Lone;
pub use loss::{all_deleted, keeps_all};
pub use needed::{Needed, needed};
pub use own::{NAME as CARRIER_NAME, mend};
pub use point::readers;
pub use stranded::stranded;
pub use tables::{Retimed, retime};
pub use target::{OutOfReach, out_of_reach, shared};
pub(crate) use target::{is_namespace, is_object_name};
pub use unbuilt::{sync_built, unbuilt_held};
pub use unheld::unsuspended;
pub use upkeep::{follow, follow_late, opened, released, sync_verified};
pub use verify::verify;

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{BuiltJob, EntryPoint, Input, Role, Sides};
use crate::diagnostic::Place;
use crate::error::Error;
use crate::mechanism::{self, ClusterGate, GateTarget, Gates, Jobs};
use crate::path::RepoPath;
use crate::plan::edit::generated::{Ownership, ownership};
use crate::plan::edit::prepare::{is_orphaning, is_remembering};
use crate::plan::gate::mixed::Standing;
use crate::plan::gate::target::{check_target, is_held, no_name};
use crate::plan::gate::whole::{Whole, is_managed};
use crate::repo::FluxKustomization;

/// What becomes of an edit that has to reach a cluster while its window is open: it lets something begin to read a held
/// source, or leave one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// Nothing is written, with the reason.
    #[default]
    Refused,
    /// It is written.
    Written,
    /// It is left for later, and with it the gates that need it, so that nothing else has to wait for that.
    Left,
}

/// Returns the gates of a spec; `None` where no type is gated.
///
/// # Errors
///
/// When the mechanism can't do what a window says, or a gate can't call a Flux Kustomization.
pub fn gates(input: &Input<'_>) -> Result<Option<Gates>, Error> {
    gates_without(input, &BTreeSet::new())
}

/// As [`gates`], without those of some clusters.
fn gates_without(input: &Input<'_>, without: &BTreeSet<String>) -> Result<Option<Gates>, Error> {
    let Some((gates, refused)) = apart_without(input, without)? else { return Ok(None) };
    refused.into_values().next().map_or(Ok(Some(gates)), Err)
}

/// As [`gates_apart`], without those of some clusters.
fn apart_without(input: &Input<'_>, without: &BTreeSet<String>) -> Result<Option<Apart>, Error> {
    let Some((Gates { base, jobs, mut clusters, .. }, mut refused)) = gates_apart(input)? else {
        return Ok(None);
    };
    clusters.retain(|gate| !without.contains(&gate.cluster));
    refused.retain(|cluster, _| !without.contains(cluster));
    Ok(Some((Gates::new(base, jobs, clusters), refused)))
}

/// Returns the gates of the clusters that can have one, as `sync` would write them; `None` where the spec has none, or the
/// mechanism can't do what a window says.
pub fn wanted(input: &Input<'_>) -> Option<Gates> {
    gates_apart(input).ok().flatten().map(|(gates, _)| gates)
}

/// The gates of a spec, and by cluster why the others can't have one.
type Apart = (Gates, BTreeMap<String, Error>);

/// As [`gates`], with those clusters apart, in the order of the spec, that can't have one; they are not among the gates.
///
/// # Errors
///
/// When the mechanism can't do what a window says.
fn gates_apart(input: &Input<'_>) -> Result<Option<Apart>, Error> {
    let spec = input.spec;
    let gated: Vec<usize> = spec.gated_positions().collect();
    if gated.is_empty() {
        return Ok(None);
    }
    let base = spec.gate_base()?;
    let mut jobs = mechanism::of(spec.gate.mechanism).jobs(spec)?;
    let (mut clusters, mut refused) = (Vec::new(), BTreeMap::new());
    let sides = input.sides();
    Whole::prepare(input, &sides);
    let lone = Lone::of(input, &sides);
    for cluster in spec.clusters.keys() {
        match cluster_gate(input, &sides, &lone, cluster, &gated, &mut jobs) {
            Ok(gate) => clusters.push(gate),
            Err(error) => {
                refused.insert(cluster.clone(), error);
            }
        }
    }
    Ok(Some((Gates::new(base, jobs.all, clusters), refused)))
}

fn cluster_gate(
    input: &Input<'_>,
    sides: &Sides,
    lone: &Lone,
    cluster: &str,
    gated: &[usize],
    jobs: &mut Jobs,
) -> Result<ClusterGate, Error> {
    let folder = input.spec.gate_folder(cluster)?;
    let (mut targets, mut places) = (BTreeMap::new(), BTreeMap::new());
    let mut switched_on = BTreeSet::new();
    let carrier = carrier::carrier_of(input, sides, cluster, &folder).map(|entry| &entry.path);
    let enabled = input.spec.gate_enabled(cluster);
    // What stands elsewhere is another gate.
    let standing = match input.model.graph.has(&folder) {
        true => input.jobs_of(cluster, &folder),
        false => Vec::new(),
    };
    let of_type = |position: usize| {
        let own = jobs.all.iter().filter(|job| job.change_type == position).map(|job| job.name.as_str());
        let own = (gated.len() > 1).then(|| own.collect::<Vec<_>>());
        let counts = |job: &&BuiltJob| own.as_ref().is_none_or(|own| own.contains(&job.name.as_str()));
        (position, standing.iter().filter(counts).collect())
    };
    let by_type = gated.iter().map(|position| of_type(*position)).collect();
    let standing = Standing { all: &standing, by_type };
    let mut whole = Whole::of(input, sides, lone, cluster, carrier, &standing);
    // A gate that people wrote for all of it is the reason to split.
    let list = input.model.graph.get(&folder).and_then(|list| input.snapshot.file(&list.file));
    if list.map(ownership) != Some(Ownership::Theirs) {
        whole.left.append(&mut whole.mixed);
    }
    for position in gated {
        let found = targets_of(input, sides, cluster, *position, carrier, &whole, &standing)?;
        if enabled && found.exist {
            switched_on.insert(*position);
        }
        targets.insert(*position, found.names);
        places.insert(*position, found.places);
    }
    let is_empty = |position: &usize| targets.get(position).is_none_or(BTreeSet::is_empty);
    let without = gated.iter().copied().filter(is_empty).collect();
    let schedules = jobs.schedules.remove(cluster).unwrap_or_default();
    let tables = jobs.tables.remove(cluster).unwrap_or_default();
    let windows = jobs.windows.remove(cluster).unwrap_or_default();
    let sources = held::sources(input, cluster, &targets, &switched_on, &jobs.all)?;
    let (cluster, held, left, unheld) = (cluster.to_owned(), whole.all(), whole.left, whole.unheld);
    let mut gate = ClusterGate {
        cluster,
        folder,
        enabled,
        switched_on,
        schedules,
        tables,
        windows,
        targets,
        without,
        sources,
        whole: held,
        left,
        unheld,
    };
    // kubectl and flux refuse a command without a name, and another cluster's are none of this one.
    if !gate.is_idle() && !input.spec.gate.mechanism.holds_sources() {
        places.retain(|position, _| gate.without.contains(position));
        gate.targets.extend(places);
    }
    Ok(gate)
}

/// What a type's gate holds back in a cluster.
#[derive(Debug, Default)]
struct Held {
    /// Names of Flux Kustomizations.
    names: BTreeSet<GateTarget>,
    /// Whether they exist.
    exist: bool,
    /// Names that sides of what has none of this type would have.
    places: BTreeSet<GateTarget>,
}

/// Returns the Flux Kustomizations of a cluster that a type's gate holds back.
///
/// `whole` are held back as they are.
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
    jobs: &Standing<'_>,
) -> Result<Held, Error> {
    let (jobs, all_jobs) = (jobs.by_type.get(&change_type).map_or(&[][..], Vec::as_slice), jobs.all);
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
                let name = input.model.name_of_folder(whole);
                entries.entry(whole.clone()).or_insert_with(|| GateTarget::new(input, "", name));
            }
            None => {
                entries.insert(entry.path.clone(), GateTarget::of_entry(input, entry, cluster));
            }
        }
    }
    let side_of = |entry: &RepoPath| input.sides_in(entry, cluster).remove(&change_type);
    let is_there = |entry: &&RepoPath| side_of(entry).is_some_and(|side| input.model.graph.has(&side));
    let split: BTreeSet<&RepoPath> = entries.keys().filter(is_there).collect();
    let (mut standing, mut planned) = (BTreeSet::new(), BTreeSet::new());
    // What never gets a side holds the place of a gate where nothing else does.
    let (mut staying, mut places) = (BTreeSet::new(), BTreeSet::new());
    let may_come = entries.keys().any(|path| !whole.stays(path));
    let mut needed = BTreeSet::new();
    for (path, target) in &entries {
        let name = input.spec.layout.kustomization_of(&target.name, type_name);
        let place = is_object_name(&name).then(|| GateTarget { name: name.clone(), ..target.clone() });
        places.extend(place.clone());
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
            // What is held as a whole goes on waiting until it is divided too.
            if !whole.is_free(path) && is_held(input, path, target, jobs.iter().copied()) {
                standing.insert(target.clone());
            }
            continue;
        }
        let side = side_of(path);
        let live = side.iter().flat_map(|side| input.model.flux_at(side));
        let live: Vec<_> = live.filter(|one| one.cluster == cluster).collect();
        // With `targetNamespace`, several make different objects of one side.
        let is_left_out = |one: &FluxKustomization| left_out::is_left_out(input, one, all_jobs);
        for kustomization in live.iter().filter(|one| !is_left_out(one)) {
            check_target(input, kustomization)?;
            // Until it has taken over its objects for good it must not be suspended.
            // One that is kept from pruning for a later split was live before.
            let finished = !is_remembering(kustomization) || is_orphaning(kustomization);
            (if finished { &mut standing } else { &mut planned })
                .insert(GateTarget::of(input, kustomization));
        }
        // What Git suspends is not divided either.
        if !live.is_empty() || input.model.is_suspended(path, cluster) {
            continue;
        }
        if !whole.is_free(path) && is_held(input, path, target, jobs.iter().copied()) {
            standing.insert(target.clone());
            continue;
        }
        // Something that does not wait needs it, and nothing divides it: its side never comes.
        if whole.is_free(path) && !whole.is_real_time(path) {
            needed.extend(place);
            continue;
        }
        if may_come && whole.stays(path) {
            staying.extend(place);
            continue;
        }
        planned.insert(place.ok_or_else(|| no_name(&name, Place::file(path.clone())))?);
    }
    standing.extend(whole.elsewhere.get(&change_type).into_iter().flatten().cloned());
    let (names, exist) = match (standing.is_empty(), planned.is_empty()) {
        (false, _) => (standing, true),
        (true, false) => (planned, !managed),
        // No gate is made for its sake; one that stands keeps the name, and is switched off.
        (true, true) if !needed.is_empty() => {
            (if all_jobs.is_empty() { BTreeSet::new() } else { needed }, false)
        }
        (true, true) => (staying, false),
    };
    Ok(Held { names, exist, places })
}
