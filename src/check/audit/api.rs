//! API versions and fields that are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::check::audit::named;
use crate::check::code::{OLD_FIELD, REMOVED_API};
use crate::check::subject::Subject;
use crate::delivery::Cluster;
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::repo::{File, FluxApi, Kustomization};
use crate::yaml::Node;

/// API versions that are not served any more: since when, and what to write (release notes of Flux 2.7 and
/// 2.8; Kubernetes' deprecation guide).
const REMOVED: [(&str, &str, &str); 12] = [
    ("kustomize.toolkit.fluxcd.io/v1beta1", "Flux 2.7", "v1"),
    ("kustomize.toolkit.fluxcd.io/v1beta2", "Flux 2.8", "v1"),
    ("source.toolkit.fluxcd.io/v1alpha1", "Flux 0.2", "v1"),
    ("source.toolkit.fluxcd.io/v1beta1", "Flux 2.7", "v1"),
    ("source.toolkit.fluxcd.io/v1beta2", "Flux 2.8", "v1"),
    ("helm.toolkit.fluxcd.io/v2beta1", "Flux 2.7", "v2"),
    ("helm.toolkit.fluxcd.io/v2beta2", "Flux 2.8", "v2"),
    ("notification.toolkit.fluxcd.io/v1beta1", "Flux 2.7", "v1beta3, or v1 for a Receiver"),
    ("notification.toolkit.fluxcd.io/v1beta2", "Flux 2.8", "v1beta3, or v1 for a Receiver"),
    ("image.toolkit.fluxcd.io/v1beta1", "Flux 2.7", "v1"),
    ("batch/v1beta1", "Kubernetes 1.25", "v1"),
    ("batch/v2alpha1", "Kubernetes 1.21", "v1"),
];

/// Fields that `kustomize edit fix` replaces, and by what.
const OLD_FIELDS: [(&str, &str); 5] = [
    ("patchesStrategicMerge", "patches"),
    ("patchesJson6902", "patches"),
    ("bases", "resources"),
    ("commonLabels", "labels"),
    ("vars", "replacements"),
];

/// Finds objects of removed APIs in what clusters get, one finding for each file and version, and old fields
/// in the kustomizations of gates.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    // Each with the clusters that get something of it.
    let mut files: BTreeMap<&RepoPath, BTreeSet<&str>> = BTreeMap::new();
    for flux in subject.model.all_flux() {
        files.entry(&flux.file).or_default().insert(&flux.cluster);
    }
    for delivery in &subject.deliveries {
        for origin in delivery.objects.iter().filter_map(|applied| applied.object.origin.as_ref()) {
            files.entry(&origin.path).or_default().insert(&delivery.cluster.name);
        }
    }
    let mut findings = Vec::new();
    for (path, clusters) in files {
        // What `flux bootstrap` writes is renewed by the next bootstrap and holds every version.
        if path.name().is_some_and(|name| name.starts_with("gotk-")) {
            continue;
        }
        // All of them are of an early version. Where something is escaped, only a reader of YAML knows.
        let may_be = |file: &File| ["alpha", "beta", "\\"].iter().any(|word| file.mentions(word));
        if !subject.snapshot.file(path).is_some_and(may_be) {
            continue;
        }
        let Some(source) = subject.sources.get(path) else { continue };
        let mut seen = BTreeSet::new();
        for object in &source.objects {
            let Some(version) = object.get("apiVersion") else { continue };
            let Some(text) = version.scalar_text() else { continue };
            let Some((_, since, now)) = REMOVED.iter().find(|(old, ..)| *old == text) else { continue };
            if seen.insert(text.to_owned()) {
                let kind = object.get("kind").and_then(Node::scalar_text).unwrap_or_default();
                let help = remedy(subject, &clusters, (text, kind), now);
                findings.push(removed(path, &source.text, version, text, since).help(help));
            }
        }
    }
    findings.extend(old_fields(subject));
    findings
}

/// Says what to write in place of a version of a kind, and which clusters have to come first.
fn remedy(
    subject: &Subject<'_>,
    clusters: &BTreeSet<&str>,
    (version, kind): (&str, &str),
    now: &str,
) -> String {
    let group = version.split('/').next().unwrap_or_default();
    let newest = if kind == "Receiver" { "v1" } else { now.split(',').next().unwrap_or(now) };
    let wanted = format!("{group}/{newest}");
    let is_behind = |cluster: &&&str| {
        let api = subject.model.delivered.named(cluster).and_then(Cluster::api);
        api.is_some_and(|api| api.serves_kind(&wanted, kind) == Some(false))
    };
    let behind: BTreeSet<&str> = clusters.iter().filter(is_behind).copied().collect();
    if behind.is_empty() {
        if group == "batch" {
            return format!("write {now}");
        }
        // The same of every version, so that they are told together. The message names the version.
        return "write the served version: `flux migrate -f .` does it, mostly with no other change"
            .to_owned();
    }
    let since = FluxApi::version_serving(&wanted, kind);
    format!("upgrade Flux of {} to {since}, and let that reach it first\nthen write {newest}", named(&behind))
}

fn removed(path: &RepoPath, text: &Arc<str>, node: &Node, version: &str, since: &str) -> Diagnostic {
    REMOVED_API
        .finding(format!(
            "`{version}` is not served since {since}. Applying this fails there, and the whole Flux Kustomization with it"
        ))
        .at(Place::span(path.clone(), text.clone(), node.span.clone()))
}

fn old_fields(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let graph = &subject.model.graph;
    let bases: BTreeSet<&RepoPath> = subject.model.gates.iter().map(|gate| &gate.base).collect();
    // A gate's own folders: its base, and overlays that bring nothing else.
    let is_gate = |kustomization: &&Kustomization| {
        bases.contains(&kustomization.folder)
            || graph.children(&kustomization.folder).iter().any(|child| bases.contains(child))
    };
    let mut findings = Vec::new();
    for kustomization in graph.iter().filter(is_gate) {
        for (key, _) in kustomization.root.entries() {
            let old = OLD_FIELDS.iter().find(|(old, _)| key.as_str() == Some(old));
            let Some((old, new)) = old else { continue };
            let place = Place::span(kustomization.file.clone(), kustomization.text.clone(), key.span.clone());
            findings.push(
                OLD_FIELD
                    .finding(format!("`{old}` is deprecated, and a kustomize without it would build no gate"))
                    .at(place)
                    .help(format!("write `{new}`; `kustomize edit fix` does it")),
            );
        }
    }
    findings
}
