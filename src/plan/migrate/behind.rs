//! What leaves Git and stays in a cluster.

use crate::delivery::Input;
use crate::delivery::inventory::Inventory;
use crate::diagnostic::Diagnostic;
use crate::plan::migrate::moving::Move;
use crate::plan::{Command, Stage};
use crate::repo::FluxKustomization;

/// Tells of old Flux Kustomizations that leave Git and stay in the cluster, since what applies them prunes
/// nothing: there they would go on applying what no window holds back.
///
/// `inventories` hold what is there before the hand-over.
pub fn left_behind(input: &Input<'_>, one: &Move<'_>, inventories: &[Inventory]) -> Vec<Diagnostic> {
    if one.stage != Stage::Restructured || one.leaves_rest() {
        return Vec::new();
    }
    let keeps = |parent: &&FluxKustomization| {
        let cluster = parent.cluster.clone();
        Inventory::find(inventories, &cluster, parent).is_some_and(|inventory| !inventory.prune)
    };
    let left = |old: &&FluxKustomization| {
        let parents = input.parents(old);
        let keeper = parents.iter().copied().find(keeps).filter(|_| parents.iter().all(keeps))?;
        let (name, cluster) = (&old.name, &one.cluster);
        let namespace = input.namespace(old);
        Some(
            Diagnostic::warning(format!(
                "Flux Kustomization {name} leaves Git and stays in {cluster}: its parent {} does not prune. {name} goes on applying everything, also while the window is closed",
                keeper.name
            ))
            .at(keeper.place("prune"))
            .help(format!(
                "once its successors are ready: `{}`",
                Command::let_go(name, namespace, cluster, input.model.takes_policies(cluster)).shell()
            )),
        )
    };
    one.old.iter().copied().filter_map(|old| left(&old)).collect()
}
