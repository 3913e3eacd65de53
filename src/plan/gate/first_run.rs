//! What the first run of a held source's job may not know.

use std::collections::BTreeSet;

use crate::delivery::Input;
use crate::diagnostic::{Diagnostic, Place};
use crate::mechanism::{ClusterGate, HeldSource};
use crate::text::some;

/// The most Flux Kustomizations that are named.
const MOST: usize = 5;

/// Says that the first run may find what begins to read a held source at several commits, and can't know the newest. One
/// alone is at one commit.
pub(super) fn first_run(
    input: &Input<'_>,
    gate: &ClusterGate,
    source: &HeldSource,
    begins: &BTreeSet<&str>,
) -> Option<Diagnostic> {
    if begins.len() < 2 {
        return None;
    }
    let names: Vec<&str> = begins.iter().copied().collect();
    let text = format!(
        "{} of cluster {} begins at the commit that {} have applied. If these differ, its first run may fail",
        source.name,
        gate.cluster,
        some(&names, MOST)
    );
    let help = "let this reach the cluster while the window is open\nor merge nothing else before that run; where it fails, `gitops-windows status` says what to do";
    Some(Diagnostic::note(text).at(Place::file(input.spec.path.clone())).help(help))
}
