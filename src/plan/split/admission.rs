//! Divides apps that came after the split: their parts join the sides, which are live.

use std::collections::BTreeSet;

use crate::delivery::EntryPoint;
use crate::delivery::{Input, Sides};
use crate::path::RepoPath;
use crate::plan::Plan;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership};
use crate::plan::edit::resources::{self, Item, respell, rewrite};
use crate::plan::outcome::{AppOutcome, EntryOutcome, Way};
use crate::plan::problem::Problem;
use crate::plan::split::child::Placed;
use crate::plan::split::entry::EntrySplit;
use crate::plan::split::newcomer::{Newcomer, newcomers};
use crate::plan::split::refresh::way_back;
use crate::plan::split::relocation::{self, KEEP, further_side};
use crate::plan::split::run::Run;
use crate::repo::Kustomization;

/// Divides the newcomers that are meant, an entry point at a time; what would delete something stays.
pub fn split(run: &Run<'_>, builder: &mut Builder<'_>) -> Vec<EntryOutcome> {
    let Run { input, original, selection, sides, live, .. } = run;
    let found: Vec<Newcomer<'_>> =
        newcomers(input, sides).into_iter().filter(|one| selection.names(&one.child)).collect();
    let wholes: BTreeSet<&RepoPath> = found.iter().map(|one| &one.whole).collect();
    let mut outcomes = Vec::new();
    for whole in wholes {
        let own: Vec<&Newcomer<'_>> = found.iter().filter(|one| one.whole == *whole).collect();
        let Some(cluster) = own.first().map(|one| one.side.cluster.as_str()) else { continue };
        let outcome = EntryOutcome::new(cluster, whole);
        let mut trial = builder.clone();
        outcomes.push(match divide(input, sides, &mut trial, &own, outcome.clone()) {
            Err(problem) => outcome.refused(problem),
            Ok(mut done) => match judged(original, live.base, &trial, whole) {
                Err(problem) => outcome.refused(problem),
                Ok(notes) => {
                    *builder = trial;
                    done.notes = notes;
                    done
                }
            },
        });
    }
    outcomes
}

/// Lets the proof hold the sides of these entry points to the same objects together.
pub fn hold(original: &Input<'_>, plan: &mut Plan, outcomes: &[EntryOutcome]) {
    let moved = outcomes.iter().filter(|one| one.way != Way::Refused).map(|one| one.before.clone());
    relocation::hold_together(original, plan, &moved.collect());
}

/// Judges what changes sides by a step; gives what is to be known of it.
fn judged(
    original: &Input<'_>,
    base: Option<&Input<'_>>,
    trial: &Builder<'_>,
    whole: &RepoPath,
) -> Result<Vec<String>, Problem> {
    let mut plan = trial.finish();
    match relocation::guard(original, base, &mut plan, &BTreeSet::from([whole.clone()])) {
        Ok(remarks) => Ok(remarks
            .into_iter()
            .map(|remark| match remark.help {
                Some(help) => format!("{}. Where a cluster has it already: {help}", remark.message),
                None => remark.message,
            })
            .collect()),
        Err(error) => {
            let said = error.diagnostics.first().map(|one| one.message.clone());
            let remedy = format!(
                "commit the annotation `{KEEP}` on it\nwait until the cluster has applied that\nrun the same command again"
            );
            Err(Problem::new(said.unwrap_or_default(), remedy))
        }
    }
}

fn divide(
    input: &Input<'_>,
    sides: &Sides,
    builder: &mut Builder<'_>,
    newcomers: &[&Newcomer<'_>],
    mut outcome: EntryOutcome,
) -> Result<EntryOutcome, Problem> {
    for one in newcomers {
        if let Some(problem) = edited(input, one) {
            return Err(problem);
        }
        let placed = place(input, builder, one)?;
        for (position, folder) in &placed.parts {
            if *position != one.position {
                list(input, sides, builder, one, *position, folder)?;
            }
        }
        replace(builder, one, &placed)?;
        let Placed { way, reason, .. } = placed;
        // An app of one type goes to its side as it is.
        let way = way.max(Way::Plain);
        outcome.way = outcome.way.max(way);
        outcome.apps.push(AppOutcome { app: one.child.app.clone(), way, reason });
    }
    let names: Vec<&str> = newcomers.iter().map(|one| one.child.app.as_str()).collect();
    outcome.reason =
        format!("a side listed {} whole: the parts of it join the sides, which are live", names.join(", "));
    let standing = sides.standing(&input.model.graph, &outcome.before).into_iter();
    outcome.after =
        standing.map(|(side, position)| (input.spec.types[position].name.value.clone(), side)).collect();
    outcome.taken_over = outcome.after.iter().map(|(_, side)| side.clone()).collect();
    Ok(outcome)
}

/// Says that the side which lists an app is a projection that somebody edited: no app belongs into that list.
fn edited(input: &Input<'_>, one: &Newcomer<'_>) -> Option<Problem> {
    let list = input.model.graph.get(&one.side.path)?;
    input.snapshot.file(&list.file).filter(|file| ownership(file) == Ownership::Edited)?;
    let reason = format!("{} is generated, and was edited by hand", list.file);
    Some(Problem::new(reason, way_back(input, list)?))
}

/// Divides an app as its entry point would have.
fn place(input: &Input<'_>, builder: &mut Builder<'_>, one: &Newcomer<'_>) -> Result<Placed, Problem> {
    let Newcomer { whole, side, child, .. } = one;
    if one.way_out().is_some() {
        let reason = format!("{} lies in the side that lists it, where its parts belong", child.folder);
        return Err(Problem::new(reason, one.help()));
    }
    let list = input.model.graph.get(&side.path).ok_or_else(|| Problem::bug("a side vanished"))?;
    let entry = EntryPoint { path: whole.clone(), flux: Vec::new(), ..(*side).clone() };
    EntrySplit::new(input, &entry, list).split_child(builder, child)
}

/// Lists a part on a side of another type.
fn list(
    input: &Input<'_>,
    sides: &Sides,
    builder: &mut Builder<'_>,
    one: &Newcomer<'_>,
    position: usize,
    folder: &RepoPath,
) -> Result<(), Problem> {
    let listing = sides.of_type(&one.whole, position).find_map(|side| current(builder, side).transpose());
    let Some(listing) = listing.transpose()? else {
        let name = &input.spec.types[position].name.value;
        return Err(Problem::new(
            format!("{} has no side of type {name} that could list a part of {}", one.whole, one.child.app),
            further_side(&one.whole, name),
        ));
    };
    let text = resources::add(&listing, folder).map_err(|error| Problem::list(&listing.file, &error))?;
    builder.put(&listing.file, &text);
    Ok(())
}

/// Puts the part of its type in the place of an app on the side that lists it.
fn replace(builder: &mut Builder<'_>, one: &Newcomer<'_>, placed: &Placed) -> Result<(), Problem> {
    let side = &one.side.path;
    let listing = current(builder, side)?.ok_or_else(|| Problem::bug("a side vanished"))?;
    let item = |index: usize| match placed.parts.get(&one.position) {
        _ if index != one.child.index => Item::Keep,
        Some(part) => Item::Replace(respell(&one.child.reference.text, &part.relative_to(side))),
        None => Item::Remove,
    };
    let items: Vec<Item> = (0..listing.resources().len()).map(item).collect();
    let text = rewrite(&listing, &items).map_err(|error| Problem::list(&listing.file, &error))?;
    builder.put(&listing.file, &text);
    Ok(())
}

fn current(builder: &Builder<'_>, folder: &RepoPath) -> Result<Option<Kustomization>, Problem> {
    builder.kustomization(folder).map_err(|diagnostic| Problem::from(&*diagnostic))
}
