//! What a merge left undecided.

use std::collections::BTreeSet;

use crate::commands::workspace::Loaded;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::repo::flux::is_yaml;
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::{File, conflict};

/// Makes sure that no entry point of the spec's clusters waits for somebody to decide between two sides of a merge: what it
/// builds, and so what waits for a window, is not known before.
///
/// # Errors
///
/// Names every file with such marks that an entry point needs which does not build.
pub fn refuse_unmerged(loaded: &Loaded) -> Result<(), Error> {
    let (model, snapshot) = (&loaded.model, &loaded.workspace.snapshot);
    let own = model.delivered.all.iter().filter(|one| loaded.spec.clusters.contains_key(&one.name));
    let broken = own.flat_map(|cluster| &cluster.kustomizations).filter(|one| one.error.is_some());
    let broken: BTreeSet<&RepoPath> = broken.filter_map(|one| one.path.as_ref()).collect();
    if broken.is_empty() {
        return Ok(());
    }
    let mut diagnostics = Vec::new();
    for (path, _) in snapshot.entries() {
        let is_list = path.name().is_some_and(|name| FILE_NAMES.contains(&name));
        if !is_list && !is_yaml(path) {
            continue;
        }
        let Some(text) = snapshot.file(path).and_then(File::text) else { continue };
        let Some(mark) = conflict(text) else { continue };
        let mut needed_by = model.graph.taken_in_by(path);
        if let Some(folder) = path.parent().filter(|_| is_list) {
            needed_by.extend(model.graph.built_by(&folder));
        }
        if let Some(entry) = broken.iter().find(|entry| needed_by.contains(**entry)) {
            diagnostics.push(
                Diagnostic::error(format!("{path} holds a merge conflict, and {entry} needs it to build"))
                    .at(Place::span(path.clone(), text.into(), mark))
                    .help("decide between the two sides, commit the file, and run this again"),
            );
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Unsafe, diagnostics }) }
}
