//! What builds need and their sources do not fetch.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::delivery::clusters::Fetched;
use crate::delivery::{Artifact, Cluster, EntryPoint, LeftOut, Model, Reached, SourceId};
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::repo::flux::is_yaml;
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::{Entry, FluxKustomization, Graph, Kustomization, Snapshot, built, generated_children};

/// Something that the build of a Flux Kustomization needs and that its source does not fetch.
#[derive(Clone, Debug)]
pub struct Lacking {
    /// The file, or the link.
    pub path: RepoPath,
    /// Why it is not there.
    pub why: LeftOut,
    /// What becomes of the build.
    pub effect: Effect,
    /// What names it; `None` where only the folder does that holds it.
    pub named: Option<Place>,
}

/// What becomes of a build that lacks something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It fails.
    Fails,
    /// Flux lists by itself what else lies in the folder, since its kustomization.yaml is not there.
    Lists,
    /// It comes without what the link leads to.
    Lacks,
    /// The folder is there, and nothing to apply in it: the build has no object, and Flux prunes all that it applied
    /// (fluxcd/pkg/kustomize, `findOrGenerateKustomization`).
    Empties,
}

impl Lacking {
    /// Says it of a Flux Kustomization, by its name.
    pub fn never_seen_by(&self, name: &str) -> String {
        format!("Flux Kustomization {name} never sees {}: {}", self.path, self.why)
    }
}

impl Model {
    /// Returns a Flux Kustomization as its cluster gets it.
    pub fn reached<'m>(&'m self, one: &FluxKustomization) -> Option<&'m Reached> {
        let in_cluster = |cluster: &'m Cluster| {
            let name = one.effective["metadata"]["name"].as_str().unwrap_or_default();
            let positions = cluster.by_name.get(name).into_iter().flatten();
            let mut named = positions.map(|position| &cluster.kustomizations[*position]);
            named.find(|other| other.remote == one.remote && Arc::ptr_eq(&other.value, &one.effective))
        };
        // The spec may say of another cluster than that which reads it that it owns the folder.
        self.delivered.named(&one.read_in).and_then(in_cluster)
    }

    /// Returns the sources by which commits reach a Flux Kustomization in a file, with the cluster that reads them: that of its
    /// folder, and those of what brings it.
    pub fn sources_of<'m>(
        &'m self,
        one: &FluxKustomization,
    ) -> impl Iterator<Item = (&'m Cluster, SourceId)> + use<'m> {
        let own = self.delivered.named(&one.read_in).zip(self.reached(one));
        own.into_iter().flat_map(|(cluster, one)| {
            let bringers = one.bringers.iter().filter_map(|by| by.kustomization());
            let all = bringers.map(|position| &cluster.kustomizations[position]).chain([one]);
            let all = all.filter(|one| one.path.is_some());
            all.map(move |one| (cluster, cluster.followed(&one.source())))
        })
    }

    /// As [`Cluster::brings_itself`], of one in a file.
    pub fn brings_itself(&self, one: &FluxKustomization) -> bool {
        let own = self.delivered.named(&one.read_in).zip(self.reached(one));
        own.is_some_and(|(cluster, one)| cluster.brings_itself(one))
    }

    /// Returns the Flux Kustomization in a file that a cluster gets as this one; `None` where no file has it.
    pub fn standing(&self, one: &Reached) -> Option<&FluxKustomization> {
        self.all_flux().iter().find(|other| Arc::ptr_eq(&other.effective, &one.value))
    }

    /// Returns what a FluxInstance makes to apply an entry point of a cluster, or the root that lists it: it stands in no
    /// file.
    pub fn made(&self, entry: &EntryPoint, cluster: &str) -> Option<&Reached> {
        let own = self.delivered.named(cluster)?;
        let of = |folder: &RepoPath| {
            let mut all =
                own.kustomizations.iter().filter(|one| one.written.is_none() && one.remote.is_empty());
            all.find(|one| one.path.as_ref() == Some(folder))
        };
        of(&entry.path).or_else(|| of(entry.through.as_ref()?))
    }

    /// Returns the files that those see who apply an entry point, each once: of artifacts where a build sees a difference
    /// between these and all of the repository, else `None`.
    pub fn artifacts_over(&self, entry: &EntryPoint) -> BTreeSet<Option<&Artifact>> {
        if self.delivered.is_all_whole() {
            return BTreeSet::from([None]);
        }
        let above = entry.through.as_ref().and_then(|above| self.entry(above));
        let mut own =
            self.flux_of(entry).chain(above.into_iter().flat_map(|above| self.flux_of(above))).peekable();
        if own.peek().is_some() {
            return own.map(|one| self.partial_artifact(one)).collect();
        }
        entry.clusters().map(|cluster| self.partial_of(self.made(entry, cluster)?)).collect()
    }

    /// As [`partial_artifact`](Model::partial_artifact), of one as its cluster gets it.
    pub fn partial_of<'m>(&self, one: &'m Reached) -> Option<&'m Artifact> {
        Some(&one.artifact).filter(|artifact| !self.delivered.is_whole(Some(*artifact)))
    }

    /// Returns the files that the build of a Flux Kustomization sees, where it sees a difference between these and all of
    /// the repository.
    pub fn partial_artifact<'m>(&'m self, one: &FluxKustomization) -> Option<&'m Artifact> {
        if self.delivered.is_all_whole() {
            return None;
        }
        self.partial_of(self.reached(one)?)
    }

    /// Returns the files that the build of a Flux Kustomization sees, and their kustomizations.
    pub fn seen_by(&self, snapshot: &Snapshot, one: &FluxKustomization) -> (Snapshot, &Graph) {
        self.seen_in(snapshot, self.partial_artifact(one))
    }

    /// Returns the files of an artifact and their kustomizations; without one, those of the repository.
    pub fn seen_in(&self, snapshot: &Snapshot, artifact: Option<&Artifact>) -> (Snapshot, &Graph) {
        let graph = self.delivered.graph(artifact).unwrap_or(&self.graph);
        (self.delivered.files(snapshot, artifact), graph)
    }

    /// Returns what the build of a Flux Kustomization needs and its source does not fetch.
    pub fn lacking(&self, snapshot: &Snapshot, one: &FluxKustomization) -> Vec<Lacking> {
        let Some(path) = &one.path else { return Vec::new() };
        let Some(mut walk) = self.walk(snapshot, self.partial_artifact(one)) else { return Vec::new() };
        walk.top(path);
        for folder in one.components() {
            walk.named(&folder, &one.place("components"));
        }
        walk.found
    }

    /// Returns what the build of a folder needs and an artifact does not hold.
    pub fn lacking_in(
        &self,
        snapshot: &Snapshot,
        artifact: Option<&Artifact>,
        folder: &RepoPath,
    ) -> Vec<Lacking> {
        let Some(mut walk) = self.walk(snapshot, artifact) else { return Vec::new() };
        walk.top(folder);
        walk.found
    }

    fn walk<'m>(&'m self, snapshot: &'m Snapshot, artifact: Option<&Artifact>) -> Option<Walk<'m>> {
        let fetched = self.delivered.left_out_of(artifact)?;
        Some(Walk { snapshot, graph: &self.graph, fetched, seen: BTreeSet::new(), found: Vec::new() })
    }
}

struct Walk<'m> {
    snapshot: &'m Snapshot,
    graph: &'m Graph,
    fetched: &'m Fetched,
    seen: BTreeSet<RepoPath>,
    found: Vec<Lacking>,
}

fn is_list(file: &RepoPath) -> bool {
    file.name().is_some_and(|name| FILE_NAMES.contains(&name))
}

impl Walk<'_> {
    fn top(&mut self, folder: &RepoPath) {
        let there = &self.fetched.view;
        let lacking = |path: &RepoPath, why, effect| Lacking { path: path.clone(), why, effect, named: None };
        if !there.snapshot.is_dir(folder) {
            let first = self.snapshot.below(folder).next();
            let why = first.and_then(|(path, _)| self.fetched.ignore.reason(path));
            self.found.extend(why.map(|why| lacking(folder, why.of_folder(folder), Effect::Fails)));
            return;
        }
        if let Some(why) = self.emptied(folder) {
            self.found.push(lacking(folder, why, Effect::Empties));
            return;
        }
        if let Some(list) = self.graph.get(folder).filter(|_| !there.graph.has(folder)) {
            let why = self.fetched.ignore.reason(&list.file);
            self.found.extend(why.map(|why| lacking(&list.file, why, Effect::Lists)));
            return;
        }
        if self.graph.has(folder) {
            return self.folder(folder);
        }
        for child in generated_children(&there.graph, folder) {
            self.folder(&child);
        }
        let holds_manifests = |link: &RepoPath| {
            is_yaml(link) || self.snapshot.below(&self.graph.real(link)).any(|(path, _)| is_yaml(path))
        };
        let links = self.graph.links().filter(|link| there.graph.is_loose(link, folder));
        let links: Vec<RepoPath> = links.filter(|link| holds_manifests(link)).cloned().collect();
        for link in links {
            // Without a list Flux lists what lies beside it.
            let effect = if is_list(&link) { Effect::Lists } else { Effect::Lacks };
            self.lacks(&link, effect, None);
        }
    }

    /// Returns why nothing of what lies in a folder is there for Flux to list; `None` where there is something, or never was.
    fn emptied(&self, folder: &RepoPath) -> Option<LeftOut> {
        let there = &self.fetched.view;
        if built(&there.graph, folder).first().is_some()
            || there.snapshot.below(folder).any(|(path, _)| is_yaml(path))
        {
            return None;
        }
        let mut own =
            self.snapshot.below(folder).map(|(path, _)| path).filter(|path| is_yaml(path) || is_list(path));
        let Some(first) = own.next() else {
            let submodule = self.snapshot.hollow().find(|one| folder.is_within(one))?;
            return Some(LeftOut::Submodule(submodule.clone()));
        };
        match self.why(first)? {
            why @ LeftOut::Link(_) => Some(why),
            why if own.next().is_none() => Some(why),
            why => Some(why.of_folder(folder)),
        }
    }

    /// Returns why a path is not there: it leads over a link, or the source leaves it out.
    fn why(&self, path: &RepoPath) -> Option<LeftOut> {
        let is_link = |above: &RepoPath| matches!(self.snapshot.entry(above), Some(Entry::Symlink { .. }));
        let link = path.ancestors().find(is_link);
        link.map(LeftOut::Link).or_else(|| self.fetched.ignore.reason(path))
    }

    /// Looks at what a list of the artifact names.
    fn folder(&mut self, folder: &RepoPath) {
        let Some(list) = self.graph.get(folder).filter(|_| self.seen.insert(folder.clone())) else { return };
        for reference in list.references() {
            if let Some(path) = reference.path() {
                let place = Place::span(list.file.clone(), list.text.clone(), reference.span.clone());
                self.named(path, &place);
            }
        }
    }

    /// Looks at what a list or a Flux Kustomization names.
    fn named(&mut self, path: &RepoPath, place: &Place) {
        let link =
            path.ancestors().find(|above| matches!(self.snapshot.entry(above), Some(Entry::Symlink { .. })));
        if let Some(link) = link {
            return self.lacks(&link, Effect::Fails, Some(place));
        }
        match self.graph.get(path).map(|list: &Kustomization| list.file.clone()) {
            Some(list) if !self.fetched.view.graph.has(path) => self.lacks(&list, Effect::Fails, Some(place)),
            Some(_) => self.folder(path),
            None if self.snapshot.entry(path).is_some()
                && self.fetched.view.snapshot.entry(path).is_none() =>
            {
                self.lacks(path, Effect::Fails, Some(place));
            }
            // kustomize finds no list in the folder.
            None => {
                let lists = FILE_NAMES.iter().filter_map(|name| path.join(name).ok());
                let linked = lists.into_iter().find(|list| self.snapshot.entry(list).is_some());
                if let Some(list) = linked.filter(|list| self.graph.real(list) != *list) {
                    self.lacks(&list, Effect::Fails, Some(place));
                }
            }
        }
    }

    fn lacks(&mut self, path: &RepoPath, effect: Effect, named: Option<&Place>) {
        if let Some(why) = self.why(path)
            && self.seen.insert(path.clone())
        {
            self.found.push(Lacking { path: path.clone(), why, effect, named: named.cloned() });
        }
    }
}
