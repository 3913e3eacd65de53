//! What Flux Kustomizations are in their clusters.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::render::Object;
use crate::repo::RepoPath;
use crate::repo::flux::{self, artifact_path};
use crate::repo::manifest::ObjectId;

/// The Flux Kustomizations that builds bring, as these make them: whatever applies one may patch it, as parents do
/// that give all of their children one `deletionPolicy`.
pub(crate) struct Given<K>(BTreeMap<(K, String), Vec<(String, Value)>>);

impl<K: Ord + Clone> Given<K> {
    /// Collects them from what each cluster gets.
    pub fn new<'o>(built: impl Iterator<Item = (K, &'o Object)>) -> Given<K> {
        let mut given: BTreeMap<(K, String), Vec<(String, Value)>> = BTreeMap::new();
        for (cluster, object) in built {
            let id = ObjectId::of(&object.value);
            if id.group == flux::GROUP {
                let spec = object.value["spec"].clone();
                given.entry((cluster, id.name)).or_default().push((id.namespace, spec));
            }
        }
        Given(given)
    }

    /// Gives each `spec` that a Flux Kustomization over a folder gets in its cluster; none where nothing in Git applies
    /// it. An empty namespace is any.
    pub fn specs(&self, cluster: &K, namespace: &str, name: &str, path: &RepoPath) -> Vec<&Value> {
        let several: Vec<&(String, Value)> = match self.0.get(&(cluster.clone(), name.to_owned())) {
            Some(own) => own.iter().collect(),
            // A hub applies what goes by `kubeConfig` to another cluster.
            None => {
                self.0.iter().filter(|((_, of), _)| of == name).flat_map(|(_, several)| several).collect()
            }
        };
        let is_it = |(space, spec): &&&(String, Value)| {
            let same_path = artifact_path(spec["path"].as_str().unwrap_or_default());
            (namespace.is_empty() || namespace == *space) && same_path.as_ref() == Some(path)
        };
        several.iter().filter(is_it).map(|(_, spec)| spec).collect()
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
