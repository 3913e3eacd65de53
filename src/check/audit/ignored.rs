//! Fields of kustomization.yaml that Flux does not know.

use std::collections::BTreeSet;

use crate::check::code::IGNORED_FIELD;
use crate::check::subject::Subject;
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::repo::field::KNOWN;
use crate::text::did_you_mean;

/// Finds fields that kustomize-controller leaves out of the list of a folder that it builds.
///
/// Where the folder is a base of another one, kustomize refuses it there. Names that begin with `x-` are for people, who
/// keep anchors below them.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let folders: BTreeSet<&RepoPath> = subject.deliveries.iter().map(|delivery| &delivery.path).collect();
    let mut findings = Vec::new();
    for list in folders.into_iter().filter_map(|folder| subject.model.graph.get(folder)) {
        for key in list.unknown_keys().filter(|key| !key.starts_with("x-")) {
            let place = list
                .key(key)
                .map(|node| Place::span(list.file.clone(), list.text.clone(), node.span.clone()));
            findings.push(
                IGNORED_FIELD
                    .finding(format!("`{key}` is no field of a kustomization. Flux leaves it out"))
                    .at(place.unwrap_or_else(|| Place::file(list.file.clone())))
                    .help(did_you_mean(key, KNOWN).unwrap_or_else(|| "remove it".to_owned())),
            );
        }
    }
    findings
}
