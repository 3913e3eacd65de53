//! The graph of kustomization folders and what they refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Place};
use crate::path::{RepoPath, below};
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::salvage::salvaged;
use crate::repo::{Entry, File, Kustomization, Snapshot};

/// How many links one path may lead over, as on Linux.
const LINKS: usize = 40;

/// A kustomization folder that can't be used, with the reason.
type Broken = Box<Diagnostic>;

/// A kustomization file as it was read, shared by all graphs of the same content.
pub(super) type Parsed = Arc<Result<Kustomization, Broken>>;

/// Every kustomization folder of a snapshot; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    folders: Arc<BTreeMap<RepoPath, Parsed>>,
    /// The files and folders that each kustomization builds on, in the order of its lists.
    parts: Arc<BTreeMap<RepoPath, Vec<RepoPath>>>,
    /// Who refers to a file or folder, by field of a kustomization.
    referrers: Arc<BTreeMap<RepoPath, BTreeSet<RepoPath>>>,
    /// Whose lists build on a file or folder.
    listed: Arc<BTreeMap<RepoPath, BTreeSet<RepoPath>>>,
    /// Symbolic links, with where they lead in the end.
    links: Arc<BTreeMap<RepoPath, RepoPath>>,
}

impl Graph {
    /// Reads every kustomization file of the snapshot, once for clones that differ elsewhere only.
    ///
    /// A folder whose file is broken is kept with its reason, which matters only to those who reach it, and builds on what the
    /// lines of the file show.
    pub fn read(snapshot: &Snapshot) -> Graph {
        snapshot.graph_by(|| Graph::read_anew(snapshot))
    }

    /// Returns whether the graph of a snapshot depends on what stands at a path.
    pub(super) fn depends_on(path: &RepoPath, entry: Option<&Entry>) -> bool {
        path.name().is_some_and(|name| FILE_NAMES.contains(&name))
            || matches!(entry, Some(Entry::Symlink { .. }))
    }

    fn read_anew(snapshot: &Snapshot) -> Graph {
        let mut folders: BTreeMap<RepoPath, Parsed> = BTreeMap::new();
        let mut links = BTreeMap::new();
        let mut lists: Vec<(RepoPath, &File)> = Vec::new();
        for (path, entry) in snapshot.entries() {
            if matches!(entry, Entry::Symlink { .. })
                && let Ok(target) = snapshot.resolve(path)
            {
                links.insert(path.clone(), target);
            }
            let (Some(name), Some(folder)) = (path.name(), path.parent()) else { continue };
            if !FILE_NAMES.contains(&name) {
                continue;
            }
            let Some(file) = snapshot.file(path) else { continue };
            let parsed = if folders.contains_key(&folder) {
                Arc::new(Err(Box::new(
                    Diagnostic::error(format!(
                        "{folder} holds two kustomization files, which kustomize refuses"
                    ))
                    .at(Place::file(path.clone()))
                    .help("keep one of them"),
                )))
            } else {
                file.list_at(path, || Arc::new(Kustomization::parse(path, file)))
            };
            lists.push((folder.clone(), file));
            folders.insert(folder, parsed);
        }
        let mut graph = Graph { folders: Arc::new(folders), links: Arc::new(links), ..Graph::default() };
        let mut referrers: BTreeMap<RepoPath, BTreeSet<RepoPath>> = BTreeMap::new();
        let mut parts: BTreeMap<RepoPath, Vec<RepoPath>> = BTreeMap::new();
        let mut listed: BTreeMap<RepoPath, BTreeSet<RepoPath>> = BTreeMap::new();
        for kustomization in graph.iter() {
            for reference in kustomization.references() {
                let Some(path) = reference.path() else { continue };
                let path = graph.real(path);
                if matches!(reference.field, "resources" | "bases" | "components") {
                    parts.entry(kustomization.folder.clone()).or_default().push(path.clone());
                    listed.entry(path.clone()).or_default().insert(kustomization.folder.clone());
                }
                referrers.entry(path).or_default().insert(kustomization.folder.clone());
            }
        }
        for (folder, file) in lists.iter().filter(|(folder, _)| graph.broken(folder).is_some()) {
            for path in salvaged(folder, file.text().unwrap_or_default()) {
                let path = graph.real(&path);
                parts.entry(folder.clone()).or_default().push(path.clone());
                listed.entry(path.clone()).or_default().insert(folder.clone());
                referrers.entry(path).or_default().insert(folder.clone());
            }
        }
        (graph.referrers, graph.parts, graph.listed) =
            (Arc::new(referrers), Arc::new(parts), Arc::new(listed));
        graph
    }

    /// Returns every symbolic link of the repository, in order.
    pub fn links(&self) -> impl Iterator<Item = &RepoPath> {
        self.links.keys()
    }

    /// Returns a path without symbolic links, as kustomize takes it before it reads a folder
    /// (`kyaml/filesys`, `CleanedAbs`).
    pub fn real(&self, path: &RepoPath) -> RepoPath {
        let mut path = path.clone();
        for _ in 0..if self.links.is_empty() { 0 } else { LINKS } {
            let above = path.ancestors();
            let link = above.into_iter().find_map(|above| Some((self.links.get(&above)?, above)));
            let Some((target, link)) = link else { break };
            let Ok(next) = target.join(&path.relative_to(&link)) else { break };
            path = next;
        }
        path
    }

    /// Returns the kustomization of a folder.
    pub fn get(&self, folder: &RepoPath) -> Option<&Kustomization> {
        (**self.folders.get(folder)?).as_ref().ok()
    }

    /// Returns the reason why the kustomization of a folder can't be used.
    pub fn broken(&self, folder: &RepoPath) -> Option<&Diagnostic> {
        (**self.folders.get(folder)?).as_ref().err().map(|diagnostic| &**diagnostic)
    }

    /// Returns whether a folder has a kustomization file, broken or not.
    pub fn has(&self, folder: &RepoPath) -> bool {
        self.folders.contains_key(folder)
    }

    /// Returns whether a folder is one that Flux could build: it has a kustomization file or others.
    pub fn stands(&self, snapshot: &Snapshot, folder: &RepoPath) -> bool {
        self.has(folder) || snapshot.is_dir(folder)
    }

    /// Returns whether no folder on the way from one down to a file in it has a kustomization file, so that Flux lists the
    /// file by itself where it lists that folder (fluxcd/pkg/kustomize, `scanManifests`).
    pub fn is_loose(&self, file: &RepoPath, folder: &RepoPath) -> bool {
        let mut between = file.parents().take_while(|above| above.is_within(folder));
        file.is_within(folder) && between.all(|above| !self.has(&above))
    }

    /// Returns every usable kustomization in the order of folders.
    pub fn iter(&self) -> impl Iterator<Item = &Kustomization> {
        self.folders.values().filter_map(|folder| (**folder).as_ref().ok())
    }

    /// Returns every folder with a kustomization file, broken or not, in their order.
    pub fn folders(&self) -> impl Iterator<Item = &RepoPath> {
        self.folders.keys()
    }

    /// Returns the folders below a folder that have a usable kustomization, in their order.
    pub fn below(&self, folder: &RepoPath) -> impl Iterator<Item = &RepoPath> {
        let below = below(&self.folders, folder);
        below.filter(move |(path, found)| found.is_ok() && *path != folder).map(|(path, _)| path)
    }

    /// Returns the folders whose kustomization refers to this file or folder.
    pub fn referrers(&self, path: &RepoPath) -> impl Iterator<Item = &RepoPath> {
        self.referrers.get(path).into_iter().flatten()
    }

    /// Returns the folders that a kustomization builds on: `resources`, `bases` and `components`.
    pub fn children(&self, folder: &RepoPath) -> Vec<RepoPath> {
        self.folders_of(folder).cloned().collect()
    }

    fn folders_of(&self, folder: &RepoPath) -> impl Iterator<Item = &RepoPath> {
        self.builds_on(folder).filter(|path| self.has(path))
    }

    /// Returns the files and folders on which the list of a folder builds, in its order.
    pub fn builds_on(&self, folder: &RepoPath) -> impl Iterator<Item = &RepoPath> {
        self.parts.get(folder).into_iter().flatten()
    }

    /// Returns the folders whose kustomization builds on this file or folder, as a patch does not.
    pub fn lists(&self, path: &RepoPath) -> Vec<RepoPath> {
        self.listed.get(path).into_iter().flatten().cloned().collect()
    }

    /// Returns whether a file is a patch: lists refer to it, and none builds on it.
    pub fn is_patch(&self, file: &RepoPath) -> bool {
        self.referrers.contains_key(file) && !self.listed.contains_key(file)
    }

    /// Returns every folder that a build of this one reaches, itself included.
    pub fn reach(&self, folder: &RepoPath) -> BTreeSet<RepoPath> {
        self.reach_any([folder])
    }

    /// As [`reach`](Graph::reach), of several folders at once.
    fn reach_any<'a>(&'a self, folders: impl IntoIterator<Item = &'a RepoPath>) -> BTreeSet<RepoPath> {
        let mut reached = BTreeSet::new();
        let mut queue: Vec<&RepoPath> = folders.into_iter().collect();
        while let Some(next) = queue.pop() {
            if reached.insert(next.clone()) {
                queue.extend(self.folders_of(next));
            }
        }
        reached
    }

    /// Returns every folder whose build reaches this one, itself included: the reverse of [`Graph::reach`].
    pub fn above(&self, folder: &RepoPath) -> BTreeSet<RepoPath> {
        let mut above = self.builders(folder);
        above.retain(|one| self.reach(one).contains(folder));
        above.insert(folder.clone());
        above
    }

    /// Returns every folder whose build takes in a file: those that list it and those that build on them.
    pub fn builders(&self, file: &RepoPath) -> BTreeSet<RepoPath> {
        let mut builders: BTreeSet<RepoPath> = BTreeSet::new();
        let mut queue: Vec<RepoPath> = self.referrers(file).cloned().collect();
        while let Some(next) = queue.pop() {
            if builders.contains(&next) {
                continue;
            }
            queue.extend(self.lists(&next));
            builders.insert(next);
        }
        builders
    }

    /// Returns the folders whose builds take in a file; those that are not there too. Where a folder has no list, Flux
    /// writes one of every file and list below it, and looks into no folder with a list (fluxcd/pkg/kustomize,
    /// `scanManifests`). What a list names and has none itself counts: that build fails, and is meant to take it in.
    pub fn taken_in_by(&self, file: &RepoPath) -> BTreeSet<RepoPath> {
        let without_list =
            |path: &RepoPath| path.parents().take_while(|folder| !self.has(folder)).collect::<Vec<_>>();
        let mut found = self.builders(file);
        found.extend(without_list(file).iter().flat_map(|folder| self.builders(folder)));
        let above: Vec<RepoPath> = found.iter().chain([file]).flat_map(without_list).collect();
        found.extend(above);
        found
    }

    /// Returns every folder that Flux builds with the list of this one: the reverse of [`built`]. A folder without a
    /// list counts as if it had one.
    pub fn built_by(&self, folder: &RepoPath) -> BTreeSet<RepoPath> {
        let mut found = self.above(folder);
        let lists = found.iter().filter(|list| self.has(list));
        let unlisted: Vec<RepoPath> =
            lists.flat_map(|list| list.parents().take_while(|above| !self.has(above))).collect();
        found.extend(unlisted);
        found
    }

    /// Returns the topmost lists that take in a file: those that no other builds on.
    pub fn tops(&self, file: &RepoPath) -> Vec<RepoPath> {
        self.builders(file).into_iter().filter(|folder| self.lists(folder).is_empty()).collect()
    }

    /// Finds a cycle that a build of this folder would run into, as the chain of folders.
    pub fn cycle(&self, folder: &RepoPath) -> Option<Vec<RepoPath>> {
        let mut done = BTreeSet::new();
        let mut chain = Vec::new();
        self.cycle_from(folder, &mut chain, &mut done)
    }

    fn cycle_from(
        &self,
        folder: &RepoPath,
        chain: &mut Vec<RepoPath>,
        done: &mut BTreeSet<RepoPath>,
    ) -> Option<Vec<RepoPath>> {
        if let Some(start) = chain.iter().position(|link| link == folder) {
            let mut cycle = chain[start..].to_vec();
            cycle.push(folder.clone());
            return Some(cycle);
        }
        // Deep chains are cut: kustomize itself would not build them, and the stack is finite.
        if done.contains(folder) || chain.len() > 200 {
            return None;
        }
        chain.push(folder.clone());
        let found = self.children(folder).iter().find_map(|child| self.cycle_from(child, chain, done));
        chain.pop();
        done.insert(folder.clone());
        found
    }

    /// Returns the folders that no kustomization refers to.
    pub fn roots(&self) -> impl Iterator<Item = &Kustomization> {
        self.iter().filter(|kustomization| self.referrers(&kustomization.folder).next().is_none())
    }
}

/// Returns the kustomization folders that Flux's generated kustomization.yaml lists: the topmost
/// ones below a folder that has none of its own (fluxcd/pkg/kustomize, `scanManifests`). It lists a broken one too, and fails.
pub fn generated_children(graph: &Graph, folder: &RepoPath) -> Vec<RepoPath> {
    let is_topmost = |path: &RepoPath| {
        let mut above = path.parents();
        above.by_ref().take_while(|above| above != folder).all(|above| !graph.has(&above))
    };
    let below = below(&graph.folders, folder).map(|(path, _)| path);
    below.filter(|path| *path != folder && is_topmost(path)).cloned().collect()
}

/// Returns every folder that Flux builds with this one, itself included where it has a kustomization of its
/// own; where it has none, what the generated one lists.
pub fn built(graph: &Graph, folder: &RepoPath) -> BTreeSet<RepoPath> {
    built_any(graph, [folder])
}

/// As [`built`], with any of several folders.
pub fn built_any<'a>(graph: &Graph, folders: impl IntoIterator<Item = &'a RepoPath>) -> BTreeSet<RepoPath> {
    let lists = folders.into_iter().flat_map(|folder| match graph.has(folder) {
        true => vec![folder.clone()],
        false => generated_children(graph, folder),
    });
    graph.reach_any(&lists.collect::<Vec<_>>())
}

#[cfg(test)]
#[path = "graph_tests.rs"]
mod tests;
