//! A Flux Kustomization that is kept from deleting in its file alone.

use crate::plan::Stage;
use crate::plan::migrate::effective;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::precondition::subject::Subject;
use crate::plan::problem::Problem;

/// Stops where something else decides in the tree what it deletes.
pub fn here(subject: &Subject<'_>, one: &Move<'_>) -> Option<Problem> {
    let one = Some(one).filter(|one| one.stage == Stage::Restructured)?;
    effective::overridden(subject.input, one, &subject.parents_here)
}

/// Stops where something else decides so in the revision that clusters are taken to have.
pub fn in_base(subject: &Subject<'_>, one: &Move<'_>) -> Option<Problem> {
    let stood = subject.bases.get(&one.key()).filter(|stood| stood.stage == Stage::Restructured)?;
    let problem = effective::overridden(subject.base, stood, &subject.parents)?;
    Some(problem.still(&subject.options.base))
}
