//! Splits what can be split without a change for any other entry point.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::plan::split::split_without;
use crate::plan::{Input, Plan, Selection, Way};
use crate::proof::{Verdict, prove};
use crate::repo::RepoPath;
use crate::template::Templates;

/// Entry points that must not be divided, each with what would change otherwise.
pub type Held = BTreeMap<RepoPath, String>;

/// Plans the restructuring of the selected apps in every cluster of the spec.
///
/// What a cluster applies does not change: the old entry points go on rendering what they did, and
/// their Flux Kustomizations are prepared for the hand-over. An entry point that can't be divided,
/// or only with a change for another, is refused by itself and the others go on.
///
/// # Errors
///
/// When a name means no app, or a gate can't be brought up to date.
pub fn split(input: &Input<'_>, templates: &Templates, selection: &Selection) -> Result<Plan, Error> {
    let mut held = Held::new();
    loop {
        let plan = split_without(input, templates, selection, &held)?;
        if broken(input, &plan).is_none() {
            return Ok(plan);
        }
        match culprit(input, templates, selection, &held, &plan)? {
            Some((path, reason)) => held.insert(path, reason),
            // The proof says what is wrong.
            None => return Ok(plan),
        };
    }
}

/// Finds the entry point whose division, after those before it, changes another.
fn culprit(
    input: &Input<'_>,
    templates: &Templates,
    selection: &Selection,
    held: &Held,
    plan: &Plan,
) -> Result<Option<(RepoPath, String)>, Error> {
    let divided = plan.entries.iter().filter(|entry| matches!(entry.way, Way::Plain | Way::Projection));
    let suspects: Vec<&RepoPath> = divided.map(|entry| &entry.before).collect();
    let first = |count: usize| -> Result<Option<String>, Error> {
        let rest = suspects[count..].iter().map(|path| ((*path).clone(), String::new()));
        let held = held.clone().into_iter().chain(rest).collect();
        let plan = split_without(input, templates, selection, &held)?;
        Ok(broken(input, &plan))
    };
    if suspects.is_empty() || first(0)?.is_some() {
        return Ok(None);
    }
    let (mut fine, mut wrong) = (0, suspects.len());
    while wrong - fine > 1 {
        let middle = fine.midpoint(wrong);
        if first(middle)?.is_some() {
            wrong = middle;
        } else {
            fine = middle;
        }
    }
    Ok(first(wrong)?.map(|reason| (suspects[wrong - 1].clone(), reason)))
}

/// Tells what a plan would change, if anything.
fn broken(input: &Input<'_>, plan: &Plan) -> Option<String> {
    let verdicts = prove(input.snapshot, &plan.apply(input.snapshot), &plan.obligations, input.renderer);
    let said = |verdict: &Verdict| {
        verdict.mismatches.first().map(|mismatch| format!("in {}, {mismatch}", verdict.obligation.before))
    };
    verdicts.iter().find_map(said)
}
