//! What keeps steps from reaching a cluster one by one.

use crate::delivery::{Hold, Input};
use crate::plan::migrate::moving::Move;
use crate::plan::problem::Problem;

/// One that is suspended in Git, or above which something is.
pub fn check(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    if let Some(found) = one.all().find(|found| found.is_suspended()) {
        return Some(Problem::lasting(
            format!(
                "Flux Kustomization {} has `suspend: true` in Git, so nothing of it reaches the cluster",
                found.name
            ),
            "take that line out, let it reach the cluster, then go on",
            found.place("suspend"),
        ));
    }
    let (found, (above, held)) = one.all().find_map(|found| Some((found, input.held_above(found)?)))?;
    let (above_name, name) = (&above.name, &found.name);
    Some(match held {
        Hold::Suspended => Problem::new(
            format!(
                "Flux Kustomization {above_name}, which applies {name}, has `suspend: true` in Git: the steps would reach the cluster all at once"
            ),
            format!("resume {above_name}, let it reach the cluster, then go on"),
        )
        .at(above.place("suspend")),
        Hold::Job(_) | Hold::Window(_) => Problem::lasting(
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
