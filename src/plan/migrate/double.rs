//! Flux Kustomizations of one cluster that apply the same folder.

use serde_json::{Value, json};

use crate::delivery::{Input, beyond, build, rebuilt};
use crate::path::RepoPath;
use crate::plan::migrate::moving::Move;
use crate::repo::FluxKustomization;

/// Gives what decides the objects that a Flux Kustomization makes of a folder.
fn made(input: &Input<'_>, folder: &RepoPath, one: &FluxKustomization) -> (Option<Value>, [Value; 2]) {
    (build(input.model, folder, &one.effective["spec"]), beyond(one))
}

/// Tells whether one that applies a side makes the same objects of it as an old one does, so that it can
/// have taken over from that.
pub fn takes_over(
    input: &Input<'_>,
    one: &Move<'_>,
    old: &FluxKustomization,
    new: &FluxKustomization,
) -> bool {
    let Some(side) = &new.path else { return false };
    let (whole, beyond) = made(input, &one.whole, old);
    let (found, its) = made(input, side, new);
    // A folder without a list is built the same way as one that sets nothing.
    let plain = |build: Option<Value>| build.unwrap_or_else(|| json!({}));
    rebuilt(&plain(whole), &one.whole, side) == plain(found) && beyond == its
}

/// Tells whether several Flux Kustomizations apply different objects of one folder, as with
/// `targetNamespace`.
pub fn differ(input: &Input<'_>, folder: &RepoPath, several: &[&FluxKustomization]) -> bool {
    let made: Vec<_> = several.iter().map(|one| made(input, folder, one)).collect();
    (1..made.len()).all(|index| !made[..index].contains(&made[index]))
}
