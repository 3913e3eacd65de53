//! Gates of clusters that left the windows, or that have nothing left to hold back.
//!
//! Nobody takes them away silently: what is suspended then stays so. On request the gate goes first
//! and what it held back is resumed after that; the other way round a closing may come between.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::delivery::{EntryPoint, Role};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{GateTarget, shown};
use crate::path::RepoPath;
use crate::plan::Command;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, is_ours, ownership};
use crate::plan::edit::resources::remove;
use crate::plan::gate::files::conflict;
use crate::plan::gate::own::NAME;
use crate::plan::gate::point::left_behind;
use crate::plan::gate::stranded;
use crate::plan::gate::upkeep::resuming;
use crate::proof::{Readers, Renames};
use crate::repo::{FluxKustomization, Graph, Snapshot, built};
use crate::spec::{MechanismName, SCHEMA_FILE, Spec};

/// Returns whether the spec speaks of no cluster that applies an entry point.
fn is_forgotten(input: &Input<'_>, entry: &EntryPoint) -> bool {
    !entry.clusters().any(|cluster| input.spec.gates(cluster))
}

/// Returns whether no cluster that applies an entry point needs the gate that the tool wrote there.
fn is_needless(input: &Input<'_>, entry: &EntryPoint, idle: &BTreeSet<String>) -> bool {
    let is_idle = |cluster: &str| idle.contains(cluster) || !input.spec.clusters.contains_key(cluster);
    is_forgotten(input, entry) || entry.clusters().all(is_idle) && written(input, entry).is_some()
}

/// Returns the entry points that carry a gate which nobody needs any more.
fn needless<'a>(input: &Input<'a>, idle: &BTreeSet<String>) -> Vec<&'a EntryPoint> {
    let entries = input.model.all_entries().iter();
    entries.filter(|entry| entry.role == Role::Gate && is_needless(input, entry, idle)).collect()
}

/// Returns what the gates of a cluster hold back there.
fn held(input: &Input<'_>, cluster: &str) -> Vec<GateTarget> {
    let own = input.model.flux_of_cluster(cluster);
    // Nothing suspends what reads a held source.
    let is_held =
        |target: &GateTarget| input.model.closings.any(cluster, target).is_some_and(|job| job.held.is_none());
    own.map(|one| GateTarget::of(input, one)).filter(is_held).collect()
}

/// Returns the commands that resume what the gates of clusters have suspended, one for each namespace.
fn resume<'c>(input: &Input<'_>, clusters: impl Iterator<Item = &'c str>) -> Vec<Command> {
    clusters.flat_map(|cluster| resuming(held(input, cluster), MechanismName::Suspend, cluster)).collect()
}

/// Returns the last steps after a gate has gone: what it has suspended stays so.
fn resumed(input: &Input<'_>, clusters: &[&str]) -> String {
    let lines: Vec<String> = resume(input, clusters.iter().copied()).iter().map(Command::shell).collect();
    let mut jobs = clusters.iter().flat_map(|cluster| input.model.closings.of(cluster));
    if lines.is_empty() && jobs.any(|job| job.held.is_some()) {
        return String::new();
    }
    let then = match &lines[..] {
        [] => String::new(),
        [line] => format!(": `{line}`"),
        lines => lines.iter().map(|line| format!("\n`{line}`")).collect(),
    };
    format!("\nwhen the cluster has applied that, resume the suspended Flux Kustomizations{then}")
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

/// Says of each gate that nobody needs what it goes on doing, and the way on; but for those that have
/// `left`. `idle` are the clusters of which a gate would hold back nothing.
pub fn told(input: &Input<'_>, left: &Left, idle: &BTreeSet<String>) -> Vec<Diagnostic> {
    let needless = needless(input, idle);
    let told = |entry: &&EntryPoint| {
        let readers: Vec<GateTarget> =
            entry.clusters().flat_map(|cluster| left_behind(input, cluster, &left.readers)).collect();
        let how = match carried(input, entry, idle) {
            Carried::Ours { .. } if !readers.is_empty() => format!(
                "`gitops-windows sync --while-open --allow-deletion` lets {} leave the held source and removes the gate\nmerge it while the window is open",
                shown(&readers, input.spec)
            ),
            Carried::Ours { .. } => {
                "`gitops-windows sync --allow-deletion` removes it, and says which objects the cluster deletes"
                    .to_owned()
            }
            Carried::Shared { gate, with } => format!(
                "give {gate} a folder of its own, as {with} needs it too\nremove the line that lists {gate} from {}",
                entry.path
            ),
            Carried::ByHand => by_hand(input, &readers),
        };
        let (why, other) = if is_forgotten(input, entry) {
            (
                format!(", {}. {}", input.spec.why_ungated(&entry.cluster), does(input, entry)),
                kept(input.spec, &entry.cluster),
            )
        } else {
            (", which has nothing to suspend any more. It stays".to_owned(), String::new())
        };
        let then = resumed(input, &entry.clusters().collect::<Vec<_>>());
        Diagnostic::warning(format!("{} contains a gate of cluster {}{why}", entry.path, entry.cluster))
            .at(Place::file(entry.path.clone()))
            .help(format!("{how}{then}{other}"))
    };
    let known: BTreeSet<&str> = needless.iter().flat_map(|entry| entry.clusters()).collect();
    let mut found: Vec<Diagnostic> =
        needless.iter().filter(|entry| !left.entries.contains(&entry.path)).map(told).collect();
    found.extend(scattered(input, &known, left));
    found.extend(stranded(input.model, input.snapshot, input.spec));
    found
}

/// Returns whether a gate that the tool wrote, and that nobody needs, stays only as something reads its held source: that may
/// leave it in an open window alone.
pub fn waits_for_window(input: &Input<'_>, left: &Left, idle: &BTreeSet<String>) -> bool {
    let mut stay = needless(input, idle).into_iter().filter(|entry| !left.entries.contains(&entry.path));
    stay.any(|entry| {
        let mut clusters = entry.clusters();
        matches!(carried(input, entry, idle), Carried::Ours { .. })
            && clusters.any(|cluster| !left_behind(input, cluster, &left.readers).is_empty())
    })
}

/// Says what a gate does that stays: CronJobs that Git suspends close nothing.
fn does(input: &Input<'_>, entry: &EntryPoint) -> &'static str {
    match entry.clusters().any(|cluster| input.model.closings.closes_any(cluster)) {
        true => "It goes on closing",
        false => "It stays, and closes nothing",
    }
}

/// Says the same of gates that stand among other things, but for those of the clusters that are `known`.
fn scattered(input: &Input<'_>, known: &BTreeSet<&str>, left: &Left) -> Vec<Diagnostic> {
    let closings = &input.model.closings;
    let is_forgotten = |cluster: &&str| {
        !known.contains(cluster) && !input.spec.gates(cluster) && closings.closes_any(cluster)
    };
    let told = |cluster: &str| {
        let jobs = closings.of(cluster).iter().filter(|job| job.is_running && job.action.holds());
        let jobs: BTreeSet<String> = jobs.map(|job| format!("`{}`", job.name)).collect();
        let jobs = jobs.into_iter().collect::<Vec<_>>().join(", ");
        let how = by_hand(input, &left_behind(input, cluster, &left.readers));
        let text = format!(
            "CronJob {jobs} closes in cluster {cluster}, {}. It goes on",
            input.spec.why_ungated(cluster)
        );
        let then = resumed(input, &[cluster]);
        Diagnostic::warning(text)
            .at(Place::file(input.spec.path.clone()))
            .help(format!("{how}{then}{}", kept(input.spec, cluster)))
    };
    closings.clusters().filter(is_forgotten).map(told).collect()
}

/// Returns the last step where a gate should stay.
pub fn kept(spec: &Spec, cluster: &str) -> String {
    match spec.clusters.contains_key(cluster) {
        true => "\nor give a type windows, where something should wait".to_owned(),
        false if spec.ungated.contains_key(cluster) => String::new(),
        false => format!("\nor name {cluster} under `clusters`, where it should have windows"),
    }
}

/// Returns how people remove a gate. What reads a held source goes back first: without its CronJob no commit reaches it.
fn by_hand(input: &Input<'_>, readers: &[GateTarget]) -> String {
    let gone = "remove the gate's folder and the line that lists it";
    match readers.is_empty() {
        true => gone.to_owned(),
        false => format!(
            "while the window is open, merge `gitops-windows sync --while-open`: {} leave the held source\n{gone}",
            shown(readers, input.spec)
        ),
    }
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

/// Returns the folder of the gate that the tool wrote for a cluster.
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
    // Flux lists a folder in a root without a list by itself, so that it goes with its files.
    let is_of_others = gate == entry.path && own.is_empty() && entry.through.is_none();
    if is_of_others || !own.iter().all(is_written) {
        return Carried::ByHand;
    }
    Carried::Ours { gate, own }
}

/// Takes the gates that nobody needs away; `idle` are the clusters of which a gate would hold back nothing.
///
/// A gate that an entry point of a remaining cluster needs too stays, and [`told`] speaks of it. So does one of which
/// something goes on reading a held source; `back` has by cluster what does so no more.
///
/// # Errors
///
/// When a generated file was edited by hand, or a list can't be edited in place.
pub fn leave(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    idle: &BTreeSet<String>,
    back: &BTreeMap<String, Readers>,
) -> Result<Left, Error> {
    let mut left = Left::default();
    let may_go = |entry: &&EntryPoint| {
        let mut readers = entry.clusters().flat_map(|cluster| left_behind(input, cluster, back));
        readers.next().is_none()
    };
    for entry in needless(input, idle).into_iter().filter(may_go) {
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
        left.commands.extend(resume(input, entry.clusters()));
    }
    leave_base(input, builder);
    Ok(left)
}

/// Removes what the tool wrote of the base once no cluster wants a gate, and nothing builds on it.
fn leave_base(input: &Input<'_>, builder: &mut Builder<'_>) {
    let Ok(base) = input.spec.gate_base() else { return };
    let is_wanted = input.spec.clusters.keys().any(|cluster| input.spec.gates(cluster));
    let is_used = || Graph::read(builder.now()).referrers(&base).next().is_some() || input.is_applied(&base);
    if is_wanted || is_used() {
        return;
    }
    let files = builder.now().below(&base).filter_map(|(path, _)| {
        let file = builder.now().file(path)?;
        (ownership(file) == Ownership::Ours).then(|| path.clone())
    });
    for file in files.collect::<Vec<RepoPath>>() {
        builder.remove(&file);
    }
}

/// Says which files are left to people once the spec names no cluster any more; nothing where it names one.
pub fn remains(input: &Input<'_>, after: &Snapshot) -> Option<Diagnostic> {
    if !input.spec.clusters.is_empty() {
        return None;
    }
    let path = &input.spec.path;
    let schema = input.spec.folder().join(SCHEMA_FILE).ok().filter(|schema| after.file(schema).is_some());
    let files: Vec<String> = [path.clone()].into_iter().chain(schema).map(|file| file.to_string()).collect();
    let text = "windows.yaml names no cluster any more. No gate is left to write";
    let help = format!("to leave the tool: `git rm {}`\nor name a cluster again", files.join(" "));
    Some(Diagnostic::note(text).at(Place::file(path.clone())).help(help))
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
