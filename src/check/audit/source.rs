//! Sources that Flux Kustomizations read and that nothing in Git defines.

use std::collections::BTreeSet;

use crate::check::code::MISSING_SOURCE;
use crate::check::subject::Subject;
use crate::delivery::{Cluster, Reached, SourceId};
use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::repo::{Entry, FluxKustomization, Kustomization, Reference, built};
use crate::text::did_you_mean;

/// Fields of a kustomization that make objects of which its files say nothing.
const MAKING: [&str; 2] = ["generators", "transformers"];

/// Finds Flux Kustomizations whose source nothing in Git defines while it defines one of the same name in another
/// namespace, or one of nearly the same name: without its source Flux applies nothing (kustomize-controller, `getSource`,
/// which takes the Kustomization's own namespace where `sourceRef` names none).
///
/// Where no name is alike, the source comes from outside of Git, as many do.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    for flux in subject.deliveries.iter().filter_map(|delivery| subject.flux(delivery)) {
        let cluster = subject.model.delivered.named(&flux.cluster);
        let found = cluster.and_then(|cluster| missing(subject, cluster, flux));
        findings.extend(found.filter(|new| !findings.iter().any(|old| old.place == new.place)));
    }
    findings
}

/// Returns the source that a Flux Kustomization reads, where its cluster surely does not get that from Git.
pub(in crate::check) fn lacks(
    subject: &Subject<'_>,
    cluster: &Cluster,
    flux: &FluxKustomization,
) -> Option<SourceId> {
    let one = subject.model.reached(flux).filter(|one| one.remote.is_empty())?;
    let id = one.source();
    let is_unclear = [&id.namespace, &id.name].into_iter().any(|text| text.is_empty() || text.contains("${"));
    if is_unclear || cluster.source(&id).is_some() {
        return None;
    }
    // What does not build may define what is missing.
    let mut broken = cluster.kustomizations.iter().filter(|other| other.error.is_some());
    if broken.any(|other| may_hold(subject, other, &id.kind)) {
        return None;
    }
    // It makes sources of names that nobody knows.
    let may_be_made = || {
        let applied = subject.deliveries.iter().flat_map(|delivery| &delivery.objects);
        let mut sets = applied.filter(|applied| applied.id.kind == "ResourceSet");
        sets.any(|set| super::dependency::may_make(set.value(), "Repository"))
    };
    (!subject.makes_repositories.get_or_init(may_be_made)).then_some(id)
}

fn missing(subject: &Subject<'_>, cluster: &Cluster, flux: &FluxKustomization) -> Option<Diagnostic> {
    let id = lacks(subject, cluster, flux)?;
    let of_kind = || cluster.sources.iter().map(|(source, _)| source).filter(|source| source.kind == id.kind);
    let SourceId { kind, namespace, name } = &id;
    let spaces: BTreeSet<&str> =
        of_kind().filter(|source| source.name == *name).map(|source| source.namespace.as_str()).collect();
    let help = match spaces.first() {
        Some(other) => format!("write `namespace: {other}` in its `sourceRef`"),
        None => {
            let names: BTreeSet<&str> = of_kind()
                .filter(|source| source.namespace == *namespace)
                .map(|source| source.name.as_str())
                .collect();
            did_you_mean(name, names)?
        }
    };
    Some(
        MISSING_SOURCE
            .finding(format!(
                "{} reads {kind} {namespace}/{name}, which is not in Git. Without it, nothing is applied",
                flux.name
            ))
            .at(flux.place("sourceRef"))
            .help(format!("{help}\nor ignore this, if something outside of Git makes {namespace}/{name}")),
    )
}

/// Returns whether what does not build may hold a source of a kind, as far as its files tell: these may be unreadable, or have
/// others fetched. A file that is not there is not in Git.
fn may_hold(subject: &Subject<'_>, broken: &Reached, kind: &str) -> bool {
    let Some(path) = &broken.path else { return true };
    let (files, graph) = subject.model.seen_in(subject.snapshot, subject.model.partial_of(broken));
    let says = |path: &RepoPath| match files.entry(path) {
        Some(Entry::File(file)) => {
            file.text().is_none_or(|text| text.contains(kind) || text.contains("ResourceSet"))
        }
        Some(_) => true,
        None => false,
    };
    let of_list = |list: &Kustomization| {
        let makes = |key: &str| MAKING.contains(&key);
        let mut named = list.resources().iter().filter_map(Reference::path);
        list.is_remote() || list.keys().any(makes) || named.any(|path| !graph.has(path) && says(path))
    };
    built(graph, path).iter().any(|folder| {
        let loose = || files.below(folder).any(|(file, _)| graph.is_loose(file, folder) && says(file));
        graph.broken(folder).is_some() || graph.get(folder).map_or_else(loose, of_list)
    })
}
