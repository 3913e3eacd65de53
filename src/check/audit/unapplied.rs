//! Gates that reach no cluster.

use std::collections::{BTreeMap, BTreeSet};

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
        let entry = || subject.model.entry(&delivery.path);
        delivery.flux.is_some() || entry().is_some_and(|entry| entry.through.is_some())
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
    let found = folders.into_iter().map(|((cluster, folder), jobs)| finding(subject, cluster, folder, &jobs));
    found.chain(unfetched(subject)).collect()
}

/// Finds gates of which a cluster's sources leave something out.
fn unfetched(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut folders: BTreeMap<(&ClusterKey, RepoPath), BTreeSet<&str>> = BTreeMap::new();
    for job in subject.jobs.iter().filter(|job| !job.suspended) {
        let list = list_of(subject, &subject.deliveries[job.delivery].path);
        let left_out = [list, job.place.path.clone()]
            .into_iter()
            .find(|file| !subject.model.delivered.is_fetched_by(&job.cluster.name, file));
        if let Some(file) = left_out {
            let folder = file.parent().unwrap_or_default();
            folders.entry((&job.cluster, folder)).or_default().insert(&job.name);
        }
    }
    let told = |((cluster, folder), jobs): ((&ClusterKey, RepoPath), BTreeSet<&str>)| {
        let text = format!(
            "the sources of cluster {} leave out files of {folder}, so nothing runs {} there",
            cluster.name,
            named(jobs)
        );
        UNAPPLIED_GATE
            .finding(text)
            .at(Place::file(list_of(subject, &folder)))
            .help("name folders that Flux fetches for `gate` and `clusterGate` under `layout`, or mend `spec.ignore`")
    };
    folders.into_iter().map(told).collect()
}

/// Returns the kustomization.yaml of a folder, or the folder where there is none.
fn list_of(subject: &Subject<'_>, folder: &RepoPath) -> RepoPath {
    subject.model.graph.get(folder).map_or_else(|| folder.clone(), |found| found.file.clone())
}

fn named<'j>(jobs: impl IntoIterator<Item = &'j str>) -> String {
    jobs.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

fn finding(subject: &Subject<'_>, cluster: &ClusterKey, folder: &RepoPath, jobs: &[&GateJob]) -> Diagnostic {
    let (file, names) = (list_of(subject, folder), named(jobs.iter().map(|job| job.name.as_str())));
    UNAPPLIED_GATE
        .finding(format!(
            "no Flux Kustomization of cluster {} applies {folder}, so {} never run there, and what should wait for a window lands at once",
            cluster.name, names
        ))
        .at(Place::file(file))
        .help("list the folder in what a Flux Kustomization applies that no window holds back; `gitops-windows sync` does it for gates of its own")
}
