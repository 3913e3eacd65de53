//! Which builds bring the CronJobs of gates to a cluster: the smallest ones that say all of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::about::owned;
use crate::delivery::view::{CHANGING, HARMLESS};
use crate::delivery::{Artifact, Doubt, EntryPoint, Model, Reached};
use crate::path::RepoPath;
use crate::render::Request;
use crate::repo::{FluxKustomization, Graph, Kustomization, Reference, Snapshot, built, generated_children};

/// A build that brings CronJobs to a cluster.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    /// The cluster.
    pub cluster: String,
    /// The key of the Flux Kustomization that applies it; where none in Git does, the folder stands for that.
    pub by: [String; 3],
    /// The build.
    pub request: Request,
    /// The namespace that what applies it gives its objects.
    pub namespace: Option<String>,
    /// The lists by which the cluster gets it, its own too.
    pub lists: BTreeSet<RepoPath>,
    /// The files that the build sees; `None` for all of the repository.
    pub artifact: Option<Artifact>,
    /// Why Git does not tell whether it is applied, where Git suspends what applies it, or what applies that, or either
    /// depends on what is not in Git.
    pub doubt: Option<Doubt>,
    /// Whether what applies it is known to fail, whatever this part of it does.
    pub is_failing: bool,
}

/// Finds the builds that may bring CronJobs which open and close, cluster by cluster.
///
/// Of an entry point that merely lists the folder of a gate only that folder is built. What Git applies to no cluster
/// counts where no Flux Kustomization of the cluster is in Git: people apply it then.
pub(super) fn carried(model: &Model, snapshot: &Snapshot) -> Vec<Carried> {
    let mut found = Vec::new();
    let mut entries: BTreeMap<&RepoPath, BTreeSet<&RepoPath>> = BTreeMap::new();
    let mut folders: BTreeSet<RepoPath> = BTreeSet::new();
    for file in &model.turning {
        let builders = model.graph.builders(file);
        let listed = builders.iter().filter_map(|folder| model.entry(folder));
        let tops = builders.iter().chain([file]);
        let generated = tops.flat_map(RepoPath::ancestors).filter(|above| !model.graph.has(above));
        let generated = generated.filter_map(|above| model.entry(&above));
        for entry in listed.chain(generated) {
            entries.entry(&entry.path).or_default().insert(file);
        }
        folders.extend(builders);
    }
    for (path, files) in entries {
        let Some(entry) = model.entry(path) else { continue };
        for cluster in entry.clusters() {
            found.extend(of_entry(model, snapshot, &folders, (entry, &files), cluster));
        }
    }
    let by_hand = model.gate_folders().iter().filter(|(cluster, folder)| {
        model.graph.has(folder) && model.flux_of_cluster(cluster).next().is_none()
    });
    found.extend(by_hand.map(|(cluster, folder)| Carried {
        cluster: cluster.clone(),
        by: by_hand_of(folder),
        request: Request::delivered(folder.clone()),
        namespace: None,
        lists: model.graph.get(folder).map(|list| list.file.clone()).into_iter().collect(),
        artifact: None,
        doubt: None,
        is_failing: false,
    }));
    found
}

fn by_hand_of(folder: &RepoPath) -> [String; 3] {
    ["", "", folder.as_str()].map(str::to_owned)
}

/// What applies an entry point to a cluster.
struct Way<'m> {
    by: [String; 3],
    spec: &'m Value,
    artifact: Option<&'m Artifact>,
    doubt: Option<Doubt>,
    is_failing: bool,
}

impl<'m> Way<'m> {
    /// Returns it where a Flux Kustomization builds the entry point, or builds one of which that is a part.
    fn of(model: &'m Model, snapshot: &Snapshot, flux: &'m FluxKustomization, spec: &'m Value) -> Way<'m> {
        let artifact = model.partial_artifact(flux);
        let reached = model.reached(flux);
        let fails = reached.is_some_and(Reached::fails);
        // Where the lists alone tell which Flux Kustomizations it brings, the rest was not built.
        let graph = model.delivered.graph(artifact).unwrap_or(&model.graph);
        let lacks = || {
            flux.path
                .as_ref()
                .is_some_and(|path| lacks(graph, &model.delivered.files(snapshot, artifact), path))
        };
        let suspended = model.kept_out_by(flux).map(|by| Doubt::Suspended(by.name.clone()));
        let unsaid = || model.delivered.named(&flux.read_in)?.unsaid_on_way(reached?);
        Way {
            by: owned(reached.map_or((&flux.remote, &flux.namespace, &flux.name), Reached::key)),
            spec,
            artifact,
            doubt: suspended.or_else(unsaid),
            is_failing: fails || lacks(),
        }
    }
}

/// Returns whether a list that takes part in a build names what is not there.
fn lacks(graph: &Graph, files: &Snapshot, folder: &RepoPath) -> bool {
    let is_there = |path: &RepoPath| {
        let real = graph.real(path);
        files.entry(&real).is_some() || files.is_dir(&real)
    };
    let lists = built(graph, folder);
    let named = lists.iter().filter_map(|folder| graph.get(folder)).flat_map(Kustomization::resources);
    named.filter_map(Reference::path).any(|path| !is_there(path))
}

fn of_entry(
    model: &Model,
    snapshot: &Snapshot,
    folders: &BTreeSet<RepoPath>,
    (entry, files): (&EntryPoint, &BTreeSet<&RepoPath>),
    cluster: &str,
) -> Vec<Carried> {
    let mut ways: Vec<Way<'_>> = model
        .flux_in(entry, cluster)
        .map(|flux| Way::of(model, snapshot, flux, &flux.effective["spec"]))
        .collect();
    if ways.is_empty() && model.is_applied_to(entry, cluster) {
        let above = entry.through.as_ref().map(|root| model.flux_at(root)).into_iter().flatten();
        let mut above = above
            .filter(|one| one.cluster == cluster)
            .map(|one| Way::of(model, snapshot, one, &Value::Null))
            .peekable();
        let is_said = above.peek().is_some();
        // Flux lists what is there, and a root with a list of its own fails.
        let is_there =
            |way: &Way<'_>| model.delivered.graph(way.artifact).is_none_or(|graph| graph.has(&entry.path));
        ways.extend(above.filter(|way| way.is_failing || is_there(way)));
        let is_fetched = || files.iter().any(|file| model.delivered.is_fetched_by(cluster, file));
        if !is_said && is_fetched() {
            let by = by_hand_of(&entry.path);
            ways.push(Way { by, spec: &Value::Null, artifact: None, doubt: None, is_failing: false });
        }
    }
    let mut found = Vec::new();
    for Way { by, spec, artifact, doubt, is_failing } in ways {
        let namespace = spec["targetNamespace"].as_str().filter(|namespace| !namespace.is_empty());
        let is_set = |field: &&str| spec[*field].as_array().is_none_or(|list| !list.is_empty());
        let mut changing = CHANGING.iter().filter(|field| !spec[**field].is_null());
        let mut parts = Parts::new(model, snapshot, artifact, folders);
        let parts = if !changing.any(is_set) && parts.top(&entry.path, namespace) {
            let part = |part: Part| (Request::base(part.folder), part.namespace, part.lists);
            parts.found.into_iter().map(part).collect()
        } else {
            let list = model.graph.get(&entry.path).map(|list| list.file.clone());
            vec![(Request::flux(entry.path.clone(), spec), None, list.into_iter().collect())]
        };
        found.extend(parts.into_iter().map(|(request, namespace, lists)| Carried {
            cluster: cluster.to_owned(),
            by: by.clone(),
            request,
            namespace,
            lists,
            artifact: artifact.cloned(),
            doubt: doubt.clone(),
            is_failing,
        }));
    }
    found
}

/// Walks from the folder of an entry point to those that do more than list others.
struct Parts<'g> {
    /// The lists of the artifact.
    graph: &'g Graph,
    /// Its files.
    snapshot: Snapshot,
    /// The folders that bring CronJobs.
    folders: &'g BTreeSet<RepoPath>,
    /// The files of the CronJobs.
    files: &'g BTreeSet<RepoPath>,
    seen: BTreeSet<RepoPath>,
    /// What is to be built.
    found: Vec<Part>,
}

/// A folder to build.
struct Part {
    folder: RepoPath,
    /// The namespace that it is given from above.
    namespace: Option<String>,
    /// The lists from the top down to its own.
    lists: BTreeSet<RepoPath>,
}

impl<'g> Parts<'g> {
    fn new(
        model: &'g Model,
        snapshot: &Snapshot,
        artifact: Option<&Artifact>,
        folders: &'g BTreeSet<RepoPath>,
    ) -> Parts<'g> {
        let graph = model.delivered.graph(artifact).unwrap_or(&model.graph);
        let snapshot = model.delivered.files(snapshot, artifact);
        Parts { graph, snapshot, folders, files: &model.turning, seen: BTreeSet::new(), found: Vec::new() }
    }

    /// Begins with a folder; `false` where nothing but its own build says what comes of it.
    fn top(&mut self, folder: &RepoPath, namespace: Option<&str>) -> bool {
        if self.graph.has(folder) {
            self.folder(folder, namespace, &BTreeSet::new());
            return true;
        }
        if !self.snapshot.is_dir(folder) {
            return false;
        }
        // Flux lists by itself what lies below (fluxcd/pkg/kustomize, `scanManifests`).
        let is_there = |file: &RepoPath| self.snapshot.file(file).is_some();
        if self.files.iter().any(|file| self.graph.is_loose(file, folder) && is_there(file)) {
            return false;
        }
        for list in generated_children(self.graph, folder) {
            self.folder(&list, namespace, &BTreeSet::new());
        }
        true
    }

    fn folder(&mut self, folder: &RepoPath, namespace: Option<&str>, above: &BTreeSet<RepoPath>) {
        if !self.folders.contains(folder) || !self.seen.insert(folder.clone()) {
            return;
        }
        let Some(list) = self.graph.get(folder) else { return };
        let lists: BTreeSet<RepoPath> = above.iter().chain([&list.file]).cloned().collect();
        let children = self.graph.children(folder);
        let is_harmless = |key: &str| HARMLESS.contains(&key.to_lowercase().as_str());
        let brings = children.iter().any(|child| self.folders.contains(child));
        let lists_jobs = self.files.iter().any(|file| self.graph.referrers(file).any(|one| one == folder));
        // Without what its list names, the build of this folder fails and that of another part says nothing.
        let is_lost = |path: &RepoPath| self.folders.contains(path) && !self.graph.has(path);
        let lacks = list.references().iter().filter_map(Reference::path).any(is_lost);
        if !brings || lacks || lists_jobs || list.is_component() || !list.keys().all(is_harmless) {
            self.found.push(Part { folder: folder.clone(), namespace: namespace.map(str::to_owned), lists });
            return;
        }
        let own = list.field("namespace").and_then(|node| node.as_str()).filter(|own| !own.is_empty());
        let namespace = namespace.or(own).map(str::to_owned);
        for child in children {
            self.folder(&child, namespace.as_deref(), &lists);
        }
    }
}
