//! What builds something for a cluster: a Flux Kustomization, or whoever applies a folder that Git names nobody for.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::delivery::{Artifact, Cluster, Model, Reached, Reason};
use crate::path::RepoPath;
use crate::render::Request;
use crate::repo::{Graph, Reference, generated_children};

/// Names what applies a folder where Git does not say it.
pub fn unnamed(folder: &RepoPath) -> String {
    format!("the Flux Kustomization of {folder} (not in Git)")
}

/// Fields of a kustomization that name files inside of other files, so that nobody knows what its build reads.
const HIDING: [&str; 5] =
    ["generators", "transformers", "validators", "helmcharts", "helmchartinflationgenerator"];

/// One build that a cluster gets.
#[derive(Clone, Debug)]
pub struct Applier<'m> {
    /// The name of the cluster.
    pub cluster: &'m str,
    /// The folder that is built.
    pub path: RepoPath,
    /// The Flux Kustomization; `None` where Git names none.
    pub kustomization: Option<&'m Reached>,
}

impl<'m> Applier<'m> {
    /// Returns what tells it from the others of its cluster: the secrets of `kubeConfig` on the way, the namespace and
    /// the name; without a Flux Kustomization it is the folder.
    pub fn key(&self) -> (&str, &str, &str) {
        match self.kustomization {
            Some(one) => one.key(),
            None => ("", "", self.path.as_str()),
        }
    }

    /// Returns the secrets of `kubeConfig` by which its objects go to another cluster.
    pub fn target(&self) -> String {
        self.kustomization.map(Reached::target).unwrap_or_default()
    }

    /// Returns the `spec` of the Flux Kustomization; null where there is none.
    pub fn spec(&self) -> &Value {
        self.kustomization.map_or(&Value::Null, |one| &one.value["spec"])
    }

    /// Returns the `spec.postBuild` of the Flux Kustomization with the values that Git tells; null where there is none.
    pub fn post_build(&self) -> &Value {
        self.kustomization.map_or(&Value::Null, |one| &one.post_build)
    }

    /// Returns the files that the build sees; `None` for all of the repository, where Git does not say who applies it.
    pub fn artifact(&self) -> Option<&'m Artifact> {
        self.kustomization.map(|one| &one.artifact)
    }

    /// Returns whether all builds on the way to it succeed, or an older state tells what those that fail have left of it.
    pub fn is_certain(&self) -> bool {
        self.kustomization.is_none_or(|one| one.is_certain)
    }

    /// Returns whether it waits at its source, and is not suspended.
    pub fn is_held(&self, model: &Model) -> bool {
        let own = self.kustomization.zip(model.delivered.named(self.cluster));
        own.is_some_and(|(one, cluster)| cluster.is_held(&cluster.fetched(&one.source())))
    }

    /// Returns whether it builds the files that it has otherwise than before, since another spec comes at once where other files
    /// are held at the source.
    pub fn rebuilds(&self, model: &Model, older: &Applier<'_>, former: &Model) -> bool {
        let is_other = older.request() != self.request() || older.post_build() != self.post_build();
        let source = |one: &Applier<'_>| one.kustomization.map(Reached::source);
        is_other && source(older) == source(self) && older.is_held(former) && self.is_held(model)
    }

    /// Returns the build, with origins.
    pub fn request(&self) -> Request {
        Request::flux(self.path.clone(), self.spec()).with_origins()
    }

    /// Returns whether it is the root of a cluster that nobody in Git applies and that has no list of its own: its build
    /// would take in the folders of Flux Kustomizations as well. That the spec names it says that the cluster gets all of it.
    pub fn is_unsaid(&self, model: &Model) -> bool {
        let is_guessed = |cluster: &Cluster| {
            let mut said = cluster.roots.iter().filter(|root| root.reason == Reason::Spec);
            !said.any(|root| root.folder == self.path)
        };
        self.kustomization.is_none()
            && !model.graph.has(&self.path)
            && model.delivered.named(self.cluster).is_some_and(is_guessed)
    }

    /// Returns the files and folders below which all lies that the build may read; `None` where that is not known.
    pub fn surroundings(&self, graph: &Graph) -> Option<BTreeSet<RepoPath>> {
        let (mut found, mut seen) = (BTreeSet::from([self.path.clone()]), BTreeSet::new());
        let mut queue = self.begins(graph)?;
        while let Some(next) = queue.pop() {
            if !seen.insert(next.clone()) {
                continue;
            }
            let around = Around::of(graph, &next)?;
            found.insert(next);
            found.extend(around.paths);
            queue.extend(around.folders);
        }
        Some(found)
    }

    /// Returns the folders with which the build begins; `None` where they are not known.
    pub(super) fn begins(&self, graph: &Graph) -> Option<Vec<RepoPath>> {
        let own = graph.real(&self.path);
        let mut found = if graph.has(&own) { Vec::new() } else { generated_children(graph, &own) };
        found.push(own);
        for component in self.spec()["components"].as_array().into_iter().flatten() {
            found.push(graph.real(&self.path.join(component.as_str()?).ok()?));
        }
        Some(found)
    }
}

/// What the list of a folder makes a build read.
#[derive(Default)]
pub(super) struct Around {
    /// The files and folders below which it lies.
    pub paths: Vec<RepoPath>,
    /// The folders with a list that it builds on.
    pub folders: Vec<RepoPath>,
}

impl Around {
    /// Looks at the list of a folder, if it has one; `None` where that does not say what is read.
    pub(super) fn of(graph: &Graph, folder: &RepoPath) -> Option<Around> {
        let mut around = Around::default();
        if graph.broken(folder).is_some() {
            return None;
        }
        let Some(list) = graph.get(folder) else { return Some(around) };
        if list.keys().any(|key| HIDING.contains(&key.to_lowercase().as_str())) {
            return None;
        }
        for target in list.references().iter().filter_map(Reference::path) {
            let real = graph.real(target);
            if graph.has(&real) {
                around.folders.push(real.clone());
            } else {
                around.paths.extend([real.parent(), target.parent()].into_iter().flatten());
            }
            around.paths.extend([real, target.clone()]);
        }
        Some(around)
    }
}

/// Returns every build that clusters get, in the order of clusters.
///
/// Of Flux Kustomizations with one id in a cluster the first counts, as for everybody else; those without a path in
/// this repository build nothing of it.
pub fn appliers(model: &Model) -> Vec<Applier<'_>> {
    let mut found: Vec<Applier<'_>> = Vec::new();
    for cluster in &model.delivered.all {
        let of = |path: &RepoPath, kustomization| Applier {
            cluster: &cluster.name,
            path: path.clone(),
            kustomization,
        };
        // One that its own build brings is told with that.
        let brings_itself = |folder: &RepoPath| {
            let mut own = cluster.kustomizations.iter().filter(|one| one.target().is_empty());
            own.any(|one| one.path.as_ref() == Some(folder))
        };
        let unsaid = cluster.roots.iter().filter(|root| root.kustomization.is_none());
        let unsaid = unsaid.filter(|root| !brings_itself(&root.folder));
        found.extend(unsaid.map(|root| of(&root.folder, None)));
        let mut seen = BTreeSet::new();
        for one in &cluster.kustomizations {
            let Some(path) = &one.path else { continue };
            if seen.insert(one.key()) {
                found.push(of(path, Some(one)));
            }
        }
    }
    let rooted: BTreeSet<&str> =
        model.delivered.all.iter().map(|cluster: &Cluster| cluster.name.as_str()).collect();
    for cluster in model.clusters().into_iter().filter(|cluster| !rooted.contains(cluster)) {
        let entries = model.entries_of(cluster);
        found.extend(entries.map(|entry| Applier { cluster, path: entry.path.clone(), kustomization: None }));
    }
    found
}
