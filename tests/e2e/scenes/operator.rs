//! Gates that Flux Operator runs.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::follow::pin;
use super::walk_through::{change_both, conf, image, scaffold};
use crate::api::Change;
use crate::cluster::Cluster;
use crate::fleet::{Fleet, SOURCES};
use crate::landing::{predict, record};
use crate::wait::{WORK, holds, until};
use crate::window::Window;

const PROVIDER: &str =
    "/apis/fluxcd.controlplane.io/v1/namespaces/flux-system/resourcesetinputproviders/reconciliation-window";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/nginx/deployments/nginx";

/// How long something must not happen that would take some seconds.
const LONG: SignedDuration = SignedDuration::from_secs(40);

/// Returns the UIDs of what is applied, but for the gate.
fn uids(cluster: &Cluster) -> Vec<(String, String)> {
    cluster
        .uids()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("CronJob") && !name.contains("jobs"))
        .collect()
}

/// Makes sure that the image of an app stays for a while.
#[track_caller]
fn waits(cluster: &Cluster, tag: &str) {
    let looked = Timestamp::now() + LONG;
    holds("the image waits", WORK, || Timestamp::now() >= looked, || image(cluster).ends_with(tag));
}

/// From CronJobs that suspend, through a window, and through what may happen to a provider after it.
pub fn play(fleet: &mut Fleet) {
    scaffold(fleet);
    let cluster = &fleet.clusters[0];
    cluster.operator();
    cluster.run_job("close-reconciliation-window");
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.merge("A commit that waits");
    until("the configuration lands at once", WORK, || conf(cluster).contains("First change").then_some(()));
    let before = uids(cluster);

    // Against the advice while closed, to see what comes of it.
    let window = Window::ahead(SignedDuration::from_secs(240), 5);
    let [open, close] = window.cron();
    let spec = fleet.tree.text("windows.yaml");
    let start = spec.find("    open: ").unwrap();
    let end = spec[start..].match_indices('\n').nth(1).unwrap().0 + start + 1;
    fleet.tree.replace("windows.yaml", &spec[start..end], &format!("    open: {open}\n    close: {close}\n"));
    let gate = "gate:\n  mechanism: flux-operator\n  provider: { type: GiteaBranch }\n";
    fleet.tree.replace("windows.yaml", "gate:\n", gate);
    fleet.tool(&["sync", "--while-open", "--yes", "--allow-dirty"]);
    let folder = fleet.tree.top().join("clusters/edge-01/infra/reconciliation-windows");
    let files = ["create", "--dry-run=server", "--kustomize", folder.to_str().unwrap()];
    println!("{}", cluster.kubectl(&files));
    let by_when = predict(fleet, "edge-01", "nginx", "rw");
    assert_eq!(by_when.from, window.open, "the machine is too slow for this window");
    fleet.merge("Hold a source by Flux Operator");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    let skipped = until("the provider waits for its window", WORK, || {
        let found = cluster.api.get(PROVIDER)?;
        found["status"]["nextSchedule"]["when"].as_str().map(str::to_owned)
    });
    assert_eq!(skipped.parse::<Timestamp>().unwrap(), window.open);
    let asked = json!({ "metadata": { "annotations": { "reconcile.fluxcd.io/requestedAt": "now" } } });
    cluster.api.change(PROVIDER, Change::Merge("flux", &asked)).unwrap();
    holds(
        "the image waits for the window",
        WORK * 3,
        || Timestamp::now() >= window.open,
        || image(cluster).ends_with("1.29-alpine") || Timestamp::now() >= window.open,
    );
    assert_eq!(uids(cluster), before, "an object was made again");
    let landed = until("the image lands in the window", WORK, || {
        image(cluster).ends_with("1.30-alpine").then(Timestamp::now)
    });
    record("flux_operator: the image", &by_when, landed);
    assert!(landed < window.close);
    let first = pin(cluster).unwrap();

    // After the window a further commit waits, and drift heals.
    until("the window ends", WORK * 2, || (Timestamp::now() >= window.close).then_some(()));
    change_both(fleet, ("1.30-alpine", "1.31-alpine"), ("First change", "Second change"));
    fleet.merge("A commit after the window");
    until("the second configuration lands", WORK, || conf(cluster).contains("Second change").then_some(()));
    let drift = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "nginx", "image": "nginx:drift" }] } } } });
    cluster.api.change(DEPLOYMENT, Change::Merge("kubectl-edit", &drift)).unwrap();
    cluster.reconciled("apps-rw");
    waits(cluster, "1.30-alpine");

    // A provider that is made again has read nothing. The source stays where it was.
    cluster.api.change(PROVIDER, Change::Delete).unwrap();
    cluster.reconciled("infra");
    until("the provider is there again and waits", WORK, || {
        let found = cluster.api.get(PROVIDER)?;
        found["status"]["nextSchedule"]["when"].as_str().map(str::to_owned)
    });
    waits(cluster, "1.30-alpine");
    assert_eq!(pin(cluster).as_ref(), Some(&first));
    cluster.reconciled("apps-rw");

    // By hand, as the tool says.
    let told = fleet.tool(&["override", "open", "--cluster", "edge-01", "--type", "rw"]);
    let line = told.lines().find(|line| line.contains("kubectl annotate")).unwrap();
    cluster.shell(line);
    until("the image lands by hand", WORK, || image(cluster).ends_with("1.31-alpine").then_some(()));
    assert_eq!(uids(cluster), before, "an object was made again");
    let found: Value = cluster.api.get(&format!("{SOURCES}/flux-system-rw")).unwrap();
    assert!(found["spec"]["ref"]["commit"].is_string() && found["spec"]["ref"]["tag"].is_null(), "{found:#}");
}
