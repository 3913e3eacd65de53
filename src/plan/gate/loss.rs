//! What clusters would delete with what the tool writes anew of a gate.

use std::collections::BTreeSet;

use crate::delivery::Input;
use crate::delivery::inventory::{Deletion, deletions, inventories_of, synced};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::gate::cluster_folders;
use crate::proof::is_of_gate;
use crate::render::{Object, Request};
use crate::repo::manifest::ObjectId;
use crate::repo::{FluxKustomization, Snapshot, built};

/// Makes sure that no cluster deletes more of a gate than what serves the gate alone: CronJobs and what lets
/// them act may get other names, and a Namespace takes everything that is in it along.
///
/// # Errors
///
/// When a cluster would, with what it would delete and how that is kept.
pub fn keeps_all(input: &Input<'_>, after: &Snapshot) -> Result<(), Error> {
    let diagnostics: Vec<Diagnostic> = losses(input, after)?.iter().map(told).collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Unsafe, diagnostics }) }
}

/// Says what a cluster deletes.
pub fn deletes(loss: &Deletion) -> String {
    let contents = if loss.id.kind == "Namespace" { ", with everything that is in it" } else { "" };
    format!("a cluster deletes {loss}{contents}")
}

fn told(loss: &Deletion) -> Diagnostic {
    let id = &loss.id;
    let kind = if id.group.is_empty() { id.kind.clone() } else { format!("{}.{}", id.kind, id.group) };
    let of = if id.namespace.is_empty() { String::new() } else { format!(" --namespace {}", id.namespace) };
    Diagnostic::error(deletes(loss)).at(loss.place.clone()).help(format!(
        "take the change of windows.yaml back; or, to keep {id}, first run `kubectl annotate {} {}{of} --field-manager=flux kustomize.toolkit.fluxcd.io/prune=disabled` against {}; `gitops-windows sync --allow-deletion` then goes on",
        kind.to_lowercase(),
        id.name,
        loss.cluster,
    ))
}

/// Gives the objects of gates that clusters would delete and that do not serve the gates alone.
fn losses(input: &Input<'_>, after: &Snapshot) -> Result<Vec<Deletion>, Error> {
    let folders: BTreeSet<RepoPath> =
        cluster_folders(input)?.into_iter().filter(|folder| input.snapshot.is_dir(folder)).collect();
    let gone = gone(input, after, &folders);
    if gone.is_empty() {
        return Ok(Vec::new());
    }
    let name = |flux: &FluxKustomization| (flux.cluster.clone(), flux.namespace.clone(), flux.name.clone());
    let carries = |flux: &&FluxKustomization| {
        let reach = flux.path.as_ref().map(|path| built(&input.model.graph, path));
        reach.is_some_and(|reach| reach.iter().any(|folder| folders.contains(folder)))
    };
    let carriers: BTreeSet<_> = input.model.all_flux().iter().filter(carries).map(name).collect();
    let is_carrier = |flux: &FluxKustomization| carriers.contains(&name(flux));
    let model = input.again(after);
    let mut old = inventories_of(input.model, input.snapshot, input.renderer, &is_carrier);
    old.extend(synced(input.model, input.snapshot, input.renderer));
    let mut new = inventories_of(&model, after, input.renderer, &is_carrier);
    new.extend(synced(&model, after, input.renderer));
    let mut found = deletions(&old, &new);
    found.retain(|loss| gone.contains(&loss.built));
    Ok(found)
}

/// Gives what leaves the folders of gates and does not serve the gates alone.
fn gone(input: &Input<'_>, after: &Snapshot, folders: &BTreeSet<RepoPath>) -> BTreeSet<ObjectId> {
    let serves = |id: &ObjectId| is_of_gate(id) && id.kind != "Namespace";
    let requests: Vec<Request> = folders.iter().cloned().map(Request::folder).collect();
    let held = |snapshot: &Snapshot| {
        let results = input.renderer.render(snapshot, &requests).into_iter();
        let ids = |objects: Vec<Object>| -> BTreeSet<ObjectId> {
            objects.iter().map(|object| ObjectId::of(&object.value)).filter(|id| !serves(id)).collect()
        };
        results.map(|result| result.map(ids).unwrap_or_default()).collect::<Vec<_>>()
    };
    held(input.snapshot).iter().zip(held(after)).flat_map(|(old, new)| old - &new).collect()
}
