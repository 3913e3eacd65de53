//! Gates in folders of which nobody knows a cluster any more.

use crate::delivery::Model;
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::plan::edit::generated::is_generated;
use crate::repo::Snapshot;
use crate::spec::Spec;

/// Says of each gate that the tool wrote and that no cluster gets, as far as Git and the spec tell.
///
/// Where the spec says the roots of clusters, whoever takes a cluster out of it takes its root out too: then nothing else
/// tells that its CronJobs go on.
pub fn stranded(model: &Model, snapshot: &Snapshot, spec: &Spec) -> Vec<Diagnostic> {
    let Ok(base) = spec.gate_base() else { return Vec::new() };
    let planned: Vec<RepoPath> =
        spec.clusters.keys().filter_map(|cluster| spec.gate_folder(cluster).ok()).collect();
    let is_ours = |folder: &RepoPath| {
        model.graph.get(folder).and_then(|list| snapshot.file(&list.file)).is_some_and(is_generated)
    };
    let gates = model.graph.lists(&base).into_iter().filter(|folder| is_ours(folder));
    let lost =
        gates.filter(|folder| !planned.contains(folder) && model.entries_building(folder).next().is_none());
    let told = |folder: RepoPath| {
        let text =
            format!("{folder} holds a gate of a cluster that is not in windows.yaml. Its CronJobs may go on");
        Diagnostic::warning(text).at(Place::file(folder.clone())).help(format!(
            "name the cluster under `clusters` with `roots` and `hasGate: false`\nrun `gitops-windows sync --allow-deletion`\nor run `git rm -r {folder}`, where the cluster is gone",
        ))
    };
    lost.map(told).collect()
}
