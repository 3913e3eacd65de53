//! Roots where nothing in Git says what they are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::delivery::ClusterFolders;
use crate::delivery::clusters::is_beside;
use crate::delivery::naming::{below_clusters, prefix};
use crate::delivery::root::{Reason, Root};
use crate::delivery::view::View;
use crate::path::RepoPath;
use crate::repo::FluxKustomization;
use crate::repo::flux::holds_variable;

/// Folder names of what people keep and no cluster gets. They count for proposals alone, which people see first.
const KEPT: [&str; 19] = [
    "archive",
    "archived",
    "attic",
    "backup",
    "deprecated",
    "disabled",
    "docs",
    "example",
    "examples",
    "old",
    "removed",
    "retired",
    "samples",
    "template",
    "templates",
    "test",
    "testdata",
    "tests",
    "unused",
];

/// Proposes roots for Flux Kustomizations that no root brings: the folders in which they stand, where no build could
/// have brought them.
///
/// `left` has their positions in `flux`, and `roots` are those without doubt. Beside these only neighbours below the same
/// `clusters` folder are proposed: what else nothing brings is switched off. So is the former folder of a root, which
/// stays until its cluster has learned of the new one.
pub(super) fn propose(
    flux: &[FluxKustomization],
    left: &BTreeSet<usize>,
    view: &View,
    paths: &ClusterFolders,
    roots: &[Root],
) -> Vec<Root> {
    let is_said = |path: &RepoPath| paths.values().flatten().any(|folder| path.is_within(folder));
    let mut homes: BTreeMap<RepoPath, Vec<usize>> = BTreeMap::new();
    let mut found = Vec::new();
    for position in left.iter().copied() {
        let one = &flux[position];
        // One of another repository, or whose path only the cluster knows, is applied here too.
        let is_elsewhere = one.source_kind() != "GitRepository" || holds_variable(one.spec("path"));
        let stands = one.path.as_ref().is_some_and(|path| view.graph.has(path) || view.snapshot.is_dir(path));
        // Only another one with a `postBuild` makes a namespace of a variable: what stands there serves several clusters.
        let is_template = holds_variable(&one.value["metadata"]["namespace"]);
        let is_none =
            !one.has_source() || is_template || view.graph.is_patch(&one.file) || is_kept(&one.file);
        if is_none || !(stands || is_elsewhere) {
            continue;
        }
        // Where the spec speaks of what is applied, and not of where that is said, each counts by itself.
        match one.path.as_ref().filter(|path| is_said(path) && !is_said(&one.file)) {
            Some(path) => found.push(Root::folder(path, Reason::Proposed)),
            None => homes.entry(home(one, view, paths)).or_default().push(position),
        }
    }
    let mut by_path: BTreeMap<&RepoPath, Vec<usize>> = BTreeMap::new();
    for (position, one) in flux.iter().enumerate() {
        if let Some(path) = one.path.as_ref().filter(|path| !path.is_top()) {
            by_path.entry(path).or_default().push(position);
        }
    }
    let is_free = |home: &RepoPath, own: &Vec<usize>| {
        let taken_in = own.iter().flat_map(|position| view.graph.taken_in_by(&flux[*position].file));
        !home.ancestors().chain(taken_in).any(|path| {
            by_path.get(&path).is_some_and(|others| others.iter().any(|position| !own.contains(position)))
        })
    };
    homes.retain(|home, own| is_free(home, own));
    let mut homes = joined(flux, homes);
    // What holds one name twice is not applied as it is.
    homes.retain(|home, own| {
        let mut names = BTreeSet::new();
        own.iter().all(|position| names.insert((&flux[*position].namespace, &flux[*position].name)))
            && is_free(home, own)
    });
    let is_former = |own: &Vec<usize>| own.iter().any(|at| roots.iter().any(|root| is_of(root, &flux[*at])));
    homes.retain(|_, own| !is_former(own));
    let folders: Vec<RepoPath> = roots.iter().map(|root| root.folder.clone()).collect();
    let free: BTreeSet<&RepoPath> =
        homes.keys().filter(|home| folders.is_empty() || is_beside(home, &folders)).collect();
    let is_inside = |home: &RepoPath| home.parents().any(|above| !above.is_top() && free.contains(&above));
    for home in free.iter().filter(|home| !is_inside(home)) {
        let own = || homes[*home].iter().map(|position| &flux[*position]);
        // A hub applies its own folder, wherever the objects go, as does whatever `flux bootstrap` has been there for.
        let is_hub = own().any(|one| !one.spec("kubeConfig").is_null());
        if !home.is_top() && (is_hub || is_bootstrapped(home, view)) {
            found.push(Root::folder(home, Reason::Proposed));
        } else {
            found.extend(of_home(home, own().filter_map(|one| one.path.as_ref())));
        }
    }
    found
}

/// Tells whether files of `flux bootstrap` lie in a folder or in its `flux-system`, filled in or not.
fn is_bootstrapped(home: &RepoPath, view: &View) -> bool {
    let is_own = |above: &RepoPath| above == home || above.parent().as_ref() == Some(home);
    view.snapshot.below(home).any(|(file, _)| {
        matches!(file.name(), Some("gotk-sync.yaml" | "gotk-components.yaml"))
            && file.parent().is_some_and(|above| is_own(&above))
    })
}

/// Tells whether a Flux Kustomization is the one that applies a root, in another file.
fn is_of(root: &Root, one: &FluxKustomization) -> bool {
    let id = |value: &Value| [value["metadata"]["namespace"].clone(), value["metadata"]["name"].clone()];
    let is_it = |own: &Arc<Value>| id(own) == id(&one.value);
    one.path.as_ref() == Some(&root.folder) && root.kustomization.as_ref().is_some_and(is_it)
}

/// Returns the roots of Flux Kustomizations that stand in one folder and build these paths.
///
/// Where the paths are those of clusters and the folder is not, they say more. Nobody applies all of a repository: what
/// stands at its top is applied file by file.
fn of_home<'p>(home: &RepoPath, paths: impl Iterator<Item = &'p RepoPath> + Clone) -> Vec<Root> {
    let is_named = |path: &RepoPath| below_clusters(path).is_some();
    let folders: BTreeSet<RepoPath> = paths.clone().filter(|path| is_named(path)).map(prefix).collect();
    let root = |folder: &RepoPath| Root::folder(folder, Reason::Proposed);
    if is_named(home) {
        return vec![root(home)];
    }
    if paths.clone().all(is_named) && !folders.is_empty() {
        return folders.iter().map(root).collect();
    }
    let group = match (folders.iter().next(), folders.len()) {
        (Some(only), 1) => only,
        _ => home,
    };
    let of_group = |root: Root| Root { group: group.clone(), ..root };
    if home.is_top() {
        return paths.map(|path| of_group(root(path))).collect();
    }
    vec![of_group(root(home))]
}

/// Tells whether a file lies in a hidden folder or in one for what is only kept.
pub(super) fn is_kept(file: &RepoPath) -> bool {
    file.segments().any(|name| name.starts_with('.') || KEPT.contains(&name.to_lowercase().as_str()))
}

/// Returns the folder with which a file is applied: that of its cluster where the path or the spec says it, else the
/// topmost list that has it, else its own.
fn home(one: &FluxKustomization, view: &View, paths: &ClusterFolders) -> RepoPath {
    let folder = match &view.graph.tops(&one.file)[..] {
        [top] => top.clone(),
        _ => one.file.parent().unwrap_or_default(),
    };
    let said = paths.values().flatten().filter(|path| folder.is_within(path));
    if let Some(said) = said.max_by_key(|path| path.segments().count()) {
        return said.clone();
    }
    prefix(&folder)
}

/// Joins homes beside each other of which one waits for what another has: a dependency is in the same cluster
/// (kustomize-controller, `checkDependencies`). Two that have something of one name are two clusters.
fn joined(
    flux: &[FluxKustomization],
    homes: BTreeMap<RepoPath, Vec<usize>>,
) -> BTreeMap<RepoPath, Vec<usize>> {
    let mut beside: BTreeMap<RepoPath, Vec<RepoPath>> = BTreeMap::new();
    for home in homes.keys() {
        beside.entry(home.parent().unwrap_or_default()).or_default().push(home.clone());
    }
    let mut found = homes;
    for (above, several) in beside.into_iter().filter(|(above, _)| !above.is_top()) {
        let mut owners: BTreeMap<(&str, &str), &RepoPath> = BTreeMap::new();
        let all = || several.iter().flat_map(|home| found[home].iter().map(move |at| (home, &flux[*at])));
        let mut are_one = true;
        for (home, one) in all() {
            are_one &= owners.insert((&one.namespace, &one.name), home).is_none_or(|other| other == home);
        }
        let waits = all().any(|(home, one)| {
            let elsewhere = |name: &str| {
                let mut named = owners.iter().filter(|((_, of), _)| *of == name).map(|(_, home)| *home);
                let first = named.next();
                first.is_some_and(|first| first != home) && named.all(|other| other != home)
            };
            one.depends_on().into_iter().any(elsewhere)
        });
        if are_one && waits {
            let positions = several.iter().flat_map(|home| found[home].clone()).collect();
            found.retain(|home, _| !several.contains(home));
            found.insert(above, positions);
        }
    }
    found
}

#[cfg(test)]
#[path = "propose_tests.rs"]
mod tests;
