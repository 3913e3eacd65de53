//! Collects the changes of a plan over a snapshot.

use std::collections::BTreeMap;

use crate::change::Change;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::path::RepoPath;
use crate::plan::Plan;
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::{Entry, File, Kustomization, Snapshot};

/// A snapshot and everything that is to change in it.
///
/// Cloning one is cheap, so a way of splitting can be tried on a clone and thrown away.
#[derive(Clone, Debug)]
pub struct Builder<'a> {
    before: &'a Snapshot,
    now: Snapshot,
    moves: BTreeMap<RepoPath, RepoPath>,
}

impl<'a> Builder<'a> {
    /// Begins with nothing to change.
    pub fn new(before: &'a Snapshot) -> Builder<'a> {
        Builder { before, now: before.clone(), moves: BTreeMap::new() }
    }

    /// Returns the tree with all changes so far.
    pub fn now(&self) -> &Snapshot {
        &self.now
    }

    /// Returns the kustomization of a folder as it is now.
    ///
    /// # Errors
    ///
    /// When the file can't be used; the reason is [`Kustomization::parse`]'s.
    pub fn kustomization(&self, folder: &RepoPath) -> Result<Option<Kustomization>, Box<Diagnostic>> {
        for name in FILE_NAMES {
            let Ok(path) = folder.join(name) else { continue };
            if let Some(file) = self.now.file(&path) {
                return Kustomization::parse(&path, file).map(Some);
            }
        }
        Ok(None)
    }

    /// Writes a text file that must not be there yet.
    ///
    /// # Errors
    ///
    /// When something with other content stands at the path.
    pub fn create(&mut self, path: &RepoPath, text: &str) -> Result<(), Error> {
        if let Some(entry) = self.now.entry(path) {
            return match entry {
                Entry::File(file) if *file.bytes() == *text.as_bytes() => Ok(()),
                _ => Err(occupied(path)),
            };
        }
        self.now.insert(path.clone(), File::new(text.as_bytes()));
        Ok(())
    }

    /// Writes a text file, whatever stands there; an existing file keeps its mode.
    pub fn put(&mut self, path: &RepoPath, text: &str) {
        let executable = self.now.file(path).is_some_and(|file| file.executable);
        self.now.insert(path.clone(), File::new(text.as_bytes()).with_mode(executable));
    }

    /// Moves a file byte for byte, mode included.
    ///
    /// # Errors
    ///
    /// When something stands at the destination, or nothing at the origin.
    pub fn move_file(&mut self, from: &RepoPath, to: &RepoPath) -> Result<(), Error> {
        if self.now.entry(to).is_some() {
            return Err(occupied(to));
        }
        let Some(file) = self.now.file(from).cloned() else {
            return Err(Error::invalid(
                Diagnostic::error(format!("{from} is no regular file, so it can't be moved"))
                    .at(Place::file(from.clone())),
            ));
        };
        self.now.remove(from);
        self.now.insert(to.clone(), file);
        let origin = self.moves.remove(from).unwrap_or_else(|| from.clone());
        self.moves.insert(to.clone(), origin);
        Ok(())
    }

    /// Takes a file away.
    pub fn remove(&mut self, path: &RepoPath) {
        self.now.remove(path);
        self.moves.remove(path);
    }

    /// Returns whether nothing differs between the tree before and the tree now.
    pub fn is_unchanged(&self) -> bool {
        self.now == *self.before
    }

    /// Returns what differs between the tree before and the tree now.
    pub fn finish(&self) -> Plan {
        let mut plan = Plan::default();
        let paths = self.before.entries().chain(self.now.entries()).map(|(path, _)| path);
        for path in paths {
            let (before, after) = (self.before.file(path), self.now.file(path));
            if before != after && !plan.changes.contains_key(path) {
                let moved_from = self.moves.get(path).cloned();
                let change = Change { before: before.cloned(), after: after.cloned(), moved_from };
                plan.changes.insert(path.clone(), change);
            }
        }
        plan
    }
}

fn occupied(path: &RepoPath) -> Error {
    Error::new(
        crate::error::ErrorKind::Conflict,
        Diagnostic::error(format!("{path} exists already, with content that this plan did not write"))
            .at(Place::file(path.clone()))
            .help("move it away, or choose other folder names under `layout`"),
    )
}
