//! Where Flux Kustomizations stand that nothing in Git applies.

use std::collections::{BTreeMap, BTreeSet};

use crate::path::RepoPath;
use crate::repo::Graph;
use crate::repo::flux::FluxKustomization;

/// The folders that something outside of Git applies, as Flux Operator does: each brings what is
/// applied together.
#[derive(Debug, Default)]
pub(super) struct Homes {
    /// The home of each file that holds such a Flux Kustomization.
    of: BTreeMap<RepoPath, RepoPath>,
    /// Those in which two have one name, so that they can't be one cluster.
    unlike: BTreeSet<RepoPath>,
}

impl Homes {
    /// Finds the homes of some Flux Kustomizations.
    ///
    /// What one kustomization lists is applied together; a file that none lists is applied with those
    /// beside it. Homes beside each other are clusters of their own, unless a Flux Kustomization of one
    /// depends on one that stands in another alone: a dependency is in the same cluster
    /// (kustomize-controller, `checkDependencies`), so what lies above them is the home of all of them.
    pub(super) fn new<'f>(flux: impl Iterator<Item = &'f FluxKustomization>, graph: &Graph) -> Homes {
        let mut homes = Homes::default();
        let mut inside: BTreeMap<RepoPath, Vec<&FluxKustomization>> = BTreeMap::new();
        for one in flux {
            let home = home(one, graph);
            homes.of.insert(one.file.clone(), home.clone());
            inside.entry(home).or_default().push(one);
        }
        let mut beside: BTreeMap<RepoPath, Vec<&RepoPath>> = BTreeMap::new();
        for home in inside.keys() {
            beside.entry(home.parent().unwrap_or_default()).or_default().push(home);
        }
        let mut joined: BTreeMap<RepoPath, RepoPath> = BTreeMap::new();
        for (above, several) in &beside {
            if !above.is_top() && are_one(several, &inside) {
                joined.extend(several.iter().map(|home| ((*home).clone(), above.clone())));
            }
        }
        for home in homes.of.values_mut() {
            if let Some(above) = joined.get(home) {
                *home = above.clone();
            }
        }
        let mut seen = BTreeSet::new();
        for (home, several) in &inside {
            for one in several {
                let of = joined.get(home).unwrap_or(home);
                if !seen.insert((of, name(one))) {
                    homes.unlike.insert(of.clone());
                }
            }
        }
        homes
    }

    /// Gives all homes.
    pub(super) fn all(&self) -> BTreeSet<&RepoPath> {
        self.of.values().collect()
    }

    /// Gives the home of a Flux Kustomization, where it stands for one cluster.
    pub(super) fn get(&self, one: &FluxKustomization) -> Option<&RepoPath> {
        self.of.get(&one.file).filter(|home| !self.unlike.contains(*home))
    }
}

/// Gives the folder with which a file is applied: that of the topmost kustomization which lists it, or
/// its own where none does or several do.
fn home(one: &FluxKustomization, graph: &Graph) -> RepoPath {
    match &graph.tops(&one.file)[..] {
        [top] => top.clone(),
        _ => one.file.parent().unwrap_or_default(),
    }
}

/// Gives the namespace and name that a Flux Kustomization gets.
fn name(one: &FluxKustomization) -> (&str, &str) {
    (&one.namespace, &one.name)
}

/// Tells whether homes beside each other are one cluster: one waits for what another alone has, and no
/// two have anything of one name.
fn are_one(several: &[&RepoPath], inside: &BTreeMap<RepoPath, Vec<&FluxKustomization>>) -> bool {
    let mut owners: BTreeMap<(&str, &str), &RepoPath> = BTreeMap::new();
    for home in several {
        for one in &inside[*home] {
            if owners.insert(name(one), home).is_some_and(|other| other != *home) {
                return false;
            }
        }
    }
    let names: BTreeMap<&str, BTreeSet<&RepoPath>> =
        owners.iter().fold(BTreeMap::new(), |mut names, (key, home)| {
            names.entry(key.1).or_insert_with(BTreeSet::new).insert(home);
            names
        });
    several.iter().any(|home| {
        let wanted = inside[*home].iter().flat_map(|one| one.depends_on());
        wanted.filter_map(|name| names.get(name)).any(|homes| !homes.contains(home))
    })
}
