//! Splits what can be split without a change for any other entry point.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::plan::split::split_without;
use crate::plan::{Input, Plan, Selection};
use crate::proof::{Obligation, Verdict, prove};
use crate::repo::{RepoPath, Snapshot};
use crate::template::Templates;

/// Entry points that must not be divided, each with what would change otherwise.
pub type Held = BTreeMap<RepoPath, String>;

/// An entry point that was divided, and the tree after it.
pub struct Step {
    /// The entry point.
    pub entry: RepoPath,
    /// All files after it and those before it were divided.
    pub after: Snapshot,
}

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
        let (plan, steps) = split_without(input, templates, selection, &held)?;
        let broken: Vec<Obligation> = mismatches(input, &plan.apply(input.snapshot), &plan.obligations)
            .into_iter()
            .map(|(obligation, _)| obligation)
            .collect();
        let culprits: Held =
            broken.iter().filter_map(|obligation| culprit(input, &steps, obligation)).collect();
        // Without a culprit it is for the proof to say what is wrong.
        if culprits.is_empty() {
            return Ok(plan);
        }
        held.extend(culprits);
    }
}

/// Finds the first step with which an obligation is not met any more, and what changes then.
fn culprit(input: &Input<'_>, steps: &[Step], obligation: &Obligation) -> Option<(RepoPath, String)> {
    let broken = |count: usize| -> Option<String> {
        let after = count.checked_sub(1).map_or(input.snapshot, |last| &steps[last].after);
        mismatches(input, after, std::slice::from_ref(obligation)).into_iter().next().map(|(_, text)| text)
    };
    // Before its own division an entry point has no sides that could be held to anything.
    let own = steps.iter().position(|step| step.entry == obligation.before);
    let divided = obligation.after != std::slice::from_ref(&obligation.before);
    let mut fine = own.filter(|_| divided).map_or(0, |own| own + 1);
    let mut wrong = steps.len();
    if wrong <= fine || broken(fine).is_some() || broken(wrong).is_none() {
        return None;
    }
    while wrong - fine > 1 {
        let middle = fine.midpoint(wrong);
        if broken(middle).is_some() {
            wrong = middle;
        } else {
            fine = middle;
        }
    }
    Some((steps[wrong - 1].entry.clone(), broken(wrong)?))
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
