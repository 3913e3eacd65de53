//! Splits what can be split without a change for any other entry point.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::error::Error;
use crate::path::RepoPath;
use crate::plan::split::divide::{Care, split_with};
use crate::plan::split::{Selection, promise};
use crate::plan::stop::Stop;
use crate::plan::{EntryOutcome, Plan, Way, migrate, refuse_unfetched};
use crate::proof::{Obligation, Verdict, prove};
use crate::repo::Snapshot;
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
    input: &Input<'_>,
    base: Option<&Input<'_>>,
    templates: &Templates,
    selection: &Selection,
) -> Result<Plan, Error> {
    let mut hindered = BTreeMap::new();
    loop {
        let plan = settled(input, base, templates, selection, &hindered)?;
        let found = no_hand_over(input, &plan);
        if found.is_empty() {
            refuse_unfetched(input, &plan.changes)?;
            return Ok(plan);
        }
        hindered.extend(found);
    }
}

/// Gives the entry points that a plan divides and nothing could hand over, since their Flux
/// Kustomizations or what names these can't be edited.
fn no_hand_over(input: &Input<'_>, plan: &Plan) -> BTreeMap<RepoPath, Stop> {
    let is_divided =
        |one: &&EntryOutcome| matches!(one.way, Way::Plain | Way::Projection) && one.taken_over.is_empty();
    let divided: BTreeSet<RepoPath> =
        plan.entries.iter().filter(is_divided).map(|one| one.before.clone()).collect();
    if divided.is_empty() {
        return BTreeMap::new();
    }
    let after = plan.changes.apply(input.snapshot);
    let model = input.again(&after);
    migrate::hindered(&Input { snapshot: &after, model: &model, ..*input }, &divided)
}

/// Plans a restructuring that leaves some entry points as they are and comes out right everywhere else.
fn settled(
    input: &Input<'_>,
    base: Option<&Input<'_>>,
    templates: &Templates,
    selection: &Selection,
    hindered: &BTreeMap<RepoPath, Stop>,
) -> Result<Plan, Error> {
    if let Some(plan) = trusting(input, base, templates, selection, hindered) {
        return Ok(plan);
    }
    let mut watched: Vec<Obligation> = Vec::new();
    loop {
        let care = Care::Watching(&watched);
        let (plan, _) = split_with(input, base, templates, selection, &care, hindered)?;
        let broken = mismatches(input, &plan.changes.apply(input.snapshot), &plan.obligations);
        let new: Vec<Obligation> =
            broken.into_iter().map(|(one, _)| one).filter(|one| !watched.contains(one)).collect();
        // What no step breaks is not for a step to mend: the proof says what is wrong.
        if new.is_empty() {
            return Ok(plan);
        }
        watched.extend(new);
    }
}

/// Plans without a build on the way and proves everything together; what does not come out right is
/// planned with care once, among the others.
fn trusting(
    input: &Input<'_>,
    base: Option<&Input<'_>>,
    templates: &Templates,
    selection: &Selection,
    hindered: &BTreeMap<RepoPath, Stop>,
) -> Option<Plan> {
    let mut doubted = BTreeSet::new();
    for _ in 0..2 {
        let care = Care::Trusting(&doubted);
        let (plan, promises) = split_with(input, base, templates, selection, &care, hindered).ok()?;
        let after = plan.changes.apply(input.snapshot);
        let mut broken = promise::unkept(input, &after, &promises);
        broken.extend(mismatches(input, &after, &plan.obligations).into_iter().map(|(one, _)| one.before));
        if broken.is_empty() {
            return Some(plan);
        }
        // With the same steps the next plan would be the same.
        if !promises.iter().any(|promise| broken.contains(&promise.entry)) {
            return None;
        }
        doubted.extend(broken);
    }
    None
}

/// Obligations that an earlier plan did not meet, looked at after each step, so that the step which
/// breaks one is found and taken back.
pub struct Watch<'a> {
    input: Input<'a>,
    /// Those of entry points that are not divided yet: they have no sides that could be held to anything.
    waiting: Vec<&'a Obligation>,
    /// Those that are met so far.
    met: Vec<&'a Obligation>,
}

impl<'a> Watch<'a> {
    /// Begins with the tree in which nothing is divided.
    pub fn new(input: &Input<'a>, watched: &'a [Obligation]) -> Watch<'a> {
        let divided = |one: &&Obligation| one.after != std::slice::from_ref(&one.before);
        let (waiting, whole): (Vec<_>, Vec<_>) = watched.iter().partition(divided);
        let mut watch = Watch { input: *input, waiting, met: Vec::new() };
        watch.met = watch.those_met(whole, input.snapshot);
        watch
    }

    /// Says what a step would change for another entry point; `None` takes the step as made.
    pub fn step(&mut self, entry: &RepoPath, after: &Snapshot) -> Option<String> {
        let met: Vec<Obligation> = self.met.iter().copied().cloned().collect();
        if let Some((_, text)) = mismatches(&self.input, after, &met).into_iter().next() {
            return Some(text);
        }
        let (own, waiting): (Vec<_>, Vec<_>) = self.waiting.iter().partition(|one| one.before == *entry);
        self.waiting = waiting;
        let own = self.those_met(own, after);
        self.met.extend(own);
        None
    }

    fn those_met(&self, of: Vec<&'a Obligation>, after: &Snapshot) -> Vec<&'a Obligation> {
        of.into_iter()
            .filter(|one| mismatches(&self.input, after, std::slice::from_ref(*one)).is_empty())
            .collect()
    }
}

/// Gives what is not met of the obligations, each with the first difference.
fn mismatches(input: &Input<'_>, after: &Snapshot, obligations: &[Obligation]) -> Vec<(Obligation, String)> {
    let verdicts = prove(input.snapshot, after, obligations, input.renderer);
    let said = |verdict: Verdict| {
        let text = format!("in {}, {}", verdict.obligation.before, verdict.mismatches.first()?);
        Some((verdict.obligation, text))
    };
    verdicts.into_iter().filter_map(said).collect()
}
