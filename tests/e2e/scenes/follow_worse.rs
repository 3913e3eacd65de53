//! What a held source makes worse than suspending, and what makes each of it safe.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::follow::{applied, follow, open, pin, uids};
use super::moves::owned;
use super::table::is_held;
use super::walk_through::{change_both, conf, image, scaffold};
use crate::api::Change;
use crate::cluster::Cluster;
use crate::fleet::{Fleet, JOBS, KUSTOMIZATIONS, SOURCES};
use crate::wait::{WORK, holds, until};
use crate::watch::Watch;
use crate::window::Window;

const FLUX: &str = "clusters/edge-01/flux/more.yaml";
const SERVICE: &str = "apps/nginx/nginx-rw/service.yaml";
const KEEP: &str = "  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n";
const RULE: &str = "  - { kind: Service, name: nginx, type: rt }\n";
const LAST_RULE: &str = "  - { type: rw }\n";
const JOB: &str = "follow-reconciliation-window";

fn flux(name: &str, more: &str) -> String {
    format!(
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: \
         flux-system }}\nspec:\n  interval: 10m\n  path: ./more/{name}\n  prune: true\n  sourceRef: {{ kind: \
         GitRepository, name: flux-system }}\n{more}"
    )
}

fn service(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{ name: {name}, namespace: default }}\nspec: {{ ports: [{{ port: 80 }}] \
         }}\n"
    )
}

fn synced(fleet: &Fleet) {
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
}

/// Lets in what the window allows now, and waits until the gated ones have applied a commit.
#[track_caller]
fn are_at(cluster: &Cluster, names: &[&str], commit: &str) {
    for name in names {
        until(&format!("{name} applies {commit}"), WORK, || {
            applied(cluster, name).filter(|own| own.ends_with(commit))
        });
    }
}

/// Merges what a scene adds, and holds a source, whose first run lets that in.
#[track_caller]
fn hold(fleet: &Fleet, gated: &[&str]) {
    synced(fleet);
    fleet.merge("More of everything");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    fleet.landed(0, gated);
    let cluster = &fleet.clusters[0];
    // Else one may apply the commit that brings the held source before it reads from that, and another not.
    cluster.run_job("close-reconciliation-window");
    follow(fleet, None);
    synced(fleet);
    fleet.merge("Hold a source");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    cluster.run_job(JOB);
    are_at(cluster, gated, &pin(cluster).unwrap());
}

/// While it is closed: one leaves Git, another gets a further folder, a third depends on what waits, and two objects move. In
/// its window one of these moves back, and CronJobs that suspend take over.
pub fn play(fleet: &mut Fleet) {
    scaffold(fleet);
    let depends = "  dependsOn: [{ name: apps-rw }]\n";
    let [kiosk, stall, board] = [flux("kiosk", ""), flux("stall", ""), flux("board", depends)];
    fleet.tree.write(FLUX, [kiosk, board, stall].concat());
    fleet.tree.write("more/kiosk/service.yaml", service("kiosk"));
    fleet.tree.write("more/stall/service.yaml", service("stall"));
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: board, namespace: default }\ndata: { color: red }\n";
    fleet.tree.write("more/board/map.yaml", map);
    let apps = "clusters/edge-01/apps/apps-rw";
    fleet.tree.write(&format!("{apps}/lamp.yaml"), service("lamp"));
    let list = format!("{apps}/kustomization.yaml");
    fleet.tree.replace(&list, "  - nginx\n", "  - nginx\n  - lamp.yaml\n");
    fleet.tree.replace(SERVICE, "  namespace: nginx\n", &format!("  namespace: nginx\n{KEEP}"));
    hold(fleet, &["apps-rw", "kiosk", "stall"]);
    let cluster = &fleet.clusters[0];
    let before = uids(cluster);
    let lost = || -> Vec<String> {
        let now = uids(cluster);
        before.iter().filter(|one| !now.contains(one)).map(|(name, _)| name.clone()).collect()
    };

    // What lands at once and depends on what is held goes on, although that is at another commit.
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.tree.replace("more/board/map.yaml", "red", "blue");
    // One leaves Git: its objects stay.
    let all = fleet.tree.text(FLUX);
    let stall = all.rfind("---\n").unwrap();
    fleet.tree.write(FLUX, &all[..stall]);
    synced(fleet);
    // One gets a folder that its commit does not have.
    fleet.tree.git(&["mv", "more/kiosk", "more/stand"]);
    fleet.tree.replace(FLUX, "./more/kiosk", "./more/stand");
    let told = fleet.tree.run(&["check", "--base", "HEAD"]);
    assert!([&told.stdout, &told.stderr].iter().any(|text| text.contains("GW061")), "{}", told.stdout);
    fleet.merge("While it is closed");
    fleet.landed(0, &["flux-system", "infra", "apps-rt", "board"]);
    assert!(conf(cluster).contains("First change"));
    until("stall is gone", WORK, || cluster.kustomization("stall").is_none().then_some(()));
    until("kiosk misses its folder", WORK, || {
        let found = cluster.kustomization("kiosk")?;
        let mut all = found["status"]["conditions"].as_array()?.iter();
        let says = |text: &str| text.contains("path not found");
        all.any(|one| one["type"] == "Ready" && one["message"].as_str().is_some_and(says)).then_some(())
    });
    assert_eq!(lost(), [""; 0], "closed");

    // A Service whose annotation the cluster has moves to the other side, and one without it by hand. Both sides apply them.
    let given = Window::ahead(SignedDuration::from_secs(60), 60);
    open(fleet, &given);
    fleet.tree.replace("windows.yaml", LAST_RULE, &format!("{RULE}{LAST_RULE}"));
    synced(fleet);
    fleet.tree.git(&["mv", &format!("{apps}/lamp.yaml"), "more/board/lamp.yaml"]);
    fleet.tree.replace(&list, "  - lamp.yaml\n", "");
    let told = fleet.tree.run(&["check", "--base", "HEAD"]);
    assert!([&told.stdout, &told.stderr].iter().any(|text| text.contains("GW064")), "{}", told.stdout);
    fleet.merge("To the other side");
    fleet.landed(0, &["flux-system", "infra", "apps-rt", "board"]);
    let services = |name: &str| format!("/api/v1/namespaces/{name}");
    let [nginx, lamp] = ["nginx/services/nginx", "default/services/lamp"].map(services);
    // With a source, Flux also reconciles what those that read it depend on: either may have been the last.
    cluster.reconciled("apps-rt");
    owned(cluster, &nginx, "apps-rt");
    owned(cluster, &lamp, "board");
    cluster.reconciled("apps-rw");
    owned(cluster, &nginx, "apps-rw");
    owned(cluster, &lamp, "apps-rw");
    assert_eq!(lost(), [""; 0], "moved while closed");
    assert!(Timestamp::now() < given.open, "the machine is too slow for this window");

    // The opening deletes what the held one applied last, and keeps what says so.
    until("the image lands in the window", WORK, || image(cluster).ends_with("1.30-alpine").then_some(()));
    fleet.landed(0, &["apps-rw", "kiosk"]);
    assert!(cluster.api.get(&lamp).is_none(), "lamp stays");
    assert_eq!(lost(), ["Service default/lamp"], "opened");
    cluster.reconciled("board");
    cluster.reconciled("apps-rt");
    owned(cluster, &lamp, "board");
    owned(cluster, &nginx, "apps-rt");
    let after = uids(cluster);
    assert_eq!(lost(), ["Service default/lamp"], "opened, and taken over");

    // Back behind its window.
    fleet.tree.replace("windows.yaml", RULE, "");
    synced(fleet);
    fleet.merge("And back");
    fleet.landed(0, &["flux-system", "apps-rt"]);
    cluster.run_job(JOB);
    owned(cluster, &nginx, "apps-rw");
    assert_eq!(uids(cluster), after, "moved back");

    // Back to CronJobs that suspend, in the open window.
    fleet.tree.replace("windows.yaml", "  mechanism: follow\n", "");
    let refused = fleet.tree.expect(5, &["sync", "--yes", "--allow-dirty"]).stderr;
    assert!(refused.contains("sync --while-open"), "{refused}");
    let told = fleet.tree.expect(0, &["sync", "--yes", "--allow-dirty", "--while-open"]).stderr;
    fleet.merge("Suspend again");
    fleet.landed(0, &["flux-system", "infra", "apps-rt", "apps-rw", "kiosk", "board"]);
    until("the held source goes", WORK, || {
        cluster.api.get(&format!("{SOURCES}/flux-system-rw")).is_none().then_some(())
    });
    cluster.shell(told.lines().find(|line| line.contains("kubectl delete configmap")).unwrap());
    assert_eq!(uids(cluster), after, "suspends again");
    let spec = fleet.tree.text("windows.yaml");
    fleet.tree.write("windows.yaml", &spec[..spec.find("overrides:\n").unwrap()]);
    synced(fleet);
    fleet.merge("No override");
    fleet.landed(0, &["flux-system", "infra"]);
    until("a run closes", WORK, || is_held(cluster).then_some(()));
    change_both(fleet, ("1.30-alpine", "1.31-alpine"), ("First change", "Second change"));
    fleet.merge("A commit that waits again");
    until("the configuration lands at once", WORK, || conf(cluster).contains("Second change").then_some(()));
    assert!(image(cluster).ends_with("1.30-alpine"), "the image did not wait");
    assert_eq!(uids(cluster), after, "closed again");
}

const CHAIN: &str = "a_chain_that_a_closing_overtakes";

/// How many seconds the first of the chain works at a commit.
const WORKS: u32 = 20;

fn job(name: &str, seconds: u32) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{ name: {name}, namespace: jobs }}\nspec:\n  template:\n    spec:\n      \
         serviceAccountName: default\n      restartPolicy: Never\n      containers: [{{ name: it, image: slow, command: \
         [/bin/sleep, \"{seconds}\"] }}]\n"
    )
}

fn last(color: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: last, namespace: default }}\nspec:\n  selector: {{ \
         matchLabels: {{ app: last }} }}\n  template:\n    metadata: {{ labels: {{ app: last }} }}\n    spec: {{ containers: \
         [{{ name: it, image: \"last:{color}\" }}] }}\n"
    )
}

/// A chain that takes longer than what is left of the window: what comes at its end is not let in, and what was let in before has
/// landed by then, whoever waits for another. Nothing of it lands after the closing.
pub fn chain(fleet: &mut Fleet) {
    scaffold(fleet);
    let first = flux("first", "  wait: true\n  timeout: 30s\n  retryInterval: 10s\n");
    fleet.tree.write(FLUX, first + &flux("last", "  dependsOn: [{ name: first }]\n"));
    fleet.tree.write("more/first/job.yaml", job("red", 1));
    fleet.tree.write("more/last/deployment.yaml", last("red"));
    hold(fleet, &["apps-rw", "first", "last"]);
    let cluster = &fleet.clusters[0];
    // Of ten minutes the last quarter lets nothing in.
    let close = Window::ahead(SignedDuration::from_secs(210), 0).open;
    let given = Window { open: close - SignedDuration::from_mins(10), close };
    let shut = close - SignedDuration::from_secs(150);
    open(fleet, &given);
    synced(fleet);
    fleet.merge("Open for a while");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    let color = || {
        let found = cluster.api.get("/apis/apps/v1/namespaces/default/deployments/last").unwrap_or_default();
        found["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap_or_default().to_owned()
    };

    // Let in before that: all of the chain lands before the closing.
    fleet.tree.write("more/first/job.yaml", job("blue", WORKS));
    fleet.tree.write("more/last/deployment.yaml", last("blue"));
    let mut watch = Watch::new(CHAIN, cluster);
    watch.predict(fleet);
    fleet.merge("Before the end of the window");
    fleet.landed(0, &["flux-system", "apps-rt"]);
    cluster.run_job(JOB);
    let commit = fleet.tree.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert!(Timestamp::now() < shut, "the machine is too slow for this window");
    assert_eq!(pin(cluster).as_ref(), Some(&commit), "not let in");
    until("all of the chain lands", WORK * 2, || watch.have_landed().then_some(()));
    watch.record();
    let landed = watch.landed("Deployment last").unwrap();
    println!("landed: last, {} s before the closing", close.as_second() - landed.as_second());
    assert!(landed < close, "it landed after the closing");

    // At the end: by then the whole chain could not land, so none of it does; `pr` knows.
    until("nothing more is let in", WORK * 2, || (Timestamp::now() >= shut).then_some(()));
    fleet.tree.write("more/first/job.yaml", job("green", WORKS));
    fleet.tree.write("more/last/deployment.yaml", last("green"));
    let answer: Value =
        serde_json::from_str(&fleet.tool(&["pr", "--base", "HEAD", "--format", "json"])).unwrap();
    let all = answer["changes"].as_array().unwrap().iter();
    let earliest = all.filter_map(|change| change["lands"]["earliest"].as_str()?.parse::<Timestamp>().ok());
    assert!(earliest.min().is_none_or(|at| at > close), "{answer:#}");
    fleet.merge("At the end of the window");
    fleet.landed(0, &["flux-system", "apps-rt"]);
    cluster.run_job(JOB);
    assert!(Timestamp::now() < close, "the machine is too slow for this window");
    assert_eq!(pin(cluster).as_ref(), Some(&commit), "it was let in");
    let source = cluster.api.get(&format!("{SOURCES}/flux-system-rw")).unwrap();
    let shown = source["metadata"]["annotations"]["gitops-windows/window"].as_str().unwrap_or_default();
    assert!(shown.starts_with("open until") && shown.ends_with(", lets nothing more in"), "{shown}");
    let told = fleet.tool_on_cluster(0, &["status"]).stdout;
    assert!(told.contains("is as it should be"), "{told}");

    // Nor does it after the closing.
    let looked = close + SignedDuration::from_secs(75);
    holds("nothing lands", WORK * 5, || Timestamp::now() >= looked, || color() == "last:blue");
    cluster.run_job(JOB);
    assert_eq!(pin(cluster).as_ref(), Some(&commit), "it was let in after the closing");
    are_at(cluster, &["first", "last", "apps-rw"], &commit);
    assert_eq!(color(), "last:blue");
    let told = fleet.tool_on_cluster(0, &["status"]).stdout;
    assert!(told.contains("is as it should be"), "{told}");
}

/// A held source that is pinned to an older commit would take whoever is pointed at it back to that. `sync` refuses it while
/// closed, `check` tells it of whoever does it by hand, and in an open window nothing goes back.
pub fn older(fleet: &mut Fleet) {
    scaffold(fleet);
    fleet.tree.write(FLUX, flux("board", ""));
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: board, namespace: default }\ndata: { color: red }\n";
    fleet.tree.write("more/board/map.yaml", map);
    hold(fleet, &["apps-rw"]);
    let cluster = &fleet.clusters[0];
    let held = pin(cluster).unwrap();
    let path = "/api/v1/namespaces/default/configmaps/board";
    let color = || {
        let found = cluster.api.get(path).unwrap_or_default();
        found["data"]["color"].as_str().unwrap_or_default().to_owned()
    };
    fleet.tree.replace("more/board/map.yaml", "red", "blue");
    fleet.merge("Newer than what is held");
    until("it lands at once", WORK, || (color() == "blue").then_some(()));
    let before = uids(cluster);

    // What is real-time so far gets a window while that is closed.
    let rule = "  - { kind: ConfigMap, type: rt }\n";
    fleet.tree.replace(
        "windows.yaml",
        rule,
        &format!("  - {{ kind: ConfigMap, name: board, type: rw }}\n{rule}"),
    );
    let refused = fleet.tree.expect(5, &["sync", "--yes", "--allow-dirty"]).stderr;
    assert!(refused.contains("may hold an older commit"), "{refused}");
    assert!(fleet.tree.text(FLUX).contains("name: flux-system }"), "it was written all the same");
    let by_hand = fleet.tree.text(FLUX);
    fleet.tree.write(FLUX, by_hand.replace("name: flux-system }", "name: flux-system-rw }"));
    let told = fleet.tree.run(&["check", "--base", "HEAD"]);
    assert!([&told.stdout, &told.stderr].iter().any(|text| text.contains("GW062")), "{}", told.stdout);
    // Control: this is what it would do.
    fleet.merge("By hand, while it is closed");
    fleet.landed(0, &["flux-system"]);
    until("it goes back", WORK, || (color() == "red").then_some(()));
    assert_eq!(pin(cluster).as_ref(), Some(&held));
    fleet.tree.write(FLUX, by_hand);
    fleet.merge("And back");
    until("it is as it was", WORK, || (color() == "blue").then_some(()));
    assert_eq!(uids(cluster), before, "an object was made again");

    // In the window the tool writes it, and nothing goes back.
    open(fleet, &Window::ahead(SignedDuration::from_secs(-120), 60));
    fleet.tool(&["sync", "--yes", "--allow-dirty", "--while-open"]);
    assert!(fleet.tree.text(FLUX).contains("name: flux-system-rw }"), "it does not read what is held");
    // The gate is open before what begins to read from it.
    let moved = fleet.tree.text(FLUX);
    fleet.tree.git(&["checkout", "HEAD", "--", FLUX]);
    fleet.merge("Open for an hour");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    cluster.run_job(JOB);
    are_at(cluster, &["apps-rw"], &pin(cluster).unwrap());
    fleet.tree.write(FLUX, moved);
    fleet.merge("Read what is held");
    fleet.landed(0, &["flux-system"]);
    cluster.run_job(JOB);
    let commit = pin(cluster).unwrap();
    let reads = || applied(cluster, "board").filter(|own| own.ends_with(&commit)).is_some();
    holds("nothing goes back", WORK, reads, || color() == "blue");
    assert_eq!(uids(cluster), before, "an object was made again");
}

/// What applies a reader of a held source and waits for it must wait longer than until the next run: `check` tells it, and with
/// the timeout that it asks for all becomes ready with the first run.
pub fn impatient(fleet: &mut Fleet) {
    scaffold(fleet);
    fleet.tree.write(FLUX, flux("shelf", "  wait: true\n  timeout: 30s\n"));
    fleet.tree.write("more/shelf/kiosk.yaml", flux("kiosk", ""));
    fleet.tree.write("more/kiosk/service.yaml", service("kiosk"));
    synced(fleet);
    fleet.merge("More of everything");
    fleet.landed(0, &["flux-system", "infra", "apps-rt", "shelf", "apps-rw", "kiosk"]);
    let cluster = &fleet.clusters[0];
    let before = uids(cluster);
    cluster.run_job("close-reconciliation-window");
    follow(fleet, None);
    synced(fleet);
    let is_told = || {
        let told = fleet.tree.run(&["check"]);
        [&told.stdout, &told.stderr].iter().any(|text| text.contains("GW060"))
    };
    assert!(is_told(), "check says nothing of its timeout");
    fleet.tree.replace(FLUX, "timeout: 30s", "timeout: 5m");
    assert!(!is_told(), "check still tells of its timeout");
    fleet.merge("Hold a source");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);
    until("shelf waits for kiosk", WORK, || {
        let found = cluster.kustomization("shelf")?;
        (!crate::fleet::ready(&found)).then_some(())
    });
    cluster.run_job(JOB);
    are_at(cluster, &["apps-rw", "kiosk"], &pin(cluster).unwrap());
    fleet.landed(0, &["shelf"]);
    assert_eq!(uids(cluster), before, "an object was made again");
}

/// What applies a held source is suspended by a person, and the source is lost meanwhile: nothing lands and nothing goes, and
/// with the parent everything comes back as it was.
pub fn orphaned(fleet: &mut Fleet) {
    scaffold(fleet);
    hold(fleet, &["apps-rw"]);
    let cluster = &fleet.clusters[0];
    let (held, before) = (pin(cluster).unwrap(), uids(cluster));
    change_both(fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    fleet.merge("A commit that waits");
    until("the configuration lands at once", WORK, || conf(cluster).contains("First change").then_some(()));

    let parent = format!("{KUSTOMIZATIONS}/infra");
    let suspend = |value: bool| {
        let patch = json!({ "spec": { "suspend": value } });
        cluster.api.change(&parent, Change::Merge("flux", &patch)).unwrap();
    };
    suspend(true);
    // The jobs go on without it.
    cluster.run_job(JOB);
    assert_eq!(pin(cluster).as_ref(), Some(&held));
    let source = format!("{SOURCES}/flux-system-rw");
    cluster.api.change(&source, Change::Delete).unwrap();
    until("the source goes", WORK, || cluster.api.get(&source).is_none().then_some(()));
    let job = cluster.start_job(JOB);
    until("a run says that it is not there", WORK, || {
        (cluster.api.get(&format!("{JOBS}/{job}"))?["status"]["failed"] == 1).then_some(())
    });
    cluster.reconcile(&format!("{KUSTOMIZATIONS}/apps-rw"));
    until("apps-rw misses its source", WORK, || {
        (!crate::fleet::ready(&cluster.kustomization("apps-rw")?)).then_some(())
    });
    let looked = Timestamp::now() + SignedDuration::from_secs(30);
    let is_over = || Timestamp::now() >= looked;
    holds("the image stays", WORK, is_over, || image(cluster).ends_with("1.29-alpine"));
    assert_eq!(uids(cluster), before, "an object went");

    suspend(false);
    until("the source is made again", WORK, || cluster.api.get(&source).map(drop));
    cluster.run_job(JOB);
    assert_eq!(pin(cluster).as_ref(), Some(&held), "something else was let in");
    are_at(cluster, &["apps-rw"], &held);
    assert!(image(cluster).ends_with("1.29-alpine"), "the commit that waited has landed");
    assert_eq!(uids(cluster), before, "an object was made again");
}
