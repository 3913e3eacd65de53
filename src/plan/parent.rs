//! Entry points that apply other entry points' Flux Kustomizations.

use crate::render::Object;
use crate::repo::manifest::ObjectId;
use crate::repo::{Model, RepoPath, flux};

/// What runs something, or has it run: an entry point that holds one is there for apps.
const RUNNING: [&str; 8] =
    ["CronJob", "DaemonSet", "Deployment", "HelmRelease", "Job", "Pod", "ReplicaSet", "StatefulSet"];

/// Says why an entry point with these objects is a parent, if it is one.
///
/// A parent applies Flux Kustomizations of entry points of this repository, with what surrounds them:
/// namespaces, secrets, sources, alerts. Windows belong to the children, which reconcile by
/// themselves; a parent behind a window would hold back new namespaces and children, and divided it
/// could apply a child before the namespace that the child is in.
pub(super) fn reason(model: &Model, objects: &[Object]) -> Option<String> {
    let is_flux = |object: &&Object| ObjectId::of(&object.value).group == flux::GROUP;
    if objects.iter().all(|object| is_flux(&object)) {
        return Some("it holds only Flux Kustomizations, which gate what they apply themselves".into());
    }
    let runs = |object: &Object| RUNNING.contains(&ObjectId::of(&object.value).kind.as_str());
    let children = objects.iter().filter(|object| is_child(model, object)).count();
    (children > 0 && !objects.iter().any(runs)).then(|| {
        let word = if children == 1 { "a Flux Kustomization" } else { "Flux Kustomizations" };
        format!(
            "it applies {word} of this repository and what surrounds them, and runs nothing itself: windows belong to the entry points that these apply"
        )
    })
}

/// Tells whether an object is a Flux Kustomization whose path is an entry point of this repository.
fn is_child(model: &Model, object: &Object) -> bool {
    let spec = &object.value["spec"];
    let path = spec["path"].as_str().and_then(|text| RepoPath::parse(text.trim_start_matches('/')).ok());
    let source = spec["sourceRef"]["name"].as_str().unwrap_or_default();
    ObjectId::of(&object.value).group == flux::GROUP
        && path.is_some_and(|path| {
            model.flux.iter().any(|known| known.path.as_ref() == Some(&path) && known.source_name() == source)
        })
}
