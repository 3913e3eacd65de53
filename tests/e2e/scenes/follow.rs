//! Gates that hold a source.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde_json::{Value, json};

use super::walk_through::{change_both, conf, image, scaffold};
use crate::api::Change;
use crate::cluster::Cluster;
use crate::fleet::{Fleet, KUSTOMIZATIONS, SOURCES};
use crate::landing::{predict, record, told};
use crate::wait::{WORK, holds, until};
use crate::window::{Window, ZONE};

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/nginx/deployments/nginx";

/// Writes a gate that follows into the spec, with a window of some minutes by an override.
fn follow(fleet: &Fleet, given: Option<&Window>) {
    let last = Timestamp::now().to_zoned(TimeZone::UTC).checked_add(300.days()).unwrap();
    let gate = format!(
        "timeZone: {ZONE}\ngate:\n  mechanism: follow\n  every: 1m\n  through: {}\n",
        last.strftime("%Y-%m-%d")
    );
    fleet.tree.replace("windows.yaml", "gate:\n", &gate);
    given.into_iter().for_each(|given| open(fleet, given));
}

/// Adds an override to the spec.
fn open(fleet: &Fleet, given: &Window) {
    let utc = |at: Timestamp| at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%MZ").to_string();
    let text = format!(
        "overrides:\n  - {{ cluster: edge-01, type: rw, from: {}, until: {}, reason: INC-1 }}\n",
        utc(given.open),
        utc(given.close)
    );
    let spec = fleet.tree.text("windows.yaml");
    fleet.tree.write("windows.yaml", format!("{spec}{text}"));
}

/// Gives the commit at which the held source is.
fn pin(cluster: &Cluster) -> Option<String> {
    let found = cluster.api.get(&format!("{SOURCES}/flux-system-rw"))?;
    found["spec"]["ref"]["commit"].as_str().map(str::to_owned)
}

/// Gives the revision that a Flux Kustomization has applied, where that is ready.
fn applied(cluster: &Cluster, name: &str) -> Option<String> {
    let found = cluster.kustomization(name).filter(crate::fleet::ready)?;
    found["status"]["lastAppliedRevision"].as_str().map(str::to_owned)
}

/// Gives the UIDs of what is applied, but for the gate.
fn uids(cluster: &Cluster) -> Vec<(String, String)> {
    let is_of_gate = |name: &str| name.starts_with("CronJob") || name.starts_with("ConfigMap jobs/");
    cluster.uids().into_iter().filter(|(name, _)| !is_of_gate(name)).collect()
}

/// From CronJobs that suspend to a held source in one commit while another one waits; and through all that may happen to it.
pub fn play(fleet: &mut Fleet) {
    scaffold(fleet);
    fleet.clusters[0].run_job("close-reconciliation-window");
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.merge("A commit that waits");
    let cluster = &fleet.clusters[0];
    until("the configuration lands at once", WORK, || conf(cluster).contains("First change").then_some(()));
    let before = uids(cluster);

    // One commit, while closed: nothing is made again, and what waits goes on waiting.
    let given = Window::ahead(SignedDuration::from_secs(200), 2);
    follow(fleet, Some(&given));
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Hold a source");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    let first = until("the first run lets in what was let in before", WORK, || pin(cluster));
    until("apps-rw is ready again", WORK, || applied(cluster, "apps-rw").filter(|own| own.ends_with(&first)));
    assert!(image(cluster).ends_with("1.29-alpine"), "the commit that waited has landed");
    assert_eq!(uids(cluster), before, "an object was made again");
    assert!(!cluster.is_suspended("apps-rw"));

    // Drift heals while closed, to what was let in.
    let drift = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "nginx", "image": "nginx:drift" }] } } } });
    cluster.api.change(DEPLOYMENT, Change::Merge("kubectl-edit", &drift)).unwrap();
    cluster.reconciled("apps-rw");
    assert!(image(cluster).ends_with("1.29-alpine"), "drift: {}", image(cluster));

    // The source is deleted, and made again by what applies the gate.
    cluster.api.change(&format!("{SOURCES}/flux-system-rw"), Change::Delete).unwrap();
    cluster.reconciled("infra");
    assert_eq!(until("the next run sets the commit again", WORK, || pin(cluster)), first);
    cluster.reconciled("apps-rw");

    // So is the Flux Kustomization, whose objects stay.
    cluster.api.change(&format!("{KUSTOMIZATIONS}/apps-rw"), Change::Delete).unwrap();
    until("apps-rw goes", WORK, || cluster.kustomization("apps-rw").is_none().then_some(()));
    cluster.reconciled("flux-system");
    until("apps-rw is ready again", WORK, || applied(cluster, "apps-rw").filter(|own| own.ends_with(&first)));
    assert!(image(cluster).ends_with("1.29-alpine"), "the commit that waited has landed");
    assert_eq!(uids(cluster), before, "an object was made again");

    // It lands in the window, and with it what came later.
    let by_when = predict(fleet, "edge-01", "nginx", "rw");
    change_both(fleet, ("1.30-alpine", "1.31-alpine"), ("First change", "Second change"));
    let by_pr = told(fleet, "edge-01", "rw");
    assert_eq!(
        (by_when.from, by_pr.from),
        (given.open, given.open),
        "the machine is too slow for this window"
    );
    fleet.merge("A further commit");
    until("the second configuration lands", WORK, || conf(cluster).contains("Second change").then_some(()));
    holds(
        "the image waits for the window",
        WORK * 3,
        || Timestamp::now() >= given.open,
        || image(cluster).ends_with("1.29-alpine") || Timestamp::now() >= given.open,
    );
    let landed = until("the image lands in the window", WORK, || {
        image(cluster).ends_with("1.31-alpine").then(Timestamp::now)
    });
    record("a_held_source: the image", &by_when, landed);
    record("a_held_source: the image, by pr", &by_pr, landed);
    let events = cluster.api.list("/api/v1/namespaces/flux-system/events");
    let is_it =
        |event: &&Value| event["reason"] == "Advanced" && event["involvedObject"]["name"] == "flux-system-rw";
    assert_eq!(events.iter().filter(is_it).count(), 3, "one for each commit that was let in");

    // Nothing runs as the window ends; nothing has to.
    cluster.stop_controllers();
    until("the window ends", WORK, || (Timestamp::now() >= given.close).then_some(()));
    change_both(fleet, ("1.31-alpine", "1.32-alpine"), ("Second change", "Third change"));
    fleet.merge("A commit after the window");
    until("the third configuration lands", WORK, || conf(cluster).contains("Third change").then_some(()));
    cluster.start_controllers();
    let looked = Timestamp::now() + SignedDuration::from_secs(75);
    cluster.reconciled("apps-rw");
    holds("the image waits", WORK, || Timestamp::now() >= looked, || image(cluster).ends_with("1.31-alpine"));
    assert_eq!(uids(cluster), before, "an object was made again");
}

/// A cluster that is new gets everything, be its window closed or open; and what the jobs may not do is refused.
pub fn new_clusters(fleet: &mut Fleet) {
    scaffold(fleet);
    follow(fleet, None);
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Hold a source");
    for (index, name) in [(1, "closed"), (2, "open")] {
        if name == "open" {
            open(fleet, &Window::ahead(SignedDuration::from_secs(-120), 60));
            fleet.tool(&["sync", "--yes", "--allow-dirty"]);
        }
        assert_eq!(fleet.bootstrap("edge-01", "clusters/edge-01/flux"), index);
        let cluster = &fleet.clusters[index];
        fleet.landed(index, &["flux-system", "infra", "apps-rt", "apps-rw"]);
        assert!(image(cluster).ends_with("1.29-alpine"), "{name}");
        let found = cluster.api.get(&format!("{SOURCES}/flux-system-rw")).unwrap();
        let shown =
            found["metadata"]["annotations"]["gitops-windows/window"].as_str().unwrap_or_default().to_owned();
        assert!(shown.starts_with(if name == "open" { "open until" } else { "held until" }), "{shown}");
    }
    rights(&fleet.clusters[1]);
}

/// Tries what the jobs need, and what they must not have.
fn rights(cluster: &Cluster) {
    let may = |verb: &str, what: &str| {
        let account = "--as=system:serviceaccount:jobs:reconciliation-window";
        let mut command = cluster.command("kubectl");
        command.args(["auth", "can-i", verb, what, account, "--namespace=flux-system", "--quiet"]);
        command.status().unwrap().success()
    };
    let sources = "gitrepositories.source.toolkit.fluxcd.io";
    let kustomizations = "kustomizations.kustomize.toolkit.fluxcd.io";
    let things = [
        format!("{sources}/flux-system"),
        format!("{sources}/flux-system-rw"),
        format!("{sources}/other"),
        format!("{kustomizations}/apps-rw"),
        format!("{kustomizations}/apps-rt"),
        sources.to_owned(),
        kustomizations.to_owned(),
        "secrets".to_owned(),
        "events".to_owned(),
    ];
    let mut allowed = Vec::new();
    for thing in &things {
        let verbs = ["get", "list", "watch", "create", "update", "patch", "delete"];
        allowed
            .extend(verbs.into_iter().filter(|verb| may(verb, thing)).map(|verb| format!("{verb} {thing}")));
    }
    assert_eq!(
        allowed,
        [
            format!("get {sources}/flux-system"),
            format!("get {sources}/flux-system-rw"),
            format!("patch {sources}/flux-system-rw"),
            format!("get {kustomizations}/apps-rw"),
            "create events".to_owned(),
        ]
    );
}
