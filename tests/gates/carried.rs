//! Gates that Git keeps from their cluster, and gates of clusters that got another name.

use gitops_windows::repo::Snapshot;

use crate::WINDOW;
use crate::support::read;
use crate::support::scratch::Scratch;

const INFRA: &str = "clusters/edge-01/flux/infra.yaml";
const LIST: &str = "clusters/edge-01/infra/kustomization.yaml";

/// Suspends the Flux Kustomization of the folder in which the gate of a cluster goes.
fn suspend(scratch: &Scratch) {
    scratch.replace(INFRA, "spec:\n", "spec:\n  suspend: true\n").commit();
}

/// A repository whose gates are switched on.
fn migrated() -> Scratch {
    let scratch = Scratch::fixture("sample");
    scratch.take(&[&["init", "--yes"][..], &WINDOW].concat());
    for step in
        [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"], &["sync", "--yes"]]
    {
        scratch.take(step);
    }
    scratch
}

#[test]
fn a_gate_is_not_put_where_git_suspends() {
    let scratch = Scratch::fixture("sample");
    suspend(&scratch);
    scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    assert!(!scratch.text(LIST).contains("reconciliation-windows"), "{}", scratch.text(LIST));
    let flux = scratch.text("clusters/edge-01/flux/reconciliation-windows.yaml");
    assert!(flux.contains("path: ./clusters/edge-01/infra/reconciliation-windows\n"), "{flux}");
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

#[test]
fn a_gate_that_git_keeps_from_its_cluster_is_told_of() {
    let scratch = migrated();
    let gated = || scratch.expect(0, &["clusters"]).stdout.matches("gated by rw").count();
    let both = gated();
    assert!(both > 0, "{}", scratch.expect(0, &["clusters"]).stdout);
    suspend(&scratch);
    let run = scratch.run(&["sync"]);
    assert!(run.stderr.contains("stops it"), "{}", run.stderr);
    // The CronJobs of the cluster go on, and Git only keeps new ones out.
    assert_eq!(gated(), both);
    let found = scratch.run(&["check"]);
    assert!(found.stdout.contains("GW039"), "{}{}", found.stdout, found.stderr);
    let when = scratch.run(&["when", "--cluster", "edge-01"]).stdout;
    assert!(when.contains("Git suspends the Flux") && !when.contains("not gated"), "{when}");
    let explained = scratch.expect(0, &["explain", "apps/web"]).stdout;
    assert!(explained.contains("as the cluster has it"), "{explained}");
}

/// The folder of a gate that the spec wants on, and that no entry point builds.
#[test]
fn a_gate_that_nothing_lists_is_found() {
    let scratch = migrated();
    let list = scratch.text(LIST);
    let lines = list.lines().filter(|line| !line.contains("reconciliation-windows"));
    scratch.write(LIST, lines.map(|line| format!("{line}\n")).collect::<String>()).commit();
    let found = scratch.run(&["check"]);
    assert!(found.stdout.contains("GW039"), "{}{}", found.stdout, found.stderr);
    let when = scratch.run(&["when", "--cluster", "edge-01"]).stdout;
    assert!(when.contains("not gated"), "{when}");
}

#[test]
fn a_cluster_with_another_name_gets_no_second_gate() {
    let scratch = Scratch::fixture("sample");
    scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    scratch.commit();
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("  edge-01:\n    roots: clusters/edge-01/flux\n"), "{spec}");
    scratch.replace("windows.yaml", "  edge-01:\n", "  site-01:\n").commit();
    let before: Snapshot = read(scratch.top());
    let run = scratch.expect(4, &["sync", "--yes"]);
    assert!(run.stderr.contains("did you mean `edge-01`?"), "{}", run.stderr);
    assert!(before == read(scratch.top()));
    // Whoever moves it is done.
    scratch.git(&["mv", "clusters/edge-01/infra/reconciliation-windows", "moved"]);
    std::fs::create_dir_all(scratch.top().join("clusters/site-01/infra")).unwrap();
    scratch.git(&["mv", "moved", "clusters/site-01/infra/reconciliation-windows"]);
    scratch.replace(LIST, "- reconciliation-windows", "- ../../site-01/infra/reconciliation-windows");
    let patches = "clusters/site-01/infra/reconciliation-windows/kustomization.yaml";
    assert!(scratch.top().join(patches).exists());
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}
