//! What keeps steps from reaching a cluster one by one.

use crate::delivery::{Hold, Input};
use crate::diagnostic::Place;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::patch::setting;
use crate::plan::problem::Problem;
use crate::repo::FluxKustomization;

/// One that is suspended in Git, or above which something is.
pub fn check(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    if let Some(found) = one.all().find(|found| found.is_suspended()) {
        return Some(Problem::lasting(
            format!(
                "Flux Kustomization {} has `suspend: true` in Git, so nothing of it reaches the cluster",
                found.name
            ),
            "take `suspend` out there, let it reach the cluster, then go on",
            place(input, found),
        ));
    }
    let (found, (above, held)) = one.all().find_map(|found| Some((found, input.held_above(found)?)))?;
    let (above_name, name) = (&above.name, &found.name);
    Some(match held {
        Hold::Suspended => Problem::lasting(
            format!(
                "Flux Kustomization {above_name}, which applies {name}, has `suspend: true` in Git: the steps would reach the cluster all at once"
            ),
            format!("take `suspend` out of {above_name}, let it reach the cluster, then go on"),
            place(input, above),
        ),
        Hold::Job(_) | Hold::Window(_) | Hold::Source(_) => Problem::lasting(
            format!(
                "a CronJob holds back Flux Kustomization {above_name}, which applies {name}: the steps would reach the cluster all at once when it is resumed"
            ),
            format!(
                "take {above_name} out of the jobs where you wrote them, or let something that no gate holds back apply {name}, as what applies {above_name}; or leave it whole"
            ),
            above.place("path"),
        ),
    })
}

/// Points at `suspend`: in the file, or else in the patch of a parent that sets it.
fn place(input: &Input<'_>, flux: &FluxKustomization) -> Place {
    let patch = if *flux.said("suspend") == true { None } else { setting(input, flux, "suspend") };
    patch.unwrap_or_else(|| flux.place("suspend"))
}
