//! Real-time changes go through closed windows.

use jiff::Timestamp;

use super::walk_through::{change_both, conf, image, scaffold};
use crate::fleet::Fleet;
use crate::landing::{predict, record};
use crate::wait::{WORK, until};

/// Plays it with the real-time side behind `infra`, which is not gated.
///
/// The control suspends `infra`, as the published sample does: then nothing real-time lands.
pub fn play(fleet: &mut Fleet) {
    scaffold(fleet);
    let depends = "    name: flux-system\n  dependsOn:\n    - name: infra\n";
    fleet.tree.replace("clusters/edge-01/flux/apps-rt.yaml", "    name: flux-system\n", depends);
    fleet.merge("Let the apps wait for infra");
    fleet.landed(0, &["flux-system", "infra", "apps-rt", "apps-rw"]);
    let cluster = &fleet.clusters[0];
    cluster.run_job("close-reconciliation-window");

    let said = predict(fleet, "edge-01", "nginx", "rt");
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.merge("Change both sides");
    let landed = until("the real-time side lands", WORK, || {
        conf(cluster).contains("First change").then(Timestamp::now)
    });
    record("real_time_through_closed_windows: the configuration", &said, landed);
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    assert!(image(cluster).ends_with("1.29-alpine"), "the image did not wait");

    cluster.flux_cli(&["suspend", "kustomization", "infra"]);
    change_both(fleet, ("1.30-alpine", "1.31-alpine"), ("First change", "Second change"));
    fleet.merge("Control: infra is suspended");
    until("the real-time side is held up by infra", WORK, || {
        let found = cluster.kustomization("apps-rt")?;
        let conditions = found["status"]["conditions"].as_array()?;
        conditions.iter().any(|one| one["reason"] == "DependencyNotReady").then_some(())
    });
    assert!(conf(cluster).contains("First change"), "the control landed");
    cluster.flux_cli(&["resume", "kustomization", "infra"]);
    until("the real-time side goes on", WORK, || conf(cluster).contains("Second change").then_some(()));
}
