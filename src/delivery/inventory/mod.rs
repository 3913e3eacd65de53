//! What each Flux Kustomization in Git applies, and what a commit would delete in a cluster.
//!
//! kustomize-controller keeps an inventory of what a Kustomization applied. At the next
//! reconciliation it deletes what left it, if `spec.prune` is true then; when the Kustomization
//! itself goes, its finalizer deletes all of it, by the `deletionPolicy` and `prune` that the
//! cluster knew last (kustomize-controller, `prune` and `finalize`). Whether another Kustomization
//! takes an object over in the same commit does not help: which of the two reconciles first is
//! chance. So what a commit may delete can be read off two states of the repository.

mod deletion;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::delivery;
use crate::delivery::{Cluster, Model, Root};
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::render::{Object, RenderError, Renderer, Request};
use crate::repo::manifest::ObjectId;
use crate::repo::post_build::live_id;
use crate::repo::{FluxKustomization, Snapshot};

type Built = Result<Vec<Object>, RenderError>;

pub(crate) use crate::delivery::metadata::is_kept;
pub use deletion::{Deletion, deletions, moves_of_kept};

/// A Flux Kustomization in Git with what it applies.
#[derive(Clone, Debug)]
pub struct Inventory {
    /// The cluster.
    pub cluster: String,
    /// The namespace that it gets in its cluster; empty where Git does not say it.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// The folder that it builds; `None` where that is no folder of this repository.
    pub path: Option<RepoPath>,
    /// `spec.prune`, as the build that applies it makes it where that is in Git.
    pub prune: bool,
    /// Whether nothing but its own build gives it another spec ([`Cluster::brings_itself`]).
    pub brings_itself: bool,
    /// `spec.deletionPolicy`, likewise; empty where it is not set, which means `MirrorPrune`.
    pub deletion_policy: String,
    /// Whether its own settings keep it in the cluster when it leaves Git, so that it deletes nothing.
    pub is_kept: bool,
    /// Where it stands.
    pub place: Place,
    /// What becomes of its objects after the build: `postBuild`, as whatever applies it makes it where that is in
    /// Git, and `kubeConfig`.
    pub beyond: [Value; 2],
    /// The objects, or why the folder does not build; then nothing is applied and nothing pruned.
    pub objects: Result<Vec<Object>, String>,
}

impl Inventory {
    /// Returns the inventory of a Flux Kustomization in a cluster.
    pub fn find<'i>(
        inventories: impl IntoIterator<Item = &'i Inventory, IntoIter: Clone>,
        cluster: &str,
        flux: &FluxKustomization,
    ) -> Option<&'i Inventory> {
        let all = inventories.into_iter();
        let named = || all.clone().filter(|one| one.cluster == cluster && one.name == flux.name);
        let exact = named().find(|one| one.namespace == flux.namespace);
        // What Git does not say may be that of the other; of several, whatever would delete counts.
        let other = || named().filter(|one| one.namespace.is_empty() || flux.namespace.is_empty());
        exact.or_else(|| other().max_by_key(|one| (one.prune, danger(&one.deletion_policy))))
    }

    /// Returns the id that one of its objects has in the cluster; see [`live_id`].
    pub(crate) fn live_id(&self, object: &Object) -> ObjectId {
        live_id(&self.beyond[0], &object.value)
    }

    fn key(&self) -> (&str, &str, &str) {
        (&self.cluster, &self.namespace, &self.name)
    }

    /// Returns the same Flux Kustomization in another state of the repository. Two files may fight over one name: then the one
    /// that builds the same folder counts first.
    pub(crate) fn among<'i>(&self, all: impl IntoIterator<Item = &'i Inventory>) -> Option<&'i Inventory> {
        let named = all.into_iter().filter(|one| one.key() == self.key());
        // Of several equal ones, the first is the least.
        named.min_by_key(|one| one.path != self.path)
    }

    /// Returns whether it may delete what it applies no more, now that it is `now`, or gone.
    ///
    /// One that stays may reconcile before or after whoever applies it has given it another `prune`; one that brings itself
    /// reconciles by what it has.
    pub(crate) fn deletes(&self, now: Option<&Inventory>) -> bool {
        now.map_or_else(|| self.deletes_when_it_goes(), |now| self.prune || now.prune && !self.brings_itself)
    }

    /// Returns whether all of its objects go with it.
    fn deletes_when_it_goes(&self) -> bool {
        match self.deletion_policy.as_str() {
            _ if self.is_kept => false,
            "Orphan" => false,
            "Delete" | "WaitForTermination" => true,
            _ => self.prune,
        }
    }
}

/// Builds what every Flux Kustomization of a snapshot applies, in the order of files; last those that FluxInstances make.
pub fn inventories(model: &Model, snapshot: &Snapshot, renderer: &dyn Renderer) -> Vec<Inventory> {
    let mut found = inventories_of(model, snapshot, renderer, &|_| true);
    found.extend(synced(model, snapshot, renderer));
    found
}

/// Builds what the Flux Kustomizations apply that FluxInstances make: no file has these.
pub fn synced(model: &Model, snapshot: &Snapshot, renderer: &dyn Renderer) -> Vec<Inventory> {
    let roots =
        model.delivered.all.iter().flat_map(|cluster| cluster.roots.iter().map(move |root| (cluster, root)));
    let made = roots.filter(|(_, root)| root.written.is_none());
    let made: Vec<_> =
        made.filter_map(|(cluster, root)| Some((cluster, root, root.kustomization.as_ref()?))).collect();
    let requests: Vec<Request> =
        made.iter().map(|(_, root, value)| Request::flux(root.folder.clone(), &value["spec"])).collect();
    let results = if requests.is_empty() { Vec::new() } else { renderer.render(snapshot, &requests) };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let inventory = |((cluster, root, value), result): (&(&Cluster, &Root, &Arc<Value>), Built)| Inventory {
        cluster: cluster.name.clone(),
        namespace: text(&value["metadata"]["namespace"]),
        name: text(&value["metadata"]["name"]),
        path: Some(root.folder.clone()),
        prune: prunes(&value["spec"]["prune"]),
        deletion_policy: text(&value["spec"]["deletionPolicy"]),
        is_kept: is_kept(value),
        place: Place::file(root.file.clone().unwrap_or_else(|| root.folder.clone())),
        brings_itself: true,
        beyond: ["postBuild", "kubeConfig"].map(|field| value["spec"][field].clone()),
        objects: result.map_err(|error| error.message),
    };
    made.iter().zip(results).map(inventory).collect()
}

/// As [`inventories`], with the objects of those Flux Kustomizations only that are wanted.
pub fn inventories_of(
    model: &Model,
    snapshot: &Snapshot,
    renderer: &dyn Renderer,
    is_wanted: &dyn Fn(&FluxKustomization) -> bool,
) -> Vec<Inventory> {
    let request = |one| is_wanted(one).then(|| delivery::request(one)).flatten();
    let mut distinct: Vec<Request> = Vec::new();
    let mut known: HashMap<Request, usize> = HashMap::new();
    let mut position = |request: Request| {
        *known.entry(request).or_insert_with_key(|request| {
            distinct.push(request.clone());
            distinct.len() - 1
        })
    };
    let built: Vec<Option<usize>> =
        model.all_flux().iter().map(|one| request(one).map(&mut position)).collect();
    let results = renderer.render(snapshot, &distinct);
    inventories_from(model, model.all_flux(), &|index| {
        let kustomization = model.flux(index);
        let objects = match built[index].and_then(|position| results.get(position)) {
            Some(Ok(objects)) => Ok(objects.clone()),
            Some(Err(error)) => Err(error.message.clone()),
            None if kustomization.path.is_some() => Err("it was not asked".to_owned()),
            None => Err("it builds no folder of this repository".to_owned()),
        };
        (kustomization.cluster.clone(), objects)
    })
}

/// As [`inventories`], of what has been built already: `built` gives the cluster and the objects, or why
/// there are none, of the Flux Kustomization at each position.
pub fn inventories_from<'m>(
    model: &Model,
    all: impl IntoIterator<Item = &'m FluxKustomization>,
    built: &dyn Fn(usize) -> (String, Result<Vec<Object>, String>),
) -> Vec<Inventory> {
    all.into_iter()
        .enumerate()
        .map(|(index, kustomization)| {
            let (cluster, objects) = built(index);
            Inventory {
                cluster,
                namespace: kustomization.namespace.clone(),
                name: kustomization.name.clone(),
                path: kustomization.path.clone(),
                prune: prunes(kustomization.spec("prune")),
                brings_itself: model.brings_itself(kustomization),
                deletion_policy: kustomization.spec("deletionPolicy").as_str().unwrap_or_default().to_owned(),
                is_kept: is_kept(&kustomization.effective),
                place: kustomization.place("prune"),
                beyond: [kustomization.post_build.clone(), kustomization.spec("kubeConfig").clone()],
                objects,
            }
        })
        .collect()
}

/// Returns whether a `spec.prune` deletes; a variable may.
pub fn prunes(value: &Value) -> bool {
    matches!(value, Value::Bool(true) | Value::String(_))
}

/// Returns whether a `spec.deletionPolicy` deletes whatever `spec.prune` says (kustomize-controller,
/// `finalizerShouldDeleteResources`); a variable may.
pub fn deletes_anyway(policy: &str) -> bool {
    danger(policy) > 1
}

/// Returns whether the objects of a Flux Kustomization with this `spec` stay in the cluster when it goes.
pub fn stays_without(spec: &Value) -> bool {
    let policy = spec["deletionPolicy"].as_str().unwrap_or("MirrorPrune");
    !deletes_anyway(policy) && (policy == "Orphan" || !prunes(&spec["prune"]))
}

/// Ranks a `spec.deletionPolicy` by what it may delete.
fn danger(policy: &str) -> usize {
    match policy {
        "Orphan" => 0,
        "" | "MirrorPrune" => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests;
