//! Flux Kustomizations of one cluster that apply the same folder.

use serde_json::Value;

use crate::delivery::{beyond, build, rebuilt};
use crate::plan::migrate::moving::Move;
use crate::repo::FluxKustomization;

/// Returns what decides the objects that a Flux Kustomization makes of a folder.
fn made(one: &FluxKustomization) -> (Value, [Value; 2]) {
    (build(one), beyond(one))
}

/// Returns whether one that applies a side makes the same objects of it as an old one does, so that it can
/// have taken over from that.
pub fn takes_over(one: &Move<'_>, old: &FluxKustomization, new: &FluxKustomization) -> bool {
    let Some(side) = &new.path else { return false };
    let (whole, beyond) = made(old);
    let (found, its) = made(new);
    rebuilt(&whole, &one.whole, side) == found && beyond == its
}

/// Returns whether several Flux Kustomizations apply different objects of one folder, as with
/// `targetNamespace`.
pub fn differ(several: &[&FluxKustomization]) -> bool {
    let made: Vec<_> = several.iter().map(|one| made(one)).collect();
    (1..made.len()).all(|index| !made[..index].contains(&made[index]))
}
