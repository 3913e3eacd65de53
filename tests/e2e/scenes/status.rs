//! `status` beside what a cluster really has: each line that it can say of one.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::follow::{follow, pin};
use super::walk_through::{change_both, conf, image, scaffold};
use crate::api::Change;
use crate::cluster::{Cluster, write_kubeconfig};
use crate::fleet::{CRON_JOBS, Fleet, JOBS, KUSTOMIZATIONS, SOURCES};
use crate::scratch::Run;
use crate::wait::{WORK, until};
use crate::window::Window;

const BINDING: &str =
    "/apis/rbac.authorization.k8s.io/v1/namespaces/flux-system/rolebindings/reconciliation-window";

/// Asks, and gives the answer; it is printed too.
#[track_caller]
fn ask(fleet: &Fleet) -> (i32, Value) {
    let told = fleet.tool_on_cluster(0, &["status"]);
    println!("status: exit {}\n{}", told.code, told.stdout);
    parsed(&fleet.tool_on_cluster(0, &["status", "--format", "json"]))
}

#[track_caller]
fn parsed(run: &Run) -> (i32, Value) {
    let answer = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr));
    (run.code, answer)
}

/// Returns the kinds of what is not as it should be.
fn kinds(answer: &Value) -> Vec<&str> {
    let problems = answer["clusters"][0]["problems"].as_array().unwrap();
    problems.iter().map(|problem| problem["kind"].as_str().unwrap()).collect()
}

/// Asks, and makes sure of what is not as it should be.
#[track_caller]
fn wrong(fleet: &Fleet, expected: &[&str]) -> Value {
    let (code, answer) = ask(fleet);
    assert_eq!(kinds(&answer), expected, "{answer:#}");
    assert_eq!(code, i32::from(!expected.is_empty()));
    answer
}

/// Asks until these and no others are told.
#[track_caller]
fn soon(fleet: &Fleet, expected: &[&str]) -> Value {
    until(&format!("status tells {expected:?}"), WORK * 2, || {
        let (_, answer) = parsed(&fleet.tool_on_cluster(0, &["status", "--format", "json"]));
        (kinds(&answer) == expected).then_some(())
    });
    wrong(fleet, expected)
}

fn gate(answer: &Value) -> &Value {
    &answer["clusters"][0]["gates"][0]
}

fn rw(answer: &Value) -> &Value {
    &gate(answer)["kustomizations"][0]
}

/// Names what waits.
fn waits(answer: &Value) -> Vec<String> {
    let objects = gate(answer)["waits"]["objects"].as_array().unwrap().iter();
    objects.map(|one| format!("{} {}", one["change"], one["kind"]).replace('"', "")).collect()
}

/// Changes an object as a field manager does.
fn set(cluster: &Cluster, path: &str, manager: &str, patch: &Value) {
    cluster.api.change(path, Change::Merge(manager, patch)).unwrap();
}

/// A pair of CronJobs: what waits, and whatever people and failures do to it.
pub fn pair(fleet: &mut Fleet) {
    scaffold(fleet);
    let cluster = &fleet.clusters[0];
    let apps_rw = format!("{KUSTOMIZATIONS}/apps-rw");
    cluster.run_job("close-reconciliation-window");
    let answer = wrong(fleet, &[]);
    assert_eq!(rw(&answer)["state"], "closed");
    assert_eq!(rw(&answer)["setBy"]["job"], "close-reconciliation-window", "{answer:#}");
    assert_eq!(gate(&answer)["window"]["open"], false);

    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.merge("A commit that waits");
    until("the configuration lands at once", WORK, || conf(cluster).contains("First change").then_some(()));
    let answer = wrong(fleet, &[]);
    assert_eq!(waits(&answer), ["changed Deployment"]);
    let commits = &gate(&answer)["waits"]["commits"];
    assert_eq!(commits.as_array().unwrap().len(), 1, "{commits}");
    assert_eq!(commits[0]["subject"], "A commit that waits");

    // Somebody resumes it, and it lands.
    cluster.kubectl(&[
        "patch",
        "kustomization",
        "apps-rw",
        "--namespace=flux-system",
        "--type=merge",
        "--patch={\"spec\":{\"suspend\":false}}",
    ]);
    until("the image lands", WORK, || image(cluster).ends_with("1.30-alpine").then_some(()));
    let answer = soon(fleet, &["open"]);
    assert_eq!(rw(&answer)["setBy"]["manager"], "kubectl-patch");
    assert_eq!(rw(&answer)["setBy"]["by"], "hand");
    assert_eq!(waits(&answer), [""; 0]);

    // The parent takes that back, which resumes it no less; the job closes it again.
    cluster.reconciled("flux-system");
    cluster.run_job("close-reconciliation-window");
    wrong(fleet, &[]);

    // Fields by hand, until the parent takes them back.
    cluster.kubectl(&[
        "patch",
        "kustomization",
        "apps-rw",
        "--namespace=flux-system",
        "--type=merge",
        "--patch={\"spec\":{\"timeout\":\"3m\"}}",
    ]);
    let answer = wrong(fleet, &["by-hand"]);
    assert!(answer.to_string().contains("set by kubectl-patch: spec.timeout"), "{answer:#}");
    cluster.reconciled("flux-system");
    wrong(fleet, &[]);

    // A run fails.
    cluster.api.change(BINDING, Change::Delete).unwrap();
    let job = cluster.start_job("close-reconciliation-window");
    set(cluster, &format!("{JOBS}/{job}"), "scene", &json!({ "spec": { "backoffLimit": 0 } }));
    let answer = soon(fleet, &["failed"]);
    assert_eq!(gate(&answer)["jobs"][0]["runs"][0]["reason"], "BackoffLimitExceeded", "{answer:#}");
    cluster.reconciled("infra");
    cluster.run_job("close-reconciliation-window");
    wrong(fleet, &[]);

    // CronJobs that go, stop and differ; one that Git does not have; what should never stop.
    cluster.api.change(&format!("{CRON_JOBS}/open-reconciliation-window"), Change::Delete).unwrap();
    let close = format!("{CRON_JOBS}/close-reconciliation-window");
    let mut old = cluster.api.get(&close).unwrap();
    set(cluster, &close, "kubectl-edit", &json!({ "spec": { "suspend": true, "schedule": "7 7 7 7 *" } }));
    old["metadata"] = json!({ "name": "suspend-apps", "namespace": "jobs" });
    cluster.api.change(CRON_JOBS, Change::Create(&old)).unwrap();
    cluster.flux_cli(&["suspend", "kustomization", "apps-rt"]);
    wrong(fleet, &["no-job", "job-suspended", "job-differs", "foreign-job", "suspended"]);
    cluster.api.change(&format!("{CRON_JOBS}/suspend-apps"), Change::Delete).unwrap();
    cluster.flux_cli(&["resume", "kustomization", "apps-rt"]);
    cluster.reconciled("infra");
    soon(fleet, &[]);

    // Another path than in Git, which is not there.
    set(cluster, &apps_rw, "flux", &json!({ "spec": { "path": "./apps/old", "suspend": false } }));
    until("it says so", WORK, || (!crate::fleet::ready(&cluster.kustomization("apps-rw")?)).then_some(()));
    let answer = soon(fleet, &["elsewhere", "not-ready"]);
    assert!(answer.to_string().contains("kustomization path not found"), "{answer:#}");
    cluster.reconciled("flux-system");
    cluster.reconciled("apps-rw");
    cluster.run_job("close-reconciliation-window");

    refused(fleet, cluster);

    // It is gone, and then everything is.
    cluster.api.change(&apps_rw, Change::Delete).unwrap();
    soon(fleet, &["missing"]);
    let all = ["kustomizations.kustomize.toolkit.fluxcd.io", "--all", "--all-namespaces", "--wait=false"];
    cluster.kubectl(&[&["delete"], &all[..]].concat());
    soon(fleet, &["other-cluster"]);
}

/// What may not be read is told, whether it is one resource of several or all of them.
fn refused(fleet: &Fleet, cluster: &Cluster) {
    let rules = json!([
        { "apiGroups": ["kustomize.toolkit.fluxcd.io"], "resources": ["kustomizations"], "verbs": ["list"] },
        { "apiGroups": ["batch"], "resources": ["cronjobs"], "verbs": ["list"] },
    ]);
    let group = "rbac.authorization.k8s.io";
    let role = json!({ "metadata": { "name": "reader" }, "rules": rules });
    let binding = json!({
        "metadata": { "name": "reader" },
        "roleRef": { "apiGroup": group, "kind": "ClusterRole", "name": "reader" },
        "subjects": [{ "kind": "ServiceAccount", "name": "reader", "namespace": "flux-system" }],
    });
    let account = json!({ "metadata": { "name": "reader" } });
    let accounts = "/api/v1/namespaces/flux-system/serviceaccounts";
    cluster.api.change(accounts, Change::Create(&account)).unwrap();
    for (kind, object) in [("clusterroles", role), ("clusterrolebindings", binding)] {
        cluster.api.change(&format!("/apis/{group}/v1/{kind}"), Change::Create(&object)).unwrap();
    }
    let request = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {} });
    let token = cluster.api.change(&format!("{accounts}/reader/token"), Change::Create(&request)).unwrap();
    let place = fleet.tree.outside().join("reader");
    write_kubeconfig(&place, &cluster.server, token["status"]["token"].as_str().unwrap());
    let (code, answer) = parsed(&by(fleet, &place));
    assert_eq!((code, kinds(&answer)), (1, vec!["unread", "unread"]), "{answer:#}");
    let text = answer.to_string();
    assert!(text.contains("gitrepositories") && text.contains("list jobs.batch of namespace jobs"), "{text}");

    write_kubeconfig(&place, "https://127.0.0.1:1", "none");
    let (code, answer) = parsed(&by(fleet, &place));
    assert_eq!(code, 3);
    assert!(answer["clusters"][0]["unread"].as_str().unwrap().contains("can't be reached"), "{answer:#}");
}

/// Asks with another kubeconfig.
fn by(fleet: &Fleet, kubeconfig: &Path) -> Run {
    fleet.tool_with(kubeconfig, &["status", "--format", "json", "--timeout", "5"])
}

/// A held source: closed, pinned and stopped by hand, behind in its window, and a commit that was let in too late.
pub fn held(fleet: &mut Fleet) {
    scaffold(fleet);
    let given = Window::ahead(SignedDuration::from_secs(270), 60);
    follow(fleet, Some(&given));
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Hold a source");
    let cluster = &fleet.clusters[0];
    let first = until("the first run lets in the commit", WORK, || pin(cluster));
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    let answer = soon(fleet, &[]);
    assert_eq!(rw(&answer)["mechanism"], "follow");
    assert_eq!(rw(&answer)["pinned"], first.as_str());
    assert!(rw(&answer)["note"].as_str().unwrap().starts_with("held until"), "{answer:#}");

    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.merge("A commit that waits");
    until("the configuration lands at once", WORK, || conf(cluster).contains("First change").then_some(()));
    let answer = wrong(fleet, &[]);
    assert_eq!(
        (rw(&answer)["state"].as_str(), waits(&answer)),
        (Some("closed"), vec!["changed Deployment".to_owned()])
    );

    // The pin is set by hand to what it is, and the source stopped; the next pass of Flux takes the first back.
    let source = format!("{SOURCES}/flux-system-rw");
    let other = json!({ "spec": { "ref": { "commit": fleet.revision().rsplit(':').next() } } });
    cluster.flux_cli(&["suspend", "source", "git", "flux-system-rw"]);
    set(cluster, &source, "kubectl-patch", &other);
    let answer = wrong(fleet, &["stopped", "pinned"]);
    assert_eq!(rw(&answer)["state"], "stopped");
    set(cluster, &source, "flux", &json!({ "spec": { "ref": { "commit": first } } }));
    cluster.flux_cli(&["resume", "source", "git", "flux-system-rw"]);
    soon(fleet, &[]);

    // The window opens, and nothing runs.
    cluster.stop_controllers();
    let answer = soon(fleet, &["closed", "missed"]);
    assert!(Timestamp::now() > given.open && Timestamp::now() < given.close, "too slow for this window");
    assert_eq!(gate(&answer)["window"]["open"], true);
    cluster.start_controllers();
    until("the image lands in the window", WORK, || image(cluster).ends_with("1.30-alpine").then_some(()));
    let answer = soon(fleet, &[]);
    assert_eq!(rw(&answer)["state"], "open");

    // The spec says now that the window ended a minute after it had opened; a later commit is let in by hand.
    let utc = |at: Timestamp| at.strftime("%Y-%m-%dT%H:%MZ").to_string();
    fleet.tree.replace("windows.yaml", &utc(given.close), &utc(given.open + SignedDuration::from_mins(1)));
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    change_both(fleet, ("1.30-alpine", "1.31-alpine"), ("First change", "Second change"));
    fleet.merge("A commit after the window");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    soon(fleet, &[]);
    let newest = fleet.revision().rsplit(':').next().unwrap().to_owned();
    set(cluster, &source, "kubectl-patch", &json!({ "spec": { "ref": { "commit": newest } } }));
    until("the image lands", WORK, || image(cluster).ends_with("1.31-alpine").then_some(()));
    soon(fleet, &["landed", "pinned"]);
}
