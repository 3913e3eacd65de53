//! A side that too many Flux Kustomizations apply.

use crate::delivery::Input;
use crate::plan::migrate::double::differ;
use crate::plan::migrate::moving::Move;
use crate::plan::problem::Problem;
use crate::repo::FluxKustomization;

/// More Flux Kustomizations of a side than there are old ones that each have a successor, and which do not
/// differ as those of several old ones do.
pub fn check(_: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    let is_crowd = |several: &[&FluxKustomization]| several.len() > one.old.len().max(1) && !differ(several);
    let (position, several) = one.new.iter().find(|(_, several)| is_crowd(several))?;
    let names: Vec<&str> = several.iter().map(|one| one.name.as_str()).collect();
    let stop = Problem::new(
        format!("{} all apply {}", names.join(" and "), one.sides[position]),
        "give all but one `prune: false` and `deletionPolicy: Orphan`\nwait until the cluster has applied that\nremove them",
    );
    Some(stop.at(several.last()?.place("path")))
}
