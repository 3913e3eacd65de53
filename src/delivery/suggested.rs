//! Names for Flux Kustomizations that are not in Git, so that no two folders of a cluster get one name.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::gate::Gate;
use crate::delivery::{EntryPoint, Known};
use crate::path::RepoPath;
use crate::repo::FluxKustomization;

/// Returns the names of folders that no Flux Kustomization in Git applies, where several folders of a cluster would have
/// the name of their folder: one would replace the other. A name that `gates` say is in use stays.
pub(super) fn suggested(
    known: &Known,
    root: &RepoPath,
    entries: &[EntryPoint],
    flux: &[FluxKustomization],
    gates: &[Gate],
) -> BTreeMap<RepoPath, String> {
    let mut alike: BTreeMap<(&str, String), BTreeSet<RepoPath>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.flux.is_empty() && entry.through.is_none()) {
        // Of one that is divided, the sides may be all that is left.
        let mut wholes = known.wholes(root, &entry.cluster, &entry.path);
        if wholes.is_empty() {
            wholes.push(entry.path.clone());
        }
        for whole in wholes {
            let Some(name) = whole.name().map(str::to_owned) else { continue };
            alike.entry((entry.cluster.as_str(), name)).or_default().insert(whole);
        }
    }
    let mut found = BTreeMap::new();
    for ((cluster, name), folders) in alike {
        let taken = |name: &str| flux.iter().any(|one| one.cluster == cluster && one.name == name);
        // A gate in Git goes by what is in the cluster: somebody has given that name.
        let is_in_use = gates.iter().flat_map(Gate::targets).any(|target| target == name);
        if is_in_use || folders.len() < 2 && !taken(&name) {
            continue;
        }
        let deepest = folders.iter().map(|folder| folder.ancestors().count()).max().unwrap_or_default();
        let named = |length: usize| -> BTreeMap<RepoPath, String> {
            folders.iter().map(|folder| (folder.clone(), tail(folder, length))).collect()
        };
        let is_distinct = |names: &BTreeMap<RepoPath, String>| {
            let distinct: BTreeSet<&String> = names.values().collect();
            distinct.len() == names.len() && !names.values().any(|name| taken(name))
        };
        found.extend((2..=deepest).map(named).find(is_distinct).unwrap_or_default());
    }
    found
}

/// Returns the last parts of a path as a name.
fn tail(folder: &RepoPath, length: usize) -> String {
    let parts: Vec<&str> = folder.as_str().split('/').collect();
    parts[parts.len().saturating_sub(length)..].join("-")
}
