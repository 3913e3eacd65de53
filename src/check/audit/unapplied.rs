//! Gates that reach no cluster.

use std::collections::BTreeMap;

use crate::check::code::UNAPPLIED_GATE;
use crate::check::subject::Subject;
use crate::delivery::{ClusterKey, GateJob};
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;

/// Finds folders with a gate that is switched on, which no Flux Kustomization of the cluster applies.
///
/// Where none of the cluster's Flux Kustomizations is in Git, only people know what is applied, and
/// nothing is said.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let is_applied = |job: &GateJob| {
        let delivery = &subject.deliveries[job.delivery];
        let through = || {
            let mut entries = subject.model.entry_points.iter();
            entries.any(|entry| entry.path == delivery.path && entry.through.is_some())
        };
        delivery.flux.is_some() || through()
    };
    let is_managed = |job: &GateJob| {
        let mut all = subject.deliveries.iter();
        all.any(|delivery| delivery.cluster == job.cluster && delivery.flux.is_some())
    };
    let twin = |job: &GateJob| {
        let mut others = subject.jobs_of(&job.cluster).filter(|other| is_applied(other));
        others.any(|other| (&other.namespace, &other.name) == (&job.namespace, &job.name))
    };
    let mut folders: BTreeMap<(&ClusterKey, &RepoPath), Vec<&GateJob>> = BTreeMap::new();
    for job in subject.jobs.iter().filter(|job| !job.suspended) {
        if !is_applied(job) && is_managed(job) && !twin(job) {
            let folder = &subject.deliveries[job.delivery].path;
            folders.entry((&job.cluster, folder)).or_default().push(job);
        }
    }
    folders.into_iter().map(|((cluster, folder), jobs)| finding(subject, cluster, folder, &jobs)).collect()
}

fn finding(subject: &Subject<'_>, cluster: &ClusterKey, folder: &RepoPath, jobs: &[&GateJob]) -> Diagnostic {
    let names: Vec<String> = jobs.iter().map(|job| format!("`{}`", job.name)).collect();
    let file = subject.model.graph.get(folder).map_or_else(|| folder.clone(), |found| found.file.clone());
    UNAPPLIED_GATE
        .finding(format!(
            "no Flux Kustomization of cluster {} applies {folder}, so {} never run there, and what should wait for a window lands at once",
            cluster.name,
            names.join(" and ")
        ))
        .at(Place::file(file))
        .help("list the folder in what a Flux Kustomization applies that no window holds back; `gitops-windows sync` does it for gates of its own")
}
