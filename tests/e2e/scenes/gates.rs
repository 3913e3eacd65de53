//! What the gate's jobs may do, and what happens when they can't.

use serde_json::{Value, json};

use super::walk_through::scaffold;
use crate::api::{Api, Change};
use crate::fleet::{Fleet, JOBS, KUSTOMIZATIONS, SOURCES};
use crate::wait::{WORK, until};

/// The ServiceAccount of the gate's jobs.
const ACCOUNT: &str = "/api/v1/namespaces/jobs/serviceaccounts/reconciliation-window";

/// What gives it its rights.
const BINDING: &str =
    "/apis/rbac.authorization.k8s.io/v1/namespaces/flux-system/rolebindings/reconciliation-window";

/// Tries every verb with the rights of the gate's jobs.
///
/// Allowed: get and patch of the gated Kustomization. Anything else is refused.
pub fn role(fleet: &mut Fleet) {
    scaffold(fleet);
    let cluster = &fleet.clusters[0];
    let request = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {} });
    let answer = cluster.api.change(&format!("{ACCOUNT}/token"), Change::Create(&request)).unwrap();
    let jobs = cluster.api_of(answer["status"]["token"].as_str().unwrap());

    let gated = format!("{KUSTOMIZATIONS}/apps-rw");
    assert!(jobs.get(&gated).is_some(), "the jobs can't read what they switch");
    for suspend in [true, false] {
        let patch = json!({ "spec": { "suspend": suspend } });
        jobs.change(&gated, Change::Merge("flux", &patch)).unwrap();
        assert_eq!(cluster.is_suspended("apps-rw"), suspend);
    }

    let mut tried = 0;
    let mut refused = |what: &str, answer: Result<Value, String>| {
        tried += 1;
        let error = answer.expect_err(&format!("the jobs may {what}"));
        assert!(error.starts_with("403"), "{what}: {error}");
    };
    for name in ["apps-rt", "infra", "flux-system"] {
        let other = format!("{KUSTOMIZATIONS}/{name}");
        refused(&format!("get {name}"), read(&jobs, &other));
        for (verb, change) in all_changes() {
            refused(&format!("{verb} {name}"), try_change(&jobs, &other, change));
        }
    }
    for (verb, change) in all_changes().into_iter().filter(|(verb, _)| *verb != "patch") {
        refused(&format!("{verb} apps-rw"), try_change(&jobs, &gated, change));
    }
    refused("patch the status of apps-rw", try_change(&jobs, &format!("{gated}/status"), Verb::Patch));
    let elsewhere = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/jobs/kustomizations";
    for collection in [
        KUSTOMIZATIONS,
        elsewhere,
        SOURCES,
        "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations",
        "/api/v1/namespaces/flux-system/secrets",
        "/api/v1/namespaces/nginx/configmaps",
        "/api/v1/namespaces/jobs/pods",
        "/apis/batch/v1/namespaces/jobs/cronjobs",
        "/apis/apps/v1/namespaces/nginx/deployments",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/flux-system/roles",
        "/api/v1/namespaces",
    ] {
        refused(&format!("list {collection}"), read(&jobs, collection));
        refused(&format!("watch {collection}"), read(&jobs, &format!("{collection}?watch=true")));
        refused(&format!("create in {collection}"), try_change(&jobs, collection, Verb::Create));
        refused(&format!("delete all of {collection}"), try_change(&jobs, collection, Verb::Delete));
    }
    assert!(tried > 50, "only {tried} requests were tried");
    assert!(!cluster.is_suspended("apps-rw") && cluster.kustomization("apps-rt").is_some());
}

#[derive(Clone, Copy)]
enum Verb {
    Patch,
    Update,
    Create,
    Delete,
}

fn all_changes() -> [(&'static str, Verb); 3] {
    [("patch", Verb::Patch), ("update", Verb::Update), ("delete", Verb::Delete)]
}

fn try_change(api: &Api, path: &str, verb: Verb) -> Result<Value, String> {
    let suspend = json!({ "spec": { "suspend": true } });
    let object = json!({ "metadata": { "name": "another" } });
    match verb {
        Verb::Patch => api.change(path, Change::Merge("flux", &suspend)),
        Verb::Update => api.change(path, Change::Replace(&object)),
        Verb::Create => api.change(path, Change::Create(&object)),
        Verb::Delete => api.change(path, Change::Delete),
    }
}

fn read(api: &Api, path: &str) -> Result<Value, String> {
    api.change(path, Change::Nothing)
}

/// A closing without its rights fails, is tried again, and succeeds once it has them.
pub fn failing_job(fleet: &mut Fleet) {
    scaffold(fleet);
    let cluster = &fleet.clusters[0];
    cluster.api.change(BINDING, Change::Delete).unwrap();
    let job = cluster.start_job("close-reconciliation-window");
    let path = format!("{JOBS}/{job}");
    until("the closing has failed twice", WORK, || {
        (cluster.api.get(&path)?["status"]["failed"].as_u64()? >= 2).then_some(())
    });
    assert!(!cluster.is_suspended("apps-rw"));
    let pods = cluster.api.list("/api/v1/namespaces/jobs/pods");
    let failed = pods.iter().find(|pod| pod["status"]["phase"] == "Failed").expect("a pod has failed");
    let ended = &failed["status"]["containerStatuses"][0]["state"]["terminated"];
    assert_eq!(ended["exitCode"], 1);
    assert!(ended["message"].as_str().unwrap().contains("forbidden"), "{ended}");
    assert!(cluster.api.get(&path).unwrap()["status"]["succeeded"].is_null());

    cluster.reconciled("infra");
    until("the closing succeeds", WORK + WORK, || {
        (cluster.api.get(&path)?["status"]["succeeded"] == 1).then_some(())
    });
    assert!(cluster.is_suspended("apps-rw"));
}

/// A closing that never gets its rights ends as a failed Job, which the cluster keeps to be seen.
pub fn failed_job(fleet: &mut Fleet) {
    scaffold(fleet);
    let cluster = &fleet.clusters[0];
    cluster.api.change(BINDING, Change::Delete).unwrap();
    let job = cluster.start_job("close-reconciliation-window");
    let path = format!("{JOBS}/{job}");
    let limit = cluster.api.get(&path).unwrap()["spec"]["backoffLimit"].as_u64().unwrap();
    assert!(limit > 2, "a closing is tried only {limit} times again");
    // All of them take more than an hour, since each waits twice as long as the one before.
    cluster.api.change(&path, Change::Merge("scene", &json!({ "spec": { "backoffLimit": 2 } }))).unwrap();
    let failed = until("the closing is given up", WORK, || {
        let job = cluster.api.get(&path)?;
        let conditions = job["status"]["conditions"].as_array()?;
        conditions.iter().find(|one| one["type"] == "Failed" && one["status"] == "True").cloned()
    });
    assert_eq!(failed["reason"], "BackoffLimitExceeded");
    let ended = cluster.api.get(&path).unwrap();
    assert_eq!(ended["status"]["failed"], 3, "{}", ended["status"]);
    assert!(ended["status"]["succeeded"].is_null());
    assert!(!cluster.is_suspended("apps-rw"), "it failed, and yet it closed");
    until("an event says so", WORK, || {
        let events = cluster.api.list("/api/v1/namespaces/jobs/events");
        let is_it = |event: &Value| {
            event["involvedObject"]["name"] == *job && event["reason"] == "BackoffLimitExceeded"
        };
        events.iter().any(is_it).then_some(())
    });
}

/// With `runner: flux` the jobs switch as well, and fail as loudly although `flux` itself does not.
pub fn flux_runner(fleet: &mut Fleet) {
    scaffold(fleet);
    fleet.tree.replace("windows.yaml", "runner: kubectl", "runner: flux");
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Switch with the flux command");
    fleet.landed(0, &["flux-system", "infra", "apps-rt", "apps-rw"]);
    let cluster = &fleet.clusters[0];
    cluster.run_job("close-reconciliation-window");
    assert!(cluster.is_suspended("apps-rw"));
    cluster.run_job("open-reconciliation-window");
    assert!(!cluster.is_suspended("apps-rw"));

    cluster.api.change(BINDING, Change::Delete).unwrap();
    let job = cluster.start_job("close-reconciliation-window");
    until("the closing has failed", WORK, || {
        (cluster.api.get(&format!("{JOBS}/{job}"))?["status"]["failed"].as_u64()? >= 1).then_some(())
    });
    assert!(!cluster.is_suspended("apps-rw"));
}

/// The API server takes the Provider and the Alert that are written for every type, and Flux applies
/// them with the gate.
pub fn alerts(fleet: &mut Fleet) {
    scaffold(fleet);
    let spec = fleet.tree.text("windows.yaml");
    let folder = "clusters/edge-01/infra/reconciliation-windows";
    for kind in gitops_windows::spec::ALERT_TYPES {
        fleet.tree.write("windows.yaml", format!("{spec}alerts:\n  type: {kind}\n  channel: ops\n"));
        fleet.tool(&["sync", "--yes", "--allow-dirty"]);
        for file in ["alert-provider.yaml", "alert.yaml"] {
            let place = fleet.tree.top().join(folder).join(file);
            let server = ["apply", "--dry-run=server", "--validate=strict", "--filename"];
            fleet.clusters[0].kubectl(&[&server[..], &[place.to_str().unwrap()]].concat());
        }
    }
    fleet.merge("Tell people");
    fleet.landed(0, &["flux-system", "infra"]);
    let group = "/apis/notification.toolkit.fluxcd.io/v1beta3/namespaces/flux-system";
    let alert = fleet.clusters[0].api.get(&format!("{group}/alerts/reconciliation-windows")).unwrap();
    assert_eq!(alert["spec"]["eventSources"], json!([{ "kind": "Kustomization", "name": "apps-rw" }]));
    let provider = &alert["spec"]["providerRef"]["name"];
    let provider = format!("{group}/providers/{}", provider.as_str().unwrap());
    assert!(fleet.clusters[0].api.get(&provider).is_some(), "the alert names a Provider that is not there");

    // The API server does look: another type is refused.
    let place = fleet.tree.top().join(folder).join("alert-provider.yaml");
    let text = std::fs::read_to_string(&place).unwrap();
    let start = text.find("  type: ").unwrap();
    let end = start + text[start..].find('\n').unwrap();
    let wrong = fleet.tree.outside().join("wrong.yaml");
    std::fs::write(&wrong, [&text[..start], "  type: pigeon", &text[end..]].concat()).unwrap();
    let mut command = fleet.clusters[0].command("kubectl");
    let refused = command.args(["apply", "--dry-run=server", "--filename"]).arg(&wrong).output().unwrap();
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("pigeon"));
}
