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
            "Flux Kustomization {} has the path {}, which is gone. Nothing applies its objects any more",
            found.name,
            found.path.as_ref().map(ToString::to_string).unwrap_or_default()
        ),
        format!(
            "revert the commit that removed the folder\nor remove the Flux Kustomization too, where no object of that type is left\nor undo the split:\n{BACK}\nrun `git revert` for the commit of the split"
        ),
    );
    Some(stop.at(found.place("path")))
}
