//! Clusters, windows and Flux names of the spec that the repository has no use for.

use std::collections::BTreeSet;

use crate::check::code::MATCHES_NOTHING;
use crate::check::subject::Subject;
use crate::delivery::{EntryPoint, Role};
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::repo::FluxKustomization;
use crate::spec::{Cluster, FluxDefaults, FluxSource, Placed, Spec, WindowUse, near_folder};
use crate::text::{did_you_mean, is_alike};

/// Finds names of the spec that match nothing; those of its rules are another audit's.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(spec) = subject.spec else { return Vec::new() };
    let mut findings = clusters(subject, spec);
    findings.extend(windows(spec));
    findings.extend(flux(subject, spec));
    findings
}

/// Makes a finding; `near` is what was probably meant, and `help` is said where nothing is near.
pub(super) fn finding(message: String, place: Place, near: Option<String>, help: &str) -> Diagnostic {
    MATCHES_NOTHING.finding(message).at(place).help(near.unwrap_or_else(|| help.to_owned()))
}

fn clusters(subject: &Subject<'_>, spec: &Spec) -> Vec<Diagnostic> {
    // `sync` writes the gate of any cluster that the spec names, which is no sign of one.
    let is_sign = |entry: &&EntryPoint| entry.role != Role::Gate || !entry.flux.is_empty();
    let entries = subject.model.all_entries().iter().filter(is_sign);
    let known: BTreeSet<&str> = entries.flat_map(EntryPoint::clusters).collect();
    // The folders of a cluster that nothing names are not alive.
    let dead = subject.model.unlisted.iter().flat_map(|flux| flux.file.as_str().split('/').rev().skip(1));
    let dead: BTreeSet<&str> = dead.filter(|folder| !spec.clusters.contains_key(*folder)).collect();
    let mut findings = Vec::new();
    for cluster in spec.clusters.values() {
        let missing = missing_folders(subject, spec, cluster);
        // Beside no cluster at all, the spec speaks of what stands elsewhere.
        if missing.is_empty() && !known.is_empty() && !known.contains(cluster.name.as_str()) {
            let name = &cluster.name.value;
            let free = known.iter().copied().filter(|other| !spec.clusters.contains_key(*other));
            // Beside the same name, written otherwise, or as long as no other cluster has the folder.
            let named = spec.clusters.keys().map(String::as_str);
            let twins = named.filter(|other| *other != name && is_alike(name, other));
            // One that Git has, and of which the spec does not speak, is surely meant.
            let is_meant = did_you_mean(name, free.clone()).is_some();
            let free: BTreeSet<&str> = free.chain(twins).chain(dead.iter().copied()).collect();
            let found = finding(
                format!(
                    "cluster `{name}` has no entry point in this repository. Nothing of it waits for a window"
                ),
                cluster.name.place.clone(),
                did_you_mean(name, free),
                "name its folders with `path` or `roots`, or remove the cluster",
            );
            let severity = if is_meant { Severity::Error } else { found.severity };
            findings.push(Diagnostic { severity, ..found });
        }
        findings.extend(missing);
    }
    findings
}

/// A root that does not exist is an error of the spec.
fn missing_folders(subject: &Subject<'_>, spec: &Spec, cluster: &Cluster) -> Vec<Diagnostic> {
    let (root, snapshot) = (spec.folder(), subject.snapshot);
    let is_missing =
        |path: &&Placed<String>| root.join(&path.value).is_ok_and(|folder| !snapshot.is_dir(&folder));
    let missing = cluster.paths.iter().filter(is_missing).map(|path| {
        finding(
            format!("folder `{}` of cluster `{}` does not exist", path.value, cluster.name.value),
            path.place.clone(),
            near_folder(snapshot, &root, &path.value),
            "name the folder that holds the Flux Kustomizations of the cluster",
        )
    });
    missing.collect()
}

fn windows(spec: &Spec) -> Vec<Diagnostic> {
    let by_types = spec.types.iter().flat_map(|change_type| &change_type.windows);
    let by_clusters = spec.clusters.values().flat_map(|cluster| cluster.windows.values());
    let named = by_clusters.flat_map(|uses| &uses.value).filter_map(|one| match one {
        WindowUse::Named(name) => Some(name),
        WindowUse::Inline(_) => None,
    });
    let used: BTreeSet<&str> = by_types.chain(named).map(|name| name.as_str()).collect();
    let unused = spec.windows.iter().filter(|(name, _)| !used.contains(name.as_str()));
    let unused = unused.map(|(name, window)| {
        finding(
            format!("no type and no cluster uses window `{name}`. It has no effect"),
            window.place.clone(),
            None,
            "name it under a type or a cluster, or remove it",
        )
    });
    unused.collect()
}

/// What the spec says of Flux is judged only where it is no default, which nobody may have written.
fn flux(subject: &Subject<'_>, spec: &Spec) -> Vec<Diagnostic> {
    let all = subject.model.all_flux();
    let (wanted, source) = (&spec.flux, &spec.flux.source);
    let mut findings = Vec::new();
    let place = || Place::file(spec.path.clone());
    let is_it = |kind: &str, name: &str| kind == source.kind && name == source.name;
    if *source != FluxSource::default()
        && !all.is_empty()
        && !all.iter().any(|one| is_it(one.source_kind(), one.source_name()))
    {
        let names: BTreeSet<&str> = all.iter().map(FluxKustomization::source_name).collect();
        findings.push(finding(
            format!("no Flux Kustomization reads {} `{}` of `flux.source`", source.kind, source.name),
            place(),
            did_you_mean(&source.name, names),
            "name the source that the Flux Kustomizations of this repository read",
        ));
    }
    // Where Git does not say the namespace of one, it may be this.
    let namespaces: BTreeSet<&str> = all.iter().map(|one| one.namespace.as_str()).collect();
    if wanted.namespace != FluxDefaults::default().namespace
        && !namespaces.is_empty()
        && !namespaces.contains("")
        && !namespaces.contains(wanted.namespace.as_str())
    {
        findings.push(finding(
            format!("no Flux Kustomization is in namespace `{}` of `flux.namespace`", wanted.namespace),
            place(),
            did_you_mean(&wanted.namespace, namespaces),
            "name the namespace of the Flux Kustomizations of this repository",
        ));
    }
    findings
}
