//! Gates of clusters that left the windows.
//!
//! Nobody takes them away silently: what is suspended then stays so. On request the gate goes first
//! and what it held back is resumed after that; the other way round a closing may come between.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::plan::gate::files::conflict;
use crate::plan::generated::{Ownership, is_ours, ownership};
use crate::plan::resources::{Item, rewrite};
use crate::plan::{Builder, Command, Input};
use crate::repo::{EntryPoint, FluxKustomization, RepoPath, Role, Target};

/// Gives the entry points that carry a gate which the spec does not speak of any more.
fn forgotten<'a>(input: &Input<'a>) -> Vec<&'a EntryPoint> {
    let gated = input.spec.types.iter().any(|change_type| !change_type.is_real_time());
    let speaks = |entry: &EntryPoint| {
        gated && entry.clusters().any(|cluster| input.spec.clusters.contains_key(cluster))
    };
    let entries = input.model.entry_points.iter();
    entries.filter(|entry| entry.role == Role::Gate && !speaks(entry)).collect()
}

/// Gives what the gates of a cluster hold back there.
fn held<'a>(input: &Input<'a>, cluster: &str) -> Vec<&'a FluxKustomization> {
    let names: BTreeSet<&str> = input.model.gates.iter().flat_map(|gate| gate.targets()).collect();
    let is_held = |one: &&FluxKustomization| {
        names.contains(one.name.as_str()) && input.model.cluster_of(one) == cluster
    };
    input.model.flux.iter().filter(is_held).collect()
}

fn resume(input: &Input<'_>, entry: &EntryPoint) -> Vec<Command> {
    let clusters = entry.clusters();
    clusters
        .flat_map(|cluster| {
            let of = held(input, cluster).into_iter();
            of.map(move |one| Command::resume(&one.name, &input.spec.flux.namespace, cluster))
        })
        .collect()
}

/// Says of each gate that nobody speaks of that it goes on closing, and the way on.
pub fn told(input: &Input<'_>) -> Vec<Diagnostic> {
    let told = |entry: &EntryPoint| {
        let lines: Vec<String> = resume(input, entry).iter().map(Command::shell).collect();
        let how = match folder(input, entry) {
            Some(_) => {
                "`gitops-windows sync --allow-deletion` takes it out and says what the cluster deletes"
                    .to_owned()
            }
            None => "take the gate's folder and the line that lists it out".to_owned(),
        };
        let then = if lines.is_empty() { String::new() } else { format!(": `{}`", lines.join("`, `")) };
        Diagnostic::warning(format!(
            "{} carries a gate of cluster {} that windows.yaml does not speak of any more; it goes on closing",
            entry.path, entry.cluster
        ))
        .at(Place::file(entry.path.clone()))
        .help(format!("{how}; when that has reached the cluster, resume what the last closing may have left suspended{then}"))
    };
    forgotten(input).into_iter().map(told).collect()
}

/// Gives the folder of a gate that the tool wrote for a cluster.
fn folder(input: &Input<'_>, entry: &EntryPoint) -> Option<RepoPath> {
    let base = input.spec.folder().join(&input.spec.layout.gate).ok()?;
    let graph = &input.model.graph;
    let is_it = |folder: &RepoPath| {
        *folder != entry.path && is_ours(input, folder) && graph.children(folder).contains(&base)
    };
    graph.reach(&entry.path).into_iter().find(is_it)
}

/// Takes the gates that nobody speaks of away; gives the commands that follow.
///
/// # Errors
///
/// When a generated file was edited by hand, or a list can't be edited in place.
pub fn leave(input: &Input<'_>, builder: &mut Builder<'_>) -> Result<Vec<Command>, Error> {
    let mut commands = Vec::new();
    for entry in forgotten(input) {
        let Some(gate) = folder(input, entry) else { continue };
        let files: Vec<RepoPath> = builder.now().below(&gate).map(|(path, _)| path.clone()).collect();
        for file in files {
            match builder.now().file(&file).map(ownership) {
                Some(Ownership::Ours) => builder.remove(&file),
                _ => return Err(Error::new(ErrorKind::Conflict, conflict(&file))),
            }
        }
        for referrer in input.model.graph.referrers(&gate) {
            let Some(found) = builder.kustomization(referrer).map_err(|broken| Error::invalid(*broken))?
            else {
                continue;
            };
            let lists = |target: &Target| *target == Target::Path(gate.clone());
            let item = |gone| if gone { Item::Remove } else { Item::Keep };
            let items: Vec<Item> =
                found.resources().iter().map(|reference| item(lists(&reference.target))).collect();
            let text = rewrite(&found, &items).map_err(|error| {
                Error::invalid(
                    Diagnostic::error(format!("{} can't be edited: {error}", found.file))
                        .at(Place::file(found.file.clone()))
                        .help(format!("take the line for {gate} out of it by hand")),
                )
            })?;
            builder.put(&found.file, &text);
        }
        commands.extend(resume(input, entry));
    }
    Ok(commands)
}
