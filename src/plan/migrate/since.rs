//! What was changed between the revision that clusters have and the tree, and what a step makes of that.

use crate::delivery::Input;
use crate::delivery::inventory::{Inventory, deletions, inventories_of};
use crate::plan::migrate::MigrateOptions;
use crate::plan::migrate::moving::{Key, Move};
use crate::plan::problem::Problem;
use crate::repo::FluxKustomization;

/// Returns what the Flux Kustomizations of some moves apply in the base, where that is another tree.
pub fn stood(input: &Input<'_>, base: &Input<'_>, found: &[Move<'_>]) -> Vec<Inventory> {
    if input.snapshot.entries().eq(base.snapshot.entries()) {
        return Vec::new();
    }
    let is_meant = |flux: &FluxKustomization| {
        let cluster = flux.cluster.clone();
        found.iter().any(|one| one.cluster == cluster && takes_part(one, &flux.name))
    };
    inventories_of(base.model, base.snapshot, base.renderer, &is_meant)
}

fn takes_part(one: &Move<'_>, name: &str) -> bool {
    one.all().any(|flux| flux.name == name)
}

/// Returns the moves whose step would, with what was changed since the base, let an object be deleted that
/// another Flux Kustomization applies from then on: clusters may get both at once.
///
/// What left Git altogether was meant to go.
pub fn lost(
    stood: &[Inventory],
    after: &[Inventory],
    active: &[&Move<'_>],
    options: &MigrateOptions,
) -> Vec<(Key, Problem)> {
    let base = &options.base;
    let mut found = Vec::new();
    for deletion in deletions(stood, after).into_iter().filter(|deletion| deletion.next.is_some()) {
        let meant = active.iter().find(|one| {
            one.cluster == deletion.cluster && one.moves() && takes_part(one, &deletion.kustomization)
        });
        let Some(one) = meant else { continue };
        let stop = Problem::new(
            format!("with what was changed since {base}, the cluster may delete {deletion}"),
            format!(
                "wait until the cluster has applied that change by itself\nrun this again with a `--base` that has it, in place of {base}"
            ),
        );
        found.push((one.key(), stop));
    }
    found
}
