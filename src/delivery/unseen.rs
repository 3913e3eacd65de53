//! What a build that fails may have brought to its cluster, though its files do not show it.

use std::collections::BTreeSet;

use crate::delivery::Delivery;
use crate::delivery::Model;
use crate::delivery::view::{CHANGING, HARMLESS};
use crate::path::RepoPath;
use crate::render::is_of_here;
use crate::repo::flux::{holds_variable, is_yaml};
use crate::repo::{Entry, FluxKustomization, Kustomization, Snapshot, built_any};

/// Fields of a kustomization that make objects which stand in no file.
const MAKING: [&str; 4] = ["generators", "transformers", "helmcharts", "helmchartinflationgenerator"];

impl Model {
    /// Returns whether a build may bring a Flux Kustomization of a namespace by a name that its files do not show: it fails, and
    /// reads what is not here, or gives other names. What it brought before stays in its cluster meanwhile.
    pub fn may_bring_unseen(&self, snapshot: &Snapshot, one: &Delivery, namespace: &str) -> bool {
        let Some(error) = &one.error else { return false };
        let flux = self.applying(one);
        let of_flux =
            flux.and_then(|flux| flux.spec("targetNamespace").as_str()).filter(|own| !own.is_empty());
        let of_list = || self.graph.get(&one.path)?.field("namespace")?.as_str();
        let own = of_flux.map(str::to_owned).or_else(|| of_list().map(str::to_owned));
        if own.is_some_and(|own| own != namespace && !holds_variable(&own.as_str().into())) {
            return false;
        }
        is_of_here(error) || self.has_unseen(snapshot, &one.path, flux)
    }

    fn has_unseen(&self, snapshot: &Snapshot, path: &RepoPath, flux: Option<&FluxKustomization>) -> bool {
        let components = flux.into_iter().flat_map(FluxKustomization::components);
        let tops: Vec<RepoPath> = std::iter::once(path.clone()).chain(components).collect();
        let lists = built_any(&self.graph, &tops);
        let is_renaming = |list: &&Kustomization| {
            list.keys().any(|key| !HARMLESS.contains(&key.to_lowercase().as_str()) && key != "components")
        };
        let is_renamed = flux.is_some_and(|flux| CHANGING.iter().any(|field| !flux.spec(field).is_null()))
            || lists.iter().filter_map(|folder| self.graph.get(folder)).any(|list| is_renaming(&list));
        let mut loose = snapshot.below(path).filter(|_| !self.graph.has(path));
        lists.iter().any(|folder| self.lists_unseen(snapshot, folder))
            || loose.any(|(file, entry)| is_yaml(file) && is_unread(entry) && self.graph.is_loose(file, path))
            || !self.graph.stands(snapshot, path)
            || is_renamed && self.takes_in_flux(path, &lists)
    }

    /// Returns whether a list takes in what is not here, or what is none.
    fn lists_unseen(&self, snapshot: &Snapshot, folder: &RepoPath) -> bool {
        let Some(list) = self.graph.get(folder) else { return true };
        let fields = ["resources", "bases", "components"];
        let mut parts = list.references().iter().filter(|one| fields.contains(&one.field));
        let is_unseen = |path: &RepoPath| {
            let real = self.graph.real(path);
            !self.graph.has(&real) && snapshot.entry(&real).is_none_or(is_unread)
        };
        list.keys().any(|key| MAKING.contains(&key.to_lowercase().as_str()))
            || parts.any(|part| part.path().is_none_or(is_unseen))
    }

    /// Returns whether a build with these lists takes in the file of a Flux Kustomization.
    fn takes_in_flux(&self, path: &RepoPath, lists: &BTreeSet<RepoPath>) -> bool {
        let files: BTreeSet<&RepoPath> = self.all_flux().iter().map(|flux| &flux.file).collect();
        files.into_iter().any(|file| {
            let takers = self.graph.taken_in_by(file);
            takers.contains(path) || !takers.is_disjoint(lists)
        })
    }
}

fn is_unread(entry: &Entry) -> bool {
    !matches!(entry, Entry::File(file) if file.is_yaml())
}
