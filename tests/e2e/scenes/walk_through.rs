//! The guide's walk-through, on a repository that `init` made.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::cluster::Cluster;
use crate::fleet::Fleet;
use crate::landing::{predict, record, told};
use crate::wait::{WORK, holds, until};
use crate::window::Window;

const CONF: &str = "apps/nginx/nginx-rt/configmap.yaml";
const DEPLOYMENT: &str = "apps/nginx/nginx-rw/deployment.yaml";

/// How long before the opening a scene begins; the minute that is under way comes on top.
const LEAD: SignedDuration = SignedDuration::from_secs(60);

/// Makes the repository of the guide and a cluster that has applied it, with a window far away.
pub fn scaffold(fleet: &mut Fleet) {
    let options = Window::far().options();
    let mut arguments = vec!["init", "--cluster", "edge-01", "--app", "nginx", "--yes"];
    arguments.extend(options.iter().map(String::as_str));
    fleet.tool(&arguments);
    // The gate has long closed by itself: a scene that runs its job says nothing of that to Git.
    fleet.merge_of("2020-01-01T00:00:00Z", "Begin with nginx on edge-01");
    fleet.bootstrap("edge-01", "clusters/edge-01/flux");
    fleet.landed(0, &["flux-system", "infra", "apps-rt", "apps-rw"]);
}

/// Closes the cluster and gives it a window that opens soon, for some minutes.
pub fn closed_until_soon(fleet: &Fleet, minutes: i64) -> Window {
    fleet.clusters[0].run_job("close-reconciliation-window");
    assert!(fleet.clusters[0].is_suspended("apps-rw"));
    let window = Window::ahead(LEAD, minutes);
    let lines = |[open, close]: [String; 2]| format!("    open: {open}\n    close: {close}\n");
    let text = fleet.tree.text("windows.yaml");
    let start = text.find("    open: ").unwrap();
    let end = text[start..].match_indices('\n').nth(1).unwrap().0 + start + 1;
    fleet.tree.replace("windows.yaml", &text[start..end], &lines(window.cron()));
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Another window");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    window
}

/// Returns the image that the cluster's nginx runs.
pub fn image(cluster: &Cluster) -> String {
    let path = "/apis/apps/v1/namespaces/nginx/deployments/nginx";
    let deployment = cluster.api.get(path).unwrap_or_default();
    let image = &deployment["spec"]["template"]["spec"]["containers"][0]["image"];
    image.as_str().unwrap_or_default().to_owned()
}

/// Returns the configuration that the cluster's nginx mounts.
pub fn conf(cluster: &Cluster) -> String {
    let path = "/api/v1/namespaces/nginx/configmaps/nginx-conf";
    match cluster.api.get(path).unwrap_or_default()["data"]["default.conf"].take() {
        Value::String(text) => text,
        _ => String::new(),
    }
}

/// Changes the image's tag and the configuration's sentence, each from one text to another.
pub fn change_both(fleet: &Fleet, tag: (&str, &str), sentence: (&str, &str)) {
    fleet.tree.replace(DEPLOYMENT, tag.0, tag.1);
    fleet.tree.replace(CONF, sentence.0, sentence.1);
}

/// Plays it.
pub fn play(fleet: &mut Fleet) {
    scaffold(fleet);
    // Long enough for a landing that `pr` promises: apps-rt is ready before the closing.
    let window = closed_until_soon(fleet, 4);
    let cluster = &fleet.clusters[0];

    let rt = predict(fleet, "edge-01", "nginx", "rt");
    let rw = predict(fleet, "edge-01", "nginx", "rw");
    assert_eq!(rw.from, window.open);
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    let (rt_by_pr, rw_by_pr) = (told(fleet, "edge-01", "rt"), told(fleet, "edge-01", "rw"));
    assert_eq!(rw_by_pr.from, window.open);
    fleet.merge("A new image and a new configuration");
    let landed = until("the configuration lands at once", WORK, || {
        conf(cluster).contains("First change").then(Timestamp::now)
    });
    record("walk_through: the configuration", &rt, landed);
    record("walk_through: the configuration, by pr", &rt_by_pr, landed);
    assert!(landed < window.open, "the machine is too slow for this window");
    holds(
        "the image waits for the opening",
        WORK + WORK,
        || Timestamp::now() >= window.open,
        || image(cluster).ends_with("1.29-alpine") || Timestamp::now() >= window.open,
    );
    let landed = until("the image lands at the opening", WORK, || {
        image(cluster).ends_with("1.30-alpine").then(Timestamp::now)
    });
    record("walk_through: the image", &rw, landed);
    record("walk_through: the image, by pr", &rw_by_pr, landed);

    until("the window closes", WORK, || cluster.is_suspended("apps-rw").then_some(()));
    assert!(Timestamp::now() >= window.close);
    let rt = predict(fleet, "edge-01", "nginx", "rt");
    change_both(fleet, ("1.30-alpine", "1.31-alpine"), ("First change", "Second change"));
    fleet.merge("A further image");
    let landed = until("the configuration lands again", WORK, || {
        conf(cluster).contains("Second change").then(Timestamp::now)
    });
    record("walk_through: the second configuration", &rt, landed);
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    cluster.reconciled("flux-system");
    assert!(cluster.is_suspended("apps-rw"));
    assert!(image(cluster).ends_with("1.30-alpine"), "the further image did not wait");
}
