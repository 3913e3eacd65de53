//! What clusters would delete with what the tool writes anew of a gate.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::inventory::{Deletion, deletions, inventories_of, synced};
use crate::delivery::{Input, Model, counterparts, outside};
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
    let folders: BTreeSet<RepoPath> =
        cluster_folders(input)?.into_iter().filter(|folder| input.snapshot.is_dir(folder)).collect();
    let gone = gone(input, after, &folders);
    if gone.is_empty() {
        return Ok(());
    }
    let later = input.again(after);
    let losses = losses(input, after, &later, &folders, &gone);
    let names = counterparts(input.model, &later);
    let diagnostics: Vec<Diagnostic> =
        losses.iter().map(|loss| told(input, (&later, &names), loss)).collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Unsafe, diagnostics }) }
}

/// A later state, with the names that clusters have there.
type Later<'l> = (&'l Model, &'l BTreeMap<&'l str, &'l str>);

/// Says what clusters delete: once of all that goes in the same way, and of all clusters that lose the same.
pub fn all_deleted(input: &Input<'_>, later: Later<'_>, losses: &[Deletion]) -> Vec<Diagnostic> {
    let way = |loss: &Deletion| {
        (loss.kustomization.clone(), loss.goes, loss.next.clone(), unless(input, later, loss))
    };
    let mut by_cluster: Vec<(_, Vec<&Deletion>)> = Vec::new();
    for loss in losses {
        let key = (&loss.cluster, way(loss));
        match by_cluster.iter_mut().find(|(known, _)| *known == key) {
            Some((_, all)) => all.push(loss),
            None => by_cluster.push((key, vec![loss])),
        }
    }
    let mut alike: Vec<(_, Vec<&Deletion>)> = Vec::new();
    for ((_, way), losses) in by_cluster {
        let key = (way, losses.iter().map(|loss| named(loss)).collect::<Vec<_>>());
        match alike.iter_mut().find(|(known, _)| *known == key) {
            Some((_, all)) => all.extend(losses.first()),
            None => alike.push((key, losses.into_iter().take(1).collect())),
        }
    }
    let told = alike.into_iter().filter_map(|(((by, goes, next, unless), names), losses)| {
        let clusters: BTreeSet<&str> = losses.iter().map(|loss| loss.cluster.as_str()).collect();
        let clusters = clusters.into_iter().collect::<Vec<_>>().join(", ");
        let who = match losses.len() {
            1 => format!("cluster {clusters} deletes"),
            _ => format!("clusters {clusters} delete"),
        };
        let them = if names.len() == 1 { "it" } else { "them" };
        let how = if goes { "goes and deletes" } else { "loses and prunes" };
        let race =
            next.map(|(_, next)| format!(", before or after {next} has applied {them}")).unwrap_or_default();
        let names = names.join(", ");
        let text = format!("{who} {names}: Flux Kustomization {by} {how} {them}{race}{unless}");
        Some(Diagnostic::warning(text).at(losses.first()?.place.clone()))
    });
    told.collect()
}

/// Names what a cluster deletes, with what goes along.
fn named(loss: &Deletion) -> String {
    let contents = if loss.id.kind == "Namespace" { " with everything that is in it" } else { "" };
    format!("{}{contents}", loss.id)
}

/// Says what a cluster deletes, and on what that depends where Git does not say it.
fn deletes(input: &Input<'_>, later: Later<'_>, loss: &Deletion) -> String {
    let contents = if loss.id.kind == "Namespace" { ", with everything that is in it" } else { "" };
    format!("a cluster deletes {loss}{contents}{}", unless(input, later, loss))
}

/// Says on what a deletion depends where Git does not say it.
fn unless(input: &Input<'_>, later: Later<'_>, loss: &Deletion) -> String {
    let folder = removed_outside(input.model, later, loss);
    folder.map(|folder| format!(", if {} prunes", outside(folder))).unwrap_or_default()
}

fn removed_outside<'m>(model: &'m Model, later: Later<'_>, loss: &Deletion) -> Option<&'m RepoPath> {
    let cluster = model.delivered.named(&loss.cluster).filter(|_| loss.goes)?;
    let one = cluster.reached("", (&loss.namespace, &loss.kustomization))?;
    cluster.removed_outside(later.0.cluster_now(later.1, &cluster.name), one)
}

fn told(input: &Input<'_>, later: Later<'_>, loss: &Deletion) -> Diagnostic {
    let id = &loss.id;
    let kind = if id.group.is_empty() { id.kind.clone() } else { format!("{}.{}", id.kind, id.group) };
    let of = if id.namespace.is_empty() { String::new() } else { format!(" --namespace {}", id.namespace) };
    Diagnostic::error(deletes(input, later, loss)).at(loss.place.clone()).help(format!(
        "take the change of windows.yaml back; or, to keep {id}, first run `kubectl annotate {} {}{of} --field-manager=flux kustomize.toolkit.fluxcd.io/prune=disabled` against {}; `gitops-windows sync --allow-deletion` then goes on",
        kind.to_lowercase(),
        id.name,
        loss.cluster,
    ))
}

/// Returns the objects of gates that clusters would delete and that do not serve the gates alone.
fn losses(
    input: &Input<'_>,
    after: &Snapshot,
    later: &Model,
    folders: &BTreeSet<RepoPath>,
    gone: &BTreeSet<ObjectId>,
) -> Vec<Deletion> {
    let name = |flux: &FluxKustomization| (flux.cluster.clone(), flux.namespace.clone(), flux.name.clone());
    let carries = |flux: &&FluxKustomization| {
        let reach = flux.path.as_ref().map(|path| built(&input.model.graph, path));
        reach.is_some_and(|reach| reach.iter().any(|folder| folders.contains(folder)))
    };
    let carriers: BTreeSet<_> = input.model.all_flux().iter().filter(carries).map(name).collect();
    let is_carrier = |flux: &FluxKustomization| carriers.contains(&name(flux));
    let mut old = inventories_of(input.model, input.snapshot, input.renderer, &is_carrier);
    old.extend(synced(input.model, input.snapshot, input.renderer));
    let mut new = inventories_of(later, after, input.renderer, &is_carrier);
    new.extend(synced(later, after, input.renderer));
    let mut found = deletions(&old, &new);
    found.retain(|loss| gone.contains(&loss.built));
    found
}

/// Returns what leaves the folders of gates and does not serve the gates alone.
fn gone(input: &Input<'_>, after: &Snapshot, folders: &BTreeSet<RepoPath>) -> BTreeSet<ObjectId> {
    let serves = |id: &ObjectId| is_of_gate(id) && id.kind != "Namespace";
    let requests: Vec<Request> = folders.iter().cloned().map(Request::delivered).collect();
    let held = |snapshot: &Snapshot| {
        let results = input.renderer.render(snapshot, &requests).into_iter();
        let ids = |objects: Vec<Object>| -> BTreeSet<ObjectId> {
            objects.iter().map(|object| ObjectId::of(&object.value)).filter(|id| !serves(id)).collect()
        };
        results.map(|result| result.map(ids).unwrap_or_default()).collect::<Vec<_>>()
    };
    held(input.snapshot).iter().zip(held(after)).flat_map(|(old, new)| old - &new).collect()
}
