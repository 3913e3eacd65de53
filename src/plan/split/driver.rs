//! Splits what can be split without a change for any other entry point.
//!
//! ```text
//!    ┌──────────────────────────── what is known of entry points ◄─┐
//!    ▼                                                             │
//!   plan them all ──► prove it all in one batch ──► something new? ┤ doubted: proven step by step next time
//!                     try the hand-over                      │     └ refused: left as they are
//!                                                            └──► no: gates follow, this is the plan
//!                                                                 └ one can't: its cluster is left as it is, again
//! ```
//!
//! A round knows more than the one before, or it is the last: each entry point is doubted once and refused
//! once at most.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{EntryPoint, Input, Model, Role, World, parent, partial};
use crate::error::Error;
use crate::path::RepoPath;
use crate::plan::gate::{self, Lone};
use crate::plan::outcome::Way;
use crate::plan::problem::Problem;
use crate::plan::split::draft::{Draft, Known};
use crate::plan::split::run::{Live, Run};
use crate::plan::split::stuck::Followed;
use crate::plan::split::unmet::Unmet;
use crate::plan::split::{Selection, ahead, layout, promise, twice};
use crate::plan::{EntryOutcome, Plan, Purpose, Report, for_people, migrate, refuse_unfetched, unreleased};
use crate::proof::{Mismatch, Obligation, prove};
use crate::render::Request;
use crate::repo::listing::listing;
use crate::repo::{File, Snapshot};
use crate::template::Templates;

/// Plans the restructuring of the selected apps in every cluster of the spec.
///
/// What a cluster applies does not change: the old entry points go on rendering what they did, and
/// their Flux Kustomizations are prepared for the hand-over. An entry point that can't be divided,
/// or only with a change for another, or that could never be handed over, is refused by itself and the
/// others go on.
///
/// `base` is the repository as the clusters are taken to have it, usually the last commit. Where
/// sides are live already, the second step is refused until the first one stands there;
/// [`needs_base`](crate::plan::split::needs_base) tells whether that may matter.
///
/// # Errors
///
/// When a name means no app, or a gate can't be brought up to date.
pub fn split(
    original: &Input<'_>,
    base: Option<&Input<'_>>,
    templates: &Templates,
    selection: &Selection,
) -> Result<Plan, Error> {
    let listed = listed(original);
    let model = original.again(&listed);
    let input = &Input { snapshot: &listed, model: &model, ..*original };
    selection.known(input, &|_| false)?;
    layout::check(original)?;
    let sides = input.sides();
    let carriers = gate::carriers(input)?;
    let live = Live { wholes: input.live(&sides), base };
    ahead::build(input, original, &sides, selection);
    let (lone, parents) = (Lone::of(input, &sides), parent::children(input.model));
    let (sides, carriers, parents, lone) = (&sides, &carriers, &parents, &lone);
    let run = Run { input, original, templates, selection, sides, carriers, parents, lone, live };
    let mut known = Known::default();
    loop {
        let mut draft = run.draft(&known, &mut |_, _| {});
        if run.learns(&draft, &mut known) {
            continue;
        }
        match run.follow(&mut draft, &mut known)? {
            Followed::Stuck => continue,
            Followed::Changed if run.learns(&draft, &mut known) => continue,
            Followed::Changed | Followed::Unchanged => {}
        }
        refuse_unfetched(original.model, &draft.plan.changes, for_people(original.spec))?;
        as_after(original, &mut draft.plan)?;
        return Ok(draft.plan);
    }
}

/// Returns what is read of the files after a plan.
fn read_after(original: &Input<'_>, after: &Snapshot) -> Model {
    original.again(after)
}

/// Says what holds entry points back once a plan is written, and what loses its window by it.
///
/// # Errors
///
/// When the layout gives no folder.
fn as_after(original: &Input<'_>, plan: &mut Plan) -> Result<(), Error> {
    if plan.changes.is_empty() {
        return Ok(());
    }
    let after = plan.changes.apply(original.snapshot);
    let model = read_after(original, &after);
    let next = Input { snapshot: &after, model: &model, ..*original };
    if let Report::EntryPoints(outcomes) = &mut plan.report {
        outcomes.iter_mut().for_each(|outcome| outcome.held_in(&next));
    }
    plan.remarks.extend(gate::opened(original, &next)?);
    plan.commands.extend(gate::released(original, &next)?);
    let begun = plan.report.entries().iter().filter(|outcome| outcome.is_begun());
    let begun: Vec<&EntryPoint> = begun.filter_map(|outcome| original.model.entry(&outcome.before)).collect();
    let twice = twice::applied_at_once(original, &begun);
    let concerned = begun.into_iter().flat_map(|entry| original.model.flux_of(entry));
    let unreleased = unreleased(original, concerned, Purpose::Step);
    plan.remarks.extend(unreleased);
    plan.remarks.extend(twice);
    Ok(())
}

impl Run<'_> {
    /// Judges a draft; tells whether anything new is known by that, so that the next one will be another.
    fn learns(&self, draft: &Draft<'_>, known: &mut Known) -> bool {
        if !draft.unseen.is_empty() {
            known.doubted.extend(draft.unseen.iter().cloned());
            return true;
        }
        let after = draft.plan.changes.apply(self.original.snapshot);
        let promised = draft.promises.iter().flat_map(promise::Promise::requests);
        let obliged = draft.plan.obligations.iter().flat_map(Obligation::requests);
        let all: Vec<Request> = promised.chain(obliged).collect();
        self.original.renderer.prepare(&after, &all);
        let mut failed = promise::unkept(self.original, &after, &draft.promises);
        let verdicts = prove(self.original.snapshot, &after, &draft.plan.obligations, self.original.renderer);
        let broken = verdicts.into_iter().filter(|verdict| !verdict.mismatches.is_empty());
        let mut broken: Vec<Unmet> = broken.map(|verdict| Unmet::here(verdict.obligation)).collect();
        failed.extend(broken.iter().map(|one| one.obligation.before.clone()));
        failed.retain(|entry| draft.promises.iter().any(|promise| promise.entry == *entry));
        if !failed.is_empty() {
            known.doubted.extend(failed);
            return true;
        }
        if broken.is_empty() {
            broken = Unmet::as_fetched(self.original, &after, &draft.plan.obligations);
        }
        let mut refused = if broken.is_empty() { BTreeMap::new() } else { self.culprits(known, &broken) };
        if refused.is_empty() {
            refused = self.no_hand_over(draft, &after);
        }
        let is_new = !refused.is_empty();
        known.refused.extend(refused);
        is_new
    }

    /// Finds the entry points whose division changes what another one builds: for each obligation that a
    /// draft does not meet, the first step after which it is not met. What no step breaks is not for a step
    /// to mend, and the proof says what is wrong.
    fn culprits(&self, known: &Known, broken: &[Unmet]) -> BTreeMap<RepoPath, Problem> {
        let mismatches = |all: &[&Unmet], tree: &Snapshot| Unmet::mismatches(all, self.original, tree);
        let divides = |one: &&Unmet| one.obligation.after != std::slice::from_ref(&one.obligation.before);
        let (mut waiting, met): (Vec<_>, Vec<_>) = broken.iter().partition(divides);
        let is_met = |(one, mismatch): (_, Option<Mismatch>)| mismatch.is_none().then_some(one);
        let found_before = mismatches(&met, self.original.snapshot);
        let mut met: Vec<&Unmet> = met.into_iter().zip(found_before).filter_map(is_met).collect();
        let mut found = BTreeMap::new();
        self.draft(known, &mut |entry, tree| {
            // Before its own step a divided one has no sides that could be held to anything.
            let (own, others): (Vec<_>, Vec<_>) =
                waiting.drain(..).partition(|one: &&Unmet| one.obligation.before == *entry);
            waiting = others;
            let asked: Vec<&Unmet> = met.iter().chain(&own).copied().collect();
            let held = met.len();
            met.clear();
            for (position, (one, mismatch)) in asked.iter().copied().zip(mismatches(&asked, tree)).enumerate()
            {
                match mismatch {
                    None => met.push(one),
                    Some(mismatch) if position < held => {
                        found.entry(entry.clone()).or_insert_with(|| one.problem(self.original, &mismatch));
                    }
                    Some(_) => {}
                }
            }
        });
        found
    }

    /// Finds the entry points that a draft divides and nothing could hand over, since their Flux
    /// Kustomizations or what names these can't be edited.
    fn no_hand_over(&self, draft: &Draft<'_>, after: &Snapshot) -> BTreeMap<RepoPath, Problem> {
        let later = |one: &&EntryOutcome| one.taken_over.is_empty() && draft.divided.contains(&one.before);
        let entries = draft.plan.report.entries();
        let divided: BTreeSet<RepoPath> =
            entries.iter().filter(later).map(|one| one.before.clone()).collect();
        if divided.is_empty() {
            return BTreeMap::new();
        }
        let model = read_after(self.original, after);
        let sides = draft.plan.report.entries().iter().filter(later);
        let of = |(_, side): &(String, RepoPath)| side.clone();
        let sides = sides.map(|one| (one.before.clone(), one.after.iter().map(of).collect())).collect();
        let found = self.partial(&sides, World { snapshot: after, model: &model });
        if !found.is_empty() {
            return found;
        }
        let refused = entries.iter().filter(|one| one.way == Way::Refused);
        let refused = refused.map(|one| one.before.clone()).collect();
        migrate::hindered(&Input { snapshot: after, model: &model, ..*self.original }, &divided, &refused)
    }
}

impl Run<'_> {
    /// Finds the entry points of which Flux sees less than lies here, before a draft or after it.
    fn partial(
        &self,
        divided: &BTreeMap<RepoPath, Vec<RepoPath>>,
        after: World<'_>,
    ) -> BTreeMap<RepoPath, Problem> {
        let Input { snapshot, model, renderer, .. } = *self.original;
        let mut found = partial(after, divided, renderer);
        found.extend(partial(World { snapshot, model }, divided, renderer));
        found.into_iter().map(|(entry, partial)| (entry, Problem::unfetched(&partial))).collect()
    }
}

/// Returns the snapshot with a list in every entry point that has none.
fn listed(input: &Input<'_>) -> Snapshot {
    let mut snapshot = input.snapshot.clone();
    for entry in input.model.all_entries() {
        if entry.role != Role::Apps || entry.flux.is_empty() || !input.knows_cluster(entry) {
            continue;
        }
        if let Some(text) = listing(&input.model.graph, input.snapshot, &entry.path)
            && let Ok(path) = entry.path.join("kustomization.yaml")
        {
            snapshot.insert(path, File::new(text.as_bytes()));
        }
    }
    snapshot
}
