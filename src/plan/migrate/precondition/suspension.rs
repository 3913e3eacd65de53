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
                "Flux Kustomization {} has `suspend: true` in Git. No change of it reaches the cluster",
                found.name
            ),
            "remove `suspend` there\nwait until the cluster has applied that\ngo on",
            place(input, found),
        ));
    }
    let held = one.all().find_map(|found| Some((found, input.held_above(found)?)));
    let Some((found, (above, held))) = held else { return barred(input, one) };
    let (above_name, name) = (&above.name, &found.name);
    Some(match held {
        Hold::Suspended => Problem::lasting(
            format!(
                "{name} is applied by Flux Kustomization {above_name}, which has `suspend: true` in Git. The steps would reach the cluster all at once"
            ),
            format!("remove `suspend` from {above_name}\nwait until the cluster has applied that\ngo on"),
            place(input, above),
        ),
        Hold::Job(_) | Hold::Provider(_) | Hold::Window(_) | Hold::Source(_) => Problem::lasting(
            format!(
                "a CronJob suspends Flux Kustomization {above_name}, which applies {name}. The steps would reach the cluster all at once"
            ),
            format!(
                "remove {above_name} from your own jobs\nor let a Flux Kustomization without a gate apply {name}, such as the parent of {above_name}\nor leave it undivided"
            ),
            above.place("path"),
        ),
    })
}

/// One of which nothing that brings it applies a commit.
fn barred(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    let (found, why) = one.all().find_map(|found| Some((found, input.model.barred(found)?)))?;
    let name = &found.name;
    Some(Problem::lasting(
        format!("{why}, so no commit reaches {name}. Later the steps would reach the cluster all at once"),
        "mend that\nwait until the cluster has applied it\ngo on",
        found.place("path"),
    ))
}

/// Points at `suspend`: in the file, or else in the patch of a parent that sets it.
fn place(input: &Input<'_>, flux: &FluxKustomization) -> Place {
    let patch = if *flux.said("suspend") == true { None } else { setting(input, flux, "suspend") };
    patch.unwrap_or_else(|| flux.place("suspend"))
}
