//! A side that its source does not fetch.

use crate::delivery::{Input, World, partial_of};
use crate::path::RepoPath;
use crate::plan::Stage;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::precondition::subject::Subject;
use crate::plan::problem::Problem;

/// A side to which the old Flux Kustomization would hand over, and that builds otherwise, or not at all, of what its source
/// fetches: nobody would own the objects that are not there.
pub fn check(subject: &Subject<'_>, one: &Move<'_>) -> Option<Problem> {
    if one.stage != Stage::Restructured {
        return None;
    }
    let Input { snapshot, model, renderer, .. } = *subject.input;
    let sides: Vec<RepoPath> = one.sides.values().cloned().collect();
    one.old.iter().find_map(|flux| {
        let found = partial_of(World { snapshot, model }, model.reached(flux)?, &sides, renderer)?;
        Some(Problem::unfetched(&found).at(flux.place("path")))
    })
}
