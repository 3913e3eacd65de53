//! Files that no source fetches: what a plan writes there never reaches a cluster.

use std::collections::BTreeMap;

use crate::change::{Change, Changes};
use crate::delivery::{LeftOut, Model};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::spec::{SCHEMA_FILE, Spec};

/// What to do where nothing says what leaves a file out.
const UNKNOWN: &str = "correct `spec.ignore` and .sourceignore";

/// Refuses changes that write a file for Flux where no source fetches it.
///
/// The spec and its schema are for people and their editors, as [`for_people`] says. What moves from one such place to
/// another was not for Flux before either.
///
/// # Errors
///
/// When there is one; of each folder the first is named.
pub fn refuse_unfetched(
    model: &Model,
    changes: &Changes,
    is_for_people: impl Fn(&RepoPath) -> bool,
) -> Result<(), Error> {
    let is_fetched = |path: &RepoPath| model.delivered.is_fetched(path);
    let is_written =
        |change: &Change| change.after.is_some() && change.moved_from.as_ref().is_none_or(is_fetched);
    let mut found: BTreeMap<RepoPath, &RepoPath> = BTreeMap::new();
    for (path, change) in changes.iter() {
        if is_written(change) && !is_fetched(path) && !is_for_people(path) {
            found.entry(path.parent().unwrap_or_default()).or_insert(path);
        }
    }
    let told = found.into_values().map(|path| {
        let why = model.delivered.left_out(path);
        let help = why.as_ref().map_or_else(|| UNKNOWN.to_owned(), LeftOut::remedy);
        let why = why.map_or_else(|| "its source leaves it out".to_owned(), |why| why.to_string());
        Diagnostic::error(format!("{path} would reach no cluster: {why}"))
            .at(Place::file(path.clone()))
            .help(format!("{help}\nor name folders that Flux fetches under `layout`"))
    });
    let diagnostics: Vec<Diagnostic> = told.collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Unsafe, diagnostics }) }
}

/// Returns whether a file is the spec or its schema.
pub fn for_people(spec: &Spec) -> impl Fn(&RepoPath) -> bool {
    |path| *path == spec.path || path.parent() == Some(spec.folder()) && path.name() == Some(SCHEMA_FILE)
}
