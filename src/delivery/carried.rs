//! Which builds bring the CronJobs of gates to a cluster: the smallest ones that say all of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::view::{CHANGING, HARMLESS};
use crate::delivery::{EntryPoint, Model, build};
use crate::path::RepoPath;
use crate::render::Request;
use crate::repo::{Graph, generated_children};

/// A build that brings CronJobs to a cluster.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    /// The cluster.
    pub cluster: String,
    /// The build.
    pub request: Request,
    /// The namespace that what applies it gives its objects.
    pub namespace: Option<String>,
    /// The lists by which the cluster gets it, its own too.
    pub lists: BTreeSet<RepoPath>,
    /// Whether Git suspends what applies it, or what applies that.
    pub is_suspended: bool,
}

/// Finds the builds that may bring CronJobs which open and close, cluster by cluster.
///
/// Of an entry point that merely lists the folder of a gate only that folder is built. What Git applies to no cluster
/// counts where no Flux Kustomization of the cluster is in Git: people apply it then.
pub(super) fn carried(model: &Model) -> Vec<Carried> {
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
            let mut fetched = files.iter().filter(|file| model.delivered.is_fetched_by(cluster, file));
            if fetched.next().is_some() {
                found.extend(of_entry(model, &folders, entry, cluster));
            }
        }
    }
    let by_hand = model.gate_folders().iter().filter(|(cluster, folder)| {
        model.graph.has(folder) && model.flux_of_cluster(cluster).next().is_none()
    });
    found.extend(by_hand.map(|(cluster, folder)| Carried {
        cluster: cluster.clone(),
        request: Request::folder(folder.clone()),
        namespace: None,
        lists: model.graph.get(folder).map(|list| list.file.clone()).into_iter().collect(),
        is_suspended: false,
    }));
    found
}

fn of_entry(model: &Model, folders: &BTreeSet<RepoPath>, entry: &EntryPoint, cluster: &str) -> Vec<Carried> {
    let whole = |spec: &Value| Request::of(entry.path.clone(), build(model, &entry.path, spec).as_ref());
    let mut specs: Vec<(&Value, bool)> = model
        .flux_in(entry, cluster)
        .map(|flux| (&flux.effective["spec"], model.kept_out_by(flux).is_some()))
        .collect();
    if specs.is_empty() && model.is_applied_to(entry, cluster) {
        let is_suspended = entry.through.as_ref().is_some_and(|root| model.is_suspended(root, cluster));
        specs.push((&Value::Null, is_suspended));
    }
    let mut found = Vec::new();
    for (spec, is_suspended) in specs {
        let namespace = spec["targetNamespace"].as_str().filter(|namespace| !namespace.is_empty());
        let is_set = |field: &&str| spec[*field].as_array().is_none_or(|list| !list.is_empty());
        let mut changing = CHANGING.iter().filter(|field| !spec[**field].is_null());
        let mut parts = Parts::new(model, folders);
        let parts = if !changing.any(is_set) && parts.top(&entry.path, namespace) {
            let part = |part: Part| (Request::folder(part.folder), part.namespace, part.lists);
            parts.found.into_iter().map(part).collect()
        } else {
            let list = model.graph.get(&entry.path).map(|list| list.file.clone());
            vec![(whole(spec), None, list.into_iter().collect())]
        };
        found.extend(parts.into_iter().map(|(request, namespace, lists)| Carried {
            cluster: cluster.to_owned(),
            request,
            namespace,
            lists,
            is_suspended,
        }));
    }
    found
}

/// Walks from the folder of an entry point to those that do more than list others.
struct Parts<'g> {
    graph: &'g Graph,
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
    fn new(model: &'g Model, folders: &'g BTreeSet<RepoPath>) -> Parts<'g> {
        let (graph, files) = (&model.graph, &model.turning);
        Parts { graph, folders, files, seen: BTreeSet::new(), found: Vec::new() }
    }

    /// Begins with a folder; `false` where nothing but its own build says what comes of it.
    fn top(&mut self, folder: &RepoPath, namespace: Option<&str>) -> bool {
        if self.graph.has(folder) {
            self.folder(folder, namespace, &BTreeSet::new());
            return true;
        }
        // Flux lists by itself what lies below (fluxcd/pkg/kustomize, `scanManifests`).
        let is_loose = |file: &RepoPath| {
            let mut above = file.parents().take_while(|above| above.is_within(folder));
            !above.any(|above| self.graph.has(&above))
        };
        if self.files.iter().any(|file| file.is_within(folder) && is_loose(file)) {
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
        if !brings || lists_jobs || list.is_component() || !list.keys().all(is_harmless) {
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
