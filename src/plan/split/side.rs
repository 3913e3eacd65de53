//! The sides of an entry point: the folder for each type, beside what stays.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Child, Typed, builds};
use crate::path::RepoPath;
use crate::plan::edit::parts::{self, Parts};
use crate::plan::edit::resources::{Item, respell, rewrite};
use crate::plan::edit::{Builder, resources};
use crate::plan::outcome::EntryOutcome;
use crate::plan::problem::Problem;
use crate::plan::split::child::Placed;
use crate::plan::split::promise::Promise;
use crate::plan::split::{EntrySplit, later};
use crate::proof::{Mismatch, Obligation, compare, first_mismatch};
use crate::render::{Object, RenderError, Request};
use crate::repo::manifest::ObjectId;

/// The remedy where a Flux Kustomization's own fields change what a side builds.
pub const OWN_FIELDS: &str =
    "move what the Flux Kustomization's own fields do into the folder's kustomization.yaml, then split again";

impl EntrySplit<'_, '_> {
    /// Compares each part's build with the objects of its type; gives the first difference. What is trusted
    /// has none yet.
    pub(super) fn differs(&self, trial: &Builder<'_>, typed: &Typed, parts: &Parts) -> Option<Mismatch> {
        if self.trusts {
            return None;
        }
        Promise::of(self.input, &self.entry.path, typed, |position| parts.get(&position).cloned())
            .mismatch(trial.now(), self.input.renderer)
    }

    /// Writes the kustomization of one side, or adds to the one that is there.
    pub(super) fn write_side(
        &self,
        builder: &mut Builder<'_>,
        position: usize,
        placed: &[(&Child, Placed)],
        rest: &[Child],
        loose: &[usize],
    ) -> Result<(), Problem> {
        let side = parts::side(self.input, self.entry, position)?;
        if let Some(mut existing) =
            builder.kustomization(&side).map_err(|diagnostic| Problem::from(&*diagnostic))?
        {
            for folder in placed.iter().filter_map(|(_, placed)| placed.parts.get(&position)) {
                let text = resources::add(&existing, folder)
                    .map_err(|error| Problem::list(&existing.file, &error))?;
                builder.put(&existing.file, &text);
                existing.text = text.into();
                let reread =
                    builder.kustomization(&side).map_err(|diagnostic| Problem::from(&*diagnostic))?;
                existing = reread.ok_or_else(|| Problem::bug("a kustomization vanished"))?;
            }
            return Ok(());
        }
        let mut items = vec![Item::Keep; self.kustomization.resources().len()];
        for index in rest.iter().map(|child| child.index).chain(loose.iter().copied()) {
            items[index] = Item::Remove;
        }
        for (child, placed) in placed {
            items[child.index] = match placed.parts.get(&position) {
                Some(folder) => Item::Replace(respell(&child.reference.text, &folder.relative_to(&side))),
                None => Item::Remove,
            };
        }
        let text = rewrite(self.kustomization, &items)
            .map_err(|error| Problem::list(&self.kustomization.file, &error))?;
        let name = self.kustomization.file.name().unwrap_or("kustomization.yaml");
        let file = side.join(name).map_err(Problem::bug)?;
        builder.create(&file, &text).map_err(|error| Problem::from(&error))
    }

    /// Returns what sides that are live apply already, and the old entry point no more.
    fn held_by_sides(&self, typed: &Typed) -> Vec<Object> {
        let input = self.input;
        let live = later::applied_sides(input, &self.entry.path, &self.entry.cluster);
        let sides: BTreeSet<&RepoPath> = live.iter().filter_map(|one| one.path.as_ref()).collect();
        let requests: Vec<Request> = sides.into_iter().cloned().map(Request::delivered).collect();
        let own: BTreeSet<ObjectId> = typed.ids().collect();
        let results = input.renderer.render(input.snapshot, &requests).into_iter();
        // A side that does not build now is told of when it is built with what it gains.
        let held = results.filter_map(Result::ok).flatten();
        held.filter(|object| !own.contains(&ObjectId::of(&object.value))).collect()
    }

    /// Proves the whole entry point: its sides and what stays behind are what it was.
    pub(super) fn check(
        &self,
        builder: &Builder<'_>,
        typed: &Typed,
        outcome: &EntryOutcome,
        rest: &[Child],
        loose: &[usize],
    ) -> Result<(), Problem> {
        let mut trial = builder.clone();
        let mut folders: Vec<RepoPath> = outcome.after.iter().map(|(_, folder)| folder.clone()).collect();
        if !rest.is_empty() || !loose.is_empty() {
            let count = self.kustomization.resources().len();
            let stays =
                |index: &usize| loose.contains(index) || rest.iter().any(|child| child.index == *index);
            let items: Vec<Item> =
                (0..count).map(|index| if stays(&index) { Item::Keep } else { Item::Remove }).collect();
            let text = rewrite(self.kustomization, &items)
                .map_err(|error| Problem::list(&self.kustomization.file, &error))?;
            trial.put(&self.kustomization.file, &text);
            folders.push(self.entry.path.clone());
        }
        let requests: Vec<Request> =
            folders.iter().map(|folder| Request::delivered(folder.clone())).collect();
        let results = self.input.renderer.render(trial.now(), &requests);
        let parts: Vec<_> = folders.iter().zip(results.iter()).collect();
        let all: Vec<Object> = typed.objects.iter().cloned().chain(self.held_by_sides(typed)).collect();
        let refusal = |mismatch: &Mismatch, remedy: &str| {
            let path = &self.entry.path;
            Problem::new(format!("the parts of {path} would not render the same: {mismatch}"), remedy)
        };
        if let Some(mismatch) = compare(&all, &parts).first() {
            return Err(refusal(mismatch, &self.all_at_once()));
        }
        if let Some((id, side, by_rules)) = self.misplaced(typed, outcome, &results) {
            return Err(Problem::new(
                format!(
                    "{id} would be on the side of {side} and is {by_rules} as {} builds it",
                    self.entry.path
                ),
                self.all_at_once(),
            ));
        }
        match self.differs_in_flux(&trial, &folders) {
            None => Ok(()),
            Some(mismatch) => Err(refusal(&mismatch, OWN_FIELDS)),
        }
    }

    /// Finds an object on the side of another type than it has by the rules: what the entry point itself
    /// says, such as a label, may decide. Gives its side's type and its own.
    fn misplaced<'t>(
        &'t self,
        typed: &Typed,
        outcome: &'t EntryOutcome,
        results: &[Result<Vec<Object>, RenderError>],
    ) -> Option<(ObjectId, &'t str, &'t str)> {
        let types: BTreeMap<ObjectId, usize> =
            typed.ids().zip(typed.types.iter().map(|found| found.change_type)).collect();
        let ids = |objects: &[Object]| -> BTreeSet<ObjectId> {
            objects.iter().map(|object| ObjectId::of(&object.value)).collect()
        };
        outcome.after.iter().zip(results).find_map(|((side, folder), result)| {
            // What stood there before is for `sync` to move.
            let stood = || {
                let request = Request::delivered(folder.clone());
                self.input.renderer.render(self.input.snapshot, &[request]).pop()?.ok()
            };
            let old = self.input.model.graph.has(folder).then(stood).flatten();
            let old = old.map(|objects| ids(&objects)).unwrap_or_default();
            let new = result.as_ref().map(|objects| ids(objects)).unwrap_or_default();
            new.difference(&old).cloned().find_map(|id| {
                let by_rules = self.input.spec.types[*types.get(&id)?].name.value.as_str();
                (by_rules != side).then_some((id, side.as_str(), by_rules))
            })
        })
    }

    /// Compares as each Flux Kustomization of the entry point builds it, whose fields act on every part.
    fn differs_in_flux(&self, trial: &Builder<'_>, folders: &[RepoPath]) -> Option<Mismatch> {
        let input = self.input;
        // What live sides apply already is compared when they take over.
        if !later::applied_sides(input, &self.entry.path, &self.entry.cluster).is_empty() {
            return None;
        }
        let builds = builds(input.model, self.entry).into_iter();
        let same = |build| Obligation {
            flux_may_change: true,
            after: folders.to_vec(),
            build,
            ..Obligation::same(self.entry.path.clone())
        };
        let obligations: Vec<Obligation> = builds.map(same).collect();
        first_mismatch(input.snapshot, trial.now(), &obligations, input.renderer)
    }
}
