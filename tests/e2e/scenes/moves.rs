//! What moves after the migration, while the window is closed: no object is ever deleted.

use super::migrations::{
    ONE_OF_THEM, PREFIXED, Uids, begin, handed_over, landed, lost, migrate, nothing_lost,
};
use crate::cluster::Cluster;
use crate::fleet::{CRON_JOBS, Fleet};
use crate::wait::{WORK, until};

const SPEC: &str = "windows.yaml";
const RULE: &str = "  - { kind: Service, type: rt }\n";
const LAST_RULE: &str = "  - { type: rw }\n";
/// The Service as each cluster has it.
const SERVICES: [&str; 2] =
    ["/api/v1/namespaces/web/services/edge-01-web", "/api/v1/namespaces/web/services/web"];
const GATED: &str = "apps/web/web-rw/service.yaml";
const AT_ONCE: &str = "apps/web/web-rt/service.yaml";
const KEEP: &str = "  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n";

/// Waits until a Flux Kustomization has taken an object over.
#[track_caller]
pub fn owned(cluster: &Cluster, path: &str, name: &str) {
    until(&format!("{name} owns {path}"), WORK, || {
        let labels = &cluster.api.get(path)?["metadata"]["labels"];
        (labels["kustomize.toolkit.fluxcd.io/name"] == *name).then_some(())
    });
}

#[track_caller]
fn service_owned(fleet: &Fleet, name: &str) {
    for (cluster, service) in fleet.clusters.iter().zip(SERVICES) {
        owned(cluster, service, name);
    }
}

/// Opens the windows until everything has landed, and closes them again.
#[track_caller]
fn open_and_close(fleet: &Fleet) {
    for (index, cluster) in fleet.clusters.iter().enumerate() {
        cluster.run_job("open-reconciliation-window");
        fleet.landed(index, &["apps-rw"]);
        cluster.run_job("close-reconciliation-window");
        assert!(cluster.is_suspended("apps-rw"));
    }
}

#[track_caller]
fn merged(fleet: &Fleet, message: &str) {
    fleet.merge(message);
    landed(fleet, &["infra", "apps-rt"]);
    assert!(fleet.clusters.iter().all(|one| one.is_suspended("apps-rw")), "{message}: a window is open");
}

/// A Service becomes real-time and gets its window back, both while the windows are closed: on one
/// cluster it is projected, on the other it lies in a part of its own.
pub fn types(fleet: &mut Fleet) {
    let before = migrate(fleet, &PREFIXED);
    let with_window = fleet.tree.git(&["rev-parse", "HEAD"]).trim().to_owned();
    service_owned(fleet, "apps-rw");

    fleet.tree.replace(SPEC, LAST_RULE, &format!("{RULE}{LAST_RULE}"));
    fleet.tool(&["sync", "--yes"]);
    merged(fleet, "rw → rt");
    service_owned(fleet, "apps-rt");
    nothing_lost(fleet, &before, "rw → rt, closed");
    open_and_close(fleet);
    nothing_lost(fleet, &before, "rw → rt, opened");
    service_owned(fleet, "apps-rt");

    fleet.tree.replace(SPEC, RULE, "");
    let refused = fleet.tree.expect(5, &["sync", "--yes"]).stderr;
    assert!(refused.contains("prune: disabled"), "{refused}");
    fleet.tree.git(&["checkout", "--quiet", SPEC]);
    assert_eq!(fleet.tree.git(&["status", "--porcelain"]), "", "a refusal wrote");

    // The way that the refusal names.
    fleet.tree.replace(AT_ONCE, "  name: web\n", &format!("  name: web\n{KEEP}"));
    merged(fleet, "Keep the Service");
    fleet.tree.replace(SPEC, RULE, "");
    fleet.tool(&["sync", "--yes"]);
    merged(fleet, "rt → rw");
    nothing_lost(fleet, &before, "rt → rw, closed");
    open_and_close(fleet);
    service_owned(fleet, "apps-rw");
    nothing_lost(fleet, &before, "rt → rw, opened");
    fleet.tree.replace(GATED, KEEP, "");
    merged(fleet, "The Service has arrived");
    open_and_close(fleet);
    nothing_lost(fleet, &before, "rt → rw, arrived");

    // Control: without the annotation, which the tool refuses.
    fleet.tree.replace(SPEC, LAST_RULE, &format!("{RULE}{LAST_RULE}"));
    fleet.tool(&["sync", "--yes"]);
    merged(fleet, "rw → rt again");
    service_owned(fleet, "apps-rt");
    fleet.tree.git(&["rm", "--quiet", "-r", "apps"]);
    fleet.tree.git(&["checkout", &with_window, "--", "clusters", "apps"]);
    merged(fleet, "Control: rt → rw by hand");
    for ((cluster, service), before) in fleet.clusters.iter().zip(SERVICES).zip(&before) {
        let gone = until("the control deletes", WORK, || {
            let gone = lost(before, &cluster.uids());
            (!gone.is_empty()).then_some(gone)
        });
        println!("control: {}, rt → rw while closed: {} of 1 objects deleted", cluster.name, gone.len());
        assert!(gone.len() == 1 && gone[0].starts_with("Service web/"), "{gone:?}");
        assert!(cluster.api.get(service).is_none());
    }
    open_and_close(fleet);
    for (cluster, service) in fleet.clusters.iter().zip(SERVICES) {
        assert!(cluster.api.get(service).is_some(), "the opening does not bring it back");
    }
}

/// From the finished state back to one Flux Kustomization, as the refusal of `join` says.
pub fn back(fleet: &mut Fleet) {
    let case = &ONE_OF_THEM;
    let before: Vec<Uids> = migrate(fleet, case);
    let finish = fleet.tree.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let refused = fleet.tree.expect(5, &["join", "--all", "--yes"]).stderr;
    assert!(refused.contains("`git revert` for the commit of the last `migrate`"), "{refused}");

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

/// A further app is divided when the sides of another are live, while the window is closed.
pub fn later(fleet: &mut Fleet) {
    let case = &ONE_OF_THEM;
    begin(fleet, case);
    let extra = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: extra }\n";
    fleet.tree.write("apps/probe/extra.yaml", extra);
    fleet.tree.replace("apps/probe/kustomization.yaml", "resources:\n", "resources:\n  - extra.yaml\n");
    fleet.merge("A ConfigMap for probe");
    landed(fleet, case.before);
    let before: Vec<Uids> = fleet.clusters.iter().map(Cluster::uids).collect();
    fleet.tool(&["split", "app", "web", "--yes"]);
    fleet.merge("Restructure web");
    landed(fleet, case.before);
    for step in ["Hand over web", "Finish web"] {
        fleet.tool(&["migrate", "--yes"]);
        fleet.merge(step);
        landed(fleet, &["apps", "apps-rt", "apps-rw"]);
    }
    nothing_lost(fleet, &before, "one app of two");
    fleet.clusters[0].run_job("close-reconciliation-window");

    let split = ["split", "app", "probe", "--yes"];
    fleet.tool(&split);
    merged(fleet, "Nobody prunes");
    fleet.landed(0, &["apps"]);
    nothing_lost(fleet, &before, "a later split, kept from pruning");
    fleet.tool(&split);
    merged(fleet, "The sides take over");
    until("the old Kustomization is gone", WORK, || {
        fleet.clusters[0].kustomization("apps").is_none().then_some(())
    });
    nothing_lost(fleet, &before, "a later split, taken over");
    fleet.tool(&["migrate", "--yes"]);
    merged(fleet, "Finish probe");
    nothing_lost(fleet, &before, "a later split, finished");
    open_and_close(fleet);
    nothing_lost(fleet, &before, "a later split, opened");
    owned(&fleet.clusters[0], "/apis/apps/v1/namespaces/web/deployments/probe", "apps-rw");
    owned(&fleet.clusters[0], "/api/v1/namespaces/web/configmaps/extra", "apps-rt");
    for name in case.after {
        assert_eq!(fleet.clusters[0].kustomization(name).unwrap()["spec"]["prune"], true);
    }
}

/// A cluster leaves the windows while they are closed: its gate goes, and nothing else.
pub fn leave(fleet: &mut Fleet) {
    let case = &ONE_OF_THEM;
    let before = migrate(fleet, case);
    let others = ["configmap", "of-others", "--namespace=jobs"];
    fleet.clusters[0].kubectl(&[&["create"], &others[..]].concat());
    fleet.tree.replace(SPEC, "  edge-01: {}\n", "");
    let said = fleet.tree.expect(0, &["sync", "--allow-deletion", "--yes"]).stderr;
    let resume = "flux resume kustomization apps-rw --namespace flux-system";
    assert!(said.contains(resume), "{said}");
    merged(fleet, "No windows for edge-01");
    let cluster = &fleet.clusters[0];
    until("the gate is gone", WORK, || cluster.api.list(CRON_JOBS).is_empty().then_some(()));
    nothing_lost(fleet, &before, "without windows");
    // The Namespace stays for what others have put into it.
    cluster.kubectl(&[&["get"], &others[..]].concat());
    let words: Vec<&str> = resume.split(' ').skip(1).collect();
    cluster.flux_cli(&words);
    fleet.landed(0, case.after);
    nothing_lost(fleet, &before, "without windows, resumed");
}
