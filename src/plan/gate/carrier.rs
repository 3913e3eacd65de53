//! Sees to it that something applies a cluster's gate, and that it is nothing gated.

use crate::delivery::{EntryPoint, Model};
use crate::delivery::{Input, Sides};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{ClusterGate, GateTarget};
use crate::path::RepoPath;
use crate::plan::edit::{Builder, resources};
use crate::plan::gate::files::Leftover;
use crate::plan::gate::own;
use crate::repo::{FluxKustomization, built};
use crate::template::Templates;

/// Lists the gate in the entry point that lies above it, or gives it a Flux Kustomization.
///
/// # Errors
///
/// When the entry point above is itself gated: once closed it could not bring a change of its own
/// gate, and a gate that was broken by a commit could never be mended by one.
pub fn ensure(
    input: &Input<'_>,
    sides: &Sides,
    templates: &Templates,
    builder: &mut Builder<'_>,
    cluster: &ClusterGate,
    leftover: &mut Leftover,
) -> Result<(), Error> {
    if !matches!(builder.kustomization(&cluster.folder), Ok(Some(_))) {
        return Ok(());
    }
    if let Some(entry) = carrier_of(input, sides, &cluster.cluster, &cluster.folder) {
        let gated = cluster.held().contains(&GateTarget::of_entry(input, entry, &cluster.cluster));
        if gated || sides.get(&entry.path).is_some_and(|(_, position)| *position > 0) {
            return Err(carried_by_gated(entry, cluster));
        }
        if input.model.is_suspended(&entry.path, &cluster.cluster) {
            leftover.remarks.push(suspended(input, entry, cluster));
        }
        if reaches(input, entry, &cluster.folder) {
            return own::seal(input, templates, builder, &cluster.cluster, entry);
        }
        return list(builder, entry, &cluster.folder);
    }
    own::ensure(input, templates, builder, cluster, leftover)
}

/// Adds a file or a folder to what a folder's kustomization lists, and tells whether there is one.
///
/// # Errors
///
/// When its list can't be edited in place.
pub fn add(builder: &mut Builder<'_>, folder: &RepoPath, path: &RepoPath) -> Result<bool, Error> {
    let Ok(Some(list)) = builder.kustomization(folder) else { return Ok(false) };
    let text = resources::add(&list, path).map_err(|error| {
        Error::new(ErrorKind::Unsafe, error.diagnostic(list.file.clone(), list.text.clone()))
    })?;
    builder.put(&list.file, &text);
    Ok(true)
}

/// Where gates go that nothing else may take in.
pub const OUTSIDE: &str = "infra/reconciliation-windows-{cluster}";

/// Finds the folder of a cluster's Flux Kustomizations that takes in its gate as well.
///
/// Where no entry point in Git reaches that folder, something outside of Git applies it. Without a
/// kustomization.yaml Flux then lists everything below it (fluxcd/pkg/kustomize, `scanManifests`), so
/// that the gate would have two owners.
pub fn taken_in(model: &Model, cluster: &str, gate: &RepoPath) -> Option<RepoPath> {
    let is_listed = |above: &RepoPath| {
        let between = gate.parents();
        between.take_while(|path| path.is_within(above)).any(|path| model.graph.has(&path))
    };
    let is_known = |above: &RepoPath| {
        let mut around = above.ancestors().chain(model.graph.above(above));
        around.any(|folder| model.entry(&folder).is_some())
    };
    let holds_gate = |one: &&FluxKustomization| {
        one.file.parent().is_some_and(|above| !above.is_top() && gate.is_within(&above))
    };
    let own = model.flux_of_cluster(cluster).filter(holds_gate);
    own.filter_map(|one| one.file.parent()).find(|above| !is_listed(above) && !is_known(above))
}

/// Finds the entry point that applies a cluster's gate, or will: one that reaches it, or the one
/// whose folder holds it directly.
///
/// Where Flux Kustomizations of the cluster are in Git, what none of them applies carries nothing,
/// unless it is a side that will be handed over.
pub fn carrier_of<'a>(
    input: &Input<'a>,
    sides: &Sides,
    cluster: &str,
    folder: &RepoPath,
) -> Option<&'a EntryPoint> {
    let all = || input.model.entries_of(cluster);
    let is_applied = |entry: &EntryPoint| !entry.flux.is_empty() || entry.through.is_some();
    let managed = all().any(|entry| !entry.flux.is_empty());
    let mine = || all().filter(|entry| !managed || is_applied(entry) || sides.contains_key(&entry.path));
    let generated =
        |entry: &&EntryPoint| !input.model.graph.has(&entry.path) && folder.is_within(&entry.path);
    let reaching = || mine().filter(|entry| reaches(input, entry, folder));
    reaching()
        .find(|entry| is_applied(entry))
        .or_else(|| reaching().next())
        .or_else(|| {
            // Where Git suspends what applies the folder above, the gate has its own Flux Kustomization.
            let is_above = |entry: &&EntryPoint| Some(&entry.path) == folder.parent().as_ref();
            mine().filter(|entry| !input.model.is_suspended(&entry.path, cluster)).find(is_above)
        })
        .or_else(|| mine().filter(generated).max_by_key(|entry| entry.path.segments().count()))
}

pub(super) fn reaches(input: &Input<'_>, entry: &EntryPoint, folder: &RepoPath) -> bool {
    built(&input.model.graph, &entry.path).contains(folder)
}

fn list(builder: &mut Builder<'_>, entry: &EntryPoint, folder: &RepoPath) -> Result<(), Error> {
    // The topmost kustomization between the entry point and the gate is what the build begins
    // with; where there is none, Flux's generated one takes the gate in by itself.
    let mut between: Vec<RepoPath> =
        folder.parents().take_while(|path| path.is_within(&entry.path)).collect();
    between.reverse();
    for path in between {
        if add(builder, &path, folder)? {
            break;
        }
    }
    Ok(())
}

/// Says that Git keeps a gate from its cluster.
fn suspended(input: &Input<'_>, entry: &EntryPoint, cluster: &ClusterGate) -> Diagnostic {
    let own = &cluster.cluster;
    let name = input.model.name_in(entry, own);
    let place = input.model.flux_in(entry, own).next().map(|flux| flux.place("suspend"));
    Diagnostic::warning(format!(
        "Flux Kustomization {name} applies the gate of cluster {own}, but `suspend: true` in Git stops it"
    ))
    .at(place.unwrap_or_else(|| Place::file(entry.path.clone())))
    .help(format!(
        "remove `suspend` from {name}\nor choose a folder outside of {} for `clusterGate` under `layout`",
        entry.path
    ))
}

fn carried_by_gated(entry: &EntryPoint, cluster: &ClusterGate) -> Error {
    Error::new(
        ErrorKind::Unsafe,
        Diagnostic::error(format!(
            "{} would both apply the gate of {} and be suspended by it. Once closed, no commit could change it",
            cluster.cluster, entry.path
        ))
        .at(Place::file(entry.path.clone()))
        .help("choose a folder outside of it for `clusterGate` under `layout`"),
    )
}
