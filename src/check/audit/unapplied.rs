//! Gates that reach no cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::code::UNAPPLIED_GATE;
use crate::check::subject::Subject;
use crate::delivery::{ClusterKey, EntryPoint, GateJob, Input, Model};
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::repo::built;

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
    let is_managed =
        |job: &GateJob| subject.reconciled_in(&job.cluster).any(|delivery| delivery.flux.is_some());
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
    let told = |(cluster, folder): (&ClusterKey, &RepoPath), jobs: Vec<&GateJob>| {
        finding(subject, &cluster.name, folder, jobs.iter().map(|job| job.name.as_str()))
    };
    let unreached = unreached(subject, folders.keys().map(|(_, folder)| *folder).collect());
    let found = folders.into_iter().map(|(place, jobs)| told(place, jobs));
    found.chain(unreached).chain(suspended(subject)).chain(unfetched(subject)).collect()
}

/// Finds gates of which the spec speaks and that no entry point builds, but for those in `known` folders.
fn unreached(subject: &Subject<'_>, known: BTreeSet<&RepoPath>) -> Vec<Diagnostic> {
    let Subject { snapshot, model, renderer, .. } = *subject;
    let Some(spec) = subject.spec else { return Vec::new() };
    let input = Input { spec, snapshot, model, renderer };
    let mut found = Vec::new();
    for cluster in spec.clusters.keys().filter(|cluster| spec.gate_enabled(cluster)) {
        let Ok(Some(folder)) = input.gate_of(cluster) else { continue };
        let is_managed = model.flux_of_cluster(cluster).next().is_some();
        let mut entries = model.entries_of(cluster);
        if !is_managed || known.contains(&folder) || entries.any(|one| builds(model, one, &folder)) {
            continue;
        }
        let jobs = input.jobs_in(&folder);
        let names: Vec<&str> =
            jobs.iter().filter(|job| job.is_running).map(|job| job.name.as_str()).collect();
        found.extend((!names.is_empty()).then(|| finding(subject, cluster, &folder, names)));
    }
    found
}

fn builds(model: &Model, entry: &EntryPoint, folder: &RepoPath) -> bool {
    built(&model.graph, &entry.path).contains(folder)
}

/// Finds gates that Git keeps from their cluster, since it suspends the Flux Kustomization that brings them, or one above it.
fn suspended(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let suspended = |job: &GateJob| {
        let flux = subject.flux(&subject.deliveries[job.delivery]);
        flux.is_some_and(|flux| subject.model.kept_out_by(flux).is_some())
    };
    let twin = |job: &GateJob| {
        let mut others = subject.jobs_of(&job.cluster).filter(|other| !suspended(other));
        others.any(|other| (&other.namespace, &other.name) == (&job.namespace, &job.name))
    };
    let mut found: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for job in subject.jobs.iter().filter(|job| !job.suspended && suspended(job) && !twin(job)) {
        found.entry(job.delivery).or_default().insert(&job.name);
    }
    let told = |(delivery, jobs): (usize, BTreeSet<&str>)| {
        let delivery = &subject.deliveries[delivery];
        let flux = subject.flux(delivery)?;
        let above = subject.model.kept_out_by(flux)?;
        let why = match std::ptr::eq(flux, above) {
            true => "`suspend: true` in Git stops it".to_owned(),
            false => format!("`suspend: true` of {} in Git stops it", above.name),
        };
        Some(
            UNAPPLIED_GATE
                .finding(format!(
                    "{} applies {}, and {why}. What the cluster has of that runs on, and nothing new arrives",
                    delivery.name,
                    named(jobs)
                ))
                .at(above.place("suspend"))
                .help("remove the line\nor let a Flux Kustomization that is not suspended apply the gate"),
        )
    };
    found.into_iter().filter_map(told).collect()
}

/// Finds gates of which a cluster's sources leave something out.
fn unfetched(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut folders: BTreeMap<(&ClusterKey, RepoPath), (RepoPath, BTreeSet<&str>)> = BTreeMap::new();
    for job in subject.jobs.iter().filter(|job| !job.suspended) {
        let list = list_of(subject, &subject.deliveries[job.delivery].path);
        let left_out = [list, job.place.path.clone()]
            .into_iter()
            .find(|file| !subject.model.delivered.is_fetched_by(&job.cluster.name, file));
        if let Some(file) = left_out {
            let folder = file.parent().unwrap_or_default();
            let (_, jobs) = folders.entry((&job.cluster, folder)).or_insert_with(|| (file, BTreeSet::new()));
            jobs.insert(&job.name);
        }
    }
    let told = |((cluster, folder), (file, jobs)): ((&ClusterKey, RepoPath), (RepoPath, BTreeSet<&str>))| {
        let why = subject.model.delivered.left_out_by(&cluster.name, &file);
        let correct = why.map_or_else(|| "correct `spec.ignore`".to_owned(), |why| why.remedy());
        // What brings them may fail for that, and then prunes nothing.
        let closings = subject.model.closings.of(&cluster.name);
        let is_kept = closings.iter().any(|job| job.is_kept_out() && jobs.contains(job.name.as_str()));
        let names = named(jobs);
        let effect = match is_kept {
            true => format!("What the cluster has of {names} runs on, and nothing new arrives"),
            false => absent(&names),
        };
        let text = format!("the sources of cluster {} leave out files of {folder}. {effect}", cluster.name);
        UNAPPLIED_GATE.finding(text).at(Place::file(list_of(subject, &folder))).help(format!(
            "choose folders that Flux fetches for `gate` and `clusterGate` under `layout`\nor {correct}"
        ))
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

/// Says what becomes of jobs that no cluster gets: what they have closed before stays so.
fn absent(names: &str) -> String {
    let them = if names.contains(" and ") { "them" } else { "it" };
    format!("The cluster does not get {names}, so no window opens or closes by {them}")
}

fn finding<'j>(
    subject: &Subject<'_>,
    cluster: &str,
    folder: &RepoPath,
    jobs: impl IntoIterator<Item = &'j str>,
) -> Diagnostic {
    let (file, names) = (list_of(subject, folder), named(jobs));
    UNAPPLIED_GATE
        .finding(format!("no Flux Kustomization of cluster {cluster} applies {folder}. {}", absent(&names)))
        .at(Place::file(file))
        .help("list the folder where a Flux Kustomization without a window applies it; `gitops-windows sync` does so for its own gates")
}
