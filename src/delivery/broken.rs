//! Lists that entry points take in and that can't be used.

use std::collections::BTreeMap;

use crate::delivery::Model;
use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::repo::built;

impl Model {
    /// Returns what is wrong with the lists that entry points take in, by their folders: what such a one lists is not known.
    pub fn broken_lists(&self) -> BTreeMap<RepoPath, &Diagnostic> {
        let folders = self.all_entries().iter().flat_map(|entry| built(&self.graph, &entry.path));
        folders.filter_map(|folder| Some((folder.clone(), self.graph.broken(&folder)?))).collect()
    }
}
