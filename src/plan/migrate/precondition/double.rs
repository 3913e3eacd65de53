//! An entry point that several Flux Kustomizations apply alike.

use crate::delivery::Input;
use crate::plan::migrate::double::differ;
use crate::plan::migrate::moving::Move;
use crate::plan::problem::Problem;

/// What is said where several old ones apply the same objects: so would their successors, and no step
/// leads out of that.
pub fn check(_: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    // What stays with them when they hand nothing over was applied twice before.
    if !one.rest.as_ref().is_some_and(|rest| rest.overlaps) || differ(&one.old) {
        return None;
    }
    let names: Vec<String> = one.old.iter().map(|old| format!("{} in {}", old.name, old.file)).collect();
    let second = one.old.get(1)?;
    Some(Problem::lasting(
        format!(
            "Flux Kustomizations {} all apply the same objects of it. So would their successors",
            names.join(" and ")
        ),
        "give all but one `prune: false` and `deletionPolicy: Orphan`\nwait until the cluster has applied that\nremove them",
        second.place("path"),
    ))
}
