//! The Flux Kustomization that takes over a type from an old one: it stands already, or it will.

use crate::delivery::Input;
use crate::plan::migrate::double::takes_over;
use crate::plan::migrate::moving::{Move, heir_name};
use crate::repo::FluxKustomization;

/// Returns its name.
pub fn name_of(input: &Input<'_>, one: &Move<'_>, old: &FluxKustomization, position: usize) -> String {
    standing(input, one, old, position)
        .map_or_else(|| heir_name(input, &old.name, position), |found| found.name.clone())
}

/// Returns the one that stands.
pub fn standing<'a>(
    input: &Input<'_>,
    one: &Move<'a>,
    old: &FluxKustomization,
    position: usize,
) -> Option<&'a FluxKustomization> {
    let several = one.new.get(&position)?;
    let named = several.iter().find(|found| found.name == heir_name(input, &old.name, position));
    let other = || several.iter().find(|found| takes_over(one, old, found));
    named.or_else(|| other().filter(|_| one.old.len() == 1)).copied()
}
