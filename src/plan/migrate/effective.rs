//! What the builds that apply Flux Kustomizations make of them.
//!
//! A file may say `prune: false` while a patch of the parent says otherwise for all of its children; the
//! controller goes by what the cluster has.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::inventory::{Inventory, inventories_of};
use crate::plan::Input;
use crate::plan::migrate::standing::Move;
use crate::plan::stop::Stop;
use crate::repo::{FluxKustomization, Kustomization, RepoPath, Target, built};
use crate::yaml::read_documents;

/// The fields of a kustomization that may change a Flux Kustomization which it lists, whatever they hold.
const CHANGING: [&str; 5] =
    ["patchesStrategicMerge", "patchesJson6902", "components", "transformers", "replacements"];

/// Gives the inventories with what the parents of some moves' old Flux Kustomizations make of these, and
/// with no other objects.
pub fn of_parents(input: &Input<'_>, moves: &[&Move<'_>]) -> Vec<Inventory> {
    let olds = || moves.iter().flat_map(|one| &one.old);
    let files: BTreeSet<&RepoPath> = olds().map(|old| &old.file).collect();
    let lists: BTreeSet<RepoPath> = files.iter().flat_map(|file| input.model.graph.builders(file)).collect();
    let is_parent = |flux: &FluxKustomization| {
        flux.path.as_ref().is_some_and(|path| {
            let is_listed = lists.contains(path)
                || !input.model.graph.has(path) && files.iter().any(|file| file.is_within(path));
            is_listed && may_change(input, flux, path)
        })
    };
    inventories_of(input.model, input.snapshot, input.renderer, &is_parent)
}

/// Stops a hand-over where an old Flux Kustomization is kept from deleting in its file alone, or where
/// what applies it does not build and may change that.
///
/// `inventories` hold what its parents apply.
pub fn overridden(input: &Input<'_>, one: &Move<'_>, inventories: &[Inventory]) -> Option<Stop> {
    one.old.iter().find_map(|old| {
        let own = inventory(inventories, &one.cluster, old)?;
        let field = match (own.prune, own.deletion_policy.as_str()) {
            (true, _) => "prune",
            (false, "Orphan") => return unknown(input, one, old, inventories),
            (false, _) => "deletionPolicy",
        };
        Some(Stop::lasting(
            format!(
                "{} in {} would delete what it loses: the build that applies it sets its `spec.{field}` otherwise",
                old.name, old.file
            ),
            format!(
                "leave {} out of the patch that sets `{field}`, let that reach the cluster, then go on",
                old.name
            ),
            old.place(field),
        ))
    })
}

/// Stops where a parent that may change an old Flux Kustomization does not build.
fn unknown(
    input: &Input<'_>,
    one: &Move<'_>,
    old: &FluxKustomization,
    inventories: &[Inventory],
) -> Option<Stop> {
    let graph = &input.model.graph;
    let lists = graph.builders(&old.file);
    let parents = input.applying(|path| lists.contains(path) || !graph.has(path) && old.file.is_within(path));
    let mut parents = parents.filter(|parent| input.model.cluster_of(parent) == one.cluster);
    parents.find_map(|parent| {
        let path = parent.path.as_ref()?;
        let Err(message) = &inventory(inventories, &one.cluster, parent)?.objects else { return None };
        may_change(input, parent, path).then(|| {
            Stop::lasting(
                format!(
                    "{path}, by which {} applies {}, does not build, and may patch its `prune` and `deletionPolicy`: {message}",
                    parent.name, old.name
                ),
                "let the patches there name the kinds that they are for, or make the folder build; then go on",
                parent.place("path"),
            )
        })
    })
}

fn inventory<'i>(
    inventories: &'i [Inventory],
    cluster: &str,
    flux: &FluxKustomization,
) -> Option<&'i Inventory> {
    inventories.iter().find(|inventory| {
        (inventory.cluster.as_str(), &inventory.namespace, &inventory.name)
            == (cluster, &flux.namespace, &flux.name)
    })
}

/// Tells whether the build of a Flux Kustomization may change Flux Kustomizations in it.
fn may_change(input: &Input<'_>, flux: &FluxKustomization, path: &RepoPath) -> bool {
    let spec = |field: &str| flux.spec(field).as_array().map(Vec::as_slice).unwrap_or_default();
    let patches = spec("patches").iter().any(|patch| may_patch(patch, patch["patch"].as_str()));
    let others = ["components", "patchesStrategicMerge", "patchesJson6902"];
    patches
        || others.iter().any(|field| !spec(field).is_empty())
        || built(&input.model.graph, path).iter().any(|folder| {
            input.model.graph.get(folder).is_some_and(|kustomization| may_change_in(input, kustomization))
        })
}

fn may_change_in(input: &Input<'_>, kustomization: &Kustomization) -> bool {
    if CHANGING.iter().any(|field| kustomization.field(field).is_some()) {
        return true;
    }
    let Some(patches) = kustomization.field("patches") else { return false };
    let file = |patch: &Value| {
        let name = patch["path"].as_str()?;
        let references = kustomization.references();
        let found = references.iter().find(|reference| reference.text == name)?;
        let Target::Path(path) = &found.target else { return None };
        input.snapshot.file(path)?.text().map(str::to_owned)
    };
    patches.to_json().as_array().is_none_or(|patches| {
        patches.iter().any(|patch| {
            let text = patch["patch"].as_str().map(str::to_owned).or_else(|| file(patch));
            may_patch(patch, text.as_deref())
        })
    })
}

/// Tells whether a patch may be for a Flux Kustomization: by the kind of its target, which is a pattern,
/// or else by the kind that it has itself.
fn may_patch(patch: &Value, text: Option<&str>) -> bool {
    let may_be = |kind: &str| kind == "Kustomization" || !kind.chars().all(|c| c.is_ascii_alphanumeric());
    if let Some(kind) = patch["target"]["kind"].as_str().filter(|kind| !kind.is_empty()) {
        return may_be(kind);
    }
    let documents = text.and_then(|text| read_documents(text).ok());
    documents.is_none_or(|documents| {
        documents.iter().any(|document| document.root.to_json()["kind"].as_str().is_none_or(may_be))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patch_is_for_the_kind_that_it_names() {
        let named = |kind: &str| json!({ "target": { "kind": kind } });
        for (patch, text, expected) in [
            (named("Deployment"), None, false),
            (named("Kustomization"), None, true),
            (named("Kust.*"), None, true),
            (json!({}), Some("kind: Deployment\nmetadata: {name: a}\n"), false),
            (json!({}), Some("kind: Kustomization\nmetadata: {name: a}\n"), true),
            (json!({ "target": { "name": "a" } }), Some("- {op: remove, path: /spec/prune}\n"), true),
            (json!({}), None, true),
        ] {
            assert_eq!(may_patch(&patch, text), expected, "{patch} {text:?}");
        }
    }
}
