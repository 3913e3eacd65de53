//! Who applies what: the questions that a [`Model`] answers by its indexes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::time::Duration;

use crate::delivery::bringing::Carriers;
use crate::delivery::naming;
use crate::delivery::{ClusterFolders, EntryPoint, LeftOut, Model, Role, SourceId};
use crate::path::{RepoPath, below};
use crate::render::Renderer;
use crate::repo::flux::{artifact_path, each_written, holds_variable};
use crate::repo::{FluxKustomization, Snapshot, duration};

/// Where the entry points and Flux Kustomizations of a model are found, as positions in its lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// By cluster.
    by_cluster: BTreeMap<String, Positions>,
    /// The Flux Kustomizations, by the folder that they build.
    by_path: BTreeMap<RepoPath, Vec<usize>>,
    /// The Flux Kustomizations of which Git does not say what folder of this repository they build.
    unplaced: Vec<usize>,
    /// Who brings the CronJobs of gates, once somebody asks.
    pub(super) carriers: OnceLock<Carriers>,
}

#[derive(Clone, Debug, Default)]
struct Positions {
    entry_points: Vec<usize>,
    flux: Vec<usize>,
    /// The Flux Kustomizations, by name.
    named: BTreeMap<String, Vec<usize>>,
}

impl Index {
    pub(super) fn new(entry_points: &[EntryPoint], flux: &[FluxKustomization]) -> Index {
        let mut index = Index::default();
        for (position, entry) in entry_points.iter().enumerate() {
            let clusters: BTreeSet<&str> = entry.clusters().collect();
            for cluster in clusters {
                index.by_cluster.entry(cluster.to_owned()).or_default().entry_points.push(position);
            }
        }
        for (position, one) in flux.iter().enumerate() {
            let own = index.by_cluster.entry(one.cluster.clone()).or_default();
            own.flux.push(position);
            own.named.entry(one.name.clone()).or_default().push(position);
            if let Some(path) = &one.path {
                index.by_path.entry(path.clone()).or_default().push(position);
            }
            if one.path.is_none() || holds_variable(one.spec("path")) {
                index.unplaced.push(position);
            }
        }
        index
    }
}

impl Model {
    /// Returns the Flux Kustomizations that stand outside of the folder of the spec and that some cluster gets.
    ///
    /// They belong to another spec, or to none; what they apply may lie here all the same.
    pub fn outside(&self) -> &[FluxKustomization] {
        &self.outside
    }

    /// Returns the folders that clusters are known to own.
    pub fn known(&self) -> &ClusterFolders {
        &self.known.paths
    }

    /// Returns the folders of the gates of which the spec speaks, by cluster.
    pub(super) fn gate_folders(&self) -> &BTreeMap<String, RepoPath> {
        &self.known.gates
    }

    /// Returns whether a cluster gets an entry point, as far as Git says what is applied to it: where none of its Flux
    /// Kustomizations is in Git, only people know.
    pub fn is_applied_to(&self, entry: &EntryPoint, cluster: &str) -> bool {
        entry.through.is_some()
            || self.flux_in(entry, cluster).next().is_some()
            || self.flux_of_cluster(cluster).next().is_none()
    }

    /// Returns every entry point in the order of their paths, for what concerns all of them.
    pub fn all_entries(&self) -> &[EntryPoint] {
        &self.entry_points
    }

    /// Returns the entry point that is this folder.
    pub fn entry(&self, path: &RepoPath) -> Option<&EntryPoint> {
        let position = self.entry_points.binary_search_by(|entry| entry.path.cmp(path)).ok()?;
        self.entry_points.get(position)
    }

    /// Returns the entry points that a cluster applies, in the order of their paths.
    pub fn entries_of<'m, 'c>(
        &'m self,
        cluster: &'c str,
    ) -> impl Iterator<Item = &'m EntryPoint> + Clone + use<'m, 'c> {
        let own = self.index.by_cluster.get(cluster).map(|own| own.entry_points.as_slice());
        own.unwrap_or_default().iter().map(|position| &self.entry_points[*position])
    }

    /// Returns the entry points whose builds take in the kustomization of a folder, in the order of their paths.
    pub fn entries_building(&self, folder: &RepoPath) -> impl Iterator<Item = &EntryPoint> {
        let above = if self.graph.has(folder) { self.graph.built_by(folder) } else { BTreeSet::new() };
        above.into_iter().filter_map(|above| self.entry(&above))
    }

    /// Returns the entry points that are a folder or lie in it, in the order of their paths.
    pub fn entries_within(&self, folder: &RepoPath) -> impl Iterator<Item = &EntryPoint> {
        let prefix = if folder.is_top() { String::new() } else { format!("{folder}/") };
        let first = self.entry_points.partition_point(|entry| entry.path.as_str() < prefix.as_str());
        let below = self.entry_points[first..].iter();
        let below = below.take_while(move |entry| entry.path.as_str().starts_with(&prefix));
        self.entry(folder).filter(|_| !folder.is_top()).into_iter().chain(below)
    }

    /// Returns the cluster names in order.
    pub fn clusters(&self) -> BTreeSet<&str> {
        self.entry_points.iter().flat_map(EntryPoint::clusters).collect()
    }

    /// Returns every Flux Kustomization that some cluster gets, once for each cluster, in the order of files, for what
    /// concerns all of them.
    pub fn all_flux(&self) -> &[FluxKustomization] {
        &self.flux
    }

    /// Returns the folders that Flux Kustomizations of some cluster build.
    pub fn built_folders(&self) -> BTreeSet<&RepoPath> {
        self.flux.iter().filter_map(|one| one.path.as_ref()).collect()
    }

    /// Returns the Flux Kustomization at a position, as [`EntryPoint::flux`] has them.
    pub fn flux(&self, position: usize) -> &FluxKustomization {
        &self.flux[position]
    }

    /// Returns the Flux Kustomizations that build an entry point.
    pub fn flux_of(&self, entry: &EntryPoint) -> impl Iterator<Item = &FluxKustomization> {
        entry.flux.iter().map(|index| &self.flux[*index])
    }

    /// Returns the Flux Kustomizations that a cluster gets.
    pub fn flux_of_cluster<'m, 'c>(
        &'m self,
        cluster: &'c str,
    ) -> impl Iterator<Item = &'m FluxKustomization> + use<'m, 'c> {
        let own = self.index.by_cluster.get(cluster).map(|own| own.flux.as_slice());
        own.unwrap_or_default().iter().map(|position| &self.flux[*position])
    }

    /// Returns whether a Flux Kustomization of a cluster is in Git.
    pub fn has_flux(&self) -> bool {
        !self.flux.is_empty()
    }

    /// Returns whether the build of an entry point takes in a file.
    pub fn is_taken_in(&self, file: &RepoPath) -> bool {
        self.graph.taken_in_by(file).iter().any(|folder| self.entry(folder).is_some())
    }

    /// Returns the Flux Kustomizations that build a folder, whether it is there or not.
    pub fn flux_at(&self, folder: &RepoPath) -> impl Iterator<Item = &FluxKustomization> {
        self.index.by_path.get(folder).into_iter().flatten().map(|position| &self.flux[*position])
    }

    /// Returns the folders that Flux Kustomizations build, in order, whether they are there or not.
    pub fn applied_folders(&self) -> impl Iterator<Item = &RepoPath> {
        self.index.by_path.keys()
    }

    /// As [`flux_at`](Model::flux_at), of several folders, each once and in the order of files.
    pub fn flux_at_any<'f>(
        &self,
        folders: impl IntoIterator<Item = &'f RepoPath>,
    ) -> Vec<&FluxKustomization> {
        self.positions_at_any(folders).into_iter().map(|position| &self.flux[position]).collect()
    }

    /// As [`flux_at_any`](Model::flux_at_any), by their positions.
    pub(super) fn positions_at_any<'f>(
        &self,
        folders: impl IntoIterator<Item = &'f RepoPath>,
    ) -> BTreeSet<usize> {
        let positions = folders.into_iter().filter_map(|folder| self.index.by_path.get(folder)).flatten();
        positions.copied().collect()
    }

    /// As [`flux_at_any`](Model::flux_at_any), of these folders and of those in them.
    pub fn flux_within<'f>(
        &self,
        folders: impl IntoIterator<Item = &'f RepoPath>,
    ) -> Vec<&FluxKustomization> {
        let below = |folder| below(&self.index.by_path, folder).map(|(path, _)| path);
        self.flux_at_any(folders.into_iter().flat_map(|folder| below(folder).chain([folder])))
    }

    /// Returns the Flux Kustomizations whose builds take in a file, in the order of files.
    pub fn flux_taking_in(&self, file: &RepoPath) -> Vec<&FluxKustomization> {
        self.flux_at_any(&self.graph.taken_in_by(file))
    }

    /// Returns the Flux Kustomizations that build with the list of a folder, in the order of files.
    pub fn flux_building(&self, folder: &RepoPath) -> Vec<&FluxKustomization> {
        self.flux_at_any(&self.graph.built_by(folder))
    }

    /// Returns the Flux Kustomizations of its cluster whose builds take in a Flux Kustomization; where there are none,
    /// those of any: a hub applies what goes by `kubeConfig` to another cluster.
    pub fn parents(&self, one: &FluxKustomization) -> Vec<&FluxKustomization> {
        let is_itself =
            |other: &FluxKustomization| (&other.file, other.document) == (&one.file, one.document);
        let mut found = self.flux_taking_in(&one.file);
        found.retain(|other| !is_itself(other));
        let is_own = |other: &&FluxKustomization| other.cluster == one.cluster;
        let own: Vec<&FluxKustomization> = found.iter().copied().filter(is_own).collect();
        if own.is_empty() { found } else { own }
    }

    /// Returns the parents of a Flux Kustomization that wait until it is Ready, and no longer than this.
    pub fn impatient(&self, one: &FluxKustomization, longest: Duration) -> Vec<&FluxKustomization> {
        let mut found = self.parents(one);
        found.retain(|parent| {
            let said = ["timeout", "interval"].into_iter().find_map(|key| parent.spec(key).as_str());
            *parent.spec("wait") == true && said.and_then(duration::parse).is_some_and(|own| own <= longest)
        });
        found
    }

    /// Returns the Flux Kustomizations that stand in a file.
    pub fn flux_in_file(&self, file: &RepoPath) -> &[FluxKustomization] {
        let first = self.flux.partition_point(|one| one.file < *file);
        let count = self.flux[first..].partition_point(|one| one.file == *file);
        &self.flux[first..first + count]
    }

    /// Returns the Flux Kustomizations, of what several clusters apply from one file the first.
    pub fn all_written(&self) -> Vec<&FluxKustomization> {
        each_written(&self.flux)
    }

    /// Returns those that depend on a Flux Kustomization which stands here and not in a later state of the repository, each
    /// with the name of that one: they would wait for good.
    pub fn left_waiting<'m>(&self, later: &'m Model) -> Vec<(&'m FluxKustomization, &'m str)> {
        let stands = |model: &Model, waiter: &FluxKustomization, (namespace, name): (&str, &str)| {
            model.flux_named(&waiter.cluster, name).any(|one| one.namespace == namespace)
        };
        let waits = later.flux.iter().flat_map(|one| one.waits_for().into_iter().map(move |of| (one, of)));
        let gone = waits.filter(|(one, of)| stands(self, one, *of) && !stands(later, one, *of));
        gone.map(|(one, (_, name))| (one, name)).collect()
    }

    /// Returns what other clusters make of a Flux Kustomization's object: they apply the same file.
    pub fn twins<'m, 'f>(
        &'m self,
        flux: &'f FluxKustomization,
    ) -> impl Iterator<Item = &'m FluxKustomization> + use<'m, 'f> {
        let beside = self.flux_in_file(&flux.file).iter();
        beside.filter(move |other| other.is_written_as(flux) && other.cluster != flux.cluster)
    }

    /// Returns the Flux Kustomizations of a cluster that have a name, whatever their namespaces.
    pub fn flux_named<'m, 'c>(
        &'m self,
        cluster: &'c str,
        name: &'c str,
    ) -> impl Iterator<Item = &'m FluxKustomization> + use<'m, 'c> {
        let own = self.index.by_cluster.get(cluster).and_then(|own| own.named.get(name));
        own.into_iter().flatten().map(|position| &self.flux[*position])
    }

    /// Returns whether a FluxInstance applies a folder: its Flux Kustomization stands in no file.
    pub(super) fn is_synced(&self, folder: &RepoPath) -> bool {
        let mut roots = self.delivered.all.iter().flat_map(|cluster| &cluster.roots);
        roots.any(|root| root.kustomization.is_some() && root.folder == *folder)
    }

    /// Returns the source that is fetched for a Flux Kustomization: of what a generator makes the one that it copies from.
    pub fn fetched_source(&self, one: &FluxKustomization) -> SourceId {
        let id = SourceId::of(&one.effective["spec"], &one.namespace);
        self.delivered.named(&one.cluster).map_or_else(|| id.clone(), |own| own.fetched(&id))
    }

    /// Returns why [`fetched_source`](Model::fetched_source) leaves a file out; `None` where it is fetched, or nobody knows.
    pub fn left_out_for(&self, one: &FluxKustomization, file: &RepoPath) -> Option<LeftOut> {
        let source = self.reached(one)?.artifact.source();
        self.delivered.ignored.get(&source)?.ignore.reason(file)
    }

    /// Returns where the artifact of [`fetched_source`](Model::fetched_source) begins.
    pub fn top_of_source(&self, one: &FluxKustomization) -> RepoPath {
        self.reached(one).map_or_else(RepoPath::top, |reached| reached.artifact.source().top)
    }

    /// Returns the Flux Kustomizations of which Git does not say what folder of this repository they build: their path
    /// has a variable, or is one of another source.
    pub fn unplaced(&self) -> impl Iterator<Item = &FluxKustomization> {
        self.index.unplaced.iter().map(|position| &self.flux[*position])
    }

    /// Returns the Flux Kustomizations that name a folder of this repository which is none.
    pub fn lost(&self, snapshot: &Snapshot) -> impl Iterator<Item = &FluxKustomization> {
        let is_none = |path: &RepoPath| !self.graph.stands(snapshot, path);
        self.flux.iter().filter(move |one| one.path.as_ref().is_some_and(is_none))
    }

    /// Returns whether a gate may hold a Flux Kustomization: it builds an entry point of this repository, and no bootstrap.
    pub fn may_wait(&self, one: &FluxKustomization) -> bool {
        let mut entries = self.entry_points.iter().filter(|entry| entry.role != Role::Bootstrap);
        entries.any(|entry| self.flux_of(entry).any(|own| std::ptr::eq(own, one)))
    }

    /// As [`unplaced`](Model::unplaced), those of another source, each with the folder that it names there.
    pub fn foreign(&self) -> impl Iterator<Item = (&FluxKustomization, RepoPath)> {
        let others = self.unplaced().filter(|one| one.path.is_none());
        others.filter_map(|one| Some((one, artifact_path(one.spec("path").as_str()?)?)))
    }

    /// Returns whether a Flux Kustomization that builds a folder of another source builds one of this repository if that is its
    /// source: nobody knows it.
    pub fn is_unclear(&self, one: &FluxKustomization, folder: &RepoPath) -> bool {
        let own = self.delivered.named(&one.read_in).zip(self.reached(one));
        own.is_some_and(|(cluster, one)| cluster.unclear.contains(&(one.source(), folder.clone())))
    }

    /// As [`flux_of`](Model::flux_of), those of one cluster.
    pub fn flux_in<'m, 'c>(
        &'m self,
        entry: &'m EntryPoint,
        cluster: &'c str,
    ) -> impl Iterator<Item = &'m FluxKustomization> + use<'m, 'c> {
        self.flux_of(entry).filter(move |one| one.cluster == cluster)
    }

    /// Returns whether Git suspends every Flux Kustomization by which a cluster gets a folder, and there is one.
    pub fn is_suspended(&self, folder: &RepoPath, cluster: &str) -> bool {
        let mut own = self.flux_at(folder).filter(|one| one.cluster == cluster).peekable();
        own.peek().is_some() && own.all(FluxKustomization::is_suspended)
    }

    /// Returns the folder that holds the folders of clusters of which a Flux Kustomization has one; empty where that is the
    /// top or not known.
    pub fn home_of<'m>(&self, kustomization: &'m FluxKustomization) -> &'m str {
        &kustomization.home
    }

    /// As [`home_of`](Model::home_of), of an entry point without one.
    pub fn home_of_entry(&self, entry: &EntryPoint) -> String {
        naming::home(&entry.path, &entry.cluster)
    }

    /// Returns the cluster that a folder is named after, whether anything applies it or not.
    pub fn cluster_of_folder(&self, folder: &RepoPath) -> String {
        naming::of_path(&self.known.paths, &self.root, folder)
    }

    /// Understands another state of the same repository.
    pub fn again(&self, snapshot: &Snapshot, renderer: &dyn Renderer) -> Model {
        Model::read(snapshot, &self.root, &self.known, renderer)
    }

    /// Returns the name that an entry point's Flux Kustomization has in one of its clusters, or would have.
    pub fn name_in<'a>(&'a self, entry: &'a EntryPoint, cluster: &str) -> &'a str {
        let own = self.flux_of(entry).find(|kustomization| kustomization.cluster == cluster);
        own.map_or_else(|| self.name_of(entry), |kustomization| kustomization.name.as_str())
    }

    /// Returns the name that an entry point's Flux Kustomization has, or would have.
    pub fn name_of<'a>(&'a self, entry: &'a EntryPoint) -> &'a str {
        let first = self.flux_of(entry).next().map(|kustomization| kustomization.name.as_str());
        first.unwrap_or_else(|| self.name_of_folder(&entry.path))
    }

    /// Returns the name that a Flux Kustomization of a folder would have where none is in Git.
    pub fn name_of_folder<'a>(&'a self, folder: &'a RepoPath) -> &'a str {
        self.names.get(folder).map(String::as_str).or_else(|| folder.name()).unwrap_or("apps")
    }
}
