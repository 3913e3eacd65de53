//! Files that entry points take in and that can't be used.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Model;
use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::repo::{Snapshot, Target, built};
use crate::yaml::read_documents;

impl Model {
    /// Returns what is wrong with the lists that entry points take in, by their folders: what such a one lists is not known.
    pub fn broken_lists(&self) -> BTreeMap<RepoPath, &Diagnostic> {
        let folders = self.all_entries().iter().flat_map(|entry| built(&self.graph, &entry.path));
        folders.filter_map(|folder| Some((folder.clone(), self.graph.broken(&folder)?))).collect()
    }

    /// Returns those of some folders that build for nobody, as far as their files show it without a build: a list of theirs
    /// can't be read, or a file in one of these is no YAML.
    pub fn unreadable<'f>(
        &self,
        snapshot: &Snapshot,
        folders: impl IntoIterator<Item = &'f RepoPath>,
    ) -> BTreeSet<&'f RepoPath> {
        let mut known: BTreeMap<RepoPath, bool> = BTreeMap::new();
        let mut is_broken = |list: &RepoPath| {
            if let Some(known) = known.get(list) {
                return *known;
            }
            let files = self.graph.get(list).into_iter().flat_map(|list| list.resources());
            let files = files.filter_map(|reference| match &reference.target {
                Target::Path(path) => snapshot.file(path),
                _ => None,
            });
            let mut texts = files.filter_map(|file| file.text());
            let is_it = self.graph.broken(list).is_some() || texts.any(|text| read_documents(text).is_err());
            known.insert(list.clone(), is_it);
            is_it
        };
        folders.into_iter().filter(|folder| built(&self.graph, folder).iter().any(&mut is_broken)).collect()
    }
}
