//! A side's folder that is gone.

use crate::delivery::Input;
use crate::plan::BACK;
use crate::plan::migrate::moving::Move;
use crate::plan::problem::Problem;

/// A Flux Kustomization of a side that is not there any more.
pub fn check(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    let mut gone = input.sides_in(&one.whole, &one.cluster);
    gone.retain(|_, side| !input.snapshot.is_dir(side));
    let found =
        input.model.flux_at_any(gone.values()).into_iter().find(|found| found.cluster == one.cluster)?;
    let stop = Problem::new(
        format!(
            "Flux Kustomization {} names {}, which is not there, so what it applied is applied by nothing",
            found.name,
            found.path.as_ref().map(ToString::to_string).unwrap_or_default()
        ),
        format!(
            "take back the commit that removed the folder; where nothing of that type is left, remove the Flux Kustomization too; to undo the split, {BACK} the commit of the split"
        ),
    );
    Some(stop.at(found.place("path")))
}
