//! What comes back with a hand-over that is taken back.

use std::collections::BTreeSet;

use super::{Change, named};
use crate::check::code::RESTORED_LIST;
use crate::delivery::{Delivery, Input, Sides};
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::repo::manifest::ObjectId;

impl Change<'_> {
    /// Objects that an entry point brings again whose sides were applied, and none of them had these.
    pub(super) fn restored(&self) -> Vec<Diagnostic> {
        let before = self.step.before;
        let Some(spec) = before.spec else { return Vec::new() };
        let input = Input { spec, snapshot: before.snapshot, model: before.model, renderer: before.renderer };
        let sides = input.sides();
        let is_governed = |delivery: &&&Delivery| delivery.applied_by.is_some();
        let back =
            self.deliveries.iter().filter(is_governed).filter(|one| self.was_divided(&sides, &one.path));
        let told = back.filter_map(|delivery| {
            let new = delivery.objects.iter().filter(|applied| !self.had_applied(&applied.live));
            let names: BTreeSet<String> = new.map(|applied| applied.live.to_string()).collect();
            if names.is_empty() {
                return None;
            }
            let list = self.step.after.model.graph.get(&delivery.path);
            let list = list.map_or(&delivery.path, |found| &found.file);
            let text = format!(
                "{} replaces the Flux Kustomizations of the sides of {}. It applies {}, which no side had",
                delivery.name,
                delivery.path,
                named(&names)
            );
            let help = format!("remove its app from {list}\nor merge this, where it should come back");
            Some(RESTORED_LIST.finding(text).at(Place::file(list.clone())).help(help))
        });
        told.collect()
    }

    /// Returns whether a Flux Kustomization in Git applied an object.
    fn had_applied(&self, id: &ObjectId) -> bool {
        let mut owners = self.had.get(id).into_iter().flatten();
        owners.any(|(owner, _)| owner.applied_by.is_some())
    }

    /// Returns whether sides of a folder were applied, and it was not.
    fn was_divided(&self, sides: &Sides, whole: &RepoPath) -> bool {
        let applied = |path: &RepoPath| self.own().any(|one| one.path == *path);
        !applied(whole) && sides.of_whole(whole).any(|(side, _)| applied(side))
    }
}
