//! A side that does not build.

use crate::delivery::inventory::Inventory;
use crate::plan::Stage;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::precondition::subject::Subject;
use crate::plan::problem::Problem;

/// A side that took over and does not build: nothing would look after its objects.
pub fn check(subject: &Subject<'_>, one: &Move<'_>) -> Option<Problem> {
    if one.stage != Stage::HandedOver {
        return None;
    }
    one.all().find_map(|flux| {
        let message = Inventory::find(subject.before, &one.cluster, flux)?.objects.as_ref().err()?;
        Some(Problem::new(
            format!("{} does not build: {message}", flux.path.as_ref()?),
            "correct it\nwait until the cluster has applied that\ngo on",
        ))
    })
}
