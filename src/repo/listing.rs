//! Kustomizations that Flux makes up by itself, written down.
//!
//! Where a Flux Kustomization's folder has no kustomization.yaml, the controller lists every
//! manifest below it and every folder that has one of its own (fluxcd/pkg/kustomize,
//! `scanManifests`). A side placed below such a folder would be listed too, so the list is written
//! down before it is divided.

use crate::path::RepoPath;
use crate::repo::flux::is_yaml;
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::{Entry, Graph, Snapshot, umbrella};
use crate::yaml::quote;

/// The first line of such a file, by which `join` knows that there was none.
const HEAD: &str =
    "# Written by gitops-windows: until then Flux listed by itself what lies below this folder.\n";

/// Returns whether a text is such a list.
pub fn is_listing(text: &str) -> bool {
    text.starts_with(HEAD)
}

/// Returns whether Flux listed by itself what lies in a folder: it has no kustomization of its own, or
/// one that the tool wrote down for it.
pub fn is_generated(graph: &Graph, folder: &RepoPath) -> bool {
    match graph.get(folder) {
        Some(found) => {
            is_listing(&found.text)
                || umbrella::original(&found.text).is_some_and(|original| is_listing(&original))
        }
        None => !graph.has(folder),
    }
}

/// Returns whether a folder of some files has a kustomization of its own.
pub fn has_list(snapshot: &Snapshot, folder: &RepoPath) -> bool {
    FILE_NAMES.into_iter().any(|name| folder.join(name).is_ok_and(|file| snapshot.entry(&file).is_some()))
}

/// Returns the list for a folder; `None` where it has one or nothing could stand in it.
pub fn listing(graph: &Graph, snapshot: &Snapshot, folder: &RepoPath) -> Option<String> {
    if graph.has(folder) {
        return None;
    }
    let mut found: Vec<RepoPath> = Vec::new();
    for (path, entry) in snapshot.below(folder) {
        let above = path.parents().take_while(|above| above.is_within(folder) && above != folder);
        // The topmost folder with a kustomization of its own is listed and not looked into.
        match above.filter(|above| graph.has(above)).last() {
            Some(above) => found.push(above),
            None if is_yaml(path) && matches!(entry, Entry::File(_)) => found.push(path.clone()),
            None => {}
        }
    }
    found.dedup();
    if found.is_empty() {
        return None;
    }
    let mut text =
        format!("{HEAD}apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n");
    for path in found {
        text.push_str(&format!("  - {}\n", quote(&path.relative_to(folder))));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::File;

    #[test]
    fn folders_with_a_kustomization_are_listed_whole() {
        let mut snapshot = Snapshot::default();
        for name in [
            "a/z.yaml",
            "a/b/x.yml",
            "a/c/kustomization.yaml",
            "a/c/y.yaml",
            "a/c/d/kustomization.yml",
            "a/readme.md",
        ] {
            snapshot.insert(RepoPath::parse(name).unwrap(), File::new(&b"{}"[..]));
        }
        let graph = Graph::read(&snapshot);
        let text = listing(&graph, &snapshot, &RepoPath::parse("a").unwrap()).unwrap();
        assert!(is_listing(&text));
        assert!(text.ends_with("resources:\n  - b/x.yml\n  - c\n  - z.yaml\n"), "{text}");
    }
}
