//! What clusters apply of an entry point.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Artifact, EntryPoint, Input, Role};
use crate::path::RepoPath;

/// A folder that a cluster applies, with the name of its type where it is a side.
pub(super) type Part = (Option<String>, RepoPath);

/// The clusters that apply an entry point.
pub(super) struct Appliers {
    /// The one that its sides may be named after.
    pub first: String,
    /// All of them that the spec names.
    pub all: BTreeSet<String>,
}

impl Appliers {
    /// Returns them for people.
    pub fn named(&self) -> String {
        self.all.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the entry points of a role in clusters that the spec knows.
pub(super) fn known<'a>(input: &'a Input<'_>, role: Role) -> impl Iterator<Item = &'a EntryPoint> {
    let all = input.model.all_entries().iter();
    all.filter(move |entry| entry.role == role && input.knows_cluster(entry))
}

/// Returns the entry points with their clusters; a side counts as the entry point that it belongs to.
pub(super) fn wholes(input: &Input<'_>) -> BTreeMap<RepoPath, Appliers> {
    let sides = input.sides();
    let mut found: BTreeMap<RepoPath, Appliers> = BTreeMap::new();
    for entry in known(input, Role::Apps) {
        let whole = sides.get(&entry.path).map_or(&entry.path, |(whole, _)| whole);
        let new = || Appliers { first: entry.cluster.clone(), all: BTreeSet::new() };
        let one = found.entry(whole.clone()).or_insert_with(new);
        one.first.clone_from(&entry.cluster);
        let named = entry.clusters().filter(|cluster| input.spec.clusters.contains_key(*cluster));
        one.all.extend(named.map(str::to_owned));
    }
    found
}

pub(super) fn sides(input: &Input<'_>, path: &RepoPath, cluster: &str) -> Vec<Part> {
    let name = |position: usize| Some(input.spec.types[position].name.value.clone());
    let sides = input.standing_sides(path, cluster).into_iter();
    sides.map(|(position, side)| (name(position), side)).collect()
}

/// Returns what those see who apply an entry point or its sides: of each artifact where a build sees a difference between
/// that and the repository, else `None`.
pub(super) fn views<'m>(
    input: &Input<'m>,
    path: &RepoPath,
    parts: &[Part],
) -> BTreeSet<Option<&'m Artifact>> {
    let folders = std::iter::once(path).chain(parts.iter().map(|(_, folder)| folder));
    let entries = folders.filter_map(|folder| input.model.entry(folder));
    let applied = entries.filter(|entry| !entry.flux.is_empty() || entry.through.is_some());
    let found: BTreeSet<_> = applied.flat_map(|entry| input.model.artifacts_over(entry)).collect();
    if found.is_empty() { BTreeSet::from([None]) } else { found }
}
