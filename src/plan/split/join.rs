//! `join`: the reverse of `split`.
//!
//! The repository itself remembers what stood there: umbrellas hold the text that they replaced,
//! Flux Kustomizations the values. Nothing is taken away that the split did not write.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Child, Input};
use crate::delivery::{EntryPoint, Sides};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership};
use crate::plan::edit::prepare::unprepare;
use crate::plan::edit::resources::{Item, rewrite};
use crate::plan::split::left_list::{LeftList, left_lists};
use crate::plan::split::restore::{restore, unchanged};
use crate::plan::split::{Selection, Undone, obligations};
use crate::plan::{BACK, EntryOutcome, Plan, Problem, Report, Way, gate};
use crate::repo::flux::each_written;
use crate::repo::listing::is_listing;
use crate::repo::{Graph, Kustomization, Target, umbrella};
use crate::template::Templates;

/// Plans to take back the division of the selected apps in every cluster of the spec, and what gates
/// hold back because of it.
///
/// # Errors
///
/// When a name means no app, when Flux Kustomizations apply the sides already, when a file was edited in
/// a way that joining would lose, and when a gate can't be brought up to date.
///
/// What the way back restores otherwise than the sides are today, it names first.
pub fn join(
    input: &Input<'_>,
    templates: &Templates,
    selection: &Selection,
    undone: &BTreeMap<RepoPath, Undone>,
) -> Result<Plan, Error> {
    let sides = input.sides();
    let left: BTreeMap<RepoPath, LeftList> =
        left_lists(input, &sides).into_iter().map(|left| (left.whole.clone(), left)).collect();
    let on_the_way = OnTheWay { left: &left, undone };
    // What was handed over is no entry point any more, and has its name still.
    let is_left = |name: &str| {
        let named = Selection::Named(vec![name.to_owned()]);
        !only_sides(input, &named, &sides, on_the_way).is_empty()
    };
    selection.known(input, &is_left)?;
    let mut builder = Builder::new(input.snapshot);
    let mut outcomes = Vec::new();
    let corrected: BTreeSet<&RepoPath> = undone.keys().chain(left.keys()).collect();
    let mut freed: BTreeSet<RepoPath> = BTreeSet::new();
    for entry in input.wholes(&sides) {
        if let Some(reason) = handed_over(input, entry) {
            let way = left.get(&entry.path).map_or_else(back, back_of_left);
            outcomes.push(
                EntryOutcome::of(entry)
                    .refused(Problem::new(reason, format!("{way}\nrun `gitops-windows join` again"))),
            );
            continue;
        }
        let mut trial = builder.clone();
        match (EntryJoin { input, entry }).join(&mut trial, selection) {
            Ok(Some(folders)) => {
                freed.extend(folders);
                builder = trial;
                let mut outcome = EntryOutcome::of(entry);
                outcome.way = Way::Joined;
                outcomes.push(outcome);
            }
            Ok(None) => {}
            Err(reason) => outcomes.push(EntryOutcome::of(entry).refused(Problem::new(
                reason,
                "repeat that edit by hand where it belongs, or take it back\njoin again",
            ))),
        }
    }
    outcomes.extend(only_sides(input, selection, &sides, on_the_way));
    if *selection == Selection::All
        && let Some(error) = refused(&outcomes, &corrected)
    {
        return Err(error);
    }
    uncover(input, &mut builder, selection, &freed)?;
    // What was held back by its side is held back as it was before, or not at all.
    let commands = if builder.is_unchanged() {
        Vec::new()
    } else {
        gate::follow(input, templates, &mut builder, &BTreeSet::new())?.commands
    };
    let mut plan = builder.finish();
    plan.commands = commands;
    let after = plan.changes.apply(input.snapshot);
    plan.obligations = obligations::all(input, &plan, &[]);
    // A side that went is held to nothing by itself: what it built is part of its entry point.
    plan.obligations
        .retain(|obligation| !sides.contains_key(&obligation.before) || after.is_dir(&obligation.before));
    plan.report = Report::EntryPoints(outcomes);
    Ok(plan)
}

/// Says why not all of it can be joined: of the first, and of all whose restored lists have to be corrected on the way back.
fn refused(outcomes: &[EntryOutcome], corrected: &BTreeSet<&RepoPath>) -> Option<Error> {
    let all = outcomes.iter().filter_map(|outcome| Some((&outcome.before, outcome.problem.as_ref()?)));
    let all: Vec<(&RepoPath, &Problem)> = all.collect();
    let mut told: Vec<&(&RepoPath, &Problem)> =
        all.iter().filter(|(entry, _)| corrected.contains(entry)).collect();
    if told.is_empty() {
        told.extend(all.first());
    }
    let diagnostics = told.into_iter().flat_map(|(entry, problem)| {
        let found = unsafe_to_join(entry, &problem.reason).diagnostics.into_iter();
        found.map(|one| Diagnostic { help: Some(problem.remedy()), ..one })
    });
    let diagnostics: Vec<Diagnostic> = diagnostics.collect();
    (!diagnostics.is_empty()).then_some(Error { kind: ErrorKind::Unsafe, diagnostics })
}

/// Returns whether gates that stand are other than windows.yaml says, or not known to be so: a join that changes what they hold
/// back would write its windows too.
pub fn gates_differ(input: &Input<'_>, templates: &Templates) -> bool {
    let mut builder = Builder::new(input.snapshot);
    gate::follow_late(input, templates, &mut builder).is_err() || !builder.is_unchanged()
}

fn unsafe_to_join(place: &RepoPath, reason: &str) -> Error {
    Error::new(
        ErrorKind::Unsafe,
        Diagnostic::error(format!("{place} can't be joined: {reason}"))
            .at(Place::file(place.clone()))
            .help("take that edit over by hand, or take it back, then join again"),
    )
}

/// Says who uses the parts of an app, and how they are made one again.
fn still_used(input: &Input<'_>, now: &Graph, found: &Kustomization) -> Error {
    let parts = now.children(&found.folder);
    let applied = input.model.all_flux().iter().find(|kustomization| {
        kustomization.path.as_ref().is_some_and(|path| now.reach(path).iter().any(|one| parts.contains(one)))
    });
    let Some(applied) = applied else {
        return unsafe_to_join(&found.folder, "another kustomization uses its parts");
    };
    Error::new(
        ErrorKind::Unsafe,
        Diagnostic::error(format!(
            "{} can't be joined: Flux Kustomization {} applies a part of it by itself",
            found.folder, applied.name
        ))
        .at(applied.place("path"))
        .help(format!("{}\nrun `gitops-windows join` again", back())),
    )
}

/// Refuses what has only its sides left, each applied by itself.
fn only_sides(
    input: &Input<'_>,
    selection: &Selection,
    sides: &Sides,
    on_the_way: OnTheWay<'_>,
) -> Vec<EntryOutcome> {
    let mut found: BTreeMap<&RepoPath, EntryOutcome> = BTreeMap::new();
    let is_live = |entry: &EntryPoint| !entry.flux.is_empty() && input.knows_cluster(entry);
    for (entry, (whole, _)) in input.entries_of_sides(sides).filter(|(entry, _)| is_live(entry)) {
        let Some(kustomization) = input.model.graph.get(&entry.path) else { continue };
        let (children, _) = crate::delivery::children(input.model, entry, kustomization);
        let name = input.model.name_of(entry);
        let is_meant =
            selection.names_entry(name, whole) || children.iter().any(|child| selection.names(child));
        if is_meant && input.model.entry(whole).is_none() {
            found.entry(whole).or_insert_with(|| {
                let reason = format!("Flux Kustomization {name} applies one of its sides");
                let way = on_the_way.of(input, whole);
                EntryOutcome::new(&entry.named_clusters(), whole)
                    .refused(Problem::new(reason, format!("{way}\nrun `gitops-windows join` again")))
            });
        }
    }
    found.into_values().collect()
}

/// What has to be corrected on the way back.
#[derive(Clone, Copy)]
struct OnTheWay<'a> {
    /// The lists that stand again, by entry point.
    left: &'a BTreeMap<RepoPath, LeftList>,
    /// Those that a revert will restore.
    undone: &'a BTreeMap<RepoPath, Undone>,
}

impl OnTheWay<'_> {
    /// Returns the way back of an entry point of which Flux Kustomizations apply the sides.
    fn of(self, input: &Input<'_>, whole: &RepoPath) -> String {
        match self.left.get(whole) {
            Some(left) => back_of_left(left),
            // The last step is reverted already.
            None if input.model.graph.has(whole) => format!("commit what is not yet\n{}", rest_of_back()),
            None => self.undone.get(whole).map_or_else(back, back_of_undone),
        }
    }
}

/// What to do where a revert meets files of gates that the tool has written anew since.
const CONFLICT: &str = "where that conflicts in files of gates: `git checkout HEAD -- FILE`, then `gitops-windows sync --allow-dirty`";

/// The way back, as it is where nothing else has changed.
fn back() -> String {
    let mut steps = BACK.lines();
    let first: Vec<&str> = steps.next().into_iter().chain([CONFLICT]).chain(steps).collect();
    first.join("\n")
}

/// The way back from a list that stands and differs from the sides.
fn back_of_left(left: &LeftList) -> String {
    format!("{}\ncommit that\n{}", left.corrections(), rest_of_back())
}

/// The way back where the first revert restores a list that differs from the sides of today.
fn back_of_undone(undone: &Undone) -> String {
    format!(
        "run `git revert --no-commit {}`, which undoes the last `migrate` and restores {}\n{CONFLICT}\n{}\ncommit that\nwait until every cluster has applied that\n{}",
        undone.commit,
        undone.left.file,
        undone.left.corrections(),
        rest_of_back()
    )
}

/// Returns what comes after the revert of the last step.
fn rest_of_back() -> String {
    BACK.lines().skip(2).collect::<Vec<_>>().join("\n")
}

fn handed_over(input: &Input<'_>, entry: &EntryPoint) -> Option<String> {
    let sides = input.sides_in(&entry.path, &entry.cluster);
    // A gate may have its folder below a side, and stays.
    let gates = gate::cluster_folders(input).unwrap_or_default();
    let mut applied = input.model.flux_within(sides.values()).into_iter();
    let found = applied.find(|one| one.path.as_ref().is_none_or(|path| !gates.contains(path)))?;
    Some(format!("Flux Kustomization {} applies one of its sides", found.name))
}

/// One entry point that is being joined.
struct EntryJoin<'a, 'i> {
    input: &'a Input<'i>,
    entry: &'a EntryPoint,
}

impl EntryJoin<'_, '_> {
    /// Takes the selected apps out of the sides; gives the folders of the apps, or nothing where
    /// none of them is on a side.
    fn join(
        &self,
        builder: &mut Builder<'_>,
        selection: &Selection,
    ) -> Result<Option<Vec<RepoPath>>, String> {
        let graph = &self.input.model.graph;
        let Some(kustomization) = graph.get(&self.entry.path) else { return Ok(None) };
        let sides = self.input.sides_in(&self.entry.path, &self.entry.cluster);
        let sides: Vec<Kustomization> = sides.values().filter_map(|side| graph.get(side).cloned()).collect();
        if sides.is_empty() {
            return Ok(None);
        }
        let whole = selection.names_entry(self.input.model.name_of(self.entry), &self.entry.path);
        let is_whole = umbrella::original(&kustomization.text).is_some();
        // Divided as what another entry point builds on: its parts only stand where its sides would.
        let parts = graph.children(&kustomization.folder);
        if is_whole && sides.iter().any(|side| parts.contains(&side.folder)) {
            return Ok(None);
        }
        let (children, _) = crate::delivery::children(self.input.model, self.entry, kustomization);
        let named: Vec<&Child> = children.iter().filter(|child| selection.names(child)).collect();
        if !whole && is_whole {
            return match self.holds_named(kustomization, selection) {
                true => Err("its apps were divided together and can only be joined together. Name the entry point or use --all".into()),
                false => Ok(None),
            };
        }
        if !whole && named.is_empty() {
            return Ok(None);
        }
        let mut left = false;
        for side in &sides {
            left |= self.take_out(builder, kustomization, side, (!whole).then_some(&named[..]))?;
        }
        if !left {
            self.restore_flux(builder)?;
            let text =
                builder.now().file(&kustomization.file).and_then(|file| file.text().map(str::to_owned));
            if text.is_some_and(|text| is_listing(&text)) {
                builder.remove(&kustomization.file);
            }
        }
        let folders = if whole {
            vec![self.entry.path.clone()]
        } else {
            named.iter().map(|child| child.folder.clone()).collect()
        };
        Ok(Some(folders))
    }

    fn holds_named(&self, kustomization: &Kustomization, selection: &Selection) -> bool {
        let model = &self.input.model;
        let wholes = model.graph.children(&kustomization.folder);
        wholes.iter().filter_map(|whole| model.graph.get(whole)).any(|whole| {
            crate::delivery::children(model, self.entry, whole).0.iter().any(|child| selection.names(child))
        })
    }

    /// Takes children, or all of them, out of a side; tells whether anything stays in it.
    fn take_out(
        &self,
        builder: &mut Builder<'_>,
        kustomization: &Kustomization,
        side: &Kustomization,
        only: Option<&[&Child]>,
    ) -> Result<bool, String> {
        let graph = &self.input.model.graph;
        let resources = side.resources();
        let goes: Vec<bool> = resources
            .iter()
            .map(|reference| {
                let Target::Path(path) = &reference.target else { return false };
                only.is_none_or(|named| {
                    named.iter().any(|child| {
                        *path == child.folder
                            || graph.children(path).contains(&child.folder)
                            || graph.children(&child.folder).contains(path)
                    })
                })
            })
            .collect();
        if only.is_none() {
            self.nothing_of_its_own(builder, kustomization, side)?;
        }
        for (reference, _) in resources.iter().zip(&goes).filter(|(_, goes)| **goes) {
            let Target::Path(path) = &reference.target else { continue };
            if let Some(found) = graph.get(path)
                && path.is_within(&side.folder)
                && self.is_generated(builder, found)?
            {
                builder.remove(&found.file);
            }
        }
        if goes.iter().any(|goes| !goes) {
            let items: Vec<Item> =
                goes.iter().map(|goes| if *goes { Item::Remove } else { Item::Keep }).collect();
            let text = rewrite(side, &items).map_err(|error| error.to_string())?;
            builder.put(&side.file, &text);
            return Ok(true);
        }
        if !self.is_generated(builder, side)? {
            unchanged(side, kustomization)?;
        }
        builder.remove(&side.file);
        Ok(false)
    }

    /// Makes sure that a side lists nothing but what its entry point does: it would get lost.
    ///
    /// A gate that `sync` placed there is no loss: `sync` finds it another place.
    fn nothing_of_its_own(
        &self,
        builder: &Builder<'_>,
        kustomization: &Kustomization,
        side: &Kustomization,
    ) -> Result<(), String> {
        let graph = &self.input.model.graph;
        let mut known: BTreeSet<RepoPath> = graph.children(&kustomization.folder).into_iter().collect();
        let inner: Vec<RepoPath> = known.iter().flat_map(|child| graph.children(child)).collect();
        known.extend(inner);
        let is_known = |path: &RepoPath| {
            known.contains(path) || graph.children(path).iter().any(|whole| known.contains(whole))
        };
        let is_ours = |path: &RepoPath| {
            let file = graph.get(path).and_then(|found| builder.now().file(&found.file));
            file.is_some_and(|file| ownership(file) == Ownership::Ours)
        };
        let strange = side.resources().iter().find(|reference| match &reference.target {
            Target::Path(path) => !is_known(&graph.real(path)) && !is_ours(path),
            _ => true,
        });
        match strange {
            Some(reference) => Err(format!(
                "{} lists `{}`, which {} does not: joining would lose it",
                side.file, reference.text, kustomization.file
            )),
            None => Ok(()),
        }
    }

    fn is_generated(&self, builder: &Builder<'_>, found: &Kustomization) -> Result<bool, String> {
        match builder.now().file(&found.file).map(ownership) {
            Some(Ownership::Ours) => Ok(true),
            Some(Ownership::Edited) => Err(format!("{} is generated and was edited by hand", found.file)),
            Some(Ownership::Unmerged) => Err(format!("{} has conflict markers of git", found.file)),
            _ => Ok(false),
        }
    }

    fn restore_flux(&self, builder: &mut Builder<'_>) -> Result<(), String> {
        for kustomization in each_written(self.input.model.flux_of(self.entry)) {
            unprepare(builder, kustomization)
                .map_err(|reason| format!("Flux Kustomization {}: {reason}", kustomization.name))?;
        }
        Ok(())
    }
}

/// Restores every folder under an umbrella that nobody uses in parts any more.
fn uncover(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    selection: &Selection,
    freed: &BTreeSet<RepoPath>,
) -> Result<(), Error> {
    let now = Graph::read(builder.now());
    let reached: BTreeSet<RepoPath> =
        freed.iter().flat_map(|folder| input.model.graph.reach(folder)).collect();
    let covered = |found: &&Kustomization| umbrella::original(&found.text).is_some();
    let within = |found: &&Kustomization| found.folder.is_within(&input.spec.folder());
    let mut umbrellas: Vec<&Kustomization> = now
        .iter()
        .filter(covered)
        .filter(within)
        .filter(|found| *selection == Selection::All || reached.contains(&found.folder))
        .collect();
    if *selection != Selection::All && freed.is_empty() {
        return Ok(());
    }
    loop {
        let own: BTreeSet<RepoPath> = umbrellas
            .iter()
            .flat_map(|found| now.children(&found.folder).into_iter().chain([found.folder.clone()]))
            .collect();
        let used = umbrellas.iter().position(|found| {
            now.children(&found.folder).iter().any(|part| now.referrers(part).any(|user| !own.contains(user)))
        });
        let Some(used) = used else { break };
        let found = umbrellas.remove(used);
        if *selection == Selection::All {
            return Err(still_used(input, &now, found));
        }
    }
    for found in umbrellas {
        restore(input, builder, found).map_err(|reason| unsafe_to_join(&found.folder, &reason))?;
    }
    Ok(())
}
