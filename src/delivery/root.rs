//! Where Flux begins to read a cluster.

use serde_json::{Value, json};

use crate::delivery::naming::prefix;
use crate::delivery::secure_join::secure_join;
use crate::delivery::source::SourceId;
use crate::path::RepoPath;
use crate::repo::flux::{holds_variable, is_yaml};
use crate::repo::manifest::{manifests, objects};
use crate::repo::{Entry, FluxKustomization, Snapshot};

/// A folder that is applied to a cluster before anything else.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// The folder.
    pub folder: RepoPath,
    /// Roots of one such folder are roots of one cluster, unless the spec says otherwise.
    pub(super) group: RepoPath,
    /// The top of the artifact that it is a part of: the top of the repository, but for artifacts that are made of one
    /// of its folders.
    pub artifact: RepoPath,
    /// The Flux Kustomization that applies it, as it is written or as FluxInstance makes it; `None` where Git does not
    /// say it.
    pub kustomization: Option<Value>,
    /// The position of that one among those that stand in files.
    pub written: Option<usize>,
    /// The source, where Git says it, with what it is known to be.
    pub source: Option<(SourceId, Value)>,
    /// Why it is one.
    pub reason: Reason,
}

impl Root {
    /// Makes a root of the folder of a Flux Kustomization, at this position among those that stand in files.
    pub(super) fn of(written: usize, one: &FluxKustomization, folder: RepoPath, reason: Reason) -> Root {
        let namespace = one.value["metadata"]["namespace"].as_str().unwrap_or_default();
        Root {
            kustomization: Some(one.value.clone()),
            written: Some(written),
            source: Some((SourceId::of(&one.value["spec"], namespace), Value::Null)),
            ..Root::folder(&folder, reason)
        }
    }

    /// Makes a root of a folder of which Git does not say what applies it.
    pub(super) fn folder(folder: &RepoPath, reason: Reason) -> Root {
        Root {
            folder: folder.clone(),
            group: prefix(folder),
            artifact: RepoPath::top(),
            kustomization: None,
            written: None,
            source: None,
            reason,
        }
    }
}

/// Why a folder is the root of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The spec says so.
    Spec,
    /// A Flux Kustomization in it applies it, as `flux bootstrap` makes it.
    AppliesItself,
    /// The `sync` of a FluxInstance names it.
    FluxInstance,
    /// Nothing says so: Flux Kustomizations stand in it that no other build brings.
    Proposed,
}

/// Finds the Flux Kustomizations that apply the folder in which they stand.
///
/// What a cluster's root brings may apply its own folder too: whoever knows more roots drops it then.
pub(super) fn applying_themselves(snapshot: &Snapshot, flux: &[FluxKustomization]) -> Vec<(usize, Root)> {
    let top = RepoPath::top();
    let root = |(position, one): (usize, &FluxKustomization)| {
        let spec = &one.value["spec"];
        if one.source_kind() != "GitRepository"
            || holds_variable(&spec["path"])
            || !spec["kubeConfig"].is_null()
        {
            return None;
        }
        let folder = secure_join(snapshot, &top, spec["path"].as_str().unwrap_or_default())?;
        let root = Root::of(position, one, folder, Reason::AppliesItself);
        one.file.is_within(&root.folder).then_some((position, root))
    };
    flux.iter().enumerate().filter(|(_, one)| one.has_source()).filter_map(root).collect()
}

/// Finds what the FluxInstances of a repository sync, and those that a HelmRelease of the chart `flux-instance` makes
/// (controlplaneio-fluxcd/flux-operator, `api/v1/fluxinstance_types.go` and the chart's `values.yaml`).
///
/// Source and Kustomization of a sync have the name of the instance's namespace unless `sync.name` gives another.
pub(super) fn of_instances(snapshot: &Snapshot) -> Vec<Root> {
    let mut found: Vec<Root> = Vec::new();
    for (path, entry) in snapshot.entries() {
        let Entry::File(file) = entry else { continue };
        let names_sync = || file.text().is_some_and(|text| text.contains("sync:") && text.contains("lux"));
        if !is_yaml(path) || !names_sync() {
            continue;
        }
        for manifest in manifests(file).into_iter().flatten() {
            for value in objects(&manifest.value) {
                let Some((namespace, sync)) = sync_of(value) else { continue };
                found.extend(synced(snapshot, namespace, sync).filter(|root| !found.contains(root)));
            }
        }
    }
    found
}

/// Returns the namespace and the `sync` of a FluxInstance, or of the release that makes one.
fn sync_of(value: &Value) -> Option<(&str, &Value)> {
    let sync = match value["kind"].as_str() {
        Some("FluxInstance") => &value["spec"]["sync"],
        Some("HelmRelease") => &value["spec"]["values"]["instance"]["sync"],
        // Values of the chart in a file of their own.
        None => &value["instance"]["sync"],
        Some(_) => return None,
    };
    let namespace = value["metadata"]["namespace"].as_str().filter(|namespace| !namespace.is_empty());
    sync.is_object().then(|| (namespace.unwrap_or("flux-system"), sync))
}

fn synced(snapshot: &Snapshot, namespace: &str, sync: &Value) -> Option<Root> {
    if holds_variable(&sync["path"]) {
        return None;
    }
    let path = sync["path"].as_str().unwrap_or_default();
    let kind = sync["kind"].as_str().unwrap_or("GitRepository");
    let name = sync["name"].as_str().filter(|name| !name.is_empty()).unwrap_or(namespace);
    let artifact = artifact(snapshot, kind, path)?;
    let folder = secure_join(snapshot, &artifact, path)?;
    let id = SourceId { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() };
    let kustomization = json!({
        "apiVersion": crate::repo::flux::API_VERSION,
        "kind": "Kustomization",
        "metadata": { "name": name, "namespace": namespace },
        "spec": {
            "interval": sync["interval"].as_str().unwrap_or("10m"),
            "path": path,
            "prune": true,
            "sourceRef": { "kind": kind, "name": name },
        },
    });
    let source = json!({ "spec": { "url": sync["url"] } });
    Some(Root {
        group: prefix(&folder),
        folder,
        artifact,
        kustomization: Some(kustomization),
        written: None,
        source: Some((id, source)),
        reason: Reason::FluxInstance,
    })
}

/// Returns the folder of which an artifact is made: the top, or for what is pushed (`flux push artifact --path`) the
/// only folder that holds the path. `None` where none does: then it is no artifact of this repository.
fn artifact(snapshot: &Snapshot, kind: &str, path: &str) -> Option<RepoPath> {
    let holds =
        |top: &RepoPath| secure_join(snapshot, top, path).is_some_and(|folder| snapshot.is_dir(&folder));
    let top = RepoPath::top();
    if holds(&top) {
        return Some(top);
    }
    if kind == "GitRepository" {
        return None;
    }
    let folders: std::collections::BTreeSet<RepoPath> =
        snapshot.entries().flat_map(|(file, _)| file.parents()).collect();
    let mut holding = folders.into_iter().filter(|folder| !folder.is_top() && holds(folder));
    match (holding.next(), holding.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}
