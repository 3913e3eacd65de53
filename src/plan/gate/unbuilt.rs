//! What does not build tells nothing of what a gate is to hold back.

use std::collections::BTreeSet;

use crate::delivery::Input;
use crate::delivery::{EntryPoint, Role};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::problem::is_remote;
use crate::repo::flux::is_yaml;
use crate::repo::manifest::manifests;
use crate::repo::{Kustomization, Reference};

/// Why something must be mended before a gate changes.
const UNKNOWN: &str = "until then the targets of the cluster's gate are unknown";

/// Makes sure that no gate changes of a cluster of which something does not build.
///
/// Without what it holds back a gate would be written anew, and the jobs in the cluster would open what
/// should wait, or act on what is not there. What needs the network to build says the same each time, so it
/// changes no gate.
///
/// # Errors
///
/// When one would: each entry point that does not build, once.
pub fn unbuilt(input: &Input<'_>, builder: &Builder<'_>) -> Result<(), Error> {
    unbuilt_of(input, builder, &|_, _| true)
}

/// As [`unbuilt`], of what the gates hold back so far: what they never held takes nothing from them.
///
/// # Errors
///
/// As [`unbuilt`].
pub fn unbuilt_held(input: &Input<'_>, builder: &Builder<'_>) -> Result<(), Error> {
    let closings = &input.model.closings;
    unbuilt_of(input, builder, &|entry, cluster| {
        let mut own = input.model.flux_in(entry, cluster);
        own.any(|flux| closings.running(cluster, &GateTarget::of(input, flux)).is_some())
    })
}

fn unbuilt_of(
    input: &Input<'_>,
    builder: &Builder<'_>,
    is_meant: &dyn Fn(&EntryPoint, &str) -> bool,
) -> Result<(), Error> {
    let base = input.spec.gate_base()?;
    let changes = builder.finish().changes;
    if changes.is_empty() {
        return Ok(());
    }
    let mut broken: Vec<Diagnostic> = Vec::new();
    for cluster in input.spec.clusters.keys() {
        let own = input.spec.gate_folder(cluster)?;
        if !changes.keys().any(|path| path.is_within(&own) || path.is_within(&base)) {
            continue;
        }
        for entry in input.model.entries_of(cluster).filter(|entry| is_meant(entry, cluster)) {
            let Some(diagnostic) = reason(input, entry, cluster) else { continue };
            if !broken.iter().any(|other| other.place == diagnostic.place) {
                broken.push(diagnostic);
            }
        }
        broken.extend(unread(input, cluster));
    }
    if broken.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Invalid, diagnostics: broken }) }
}

fn reason(input: &Input<'_>, entry: &EntryPoint, cluster: &str) -> Option<Diagnostic> {
    let told = |message: &str, place: Place| {
        Diagnostic::error(format!("{} of cluster {cluster} does not build: {message}", entry.path))
            .at(place)
            .help(format!("mend it first: {UNKNOWN}"))
    };
    let graph = &input.model.graph;
    if let Some(broken) = graph.reach(&entry.path).iter().find_map(|folder| graph.broken(folder)) {
        let place = broken.place.clone().unwrap_or_else(|| Place::file(entry.path.clone()));
        return Some(told(&broken.message, place));
    }
    if let Some(file) = files(input, entry).into_iter().find(|file| is_unreadable(input, file)) {
        return Some(told(&format!("{file} is not valid YAML"), Place::file(file)));
    }
    // `flux bootstrap` may bring what else a bootstrap folder lists.
    if entry.role == Role::Bootstrap {
        return None;
    }
    let error = input.typed_entry(input.snapshot, entry).err()?;
    let message = error.unbuilt()?;
    let as_applied = || matches!(input.typed_as_applied(entry, cluster), Ok(Some(_)));
    (!is_remote(message) && !as_applied()).then(|| told(message, Place::file(entry.path.clone())))
}

/// Finds files beside the Flux Kustomizations of a cluster in which one may stand that nobody can read.
fn unread(input: &Input<'_>, cluster: &str) -> Vec<Diagnostic> {
    let own = input.model.flux_of_cluster(cluster);
    let folders: BTreeSet<RepoPath> = own.filter_map(|flux| flux.file.parent()).collect();
    let is_beside = |place: &Place| place.path.parent().is_some_and(|folder| folders.contains(&folder));
    let remarks = input.model.remarks.iter().filter(|remark| {
        remark.place.as_ref().is_some_and(|place| is_beside(place) && is_unreadable(input, &place.path))
    });
    let told = remarks.map(|remark| {
        let found = Diagnostic::error(remark.message.clone()).help(format!("mend it first: {UNKNOWN}"));
        Diagnostic { place: remark.place.clone(), ..found }
    });
    told.collect()
}

/// Gives the files that an entry point lists, or that Flux lists in its place.
fn files(input: &Input<'_>, entry: &EntryPoint) -> Vec<RepoPath> {
    let graph = &input.model.graph;
    if graph.has(&entry.path) {
        let lists = graph.reach(&entry.path).into_iter().filter_map(|folder| graph.get(&folder));
        return lists.flat_map(Kustomization::resources).filter_map(Reference::path).cloned().collect();
    }
    let is_own = |file: &RepoPath| {
        let mut folders = file.parents().take_while(|folder| folder.is_within(&entry.path));
        is_yaml(file) && !folders.any(|folder| graph.has(&folder))
    };
    let all = input.snapshot.below(&entry.path).map(|(file, _)| file);
    all.filter(|file| is_own(file)).cloned().collect()
}

fn is_unreadable(input: &Input<'_>, file: &RepoPath) -> bool {
    input.snapshot.file(file).is_some_and(|file| manifests(file).is_none())
}
