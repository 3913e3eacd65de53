//! What each cluster gets, and what is known of clusters before they are read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;

use crate::delivery::cluster::target_of;
use crate::delivery::doubt::Doubt;
use crate::delivery::fetched::{Artifact, Ignore};
use crate::delivery::former::Former;
use crate::delivery::naming::{self, home};
use crate::delivery::secure_join::secure_join;
use crate::delivery::source::{EXTERNAL, SourceId};
use crate::delivery::stuck::Stall;
use crate::delivery::variables::{Bringing, Variables, wanted};
use crate::delivery::view::{Built, View};
use crate::delivery::{Jitters, LeftOut, Reason, Root, World};
use crate::mechanism;
use crate::path::RepoPath;
use crate::repo::flux::{Unmapped, artifact_path};
use crate::repo::manifest::ObjectId;
use crate::repo::post_build::Strict;
use crate::repo::{COMPONENTS, FluxApi, Graph, OtherRevision, Snapshot, duration};
use crate::spec::{self, FluxSource, Placed, Spec, folder_of};

/// Folders that a cluster is known to own, by cluster name.
pub type ClusterFolders = BTreeMap<String, Vec<RepoPath>>;

/// What is known of clusters before anything is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// The folders that each cluster owns.
    pub paths: ClusterFolders,
    /// The folders that are applied to each cluster before anything else.
    pub roots: ClusterFolders,
    /// The folder of each cluster's gate, whether or not it stands.
    pub gates: BTreeMap<String, RepoPath>,
    /// How the folders of sides are named: the template, and the names of the types.
    pub sides: Option<(String, Vec<String>)>,
    /// The source that is no Git repository, but made of a folder of this one, with the folder.
    pub pushed: Option<(SourceId, RepoPath)>,
    /// The GitRepository that the spec names.
    pub named: Option<SourceId>,
    /// The names of objects from which another state of the repository takes values: what brings them is noted too.
    pub values: BTreeSet<String>,
    /// What an older state of the repository has brought to clusters.
    pub former: Former,
    /// The files that hold the controllers in an older state: `flux bootstrap` has written them.
    pub components: BTreeSet<RepoPath>,
}

impl Known {
    /// Returns what a spec says of each cluster's folders, roots and gate.
    pub fn of(spec: &Spec) -> Known {
        let folders = |of: &dyn Fn(&spec::Cluster) -> &[Placed<String>]| {
            let joined = |cluster: &spec::Cluster| -> Vec<RepoPath> {
                of(cluster).iter().filter_map(|path| spec.folder().join(path).ok()).collect()
            };
            let all = spec.all_clusters().map(|cluster| (cluster.name.value.clone(), joined(cluster)));
            all.filter(|(_, folders)| !folders.is_empty()).collect()
        };
        let gate = |cluster: &spec::Cluster| {
            let name = &cluster.name.value;
            Some((name.clone(), spec.gate_folder(name).ok()?))
        };
        let types = spec.types.iter().map(|change_type| change_type.name.value.clone()).collect();
        Known {
            paths: folders(&|cluster| &cluster.paths),
            roots: folders(&|cluster| &cluster.roots),
            gates: spec.all_clusters().filter_map(gate).collect(),
            sides: Some((spec.layout.entry_point.clone(), types)),
            pushed: pushed(spec),
            named: Some(source_of(spec)).filter(|id| id.kind == "GitRepository"),
            values: BTreeSet::new(),
            former: Former::default(),
            components: BTreeSet::new(),
        }
    }

    /// Adds that a later state is compared with this one: what begins to take values may find them in the cluster.
    #[must_use]
    pub fn before(self, later: &Snapshot) -> Known {
        Known { values: wanted(later), ..self }
    }

    /// Adds that this state comes after an older one: what fails in it leaves clusters what they have of that.
    #[must_use]
    pub fn after(self, older: World<'_>) -> Known {
        let components = older.snapshot.entries().map(|(path, _)| path);
        let components = components.filter(|path| path.name() == Some(COMPONENTS)).cloned().collect();
        Known { former: Former::of(older.model), components, ..self }
    }

    /// Returns whether a folder is named after a cluster of the spec, or lies in one of its folders; `root` is the folder of
    /// the spec.
    pub(super) fn speaks_of(&self, root: &RepoPath, folder: &RepoPath) -> bool {
        naming::by_spec(&self.paths, folder).is_some()
            || self.gates.contains_key(&naming::of_path(&self.paths, root, folder))
    }

    /// Returns the entry points of which a folder of a cluster would be a side, by its path; `root` is the folder of the
    /// spec.
    pub(super) fn wholes(&self, root: &RepoPath, cluster: &str, side: &RepoPath) -> Vec<RepoPath> {
        let Some((template, types)) = &self.sides else { return Vec::new() };
        let path = side.relative_to(root);
        let of = |name: &String| folder_of(template, &path, &[("type", name), ("cluster", cluster)]);
        types.iter().filter_map(of).filter_map(|whole| root.join(&whole).ok()).collect()
    }
}

/// Returns the source of a spec that is made of a folder of its repository: Flux Kustomizations that the tool writes read it,
/// with paths of this repository.
fn pushed(spec: &Spec) -> Option<(SourceId, RepoPath)> {
    let id = source_of(spec);
    matches!(id.kind.as_str(), "OCIRepository" | "Bucket").then(|| (id, spec.top_of_source()))
}

/// Returns the source that the Flux Kustomizations read that the tool writes.
fn source_of(spec: &Spec) -> SourceId {
    let FluxSource { kind, name, namespace, .. } = &spec.flux.source;
    let namespace = namespace.as_ref().unwrap_or(&spec.flux.namespace).clone();
    SourceId { kind: kind.clone(), namespace, name: name.clone() }
}

/// How often a source is fetched that Git does not hold: as `flux bootstrap` makes it.
pub const BOOTSTRAP: Duration = Duration::from_secs(60);

/// A cluster as its roots make it.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// The name: what the spec says, or else what tells its root from those of others.
    pub name: String,
    /// The roots, in the order of their folders.
    pub roots: Vec<Root>,
    /// The Flux Kustomizations that Flux applies to it, in the order in which they are reached.
    pub kustomizations: Vec<Reached>,
    /// The sources that its builds and its FluxInstances bring, with their objects.
    pub sources: Vec<(SourceId, Value)>,
    /// The positions of the Flux Kustomizations of which builds bring sources.
    pub(super) source_bringers: Vec<(SourceId, usize)>,
    /// The sources and the generators, each with the position of the Flux Kustomization of which the build brings it.
    pub(super) brought: Vec<(usize, Built)>,
    /// The sources that a root deletes as it prunes itself, although it leaves what reads them.
    pub(super) lost: BTreeSet<SourceId>,
    /// The artifacts of this repository that its Flux Kustomizations read: where each begins, and what it leaves out.
    pub(super) artifacts: BTreeSet<Artifact>,
    /// The GitRepositories that do not stand in Git, and of which it is not known what repository they are.
    pub unknown: BTreeSet<SourceId>,
    /// Those that do, and of which that is not known all the same, with the folders that they have if they are this one.
    pub unclear: BTreeSet<(SourceId, RepoPath)>,
    /// Why roots fail of which Git does not say what applies them, by their positions.
    pub(super) failing_roots: BTreeMap<usize, String>,
    /// By how much its controllers stretch intervals.
    pub(super) jitters: Jitters,
    /// The ServiceAccount as which Flux applies what names none, where Git says one.
    pub(super) default_account: Option<String>,
    /// How strictly its controller reads `postBuild`, as far as Git says.
    pub(super) strict: Option<Strict>,
    /// The sources that can't fetch this tree, each with the path that its `spec.sparseCheckout` names and that is not there.
    pub(super) unfetched: BTreeMap<SourceId, String>,
    /// What its ArtifactGenerators make.
    pub(super) generated: Vec<Generated>,
    /// The values that its builds bring to variables.
    pub(super) variables: Variables,
    /// What brings these.
    pub(super) bringing: BTreeMap<(String, ObjectId), Bringing>,
    /// The positions of the Flux Kustomizations by their names, once all are known.
    pub(super) by_name: BTreeMap<String, Vec<usize>>,
    /// The API of Flux Kustomizations that it gets; `None` where Git does not say it.
    pub(super) api: Option<Arc<FluxApi>>,
    /// Why some of these apply no commit, by their positions, once somebody asks.
    pub(super) stalls: OnceLock<BTreeMap<usize, Stall>>,
    /// Why it is open whether the cluster has some of these, by their positions, once somebody asks.
    pub(super) doubts: OnceLock<BTreeMap<usize, Doubt>>,
    /// Why no commit reaches some of these, by their positions, once somebody asks.
    pub(super) barred: OnceLock<BTreeMap<usize, String>>,
}

/// An ExternalArtifact that an ArtifactGenerator makes.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The ExternalArtifact; its name holds captures where the generator does not get as far as to fill them in.
    pub id: SourceId,
    /// The source that it is made of, with what it has of this repository; or why that is not known.
    pub artifact: Result<(SourceId, Artifact), Unmapped>,
}

/// A Flux Kustomization that a cluster gets.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The object, as the build that applies it makes it, with the variables of that one's `postBuild` as far as Git
    /// tells them.
    pub value: Arc<Value>,
    /// Its `spec.postBuild` with the values that Git tells of `substituteFrom`, which then has the rest of it.
    pub post_build: Value,
    /// The position of the one that it comes from among all that stand in files, also those that no cluster gets; `None`
    /// where it stands in none. [`Model::standing`] gives that.
    pub(super) written: Option<usize>,
    /// `spec.path` as a folder of the repository; `None` where the source is no artifact of this repository, or only
    /// the cluster knows the path.
    pub path: Option<RepoPath>,
    /// The artifact that its build sees.
    pub artifact: Artifact,
    /// Why the artifact that a generator makes can't be mapped back to folders of this repository, where that is so.
    pub unmapped: Option<Unmapped>,
    /// Why it builds another revision of this repository than its root, where it does.
    pub other: Option<OtherRevision>,
    /// Namespace and name of the one that applies it; `None` for a root that Git does not say more of.
    pub applied_by: Option<(String, String)>,
    /// All that bring it.
    pub(super) bringers: Vec<Bringer>,
    /// The position of the root that brings it, among those of its cluster.
    pub(super) root: usize,
    /// The secrets of `kubeConfig` on the way, where it is applied to another cluster than that of its root.
    pub remote: String,
    /// Why its build fails; then what its files list is taken for what it applies.
    pub error: Option<String>,
    /// Whether all builds on the way to it succeed, or an older state tells what those that fail have left of it; otherwise
    /// `value` is what its file says.
    pub is_certain: bool,
}

/// What brings a Flux Kustomization to its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bringer {
    /// People, or `flux bootstrap`: it is a root, or nothing in Git brings it.
    People,
    /// The build of the root at this position, of which Git does not say what applies it.
    Root(usize),
    /// The build of the Flux Kustomization at this position.
    Kustomization(usize),
}

impl Bringer {
    /// Returns the position of the Flux Kustomization, where it is one.
    pub(super) fn kustomization(self) -> Option<usize> {
        match self {
            Bringer::Kustomization(position) => Some(position),
            Bringer::People | Bringer::Root(_) => None,
        }
    }

    /// Returns the position of the root, where it is one of which Git does not say what applies it.
    fn root(self) -> Option<usize> {
        match self {
            Bringer::Root(position) => Some(position),
            Bringer::People | Bringer::Kustomization(_) => None,
        }
    }
}

impl Cluster {
    /// Returns whether Git or the spec says what its roots are.
    pub fn is_said(&self) -> bool {
        self.roots.iter().all(|root| root.reason != Reason::Proposed)
    }

    /// Returns whether a folder is a root that the spec names and that brings Flux Kustomizations.
    fn is_bringing(&self, folder: &RepoPath) -> bool {
        let is_root = |at: &usize| {
            self.roots.get(*at).is_some_and(|root| root.reason == Reason::Spec && root.folder == *folder)
        };
        let bringers = self.kustomizations.iter().flat_map(|one| &one.bringers);
        bringers.filter_map(|one| one.root()).any(|at| is_root(&at))
    }

    /// Notes the Flux Kustomizations by their names.
    pub(super) fn index(&mut self) {
        for (position, one) in self.kustomizations.iter().enumerate() {
            self.by_name.entry(one.name().to_owned()).or_default().push(position);
        }
    }

    /// Returns a Flux Kustomization that it gets, by the secrets of `kubeConfig` on the way, the namespace and the name.
    /// Where Git does not say the namespace, that is empty, and the first one of the name counts.
    pub fn reached(&self, remote: &str, (namespace, name): (&str, &str)) -> Option<&Reached> {
        let named = || {
            let positions = self.by_name.get(name).into_iter().flatten();
            positions.map(|position| &self.kustomizations[*position]).filter(|one| one.remote == remote)
        };
        let exact = named().find(|one| one.namespace() == namespace);
        exact.or_else(|| named().next().filter(|_| namespace.is_empty()))
    }

    /// Returns whether something of it lies in a folder.
    pub(super) fn concerns(&self, folder: &RepoPath) -> bool {
        let roots = self.roots.iter().map(|root| &root.folder);
        let paths = self.kustomizations.iter().filter_map(|one| one.path.as_ref());
        roots.chain(paths).any(|path| path.is_within(folder))
    }

    /// Returns the `spec` of a source that it gets; `None` where Git does not say it.
    pub fn source(&self, id: &SourceId) -> Option<&Value> {
        self.sources.iter().find(|(other, _)| other.is(id)).map(|(_, value)| &value["spec"])
    }

    /// Returns the Flux Kustomization of which the build brings a source; `None` where Git does not name it.
    pub fn bringer_of(&self, id: &SourceId) -> Option<&Reached> {
        let (_, by) = self.source_bringers.iter().find(|(other, _)| other.is(id))?;
        self.kustomizations.get(*by)
    }

    /// Returns whether a GitRepository that stands in Git may be this repository or another one.
    pub fn is_unclear(&self, id: &SourceId) -> bool {
        self.unclear.iter().any(|(other, _)| other == id)
    }

    /// Returns whether nobody knows that a Flux Kustomization builds no folder of this repository.
    pub fn may_build_here(&self, one: &Reached) -> bool {
        one.path.is_none() && self.is_unclear(&one.source())
    }

    /// Returns the Flux Kustomizations of which nobody knows whether they build a folder of this repository, with that.
    pub fn perhaps_here(&self) -> impl Iterator<Item = (&Reached, &RepoPath)> {
        let folder = |one: &Reached| {
            let (source, path) = (one.source(), one.value["spec"]["path"].as_str()?);
            let folder = secure_join(&RepoPath::top(), path)?;
            self.unclear.iter().find(|(id, own)| *id == source && *own == folder).map(|(_, own)| own)
        };
        let own = self.kustomizations.iter().filter(|one| one.path.is_none());
        own.filter_map(move |one| Some((one, folder(one)?)))
    }

    /// Returns what a generator makes under a name; one that fails may make anything.
    pub(super) fn made(&self, id: &SourceId) -> Option<&Generated> {
        let named = self.generated.iter().find(|made| made.id.is(id));
        let is_any = |made: &&Generated| made.id.name.contains('{') && made.id.namespace == id.namespace;
        named.or_else(|| self.generated.iter().find(is_any)).filter(|_| id.kind == EXTERNAL)
    }

    /// Returns the source that is fetched: of what a generator makes the one that it is made of, and any other one is its
    /// own.
    pub fn fetched(&self, id: &SourceId) -> SourceId {
        let made = self.made(id).and_then(|made| made.artifact.as_ref().ok());
        made.map_or_else(|| id.clone(), |(of, _)| of.clone())
    }

    /// Returns whether a source is held: without a job that lets it follow another one it fetches nothing.
    pub fn is_held(&self, id: &SourceId) -> bool {
        self.source(id).is_some_and(|spec| mechanism::is_held(&id.kind, spec))
    }

    /// Returns the source that a held one follows, by their names; any other one is its own. Of several whose names fit, one
    /// of the same repository counts before one of another.
    pub fn live_of(&self, id: &SourceId) -> SourceId {
        if !self.is_held(id) {
            return id.clone();
        }
        let leads = |other: &&SourceId| id.is_named_after(other) && !self.is_held(other);
        let url = |id: &SourceId| self.source(id).map(|spec| &spec["url"]);
        let own = self.sources.iter().map(|(id, _)| id).filter(leads);
        let found = own.max_by_key(|other| (url(other) == url(id), other.name.len()));
        found.unwrap_or(id).clone()
    }

    /// Returns the source from which the commits of what reads a source come: a generator copies it at once, and a held
    /// one follows it.
    pub fn followed(&self, id: &SourceId) -> SourceId {
        self.live_of(&self.fetched(id))
    }

    /// Returns how often a source is fetched; `None` where Git does not say it.
    pub fn interval(&self, id: &SourceId) -> Option<Duration> {
        duration::parse(self.source(id)?["interval"].as_str()?)
    }

    /// Returns the Flux Kustomizations of it that read a held source, or what a generator makes of one, with that.
    pub fn held(&self) -> impl Iterator<Item = (&Reached, SourceId)> {
        self.kustomizations.iter().filter_map(|one| self.with_held(one))
    }

    /// As [`held`](Cluster::held), of those that have a name.
    pub fn held_as(&self, name: &str) -> impl Iterator<Item = (&Reached, SourceId)> {
        let positions = self.by_name.get(name).into_iter().flatten();
        positions.filter_map(|position| self.with_held(&self.kustomizations[*position]))
    }

    fn with_held<'c>(&self, one: &'c Reached) -> Option<(&'c Reached, SourceId)> {
        let source = self.fetched(&one.source());
        self.is_held(&source).then_some((one, source))
    }

    /// Returns the folder above `clusters` that holds its first root; empty where there is none.
    pub(crate) fn home(&self) -> String {
        self.roots.first().map(|root| home(&root.folder, &self.name)).unwrap_or_default()
    }
}

impl Reached {
    /// Returns whether no file holds it: a FluxInstance makes it, or something in the cluster.
    pub fn is_made(&self) -> bool {
        self.written.is_none()
    }

    /// Returns `metadata.namespace`, as it is built; empty where Git does not say it.
    pub fn namespace(&self) -> &str {
        self.value["metadata"]["namespace"].as_str().unwrap_or_default()
    }

    /// Returns `metadata.name`, as it is built.
    pub fn name(&self) -> &str {
        self.value["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Returns the secrets of `kubeConfig` by which its objects go to another cluster than that of its root; empty for
    /// that of the root.
    pub fn target(&self) -> String {
        let own = target_of(&self.value["spec"]["kubeConfig"]).unwrap_or_default();
        format!("{}{own}", self.remote)
    }

    /// Returns whether Git itself keeps it from applying and pruning anything, also where it is deleted
    /// (kustomize-controller, `Reconcile` and `finalizerShouldDeleteResources`).
    pub fn is_suspended(&self) -> bool {
        self.value["spec"]["suspend"] == true
    }

    /// Returns the folder that it reads of another revision of this repository, where it does.
    pub fn read_elsewhere(&self) -> Option<RepoPath> {
        self.other.as_ref()?;
        artifact_path(self.value["spec"]["path"].as_str().unwrap_or_default())
    }

    /// Returns the source that it reads.
    pub fn source(&self) -> SourceId {
        SourceId::of(&self.value["spec"], self.namespace())
    }
}

/// What a source makes of the repository.
#[derive(Clone, Debug)]
pub(super) struct Fetched {
    /// What is left out.
    pub ignore: Ignore,
    /// Whether builds see no difference between that and all files of the repository.
    pub is_whole: bool,
    /// What is there.
    pub view: Arc<View>,
}

/// The clusters of a repository.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// In the order of their names.
    pub all: Vec<Cluster>,
    /// The positions of the Flux Kustomizations that stand in files and that no cluster gets.
    pub not_alive: BTreeSet<usize>,
    /// The files that speak of Flux, can't be read as YAML, and stand where people apply what Git says of no root.
    pub unread: BTreeSet<RepoPath>,
    /// The folders of roots that an older state had and that delete themselves, with all that they applied.
    pub(super) taken_down: BTreeSet<RepoPath>,
    /// What artifacts leave out, and what they hold.
    pub(super) ignored: BTreeMap<Artifact, Fetched>,
}

impl Clusters {
    /// Returns the cluster of a name.
    pub fn named(&self, name: &str) -> Option<&Cluster> {
        let first = self.all.partition_point(|cluster| cluster.name.as_str() < name);
        self.all.get(first).filter(|cluster| cluster.name == name)
    }

    /// Returns the name of the cluster in the folder of which a path lies.
    pub(crate) fn at(&self, path: &RepoPath) -> Option<&str> {
        let roots = self.all.iter().flat_map(|cluster| cluster.roots.iter().map(move |root| (cluster, root)));
        let own = roots.filter(|(_, root)| !root.group.is_top() && path.is_within(&root.group));
        let nearest = own.max_by_key(|(_, root)| root.group.segments().count());
        nearest.map(|(cluster, _)| cluster.name.as_str())
    }

    /// Returns whether a folder is a root that the spec names and that brings Flux Kustomizations: windows belong to those.
    pub(crate) fn is_bringing(&self, folder: &RepoPath) -> bool {
        self.all.iter().any(|cluster| cluster.is_bringing(folder))
    }

    /// Returns whether Git says of all clusters that a folder could be of what their roots are.
    pub(crate) fn is_read_from_git(&self, folder: &RepoPath) -> bool {
        let roots = self.all.iter().flat_map(|cluster| &cluster.roots);
        let said: Vec<&Root> = roots.filter(|root| root.kustomization.is_some()).collect();
        let folders: Vec<RepoPath> = said.iter().map(|root| root.folder.clone()).collect();
        !said.is_empty()
            && (said.iter().any(|root| folder.is_within(&root.group)) || !is_beside(folder, &folders))
    }

    /// Returns whether a folder lies in that of a cluster of which Flux Kustomizations are in Git.
    pub(crate) fn is_managed(&self, folder: &RepoPath) -> bool {
        let is_around = |root: &Root| !root.group.is_top() && folder.is_within(&root.group);
        let mut around = self.all.iter().filter(|cluster| cluster.roots.iter().any(is_around));
        around.any(|cluster| cluster.kustomizations.iter().any(|one| one.path.is_some()))
    }

    /// Returns whether Flux fetches a file for some cluster, as far as Git says what Flux fetches; one in the folder of a
    /// cluster for that one.
    pub fn is_fetched(&self, file: &RepoPath) -> bool {
        let mut clusters = self.fetching(file).peekable();
        clusters.peek().is_none() || clusters.any(|cluster| self.has_fetched(cluster, file))
    }

    /// Returns why Flux fetches a file for no cluster, by the first of these; `None` also where the file lies outside of
    /// what sources make of the repository.
    pub fn left_out(&self, file: &RepoPath) -> Option<LeftOut> {
        let artifacts = self.fetching(file).flat_map(|cluster| &cluster.artifacts);
        let known = artifacts.filter_map(|artifact| self.ignored.get(artifact));
        known.filter_map(|fetched| fetched.ignore.reason(file)).next().filter(|_| !self.is_fetched(file))
    }

    /// Returns why the sources of a cluster leave a file out, by the first of these.
    pub fn left_out_by(&self, name: &str, file: &RepoPath) -> Option<LeftOut> {
        let artifacts = self.named(name).into_iter().flat_map(|cluster| &cluster.artifacts);
        let known = artifacts.filter_map(|artifact| self.ignored.get(artifact));
        known.filter_map(|fetched| fetched.ignore.reason(file)).next()
    }

    /// Returns the clusters that a file may be for and of which Git says what Flux fetches.
    fn fetching(&self, file: &RepoPath) -> impl Iterator<Item = &Cluster> {
        let owner = self.at(file);
        let is_meant = move |cluster: &&Cluster| owner.is_none_or(|owner| cluster.name == owner);
        self.all.iter().filter(|cluster| !cluster.artifacts.is_empty()).filter(is_meant)
    }

    /// As [`is_fetched`](Clusters::is_fetched), for one cluster.
    pub fn is_fetched_by(&self, name: &str, file: &RepoPath) -> bool {
        let first = self.all.partition_point(|cluster| cluster.name.as_str() < name);
        let mut own = self.all[first..].iter().take_while(|cluster| cluster.name == name);
        own.all(|cluster| cluster.artifacts.is_empty() || self.has_fetched(cluster, file))
    }

    /// Returns the files of an artifact; without one, those of the repository.
    pub(crate) fn files(&self, snapshot: &Snapshot, artifact: Option<&Artifact>) -> Snapshot {
        self.partial(artifact).map_or_else(|| snapshot.clone(), |view| view.snapshot.clone())
    }

    /// Returns whether an artifact has all files of the repository.
    pub(super) fn is_whole(&self, artifact: Option<&Artifact>) -> bool {
        self.partial(artifact).is_none()
    }

    /// As [`is_whole`](Clusters::is_whole), of every artifact.
    pub(super) fn is_all_whole(&self) -> bool {
        self.ignored.values().all(|fetched| fetched.is_whole)
    }

    /// Returns the kustomizations of an artifact that has not all files of the repository; `None` for one that has.
    pub(super) fn graph(&self, artifact: Option<&Artifact>) -> Option<&Graph> {
        self.partial(artifact).map(|view| &view.graph)
    }

    fn partial(&self, artifact: Option<&Artifact>) -> Option<&View> {
        self.left_out_of(artifact).map(|fetched| &*fetched.view)
    }

    /// Returns what an artifact has, where builds see a difference between that and all files of the repository.
    pub(super) fn left_out_of(&self, artifact: Option<&Artifact>) -> Option<&Fetched> {
        self.ignored.get(artifact?).filter(|fetched| !fetched.is_whole)
    }

    fn has_fetched(&self, cluster: &Cluster, file: &RepoPath) -> bool {
        let is_left_out =
            |artifact: &Artifact| self.ignored.get(artifact).is_some_and(|one| one.ignore.leaves_out(file));
        cluster.artifacts.iter().any(|artifact| file.is_within(&artifact.top) && !is_left_out(artifact))
    }
}

/// Returns whether a folder may be of a further cluster beside these roots: below the `clusters` folder of one of them, or
/// in a project of its own.
pub(super) fn is_beside(folder: &RepoPath, roots: &[RepoPath]) -> bool {
    naming::clusters_above(folder).is_some_and(|clusters| {
        let project = clusters.parent().unwrap_or_default();
        let is_neighbour = |root: &RepoPath| naming::clusters_above(root).as_ref() == Some(&clusters);
        roots.iter().any(is_neighbour) || !roots.iter().any(|root| root.is_within(&project))
    })
}
