//! `migrate`: from one Flux Kustomization to several, without an object being deleted.
//!
//! Where each entry point of each cluster stands is read from Git alone: `split` leaves the old Flux
//! Kustomization prepared, with remarks that say what its values were; its successors keep the
//! remark about `prune` until the last step takes it away. So no state is kept beside the repository.

mod behind;
mod by_hand;
pub(crate) mod contents;
pub(in crate::plan) mod dead_end;
mod depends;
mod double;
pub(crate) mod effective;
mod finish;
mod hand_over;
mod heir;
mod hindrance;
mod lists;
pub(crate) mod misplaced;
mod moving;
mod note;
mod part;
mod patch;
mod place;
pub(crate) mod precondition;
mod reader;
mod rest;
mod rewritten;
mod round;
mod since;
mod spelling;
mod standing;
mod steps;
mod successor;
mod take_over;
mod together;
mod unequal;
pub(crate) mod verify;
mod waiters;
mod watcher;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use depends::held;
pub(super) use finish::clear_umbrellas;
pub(super) use hindrance::hindered;
pub(super) use take_over::{TakenOver, take_over};

use crate::delivery::Input;
use crate::delivery::inventory::inventories;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::live::LiveKustomization;
use crate::plan::migrate::moving::{Key, Move};
use crate::plan::migrate::precondition::step;
use crate::plan::migrate::precondition::subject::Subject;
use crate::plan::migrate::round::Round;
use crate::plan::migrate::standing::moves;
use crate::plan::{EntryOutcome, Plan, Purpose, Report, Stage, Standing, unreleased};
use crate::repo::{FluxKustomization, Relation};
use crate::template::Templates;
use crate::text::some;

/// The most successors that a warning names.
const MOST: usize = 5;

/// What a migration is told on the command line.
#[derive(Clone, Debug, Default)]
pub struct MigrateOptions {
    /// The clusters to move; empty for all.
    pub clusters: Vec<String>,
    /// Whether a step may delete objects.
    pub allow_deletion: bool,
    /// Whether a step may be one that has to reach the clusters while their windows are open.
    pub while_open: bool,
    /// What to call the revision that the clusters are taken to have.
    pub base: String,
    /// What clusters say, by name; a cluster that is not here is not asked.
    pub live: BTreeMap<String, Vec<LiveKustomization>>,
    /// How the commits that clusters have applied stand to the base, by hash.
    pub applied: BTreeMap<String, Relation>,
}

/// Returns the clusters in which the next step of something depends on what is live.
pub fn under_way(input: &Input<'_>, clusters: &[String]) -> BTreeSet<String> {
    let meant = |one: &Move<'_>| clusters.is_empty() || clusters.contains(&one.cluster);
    let asked = |one: &Move<'_>| one.is_under_way() || one.stage == Stage::NotInGit;
    moves(input).into_iter().filter(|one| meant(one) && asked(one)).map(|one| one.cluster).collect()
}

/// Plans the next step of everything that is under way.
///
/// `base` is the repository as the clusters are taken to have it. Each entry point takes one step,
/// and only where the step before stands in the base. One that can't is refused by itself and the
/// others go on.
///
/// # Errors
///
/// When a cluster is unknown, when a gate can't be brought up to date, and when a step would delete
/// something without leave.
pub fn migrate(
    input: &Input<'_>,
    base: &Input<'_>,
    templates: &Templates,
    options: &MigrateOptions,
) -> Result<Plan, Error> {
    input.known_clusters(&options.clusters)?;
    let meant = |one: &Move<'_>| options.clusters.is_empty() || options.clusters.contains(&one.cluster);
    let found: Vec<Move<'_>> = moves(input).into_iter().filter(meant).collect();
    let before = inventories(input.model, input.snapshot, input.renderer);
    let mut stopped = step::stopped(&Subject::new(input, base, options, &before, &found));
    let stood = since::stood(input, base, &found);
    let round = Round { input, templates, options, before: &before, stood: &stood };
    let mut plan = loop {
        let apart = together::apart(input, &found, &stopped);
        if !apart.is_empty() {
            stopped.extend(apart);
            continue;
        }
        let goes = |one: &&Move<'_>| !stopped.contains_key(&one.key()) && one.stage != Stage::NotInGit;
        match round.plan(&found.iter().filter(goes).collect::<Vec<_>>())? {
            Ok(plan) => break plan,
            Err(stops) => stopped.extend(stops),
        }
    };
    for one in found.iter().filter(|one| one.stage == Stage::NotInGit) {
        let live = options.live.get(&one.cluster).map(Vec::as_slice);
        let commands = by_hand::commands(input, one, live);
        if !commands.is_empty() {
            plan.remarks.push(by_hand::advice(input, one));
        }
        plan.commands.extend(commands);
    }
    plan.remarks.extend(found.iter().filter(|one| one.is_under_way()).flat_map(|one| sources(input, one)));
    let goes = || found.iter().filter(|one| one.edits() && !stopped.contains_key(&one.key()));
    let unfinished: BTreeSet<&str> =
        goes().filter(|one| one.stage != Stage::HandedOver).map(|one| one.cluster.as_str()).collect();
    for (purpose, is_last) in [(Purpose::Step, false), (Purpose::LastStep, true)] {
        let own = goes().filter(|one| is_last != unfinished.contains(one.cluster.as_str()));
        plan.remarks.extend(unreleased(input, own.flat_map(Move::all), purpose));
    }
    let is_kept = |one: &&Move<'_>| {
        one.stage == Stage::Finished || one.stage == Stage::HandedOver && !stopped.contains_key(&one.key())
    };
    let kept: Vec<(Key, &str, Place)> =
        found.iter().filter(is_kept).flat_map(|one| kept(input, one)).collect();
    plan.remarks.extend(still_kept(&kept));
    let refused = |one: &Move<'_>| {
        let problem = stopped.get(&one.key())?;
        Some(EntryOutcome::new(&one.cluster, &one.whole).refused(problem.clone()))
    };
    plan.report = Report::Migrate {
        standings: found
            .iter()
            .map(|one| {
                let is_kept = kept.iter().any(|(key, ..)| *key == one.key());
                Standing { is_kept, ..one.standing(input, stopped.contains_key(&one.key())) }
            })
            .collect(),
        beside: plan.report.beside().to_vec(),
        refused: found.iter().filter_map(refused).collect(),
    };
    Ok(plan)
}

/// Returns the successors of a move that a patch for the time of the migration keeps from deleting, and the patch.
fn kept<'a>(input: &Input<'_>, one: &Move<'a>) -> Vec<(Key, &'a str, Place)> {
    let own = one.new.values().flatten();
    own.filter_map(|flux| Some((one.key(), flux.name.as_str(), patch::keeping(input, flux)?))).collect()
}

/// Says which patches have to go before a migration is finished.
fn still_kept(kept: &[(Key, &str, Place)]) -> Vec<Diagnostic> {
    let mut by_patch: BTreeMap<String, (&Place, BTreeSet<&str>)> = BTreeMap::new();
    for (_, name, place) in kept {
        by_patch.entry(patch::spelt(place)).or_insert((place, BTreeSet::new())).1.insert(name);
    }
    let told = |(spelt, (place, names)): (String, (&Place, BTreeSet<&str>))| {
        let names: Vec<&str> = names.into_iter().collect();
        Diagnostic::warning(format!(
            "the patch in {spelt} keeps {} from deleting objects that leave Git. It was for the migration",
            some(&names, MOST)
        ))
        .at(place.clone())
        .help(format!(
            "remove that patch from {}, with the last step or after it\nrun `gitops-windows migrate`, which says whether all is finished",
            place.path
        ))
    };
    by_patch.into_iter().map(told).collect()
}

/// Tells of old Flux Kustomizations that build from another source than the spec names: whether that
/// holds this repository too, Git does not say.
fn sources(input: &Input<'_>, one: &Move<'_>) -> Vec<Diagnostic> {
    let wanted = &input.spec.flux.source;
    let is_it = |old: &&&FluxKustomization| {
        let source = input.model.fetched_source(old);
        (source.kind, source.name) == (wanted.kind.clone(), wanted.name.clone())
    };
    let others = one.old.iter().filter(|old| !is_it(old));
    others
        .map(|old| {
            Diagnostic::warning(format!(
                "Flux Kustomization {} builds from {} {}, but windows.yaml names {} {}. Its successors keep its source, and fail if that is another repository",
                old.name,
                old.source_kind(),
                old.source_name(),
                wanted.kind,
                wanted.name
            ))
            .at(old.place("sourceRef"))
            .help("make sure that both hold this repository, at the same branch")
        })
        .collect()
}
