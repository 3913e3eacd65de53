//! Steps that went into one commit.

use crate::plan::Stage;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::precondition::subject::Subject;
use crate::plan::problem::Problem;

/// Steps that went into one commit: the old Flux Kustomization goes before the cluster was told to keep
/// what it applies.
pub fn check(subject: &Subject<'_>, one: &Move<'_>) -> Option<Problem> {
    if one.stage != Stage::Finished || !one.old.is_empty() {
        return None;
    }
    let old = subject.base.model.flux_at(&one.whole).find(|old| old.cluster == one.cluster)?;
    Some(Problem::new(
        format!(
            "it is finished here, but {} still has {}: its removal would delete the objects",
            subject.options.base, old.name
        ),
        "commit the steps one by one, and wait each time until the cluster has applied it",
    ))
}
