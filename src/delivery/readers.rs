//! Which builds read a file.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Applier, Model, appliers};
use crate::path::RepoPath;
use crate::repo::Graph;
use crate::repo::kustomization::FILE_NAMES;

/// The builds of all clusters, by the folders that they begin with.
#[derive(Debug)]
pub struct Readers<'m> {
    graph: &'m Graph,
    /// In the order of clusters.
    pub all: Vec<Applier<'m>>,
    by_folder: BTreeMap<RepoPath, BTreeSet<usize>>,
}

impl<'m> Readers<'m> {
    /// Finds the folders that builds begin with: what is applied, and the `components` of a Flux Kustomization.
    pub fn of(model: &'m Model) -> Readers<'m> {
        let (graph, all) = (&model.graph, appliers(model));
        let mut by_folder: BTreeMap<RepoPath, BTreeSet<usize>> = BTreeMap::new();
        for (position, one) in all.iter().enumerate() {
            let components = one.spec()["components"].as_array().into_iter().flatten();
            let components = components.filter_map(|item| one.path.join(item.as_str()?).ok());
            for folder in std::iter::once(one.path.clone()).chain(components) {
                by_folder.entry(graph.real(&folder)).or_default().insert(position);
                by_folder.entry(folder).or_default().insert(position);
            }
        }
        Readers { graph, all, by_folder }
    }

    /// Returns the builds that take in a file, as lists say; a list is read by what builds its folder.
    ///
    /// What reads a file by a link, or from within another file, as a generator of kustomize does, is not among them.
    pub fn reading<'r>(&'r self, file: &RepoPath) -> impl Iterator<Item = &'r Applier<'m>> {
        let own_list = file.parent().filter(|_| file.name().is_some_and(|name| FILE_NAMES.contains(&name)));
        let paths = std::iter::once(file.clone()).chain(own_list);
        let takers = paths.flat_map(|path| self.graph.taken_in_by(&path).into_iter().chain([path]));
        let positions: BTreeSet<usize> =
            takers.filter_map(|taker| self.by_folder.get(&taker)).flatten().copied().collect();
        positions.into_iter().filter_map(|position| self.all.get(position))
    }
}
