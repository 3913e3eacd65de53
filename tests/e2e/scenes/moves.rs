//! What moves after the migration, while the window is closed: no object is ever deleted.

use super::migrations::{ONE_OF_THEM, Uids, handed_over, landed, lost, migrate, nothing_lost};
use crate::cluster::Cluster;
use crate::fleet::{CRON_JOBS, Fleet};
use crate::wait::{WORK, until};

const SPEC: &str = "windows.yaml";
const RULE: &str = "  - { kind: Service, type: rt }\n";
const LAST_RULE: &str = "  - { type: rw }\n";
const SERVICE: &str = "/api/v1/namespaces/web/services/edge-01-web";
const MANIFEST: &str = "apps/web/web-rw/service.yaml";
const KEEP: &str = "  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n";

/// Waits until a Flux Kustomization has taken an object over.
#[track_caller]
fn owned(cluster: &Cluster, path: &str, name: &str) {
    until(&format!("{name} owns {path}"), WORK, || {
        let labels = &cluster.api.get(path)?["metadata"]["labels"];
        (labels["kustomize.toolkit.fluxcd.io/name"] == *name).then_some(())
    });
}

/// Opens the window until everything has landed, and closes it again.
#[track_caller]
fn open_and_close(fleet: &Fleet) {
    let cluster = &fleet.clusters[0];
    cluster.run_job("open-reconciliation-window");
    fleet.landed(0, &["apps-rw"]);
    cluster.run_job("close-reconciliation-window");
    assert!(cluster.is_suspended("apps-rw"));
}

#[track_caller]
fn merged(fleet: &Fleet, message: &str) {
    fleet.merge(message);
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    assert!(fleet.clusters[0].is_suspended("apps-rw"), "{message}: the window is open");
}

/// A Service becomes real-time and gets its window back, both while the window is closed.
pub fn types(fleet: &mut Fleet) {
    let before = migrate(fleet, &ONE_OF_THEM);
    let with_window = fleet.tree.git(&["rev-parse", "HEAD"]).trim().to_owned();
    owned(&fleet.clusters[0], SERVICE, "apps-rw");

    fleet.tree.replace(SPEC, LAST_RULE, &format!("{RULE}{LAST_RULE}"));
    fleet.tool(&["sync", "--yes"]);
    merged(fleet, "rw → rt");
    owned(&fleet.clusters[0], SERVICE, "apps-rt");
    nothing_lost(fleet, &before, "rw → rt, closed");
    open_and_close(fleet);
    nothing_lost(fleet, &before, "rw → rt, opened");
    owned(&fleet.clusters[0], SERVICE, "apps-rt");

    fleet.tree.replace(SPEC, RULE, "");
    let refused = fleet.tree.expect(5, &["sync", "--yes"]).stderr;
    assert!(refused.contains("prune: disabled"), "{refused}");
    fleet.tree.git(&["checkout", "--quiet", SPEC]);
    assert_eq!(fleet.tree.git(&["status", "--porcelain"]), "", "a refusal wrote");

    // The way that the refusal names.
    fleet.tree.replace(MANIFEST, "  name: web\n", &format!("  name: web\n{KEEP}"));
    merged(fleet, "Keep the Service");
    fleet.tree.replace(SPEC, RULE, "");
    fleet.tool(&["sync", "--yes"]);
    merged(fleet, "rt → rw");
    nothing_lost(fleet, &before, "rt → rw, closed");
    open_and_close(fleet);
    owned(&fleet.clusters[0], SERVICE, "apps-rw");
    nothing_lost(fleet, &before, "rt → rw, opened");
    fleet.tree.replace(MANIFEST, KEEP, "");
    merged(fleet, "The Service has arrived");
    open_and_close(fleet);
    nothing_lost(fleet, &before, "rt → rw, arrived");

    // Control: without the annotation, which the tool refuses.
    fleet.tree.replace(SPEC, LAST_RULE, &format!("{RULE}{LAST_RULE}"));
    fleet.tool(&["sync", "--yes"]);
    merged(fleet, "rw → rt again");
    owned(&fleet.clusters[0], SERVICE, "apps-rt");
    fleet.tree.git(&["checkout", &with_window, "--", "clusters"]);
    merged(fleet, "Control: rt → rw by hand");
    let cluster = &fleet.clusters[0];
    let gone = until("the control deletes", WORK, || {
        let gone = lost(&before[0], &cluster.uids());
        (!gone.is_empty()).then_some(gone)
    });
    println!("control: rt → rw while closed: {} of 1 objects deleted", gone.len());
    assert_eq!(gone, ["Service web/edge-01-web"]);
    assert!(cluster.api.get(SERVICE).is_none());
    open_and_close(fleet);
    assert!(cluster.api.get(SERVICE).is_some(), "the opening does not bring it back");
}

/// From the finished state back to one Flux Kustomization, as the refusal of `join` says.
pub fn back(fleet: &mut Fleet) {
    let case = &ONE_OF_THEM;
    let before: Vec<Uids> = migrate(fleet, case);
    let finish = fleet.tree.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let refused = fleet.tree.expect(5, &["join", "--all", "--yes"]).stderr;
    assert!(refused.contains("go back as you came"), "{refused}");

    fleet.tree.git(&["revert", "--no-edit", &finish]);
    merged(fleet, "Back: the finish");
    nothing_lost(fleet, &before, "back before the finish");
    until("the gate is off", WORK, || {
        let gate = fleet.clusters[0].api.list(CRON_JOBS);
        gate.iter().all(|job| job["spec"]["suspend"] == true).then_some(())
    });

    fleet.tree.git(&["revert", "--no-edit", &format!("{finish}~1")]);
    fleet.merge("Back: the hand-over");
    for name in case.after {
        until(&format!("{name} is gone"), WORK, || {
            fleet.clusters[0].kustomization(name).is_none().then_some(())
        });
    }
    landed(fleet, case.before);
    nothing_lost(fleet, &before, "back before the hand-over");

    fleet.tool(&["join", "--all", "--yes"]);
    fleet.merge("Joined");
    landed(fleet, case.before);
    nothing_lost(fleet, &before, "joined");
    let apps = fleet.clusters[0].kustomization("apps").unwrap();
    assert_eq!(apps["spec"]["prune"], true, "joined, and yet it does not prune");

    // And forward once more.
    fleet.tool(&["split", "--all", "--yes"]);
    fleet.merge("Restructure again");
    landed(fleet, case.before);
    for step in ["Hand over again", "Finish again"] {
        fleet.tool(&["migrate", "--yes"]);
        fleet.merge(step);
        handed_over(fleet, case);
        nothing_lost(fleet, &before, step);
    }
}
