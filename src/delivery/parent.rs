//! Entry points that apply other entry points' Flux Kustomizations.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::source::EXTERNAL;
use crate::delivery::{Model, Role};
use crate::path::RepoPath;
use crate::render::Object;
use crate::repo::FluxKustomization;
use crate::repo::flux;
use crate::repo::flux::artifact_path;
use crate::repo::manifest::ObjectId;

/// Says why an entry point with these objects is a parent, if it is one.
///
/// A parent applies Flux Kustomizations of entry points of this repository, with what surrounds them:
/// namespaces and what governs them, secrets, sources, alerts. With anything else, be it a ConfigMap that the children
/// take variables from, an entry point is there for apps and is divided. Windows belong to the
/// children, which reconcile by themselves; a parent behind a window would hold back new namespaces
/// and children, and divided it could apply a child before the namespace that the child is in.
pub fn reason(model: &Model, objects: &[Object]) -> Option<String> {
    let is_flux = |object: &&Object| ObjectId::of(&object.value).group == flux::GROUP;
    if objects.iter().all(|object| is_flux(&object)) {
        return Some("it holds only Flux Kustomizations; windows belong to those".into());
    }
    let children = objects.iter().filter(|object| is_child(model, object)).count();
    (children > 0 && objects.iter().all(surrounds)).then(|| {
        let word = if children == 1 { "a Flux Kustomization" } else { "Flux Kustomizations" };
        format!(
            "it applies {word} of this repository and runs nothing itself. Windows belong to their entry points"
        )
    })
}

/// Gives, for each entry point that applies Flux Kustomizations of others, those others.
///
/// A parent that also runs something can't be divided together with them: their Flux Kustomizations,
/// which a hand-over replaces, would be objects of its sides, in the middle of a hand-over of their own.
pub fn children(model: &Model) -> BTreeMap<&RepoPath, BTreeSet<&RepoPath>> {
    let mut found: BTreeMap<&RepoPath, BTreeSet<&RepoPath>> = BTreeMap::new();
    for entry in model.all_entries() {
        for flux in model.flux_of(entry) {
            let builders = model.graph.builders(&flux.file);
            let others = builders.iter().filter_map(|builder| model.entry(builder));
            for parent in others.filter(|other| other.role != Role::Bootstrap && other.path != entry.path) {
                found.entry(&parent.path).or_default().insert(&entry.path);
            }
        }
    }
    found
}

/// Returns whether an object is one that stands around Flux Kustomizations and brings no app.
fn surrounds(object: &Object) -> bool {
    let id = ObjectId::of(&object.value);
    let kind = id.kind.as_str();
    match id.group.as_str() {
        "" => matches!(kind, "Namespace" | "Secret" | "ServiceAccount" | "ResourceQuota" | "LimitRange"),
        "rbac.authorization.k8s.io" => true,
        // What an operator makes a Secret of.
        "bitnami.com" | "external-secrets.io" => true,
        "networking.k8s.io" => kind == "NetworkPolicy",
        group => group.ends_with(".toolkit.fluxcd.io") && kind != "HelmRelease",
    }
}

/// Returns whether an object is a Flux Kustomization whose path is an entry point of this repository.
fn is_child(model: &Model, object: &Object) -> bool {
    let spec = &object.value["spec"];
    let path = spec["path"].as_str().and_then(artifact_path);
    let source = spec["sourceRef"]["name"].as_str().unwrap_or_default();
    let is_placed = |known: &FluxKustomization| {
        known.path.is_some() && known.source_name() == source && known.spec("path") == &spec["path"]
    };
    ObjectId::of(&object.value).group == flux::GROUP
        && (path.is_some_and(|path| model.flux_at(&path).any(|known| known.source_name() == source))
            || spec["sourceRef"]["kind"] == EXTERNAL && model.all_flux().iter().any(is_placed))
}
