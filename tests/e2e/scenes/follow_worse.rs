//! What a held source makes worse than suspending, and what makes each of it safe.

use jiff::{SignedDuration, Timestamp};

use super::follow::{applied, follow, open, pin, uids};
use super::moves::owned;
use super::table::is_held;
use super::walk_through::{change_both, conf, image, scaffold};
use crate::cluster::Cluster;
use crate::fleet::{Fleet, SOURCES};
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

/// How long the first of the chain works at a commit that comes at the end: longer than its window lasts.
const WORKS: u32 = 150;

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

/// What was let in before the closing goes on behind it: who waits for another applies that commit when the other is ready, be
/// it at a later try, and no further one.
pub fn chain(fleet: &mut Fleet) {
    scaffold(fleet);
    let first = flux("first", "  wait: true\n  timeout: 30s\n  retryInterval: 10s\n");
    fleet.tree.write(FLUX, first + &flux("last", "  dependsOn: [{ name: first }]\n"));
    fleet.tree.write("more/first/job.yaml", job("red", 1));
    fleet.tree.write("more/last/deployment.yaml", last("red"));
    hold(fleet, &["apps-rw", "first", "last"]);
    let cluster = &fleet.clusters[0];
    let close = Window::ahead(SignedDuration::from_secs(75), 0).open;
    let given = Window { open: close - SignedDuration::from_mins(10), close };
    open(fleet, &given);
    synced(fleet);
    fleet.merge("Open for a while");
    fleet.landed(0, &["flux-system", "infra", "apps-rt"]);

    // `pr` says that it is too late.
    fleet.tree.write("more/first/job.yaml", job("blue", WORKS));
    fleet.tree.write("more/last/deployment.yaml", last("blue"));
    let mut watch = Watch::new(CHAIN, cluster);
    let answer = watch.predict(fleet);
    assert!(answer["deadline"].is_null(), "{answer:#}");
    fleet.merge("At the end of the window");
    fleet.landed(0, &["flux-system", "apps-rt"]);
    cluster.run_job(JOB);
    let commit = fleet.tree.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert_eq!(pin(cluster).as_ref(), Some(&commit), "the machine is too slow for this window");
    until("first begins with it", WORK, || {
        watch.have_landed();
        let found = cluster.kustomization("first")?;
        found["status"]["lastAttemptedRevision"].as_str().filter(|own| own.ends_with(&commit)).map(drop)
    });
    assert!(Timestamp::now() < close, "the machine is too slow for this window");

    // A run that finds the window closed keeps what first has begun with.
    until("the window ends", WORK, || {
        watch.have_landed();
        (Timestamp::now() >= close).then_some(())
    });
    fleet.tree.write("more/last/deployment.yaml", last("green"));
    fleet.merge("Behind the end of the window");
    fleet.landed(0, &["flux-system", "apps-rt"]);
    cluster.run_job(JOB);
    assert_eq!(pin(cluster).as_ref(), Some(&commit));
    let color = || {
        let found = cluster.api.get("/apis/apps/v1/namespaces/default/deployments/last").unwrap_or_default();
        found["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(color(), "last:red", "it did not wait");
    until("all lands", WORK, || watch.have_landed().then_some(()));
    watch.record();
    let landed = watch.landed("Deployment last").unwrap();
    println!("landed: last, {} s behind the closing", landed.as_second() - close.as_second());
    assert!(landed > close);
    are_at(cluster, &["first", "last", "apps-rw"], &commit);
    let looked = Timestamp::now() + SignedDuration::from_secs(30);
    holds("no further commit lands", WORK, || Timestamp::now() >= looked, || color() == "last:blue");
    let told = fleet.tool_on_cluster(0, &["status"]).stdout;
    assert!(told.contains("is as it should be"), "{told}");
}
