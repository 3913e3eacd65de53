//! Gates that hold a source.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};
use serde_json::{Value, json};

use super::walk_through::{change_both, conf, image, scaffold};
use crate::api::Change;
use crate::cluster::Cluster;
use crate::fleet::{Fleet, JOBS, KUSTOMIZATIONS, SOURCES};
use crate::landing::{predict, record, told};
use crate::wait::{WORK, holds, until};
use crate::window::Window;

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/nginx/deployments/nginx";

/// Writes a gate that follows into the spec, with a window of some minutes by an override.
pub fn follow(fleet: &Fleet, given: Option<&Window>) {
    let last = Timestamp::now().to_zoned(TimeZone::UTC).checked_add(300.days()).unwrap();
    let gate = format!("gate:\n  mechanism: follow\n  every: 1m\n  through: {}\n", last.strftime("%Y-%m-%d"));
    fleet.tree.replace("windows.yaml", "gate:\n", &gate);
    given.into_iter().for_each(|given| open(fleet, given));
}

/// Adds an override to the spec.
pub fn open(fleet: &Fleet, given: &Window) {
    let utc = |at: Timestamp| at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%MZ").to_string();
    let text = format!(
        "overrides:\n  - {{ cluster: edge-01, type: rw, from: {}, until: {}, reason: INC-1 }}\n",
        utc(given.open),
        utc(given.close)
    );
    let spec = fleet.tree.text("windows.yaml");
    fleet.tree.write("windows.yaml", format!("{spec}{text}"));
}

/// Returns the commit at which the held source is.
pub fn pin(cluster: &Cluster) -> Option<String> {
    let found = cluster.api.get(&format!("{SOURCES}/flux-system-rw"))?;
    found["spec"]["ref"]["commit"].as_str().map(str::to_owned)
}

/// Returns the revision that a Flux Kustomization has applied, where that is ready.
pub fn applied(cluster: &Cluster, name: &str) -> Option<String> {
    let found = cluster.kustomization(name).filter(crate::fleet::ready)?;
    found["status"]["lastAppliedRevision"].as_str().map(str::to_owned)
}

/// Returns the UIDs of what is applied, but for the gate.
pub fn uids(cluster: &Cluster) -> Vec<(String, String)> {
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

/// Waits until what is gated has applied a commit.
#[track_caller]
fn is_at(cluster: &Cluster, commit: &str) {
    until(&format!("apps-rw applies {commit}"), WORK, || {
        applied(cluster, "apps-rw").filter(|own| own.ends_with(commit))
    });
}

/// Changes the Deployment by hand, and waits until Flux has changed it back.
#[track_caller]
fn heals(cluster: &Cluster, tag: &str) {
    let drift = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "nginx", "image": "nginx:drift" }] } } } });
    cluster.api.change(DEPLOYMENT, Change::Merge("kubectl-edit", &drift)).unwrap();
    cluster.reconcile(&format!("{KUSTOMIZATIONS}/apps-rw"));
    until("the drift heals", WORK, || image(cluster).ends_with(tag).then_some(()));
}

/// Whatever is lost while the window is closed, nothing lands and nothing is made again: source and Flux Kustomization at
/// once, the store, the rights and the controllers over an opening, the history of the branch.
pub fn losses(fleet: &mut Fleet) {
    scaffold(fleet);
    follow(fleet, None);
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Hold a source");
    let cluster = &fleet.clusters[0];
    let first = until("the first run lets in the commit", WORK, || pin(cluster));
    is_at(cluster, &first);
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.merge("A commit that waits");
    until("the configuration lands at once", WORK, || conf(cluster).contains("First change").then_some(()));
    let before = uids(cluster);
    forbidden(cluster);

    // The store: the commit that was let in is fetched again, and no newer one.
    cluster.lose_sources();
    cluster.reconcile(&format!("{SOURCES}/flux-system-rw"));
    heals(cluster, "1.29-alpine");

    // A patch by hand takes the commit away: nothing newer is fetched, and the next run sets it again.
    let source = format!("{SOURCES}/flux-system-rw");
    let nothing = json!({ "spec": { "ref": { "commit": null } } });
    cluster.api.change(&source, Change::Merge("kubectl-patch", &nothing)).unwrap();
    cluster.reconcile(&source);
    assert_eq!(until("the next run sets the commit again", WORK * 2, || pin(cluster)), first);
    heals(cluster, "1.29-alpine");

    // Source and Flux Kustomization: only the note tells what was let in.
    for path in [&source, &format!("{KUSTOMIZATIONS}/apps-rw")] {
        cluster.api.change(path, Change::Delete).unwrap();
        until("it is gone", WORK, || cluster.api.get(path).is_none().then_some(()));
    }
    cluster.reconcile(&format!("{KUSTOMIZATIONS}/infra"));
    cluster.reconcile(&format!("{KUSTOMIZATIONS}/flux-system"));
    assert_eq!(until("the next run sets the commit again", WORK, || pin(cluster)), first);
    is_at(cluster, &first);
    assert!(image(cluster).ends_with("1.29-alpine"), "the commit that waited has landed");
    assert_eq!(uids(cluster), before, "an object was made again");

    // Nothing runs as the window opens, and then nothing may: it stays closed until the rights are back.
    let given = Window::ahead(SignedDuration::from_secs(30), 30);
    open(fleet, &given);
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Open for a while");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    cluster.stop_controllers();
    let binding =
        "/apis/rbac.authorization.k8s.io/v1/namespaces/flux-system/rolebindings/reconciliation-window";
    cluster.api.change(binding, Change::Delete).unwrap();
    until("the window opens", WORK, || (Timestamp::now() > given.open).then_some(()));
    cluster.start_controllers();
    until("a run fails", WORK, || {
        let jobs = cluster.api.list(JOBS);
        jobs.iter().any(|job| job["status"]["failed"].as_u64() >= Some(1)).then_some(())
    });
    assert_eq!(pin(cluster).as_ref(), Some(&first), "let in without rights");
    cluster.reconciled("infra");
    until("the image lands in the window", WORK, || image(cluster).ends_with("1.30-alpine").then_some(()));
    assert!(Timestamp::now() < given.close, "the machine is too slow for this window");

    // Closed again, the branch is written anew: nobody has the commit that was let in but the store.
    let utc = |at: Timestamp| at.strftime("%Y-%m-%dT%H:%MZ").to_string();
    let end = Window::ahead(SignedDuration::ZERO, 0).open;
    fleet.tree.replace("windows.yaml", &utc(given.close), &utc(end));
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Close again");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    until("the window ends", WORK, || (Timestamp::now() >= end).then_some(()));
    let shown = || {
        cluster.api.get(&source)?["metadata"]["annotations"]["gitops-windows/window"]
            .as_str()
            .map(str::to_owned)
    };
    until("the next run says so", WORK, || shown().filter(|shown| shown.starts_with("held")));
    let held = pin(cluster).unwrap();
    is_at(cluster, &held);
    change_both(fleet, ("1.30-alpine", "1.31-alpine"), ("First change", "Second change"));
    fleet.rewrite("The fleet, without its history");
    until("the configuration lands at once", WORK, || conf(cluster).contains("Second change").then_some(()));
    cluster.reconcile(&source);
    heals(cluster, "1.30-alpine");
    // Without the store nothing heals, nothing is deleted and nothing newer is applied, until it opens.
    cluster.lose_sources();
    cluster.reconcile(&source);
    until("the commit is not found", WORK, || {
        (!crate::fleet::ready(&cluster.api.get(&source)?)).then_some(())
    });
    cluster.reconcile(&format!("{KUSTOMIZATIONS}/apps-rw"));
    assert!(image(cluster).ends_with("1.30-alpine"), "something newer has landed");
    // What the status says may still be of the time before.
    let open = fleet.tool(&["override", "open", "--cluster", "edge-01"]);
    until("the live source is fetched again and let in", WORK, || cluster.tries(&open));
    until("the image lands by hand", WORK, || image(cluster).ends_with("1.31-alpine").then_some(()));
    assert_eq!(uids(cluster), before, "an object was made again");

    // Stopped without Git, which Flux does not take back, and let go on.
    let told = fleet.tool(&["stop", "--without-git", "--reason", "it's INC-1"]);
    let lines: Vec<&str> = told.lines().filter(|line| !line.starts_with('#')).collect();
    let stopped = || {
        cluster.api.get(&source)?["metadata"]["annotations"]["gitops-windows/stop"]
            .as_str()
            .map(str::to_owned)
    };
    cluster.shell(lines[0]);
    cluster.reconciled("infra");
    assert_eq!(stopped().as_deref(), Some("it's INC-1"));
    cluster.run_job("follow-reconciliation-window");
    assert_eq!(shown().as_deref(), Some("stopped by hand"));
    cluster.shell(lines[1]);
    assert_eq!(stopped(), None);
}

/// Tries what the jobs must not do.
fn forbidden(cluster: &Cluster) {
    for words in [
        "patch gitrepositories.source.toolkit.fluxcd.io flux-system --type=merge --patch={}",
        "delete gitrepositories.source.toolkit.fluxcd.io flux-system-rw",
        "patch kustomizations.kustomize.toolkit.fluxcd.io apps-rw --type=merge --patch={}",
        "get kustomizations.kustomize.toolkit.fluxcd.io",
        "get secrets",
    ] {
        let mut command = cluster.command("kubectl");
        command.args(words.split(' ')).arg("--namespace=flux-system");
        command.arg("--as=system:serviceaccount:jobs:reconciliation-window");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("Forbidden"), "{words}: {said}");
    }
}

/// A freeze that begins in the next minute while open, and an override that ends in the next minute: the run of that minute
/// lets nothing in any more, be it merged before.
pub fn ends(fleet: &mut Fleet) {
    scaffold(fleet);
    follow(fleet, None);
    let given = Window::ahead(SignedDuration::from_secs(-120), 60);
    open(fleet, &given);
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Hold a source, and open it for an hour");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    let cluster = &fleet.clusters[0];
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.merge("A commit while open");
    until("the image lands", WORK * 3, || image(cluster).ends_with("1.30-alpine").then_some(()));
    let before = uids(cluster);
    let minute = |at: Timestamp| at.strftime("%Y-%m-%dT%H:%MZ").to_string();
    let waits = |at: Timestamp, tag: &str| {
        assert!(Timestamp::now() < at, "the machine is too slow for this end");
        let is_over = || Timestamp::now() >= at + SignedDuration::from_secs(75);
        holds("the image waits", WORK * 5, is_over, || image(cluster).ends_with(tag));
    };

    // The freeze is committed less than a minute before it begins, and a change after it.
    let freeze = Window::ahead(SignedDuration::from_secs(40), 0).open;
    let (begins, later) = (minute(freeze), minute(given.close));
    let spec = fleet.tree.text("windows.yaml");
    let peak = format!("freezes:\n  peak: {{ from: {begins}, to: {later}, reason: trading peak }}\n");
    fleet.tree.write("windows.yaml", format!("{spec}{peak}"));
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("A freeze of the next minute");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    let last = Timestamp::now();
    // The run before may have been of this minute; the next one is that of the freeze.
    if freeze.as_second() - last.as_second() < 58 {
        change_both(fleet, ("1.30-alpine", "1.31-alpine"), ("First change", "Second change"));
        fleet.merge("A commit in the last minute");
        waits(freeze, "1.30-alpine");
    }

    // Without the freeze the override lets it in; then that ends in the next minute.
    fleet.tree.replace("windows.yaml", &peak, "");
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("No freeze");
    until("the image lands", WORK * 3, || image(cluster).ends_with("1.31-alpine").then_some(()));
    let end = Window::ahead(SignedDuration::from_secs(40), 0).open;
    fleet.tree.replace("windows.yaml", &format!("until: {later}"), &format!("until: {}", minute(end)));
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("An override that ends in the next minute");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    // Rights that are taken away while open keep it at what was let in as well.
    let binding =
        "/apis/rbac.authorization.k8s.io/v1/namespaces/flux-system/rolebindings/reconciliation-window";
    cluster.api.change(binding, Change::Delete).unwrap();
    change_both(fleet, ("1.31-alpine", "1.32-alpine"), ("Second change", "Third change"));
    fleet.merge("A commit in the last minute");
    waits(end, "1.31-alpine");
    cluster.reconciled("infra");
    let looked = Timestamp::now() + SignedDuration::from_secs(75);
    holds("the image waits", WORK, || Timestamp::now() >= looked, || image(cluster).ends_with("1.31-alpine"));
    heals(cluster, "1.31-alpine");
    assert_eq!(uids(cluster), before, "an object was made again");
}
