//! What a closing sets stays set, as long as Git does not say otherwise.

use super::walk_through::scaffold;
use crate::fleet::Fleet;
use crate::wait::{WORK, until};

/// Plays it, and the control: with `suspend: false` in Git the window opens by itself.
pub fn play(fleet: &mut Fleet) {
    scaffold(fleet);
    let cluster = &fleet.clusters[0];
    cluster.run_job("close-reconciliation-window");
    for turn in 1..=3 {
        cluster.reconciled("flux-system");
        assert!(cluster.is_suspended("apps-rw"), "reconciliation {turn} of the parent opened the window");
        fleet.tree.replace("clusters/edge-01/flux/apps-rw.yaml", "interval: 1", "interval: 11");
        fleet.merge("Change the Kustomization itself");
        fleet.landed(0, &["flux-system"]);
        assert!(cluster.is_suspended("apps-rw"), "change {turn} of the Kustomization opened the window");
    }
    cluster.run_job("open-reconciliation-window");
    assert!(!cluster.is_suspended("apps-rw"));
    cluster.run_job("close-reconciliation-window");
    assert!(cluster.is_suspended("apps-rw"));

    fleet.tree.replace(
        "clusters/edge-01/flux/apps-rw.yaml",
        "  prune: true\n",
        "  prune: true\n  suspend: false\n",
    );
    fleet.merge("Control: write the field into Git");
    until("the parent sets the field back", WORK, || (!cluster.is_suspended("apps-rw")).then_some(()));
    cluster.run_job("close-reconciliation-window");
    cluster
        .reconcile("/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/flux-system");
    until("the parent sets it back again", WORK, || (!cluster.is_suspended("apps-rw")).then_some(()));
}
