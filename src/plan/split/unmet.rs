//! What a draft does not do that it must.

use std::collections::BTreeMap;

use crate::delivery::{Artifact, Input, Lacking, Later};
use crate::plan::problem::Problem;
use crate::proof::{Mismatch, Obligation, Verdict, prove};
use crate::repo::Snapshot;

/// The remedy where others build a file that a division moves.
const OWN_LIST: &str =
    "let entry points use each other's files only through a kustomization.yaml\nsplit again";

/// An obligation that a draft does not meet.
#[derive(Clone, Debug)]
pub(super) struct Unmet {
    pub(super) obligation: Obligation,
    /// The artifact of which it is not met; `None` where it is the repository as it lies here.
    artifact: Option<Artifact>,
}

impl Unmet {
    /// An obligation that is not met as the repository lies here.
    pub(super) fn here(obligation: Obligation) -> Unmet {
        Unmet { obligation, artifact: None }
    }

    /// Finds the entry points that a draft leaves alone and that clusters build otherwise after it, since their source does
    /// not fetch all that lies here: moving a file that is a link makes it one, or the other way round.
    pub(super) fn as_fetched(
        original: &Input<'_>,
        after: &Snapshot,
        obligations: &[Obligation],
    ) -> Vec<Unmet> {
        let mut by_artifact: BTreeMap<&Artifact, Vec<Obligation>> = BTreeMap::new();
        for one in obligations.iter().filter(|one| one.after == std::slice::from_ref(&one.before)) {
            let entry = original.model.entry(&one.before);
            let artifacts = entry.map(|entry| original.model.artifacts_over(entry)).unwrap_or_default();
            for artifact in artifacts.into_iter().flatten() {
                by_artifact.entry(artifact).or_default().push(one.clone());
            }
        }
        let after = original.later(after);
        let of_artifact = |(artifact, obligations): (&Artifact, Vec<Obligation>)| {
            let broken = proven(original, &after, Some(artifact), &obligations).into_iter();
            let unmet =
                |verdict: Verdict| Unmet { obligation: verdict.obligation, artifact: Some(artifact.clone()) };
            broken.filter(|verdict| !verdict.mismatches.is_empty()).map(unmet).collect::<Vec<_>>()
        };
        by_artifact.into_iter().flat_map(of_artifact).collect()
    }

    /// Returns in the same order how a tree does not meet each of some: those of one artifact are proven at once.
    pub(super) fn mismatches(all: &[&Unmet], original: &Input<'_>, tree: &Snapshot) -> Vec<Option<Mismatch>> {
        let after = original.later(tree);
        let mut by_artifact: BTreeMap<Option<&Artifact>, Vec<usize>> = BTreeMap::new();
        for (position, one) in all.iter().enumerate() {
            by_artifact.entry(one.artifact.as_ref()).or_default().push(position);
        }
        let mut found = vec![None; all.len()];
        for (artifact, positions) in by_artifact {
            let obligations: Vec<Obligation> =
                positions.iter().map(|position| all[*position].obligation.clone()).collect();
            for (position, verdict) in
                positions.into_iter().zip(proven(original, &after, artifact, &obligations))
            {
                found[position] = verdict.mismatches.into_iter().next();
            }
        }
        found
    }

    /// Says why an entry point is not divided that would break it.
    pub(super) fn problem(&self, original: &Input<'_>, mismatch: &Mismatch) -> Problem {
        let entry = &self.obligation.before;
        let lacking = || original.model.lacking_in(original.snapshot, self.artifact.as_ref(), entry);
        match self.artifact.as_ref().and_then(|_| lacking().into_iter().next()) {
            Some(Lacking { path, why, .. }) => Problem::new(
                format!("dividing it would change {entry}, of which Flux never sees {path}: {why}"),
                why.remedy(),
            ),
            None => Problem::new(format!("dividing it would change {entry}: {mismatch}"), OWN_LIST),
        }
    }
}

/// Proves obligations of what an artifact has in a later state; without one, of all that lies here.
fn proven(
    original: &Input<'_>,
    after: &Later<'_>,
    artifact: Option<&Artifact>,
    obligations: &[Obligation],
) -> Vec<Verdict> {
    let before = original.model.delivered.files(original.snapshot, artifact);
    prove(&before, &after.files(artifact), obligations, original.renderer)
}
