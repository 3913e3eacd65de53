//! Real-time changes go through closed windows.

use jiff::Timestamp;

use super::walk_through::{change_both, conf, image, scaffold};
use crate::fleet::Fleet;
use crate::landing::{predict, record};
use crate::wait::{WORK, until};

/// Plays it with the real-time side behind `infra`, which is not gated.
///
/// The control suspends `infra`, as guides do: then nothing real-time lands.
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

/// Control: the closing suspends `infra` as well, and the
/// real-time side waits for it.
pub fn gated_infra(fleet: &mut Fleet) {
    scaffold(fleet);
    let depends = "    name: flux-system\n  dependsOn:\n    - name: infra\n";
    fleet.tree.replace("clusters/edge-01/flux/apps-rt.yaml", "    name: flux-system\n", depends);
    fleet.merge("Let the apps wait for infra");
    fleet.landed(0, &["flux-system", "infra", "apps-rt", "apps-rw"]);
    let found = || fleet.tree.run(&["check"]).stdout;
    assert!(!found().contains("GW004"), "what waits for nothing gated is fine: {}", found());

    let base = "infra/reconciliation-windows";
    // The command needs more rights, and guides give it them on every Kustomization.
    let file = format!("{base}/role.yaml");
    let role = fleet.tree.text(&file);
    let role: String =
        role.lines().filter(|line| !line.contains("apps-rw")).map(|line| format!("{line}\n")).collect();
    let role = role.replace("[get, patch]", "[get, list, watch, patch, update]");
    assert!(role.contains("update") && !role.contains("resourceNames"), "{role}");
    fleet.tree.write(&file, role);
    for (job, verb) in [("close", "suspend"), ("open", "resume")] {
        let file = format!("{base}/{job}-reconciliation-window-job.yaml");
        let text = fleet.tree.text(&file);
        let start = text.find("              command: ").unwrap();
        let end = start + text[start..].find('\n').unwrap();
        let script = format!(
            "flux {verb} kustomization infra -n flux-system && flux {verb} kustomization apps-rw -n flux-system;"
        );
        let command = format!("              command: [\"/bin/sh\", \"-c\", {script:?}]");
        fleet.tree.write(&file, [&text[..start], &command, &text[end..]].concat());
    }
    let text = found();
    assert!(text.contains("GW003") && text.contains("GW004"), "nobody was warned: {text}");
    fleet.merge("Control: gate infra too");
    fleet.landed(0, &["flux-system", "infra", "apps-rt", "apps-rw"]);
    let cluster = &fleet.clusters[0];
    cluster.run_job("close-reconciliation-window");
    assert!(cluster.is_suspended("infra") && cluster.is_suspended("apps-rw"));

    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.merge("A new image and a new configuration");
    until("the real-time side is held up by infra", WORK, || {
        let found = cluster.kustomization("apps-rt")?;
        let conditions = found["status"]["conditions"].as_array()?;
        conditions.iter().any(|one| one["reason"] == "DependencyNotReady").then_some(())
    });
    cluster.reconciled("flux-system");
    assert!(!conf(cluster).contains("First change"), "the control landed");
    cluster.run_job("open-reconciliation-window");
    until("only the opening lets it go on", WORK, || conf(cluster).contains("First change").then_some(()));
}
