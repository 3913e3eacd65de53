//! Gates of clusters that left the windows, or that have nothing left to hold back.
//!
//! Nobody takes them away silently: what is suspended then stays so. On request the gate goes first
//! and what it held back is resumed after that; the other way round a closing may come between.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::delivery::{EntryPoint, Role};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::plan::Command;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, is_ours, ownership};
use crate::plan::edit::resources::remove;
use crate::plan::gate::files::conflict;
use crate::plan::gate::own::NAME;
use crate::proof::{Readers, Renames};
use crate::repo::{FluxKustomization, built};

/// Tells whether the spec speaks of no cluster that applies an entry point.
fn is_forgotten(input: &Input<'_>, entry: &EntryPoint) -> bool {
    let gated = input.spec.types.iter().any(|change_type| !change_type.is_real_time());
    !gated || !entry.clusters().any(|cluster| input.spec.clusters.contains_key(cluster))
}

/// Tells whether no cluster that applies an entry point needs the gate that the tool wrote there.
fn is_needless(input: &Input<'_>, entry: &EntryPoint, idle: &BTreeSet<String>) -> bool {
    let is_idle = |cluster: &str| idle.contains(cluster) || !input.spec.clusters.contains_key(cluster);
    is_forgotten(input, entry) || entry.clusters().all(is_idle) && written(input, entry).is_some()
}

/// Gives the entry points that carry a gate which nobody needs any more.
fn needless<'a>(input: &Input<'a>, idle: &BTreeSet<String>) -> Vec<&'a EntryPoint> {
    let entries = input.model.all_entries().iter();
    entries.filter(|entry| entry.role == Role::Gate && is_needless(input, entry, idle)).collect()
}

/// Gives what the gates of a cluster hold back there.
fn held(input: &Input<'_>, cluster: &str) -> Vec<GateTarget> {
    let own = input.model.flux_of_cluster(cluster);
    let is_held = |target: &GateTarget| input.model.closings.any(cluster, target).is_some();
    own.map(|one| GateTarget::of(input, one)).filter(is_held).collect()
}

fn resume(input: &Input<'_>, entry: &EntryPoint) -> Vec<Command> {
    let of = |cluster| {
        held(input, cluster).into_iter().map(move |target| Command::release(&target, input.spec, cluster))
    };
    entry.clusters().flat_map(of).collect()
}

/// What became of the gates that nobody needs.
#[derive(Debug, Default)]
pub struct Left {
    /// The commands that follow.
    pub commands: Vec<Command>,
    /// The entry points that lost their gate.
    pub entries: BTreeSet<RepoPath>,
    /// The Flux Kustomizations that applied nothing but a gate, and went with it.
    pub kustomizations: Renames,
    /// By cluster, those that the gates that stand let read a held source.
    pub readers: BTreeMap<String, Readers>,
}

impl Left {
    /// Returns what may begin to read a held source in some clusters.
    pub fn readers_of<'c>(&self, clusters: impl Iterator<Item = &'c str>) -> Readers {
        let own = clusters.filter_map(|cluster| self.readers.get(cluster));
        own.flatten().map(|(name, source)| (name.clone(), source.clone())).collect()
    }
}

/// Says of each gate that nobody needs that it goes on closing, and the way on; but for those that have
/// `left`. `idle` are the clusters of which a gate would hold back nothing.
pub fn told(input: &Input<'_>, left: &Left, idle: &BTreeSet<String>) -> Vec<Diagnostic> {
    let told = |entry: &EntryPoint| {
        let lines: Vec<String> = resume(input, entry).iter().map(Command::shell).collect();
        let how = match carried(input, entry, idle) {
            Carried::Ours { .. } => {
                "`gitops-windows sync --allow-deletion` removes it, and says which objects the cluster deletes"
                    .to_owned()
            }
            Carried::Shared { gate, with } => format!(
                "give {gate} a folder of its own, as {with} needs it too\nremove the line that lists {gate} from {}",
                entry.path
            ),
            Carried::ByHand => "remove the gate's folder and the line that lists it".to_owned(),
        };
        let then = if lines.is_empty() { String::new() } else { format!(": `{}`", lines.join("`, `")) };
        let (why, other) = if is_forgotten(input, entry) {
            let other = format!("\nor name {} under `clusters`, where it should have windows", entry.cluster);
            (", which is not in windows.yaml. It goes on closing", other)
        } else {
            (", which has nothing to suspend any more. It stays", String::new())
        };
        Diagnostic::warning(format!("{} contains a gate of cluster {}{why}", entry.path, entry.cluster))
        .at(Place::file(entry.path.clone()))
        .help(format!("{how}\nwhen the cluster has applied that, resume the suspended Flux Kustomizations{then}{other}"))
    };
    needless(input, idle).into_iter().filter(|entry| !left.entries.contains(&entry.path)).map(told).collect()
}

/// Whose gate it is that an entry point carries.
enum Carried<'a> {
    /// The tool wrote it, and its Flux Kustomizations where nothing else applies it.
    Ours { gate: RepoPath, own: Vec<&'a FluxKustomization> },
    /// An entry point that stays needs it too.
    Shared { gate: RepoPath, with: RepoPath },
    /// People wrote it.
    ByHand,
}

/// Gives the folder of the gate that the tool wrote for a cluster.
fn written(input: &Input<'_>, entry: &EntryPoint) -> Option<RepoPath> {
    let base = input.spec.gate_base().ok()?;
    let graph = &input.model.graph;
    let is_it = |folder: &RepoPath| is_ours(input, folder) && graph.children(folder).contains(&base);
    built(graph, &entry.path).into_iter().find(is_it)
}

/// Tells whose gate it is that an entry point carries.
fn carried<'a>(input: &Input<'a>, entry: &EntryPoint, idle: &BTreeSet<String>) -> Carried<'a> {
    let Some(gate) = written(input, entry) else { return Carried::ByHand };
    let other = input.model.entries_building(&gate).find(|other| !is_needless(input, other, idle));
    if let Some(other) = other {
        return Carried::Shared { gate, with: other.path.clone() };
    }
    let own: Vec<&FluxKustomization> = input.model.flux_at(&gate).collect();
    let is_written = |one: &&FluxKustomization| {
        one.name == NAME && input.snapshot.file(&one.file).map(ownership) == Some(Ownership::Ours)
    };
    let is_alone = gate == entry.path;
    if (is_alone && own.is_empty()) || !own.iter().all(is_written) {
        return Carried::ByHand;
    }
    Carried::Ours { gate, own }
}

/// Takes the gates that nobody needs away; `idle` are the clusters of which a gate would hold back nothing.
///
/// A gate that an entry point of a remaining cluster needs too stays, and [`told`] speaks of it.
///
/// # Errors
///
/// When a generated file was edited by hand, or a list can't be edited in place.
pub fn leave(input: &Input<'_>, builder: &mut Builder<'_>, idle: &BTreeSet<String>) -> Result<Left, Error> {
    let mut left = Left::default();
    for entry in needless(input, idle) {
        let Carried::Ours { gate, own } = carried(input, entry, idle) else { continue };
        let files: Vec<RepoPath> = builder.now().below(&gate).map(|(path, _)| path.clone()).collect();
        for file in files.iter().chain(own.iter().map(|one| &one.file)) {
            match builder.now().file(file).map(ownership) {
                Some(Ownership::Ours) => builder.remove(file),
                // Another entry point of the cluster has led here before.
                None => {}
                _ => return Err(Error::new(ErrorKind::Conflict, conflict(file))),
            }
        }
        unlist(input, builder, &gate)?;
        for one in own {
            unlist(input, builder, &one.file)?;
            let name = (one.cluster.clone(), one.namespace.clone(), one.name.clone());
            left.kustomizations.gone.insert(name);
        }
        left.entries.insert(entry.path.clone());
        left.commands.extend(resume(input, entry));
    }
    Ok(left)
}

/// Takes a file or a folder out of every list that names it.
fn unlist(input: &Input<'_>, builder: &mut Builder<'_>, gone: &RepoPath) -> Result<(), Error> {
    for referrer in input.model.graph.referrers(gone) {
        let Some(found) = builder.kustomization(referrer).map_err(|broken| Error::invalid(*broken))? else {
            continue;
        };
        let text = remove(&found, gone).map_err(|error| {
            Error::invalid(
                Diagnostic::error(format!("{} can't be edited: {error}", found.file))
                    .at(Place::file(found.file.clone()))
                    .help(format!("take the line for {gone} out of it by hand")),
            )
        })?;
        builder.put(&found.file, &text);
    }
    Ok(())
}
