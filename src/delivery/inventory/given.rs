//! What Flux Kustomizations are in their clusters.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::path::RepoPath;
use crate::render::Object;
use crate::repo::flux::{self, artifact_path};
use crate::repo::manifest::ObjectId;
use crate::repo::{FluxKustomization, Graph};

/// The Flux Kustomizations that builds bring, by their names, as these builds make them: whatever applies one may patch
/// it, as parents do that give all of their children one `deletionPolicy`.
pub(crate) struct Given<K>(BTreeMap<String, Vec<Brought<K>>>);

/// One that a build brings.
struct Brought<K> {
    /// The cluster in which that is.
    cluster: K,
    /// The folder that is built.
    folder: RepoPath,
    namespace: String,
    spec: Value,
}

impl<K: PartialEq> Given<K> {
    /// Collects them from what is built in each cluster and folder.
    pub fn new<'o>(built: impl Iterator<Item = (K, &'o RepoPath, &'o Object)>) -> Given<K> {
        let mut given: BTreeMap<String, Vec<Brought<K>>> = BTreeMap::new();
        for (cluster, folder, object) in built {
            let ObjectId { group, namespace, name, .. } = ObjectId::of(&object.value);
            if group == flux::GROUP {
                let (folder, spec) = (folder.clone(), object.value["spec"].clone());
                given.entry(name).or_default().push(Brought { cluster, folder, namespace, spec });
            }
        }
        Given(given)
    }

    /// Gives each `spec` that a Flux Kustomization gets from builds that take in its file: those of its own cluster, or of
    /// others where it gets none there, since a hub applies what goes by `kubeConfig` to another one.
    pub fn specs(&self, graph: &Graph, cluster: &K, one: &FluxKustomization) -> Vec<&Value> {
        let is_it = |brought: &&Brought<K>| {
            (one.namespace.is_empty() || one.namespace == brought.namespace)
                && artifact_path(brought.spec["path"].as_str().unwrap_or_default()) == one.path
                && graph.takes_in(&brought.folder, &one.file)
        };
        let all: Vec<&Brought<K>> = self.0.get(&one.name).into_iter().flatten().filter(is_it).collect();
        let is_any_own = all.iter().any(|brought| brought.cluster == *cluster);
        let meant = all.into_iter().filter(|brought| !is_any_own || brought.cluster == *cluster);
        meant.map(|brought| &brought.spec).collect()
    }
}

/// Gives the `postBuild` of one that gets these, or the written one where it gets none; nothing where they do not agree,
/// so that no variable has a value that is known.
pub(crate) fn post_build(specs: &[&Value], written: &Value) -> Value {
    match specs {
        [] => written.clone(),
        [first, rest @ ..] if rest.iter().all(|other| other["postBuild"] == first["postBuild"]) => {
            first["postBuild"].clone()
        }
        _ => Value::Null,
    }
}
