//! What a cluster's overlay of a gate sets for a job.

use serde_json::Value;

use crate::path::RepoPath;
use crate::repo::flux::is_yaml;
use crate::repo::manifest::manifests;
use crate::repo::{Graph, Snapshot, Target};

/// A cluster's copy of a job's settings: a patch file beside the overlay of a gate.
#[derive(Clone, Debug)]
pub struct GatePatch {
    /// The file.
    pub file: RepoPath,
    /// Whether the overlay's kustomization applies it.
    pub listed: bool,
    /// The patch.
    pub value: Value,
}

/// Finds a job's patch in the folder of an overlay: a CronJob of that name that is listed as a patch, or one without a
/// pod beside the kustomization.
///
/// A patch that lies there and that the kustomization forgot to list is found too; it has no
/// effect, which its owner will want to know.
pub fn gate_patch(snapshot: &Snapshot, graph: &Graph, overlay: &RepoPath, job: &str) -> Option<GatePatch> {
    let kustomization = graph.get(overlay)?;
    let references = kustomization.references();
    let is_patch_field = |field: &str| matches!(field, "patches" | "patchesStrategicMerge");
    let listed = references.iter().filter(|reference| is_patch_field(reference.field));
    let listed: Vec<RepoPath> = listed
        .filter_map(|reference| match &reference.target {
            Target::Path(path) => Some(path.clone()),
            _ => None,
        })
        .collect();
    let beside =
        snapshot.entries().map(|(path, _)| path).filter(|path| path.parent().as_ref() == Some(overlay));
    let candidates = listed.iter().chain(beside.filter(|path| is_yaml(path)));
    for path in candidates {
        for manifest in snapshot.file(path).and_then(manifests).into_iter().flatten() {
            let value = manifest.value;
            if value["kind"] == "CronJob"
                && value["metadata"]["name"] == job
                && (listed.contains(path) || value["spec"]["jobTemplate"]["spec"].get("template").is_none())
            {
                return Some(GatePatch {
                    file: path.clone(),
                    listed: listed.contains(path),
                    value: (*value).clone(),
                });
            }
        }
    }
    // A gate without an overlay keeps the settings in the job itself.
    let resources = kustomization.resources();
    let own = resources.iter().filter_map(|reference| match &reference.target {
        Target::Path(path) => Some(path),
        _ => None,
    });
    own.filter_map(|path| Some((path, snapshot.file(path)?))).find_map(|(path, file)| {
        let is_job = |value: &Value| value["kind"] == "CronJob" && value["metadata"]["name"] == job;
        let found = manifests(file)?.into_iter().find(|manifest| is_job(&manifest.value))?;
        Some(GatePatch { file: path.clone(), listed: true, value: (*found.value).clone() })
    })
}
