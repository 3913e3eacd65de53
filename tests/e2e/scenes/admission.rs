//! Policies by which the API server itself keeps a window closed.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::table::{is_held, look_every_minute, utc};
use super::walk_through::{change_both, conf, image};
use crate::api::Change;
use crate::cluster::Cluster;
use crate::fleet::{Fleet, KUSTOMIZATIONS};
use crate::wait::{WORK, holds, until};
use crate::window::Window;

fn resume(cluster: &Cluster) -> Result<Value, String> {
    let patch = json!({ "spec": { "suspend": false } });
    cluster.api.change(&format!("{KUSTOMIZATIONS}/apps-rw"), Change::Merge("flux", &patch))
}

/// Runs a command that the tool prints; of several the one at a position.
fn run(fleet: &Fleet, arguments: &[&str], position: usize) {
    let printed = fleet.tool(arguments);
    let line = printed.lines().filter(|line| !line.starts_with('#')).nth(position).unwrap();
    fleet.clusters[0].shell(line);
}

/// Whatever is done by hand while it is closed is refused, and what is made again comes suspended; the parent, the jobs
/// and the tool's own commands go on.
pub fn play(fleet: &mut Fleet) {
    look_every_minute(fleet, "  admission: true\n  kubernetes: \"1.36\"\n");
    let cluster = &fleet.clusters[0];
    until("the first tick closes", WORK * 3, || is_held(cluster).then_some(()));
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.merge("A commit that waits");
    until("the configuration lands at once", WORK, || conf(cluster).contains("First change").then_some(()));

    // By hand, as whoever may do everything.
    let said = resume(cluster).unwrap_err();
    assert!(said.contains("the window is closed"), "{said}");
    let mut flux = cluster.command("flux");
    flux.args(["resume", "kustomization", "apps-rw", "--namespace=flux-system", "--timeout=10s"]);
    let output = flux.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("the window is closed"), "{said}");

    // The parent goes on, also where it changes what is closed.
    cluster.reconciled("flux-system");
    fleet.tree.replace("clusters/edge-01/flux/apps-rw.yaml", "interval: 1", "interval: 11");
    fleet.merge("Change the Kustomization itself");
    fleet.landed(0, &["flux-system"]);
    assert!(is_held(cluster), "the parent took the suspension back");

    // What is deleted comes back suspended, and stays so over the parent's next passes.
    let path = format!("{KUSTOMIZATIONS}/apps-rw");
    cluster.api.change(&path, Change::Delete).unwrap();
    until("apps-rw goes", WORK, || cluster.kustomization("apps-rw").is_none().then_some(()));
    cluster.reconcile(&format!("{KUSTOMIZATIONS}/flux-system"));
    let again = until("apps-rw is made again", WORK, || cluster.api.get(&path));
    assert_eq!(again["spec"]["suspend"], true, "{again}");
    assert_eq!(again["metadata"]["annotations"]["gitops-windows/held"], "until the window opens");
    for _ in 0..2 {
        cluster.reconciled("flux-system");
        assert!(is_held(cluster), "the parent took the suspension back");
    }
    assert!(image(cluster).ends_with("1.29-alpine"), "the commit that waited has landed");

    // What the tool prints works: to open until the next run, to stop, and to end that.
    run(fleet, &["override", "open", "--cluster", "edge-01", "--quiet"], 0);
    until("the image lands", WORK, || image(cluster).ends_with("1.30-alpine").then_some(()));
    until("the next run closes again", WORK * 3, || is_held(cluster).then_some(()));
    let stop = ["stop", "--without-git", "--cluster", "edge-01", "--quiet"];
    run(fleet, &stop, 0);
    let stopped =
        || cluster.api.get(&path).unwrap()["metadata"]["annotations"]["gitops-windows/stop"].is_string();
    assert!(stopped());

    // A window comes, and what is stopped stays closed, whoever resumes it.
    let given = Window::ahead(SignedDuration::from_secs(75), 6);
    let spec = fleet.tree.text("windows.yaml");
    let text = format!(
        "overrides:\n  - {{ cluster: edge-01, type: rw, from: {}, until: {}, reason: INC-1 }}\n",
        utc(given.open),
        utc(given.close)
    );
    fleet.tree.write("windows.yaml", format!("{spec}{text}"));
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    change_both(fleet, ("1.30-alpine", "1.31-alpine"), ("First change", "Second change"));
    fleet.merge("Open for a while");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    let is_open = || {
        let found = cluster.api.get("/api/v1/namespaces/jobs/configmaps/reconciliation-windows").unwrap();
        (found["data"]["rw"] == "open").then_some(())
    };
    until("the window opens", WORK * 4, is_open);
    let said = resume(cluster).unwrap_err();
    assert!(said.contains("gitops-windows/stop"), "{said}");

    // A job that fails leaves it closed.
    let binding =
        "/apis/rbac.authorization.k8s.io/v1/namespaces/flux-system/rolebindings/reconciliation-window";
    cluster.api.change(binding, Change::Delete).unwrap();
    run(fleet, &stop, 1);
    assert!(!stopped());
    let looked = Timestamp::now() + SignedDuration::from_secs(75);
    holds("it stays closed", WORK * 3, || Timestamp::now() >= looked, || is_held(cluster));
    cluster.reconciled("infra");
    until("the image lands in the window", WORK * 3, || {
        image(cluster).ends_with("1.31-alpine").then_some(())
    });
    assert!(Timestamp::now() < given.close, "the machine is too slow for this window");

    // Who suspends something in the window may resume it.
    let suspend = json!({ "spec": { "suspend": true } });
    cluster.api.change(&path, Change::Merge("flux", &suspend)).unwrap();
    resume(cluster).unwrap();
    until("the window closes", WORK * 12, || is_held(cluster).then_some(()));
    resume(cluster).unwrap_err();
}
