//! Roots where nothing in Git says what they are.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::delivery::ClusterFolders;
use crate::delivery::clusters::is_beside;
use crate::delivery::naming::{below_clusters, prefix};
use crate::delivery::root::{Reason, Root};
use crate::delivery::view::{HARMLESS, View};
use crate::path::RepoPath;
use crate::repo::flux::holds_variable;
use crate::repo::{FluxKustomization, Kustomization};

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
    let used: BTreeSet<RepoPath> = flux.iter().flat_map(FluxKustomization::components).collect();
    let is_said = |path: &RepoPath| paths.values().flatten().any(|folder| path.is_within(folder));
    let served = OnceCell::new();
    let served: &dyn Fn(&RepoPath) -> usize = &|top| {
        let served = served.get_or_init(|| served_by(flux, view));
        served.get(top).map_or(0, BTreeSet::len)
    };
    let mut homes: BTreeMap<RepoPath, Vec<usize>> = BTreeMap::new();
    // Of those that name no folder of this repository.
    let mut lost: BTreeMap<RepoPath, Vec<usize>> = BTreeMap::new();
    let mut found = Vec::new();
    for position in left.iter().copied() {
        let one = &flux[position];
        // One of another repository, or whose path only the cluster knows, is applied here too.
        let is_elsewhere = one.source_kind() != "GitRepository" || holds_variable(one.spec("path"));
        let stands = one.path.as_ref().is_some_and(|path| view.graph.stands(&view.snapshot, path));
        // Only another one with a `postBuild` makes a namespace of a variable: what stands there serves several clusters.
        // No cluster takes a variable in a name either.
        let metadata = &one.value["metadata"];
        let is_template = holds_variable(&metadata["namespace"]) || holds_variable(&metadata["name"]);
        let is_none =
            !one.has_source() || is_template || view.graph.is_patch(&one.file) || is_kept(&one.file);
        if is_none {
            continue;
        }
        if !(stands || is_elsewhere) {
            for home in homes_of(one, view, paths, &used, served) {
                lost.entry(home).or_default().push(position);
            }
            continue;
        }
        // Where the spec speaks of what is applied, and not of where that is said, each counts by itself.
        match one.path.as_ref().filter(|path| is_said(path) && !is_said(&one.file)) {
            Some(path) => found.push(Root::folder(path, Reason::Proposed)),
            None => {
                for home in homes_of(one, view, paths, &used, served) {
                    homes.entry(home).or_default().push(position);
                }
            }
        }
    }
    // Those that hold what a root is now called in a file, with the folder that it builds no more.
    let is_of_root = |at: &usize| roots.iter().any(|root| is_of(root, &flux[*at]));
    let former: BTreeSet<RepoPath> =
        lost.iter().filter(|(_, own)| own.iter().any(is_of_root)).map(|(home, _)| home.clone()).collect();
    // What builds on a base of clusters that have roots is a cluster too, whose root is not in Git yet.
    for (position, one) in flux.iter().enumerate().filter(|(position, _)| !left.contains(position)) {
        if is_kept(&one.file) || view.graph.is_patch(&one.file) {
            continue;
        }
        let tops = view.graph.tops(&one.file).into_iter();
        let is_list = |top: &RepoPath| view.graph.get(top).is_some_and(|list| !list.is_component());
        let is_cluster = |top: &RepoPath| below_clusters(top).is_some() && prefix(top) == *top;
        for top in tops.filter(|top| is_list(top) && !is_kept(top) && is_cluster(top)) {
            homes.entry(top).or_default().push(position);
        }
    }
    // Where Flux itself is installed, its folder is one, however wrong all paths are. What `flux bootstrap` has filled in
    // says where the top is.
    let is_filled = |at: &usize| flux[*at].file.name() == Some("gotk-sync.yaml");
    lost.retain(|home, own| {
        let is_known = !roots.is_empty() || homes.contains_key(home);
        !is_known && is_bootstrapped(home, view) && !own.iter().any(is_filled)
    });
    homes.append(&mut lost);
    // What a root or another home builds on is a base of that.
    let takers: BTreeSet<RepoPath> =
        homes.keys().chain(roots.iter().map(|root| &root.folder)).cloned().collect();
    homes.retain(|home, _| {
        let mut above = view.graph.built_by(home).into_iter().filter(|taker| taker != home);
        is_said(home) || is_bootstrapped(home, view) || !above.any(|taker| takers.contains(&taker))
    });
    let mut by_path: BTreeMap<&RepoPath, Vec<usize>> = BTreeMap::new();
    for (position, one) in flux.iter().enumerate() {
        if let Some(path) = one.path.as_ref().filter(|path| !path.is_top()) {
            by_path.entry(path).or_default().push(position);
        }
    }
    let brought = OnceCell::new();
    let brought = || {
        brought.get_or_init(|| {
            let mut found: BTreeMap<RepoPath, Vec<usize>> = BTreeMap::new();
            for (position, one) in flux.iter().enumerate() {
                for path in view.graph.taken_in_by(&one.file) {
                    found.entry(path).or_default().push(position);
                }
            }
            found
        })
    };
    let is_free = |home: &RepoPath, own: &Vec<usize>| {
        // What others get too says nothing of this one.
        let alone = own.iter().filter(|position| left.contains(position));
        let taken_in = alone.flat_map(|position| view.graph.taken_in_by(&flux[*position].file));
        !home.ancestors().chain(view.graph.built_by(home)).chain(taken_in).any(|path| {
            let builds = |other: &usize| !own.contains(other) && !is_of_tenant(*other, own, flux, brought);
            by_path.get(&path).is_some_and(|others| others.iter().any(builds))
        })
    };
    homes.retain(|home, own| is_free(home, own));
    let mut homes = joined(flux, homes);
    // What fills in each of their paths applies the folder too, and nobody knows what that is; but the folder of a cluster
    // is one whatever its paths are.
    homes.retain(|home, own| {
        let is_filled_elsewhere = |position: &usize| holds_variable(flux[*position].spec("path"));
        below_clusters(home).is_some() || !own.iter().all(is_filled_elsewhere)
    });
    // What holds one name twice is not applied as it is.
    homes.retain(|home, own| {
        let mut names = BTreeSet::new();
        own.iter().all(|position| names.insert((&flux[*position].namespace, &flux[*position].name)))
            && is_free(home, own)
    });
    // What a home leaves out is switched off there, whatever its name is.
    let holds_root = |home: &RepoPath, at: &usize| {
        is_of_root(at) && view.graph.taken_in_by(&flux[*at].file).contains(home)
    };
    homes.retain(|home, own| !former.contains(home) && !own.iter().any(|at| holds_root(home, at)));
    let folders: Vec<RepoPath> = roots.iter().map(|root| root.folder.clone()).collect();
    // A cluster that has a root gets what that brings, also where something on the way does not build.
    let has_root = |home: &RepoPath| !home.is_top() && folders.iter().any(|folder| folder.is_within(home));
    let free: BTreeSet<&RepoPath> = homes
        .keys()
        .filter(|home| folders.is_empty() || is_beside(home, &folders) && !has_root(home))
        .collect();
    let is_inside = |home: &RepoPath| home.parents().any(|above| !above.is_top() && free.contains(&above));
    for home in free.iter().filter(|home| !is_inside(home)) {
        let own = || homes[*home].iter().map(|position| &flux[*position]);
        // A hub applies its own folder, wherever the objects go, as does whatever `flux bootstrap` has been there for.
        let is_hub = own().any(|one| !one.spec("kubeConfig").is_null());
        if !home.is_top() && (is_hub || is_bootstrapped(home, view)) {
            found.push(Root::folder(home, Reason::Proposed));
        } else {
            found.extend(of_home(home, own(), view));
        }
    }
    // Several may build one folder, as with a `targetNamespace` each.
    let mut known = BTreeSet::new();
    found.retain(|root: &Root| known.insert(root.folder.clone()));
    found
}

/// Returns by topmost list the folders of the clusters of which it takes in Flux Kustomizations, or where else these stand.
fn served_by(flux: &[FluxKustomization], view: &View) -> BTreeMap<RepoPath, BTreeSet<RepoPath>> {
    let mut found: BTreeMap<RepoPath, BTreeSet<RepoPath>> = BTreeMap::new();
    for one in flux {
        let own = prefix(&one.file.parent().unwrap_or_default());
        for top in view.graph.tops(&one.file) {
            found.entry(top).or_default().insert(own.clone());
        }
    }
    found
}

/// Returns whether files of `flux bootstrap` lie in a folder or in its `flux-system`, filled in or not.
fn is_bootstrapped(home: &RepoPath, view: &View) -> bool {
    let is_own = |above: &RepoPath| above == home || above.parent().as_ref() == Some(home);
    view.snapshot.below(home).any(|(file, _)| {
        matches!(file.name(), Some("gotk-sync.yaml" | "gotk-components.yaml"))
            && file.parent().is_some_and(|above| is_own(&above))
    })
}

/// Returns whether a Flux Kustomization comes with what others build and reads another source than they: what it builds is
/// a folder of that source, even where it is called as the one that they stand in. Nothing brings itself.
///
/// `brought` gives by folder what it takes in.
fn is_of_tenant<'b>(
    position: usize,
    own: &[usize],
    flux: &[FluxKustomization],
    brought: impl Fn() -> &'b BTreeMap<RepoPath, Vec<usize>>,
) -> bool {
    let source = |at: usize| (flux[at].source_kind(), flux[at].source_name());
    if own.iter().any(|at| source(*at) == source(position)) {
        return false;
    }
    let mut queue: Vec<usize> = own.to_vec();
    let mut seen: BTreeSet<usize> = own.iter().copied().collect();
    while let Some(next) = queue.pop() {
        // The top of a tenant's repository is not that of this one.
        let Some(path) = flux[next].path.as_ref().filter(|path| !path.is_top()) else { continue };
        for at in brought().get(path).into_iter().flatten() {
            if *at == position {
                return true;
            }
            if own.iter().any(|own| source(*own) == source(*at)) && seen.insert(*at) {
                queue.push(*at);
            }
        }
    }
    false
}

/// Returns whether a Flux Kustomization is the one that applies a root, in another file.
fn is_of(root: &Root, one: &FluxKustomization) -> bool {
    let id = |value: &Value| [value["metadata"]["namespace"].clone(), value["metadata"]["name"].clone()];
    let is_it = |own: &Arc<Value>| id(own) == id(&one.value);
    one.path.as_ref() == Some(&root.folder) && root.kustomization.as_ref().is_some_and(is_it)
}

/// Returns the roots of Flux Kustomizations that stand in one folder and build these paths.
///
/// Where the paths are those of clusters and the folder is not, they say more. Nobody applies all of a repository: what
/// stands at its top is applied file by file.
fn of_home<'f>(
    home: &RepoPath,
    own: impl Iterator<Item = &'f FluxKustomization> + Clone,
    view: &View,
) -> Vec<Root> {
    let paths = own.clone().filter_map(|one| one.path.as_ref());
    let is_named = |path: &RepoPath| below_clusters(path).is_some();
    let folders: BTreeSet<RepoPath> = paths.clone().filter(|path| is_named(path)).map(prefix).collect();
    let root = |folder: &RepoPath| Root::folder(folder, Reason::Proposed);
    if is_named(home) {
        return vec![Root { group: home.clone(), ..root(&applied(home, own, view)) }];
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

/// Returns the folder of a home that is applied: that of its Flux Kustomizations, where they stand apart from the folders that
/// they build. Whoever applied all of it would apply these twice, as Flux takes in what lies below a folder without a list
/// (fluxcd/pkg/kustomize, `scanManifests`).
fn applied<'f>(
    home: &RepoPath,
    own: impl Iterator<Item = &'f FluxKustomization> + Clone,
    view: &View,
) -> RepoPath {
    let stand = |folder: &RepoPath| own.clone().all(|one| one.file.is_within(folder));
    let builds = |folder: &RepoPath| {
        let mut paths = own.clone().filter_map(|one| one.path.as_ref());
        paths.any(|path| path.is_within(folder))
    };
    if view.graph.has(home) || !builds(home) {
        return home.clone();
    }
    let first = own.clone().next().and_then(|one| one.file.parent());
    let apart = first.iter().flat_map(RepoPath::ancestors);
    let apart = apart.filter(|folder| folder.is_within(home) && stand(folder) && !builds(folder));
    apart.last().unwrap_or_else(|| home.clone())
}

/// Returns whether a file lies in a hidden folder or in one for what is only kept. `clusters/test` is the cluster for tests.
pub(super) fn is_kept(file: &RepoPath) -> bool {
    let mut above = "";
    file.segments().any(|name| {
        let is_cluster = above == "clusters" && name == "test";
        above = name;
        !is_cluster && (name.starts_with('.') || KEPT.contains(&name.to_lowercase().as_str()))
    })
}

/// Returns the folders with which a file is applied: that of its cluster where the path or the spec says it, else the
/// topmost list that has it, else its own. What several clusters list is applied with each, as a base of theirs. What only
/// a Component lists is applied with none: no folder above it can list it (kustomize, `accumulateDirectory`), and where it is
/// `used` by `spec.components` it comes with what that builds. Alone it is a cluster where the spec or its place says so.
///
/// A list beside the clusters that only lists files of one cluster is the way by which people apply these: their home is that
/// of the cluster. `served` counts the clusters of a list.
fn homes_of(
    one: &FluxKustomization,
    view: &View,
    paths: &ClusterFolders,
    used: &BTreeSet<RepoPath>,
    served: &dyn Fn(&RepoPath) -> usize,
) -> BTreeSet<RepoPath> {
    let mut tops = view.graph.tops(&one.file);
    let is_listed = !tops.is_empty();
    let is_component = |top: &RepoPath| view.graph.get(top).is_some_and(Kustomization::is_component);
    let is_said = |top: &RepoPath| paths.values().flatten().any(|path| path == top);
    let is_placed = |top: &RepoPath| below_clusters(top).is_some() && home(top, paths) == *top;
    tops.retain(|top| !is_component(top) || is_said(top) || is_placed(top) && !used.contains(top));
    if is_listed && tops.is_empty() {
        return BTreeSet::new();
    }
    let own = one.file.parent().unwrap_or_default();
    let only_lists = |top: &RepoPath| {
        let is_harmless = |key: &str| HARMLESS.contains(&key.to_lowercase().as_str());
        view.graph.get(top).is_some_and(|list| list.keys().all(is_harmless))
            && view.graph.referrers(&one.file).any(|list| list == top)
    };
    let is_of_own = |top: &RepoPath| {
        let is_beside = below_clusters(&own).is_some() && below_clusters(top).is_none() && !is_said(top);
        is_beside && only_lists(top) && served(top) == 1
    };
    let folders = match &tops[..] {
        [top] if is_of_own(top) => vec![own],
        [_] => tops,
        [_, _, ..] if tops.iter().all(|top| below_clusters(top).is_some()) => tops,
        _ => vec![own],
    };
    folders.iter().map(|folder| home(folder, paths)).collect()
}

fn home(folder: &RepoPath, paths: &ClusterFolders) -> RepoPath {
    let said = paths.values().flatten().filter(|path| folder.is_within(path));
    if let Some(said) = said.max_by_key(|path| path.segments().count()) {
        return said.clone();
    }
    prefix(folder)
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
