//! `migrate` on whole repositories: each step as a tree, and what is refused.
//!
//! `GITOPS_WINDOWS_BLESS=1 cargo test --test migrate` writes the trees in `tests/golden/` anew.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, and writes when asked")]

mod anchor;
mod artifact;
#[path = "../support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
mod elsewhere;
mod half_done;
mod layouts;
mod named;
mod old_flux;
mod others;
mod removal;
mod shared;
#[path = "../support/mod.rs"]
mod support;
mod variables;

use divided::{SPEC, divided, nothing_differs};
use support::golden::compare;
use support::scratch::{Scratch, assert_same};

/// Takes one step, holds a second run of everything to doing nothing, and commits.
#[track_caller]
fn step(scratch: &Scratch, next: &str) {
    let run = scratch.expect(0, &["migrate", "--yes"]);
    assert!(run.stderr.contains(next) && run.stderr.contains("no difference"), "{}", run.stderr);
    let written = scratch.tree();
    // The next step waits until this one is committed.
    let again = scratch.run(&["migrate", "--yes", "--allow-dirty"]);
    assert!(matches!(again.code, 0 | 5) && again.stdout.is_empty(), "{again:?}");
    scratch.commit();
    nothing_differs(scratch);
    assert_eq!(scratch.expect(0, &["sync", "--yes"]).stdout, "", "sync found something to change");
    assert_same(&written, &scratch.tree(), "a second run wrote");
}

fn whole_way(fixture: &str, clusters: &[&str]) {
    let scratch = divided(fixture, clusters);
    step(&scratch, "this step: hand over");
    compare(&scratch, &format!("{fixture}-handed-over"));
    // What the old entry point was is still compared, with what Flux makes of it.
    scratch.expect(0, &["verify"]);
    step(&scratch, "this step: finish");
    scratch.expect(0, &["verify"]);
    compare(&scratch, &format!("{fixture}-finished"));
    let run = scratch.expect(0, &["migrate"]);
    assert!(run.stderr.contains("finished") && run.stderr.contains("Nothing to change"), "{}", run.stderr);
}

#[test]
fn clusters_that_list_their_apps() {
    whole_way("sample", &["edge-01", "edge-02"]);
}

#[test]
fn clusters_with_overlays() {
    whole_way("overlays", &["north", "south"]);
}

#[test]
fn a_flux_kustomization_for_each_app() {
    whole_way("per-app", &["home"]);
}

#[test]
fn a_fleet_moves_cluster_by_cluster() {
    let scratch = divided("overlays", &["north", "south"]);
    let run = scratch.expect(5, &["migrate", "--base", "HEAD~1", "--yes"]);
    assert!(run.stderr.contains("not yet in HEAD~1"), "{}", run.stderr);
    assert_eq!(scratch.git(&["status", "--short"]), "");
    scratch.expect(0, &["migrate", "--cluster", "north", "--yes"]);
    assert!(scratch.text("clusters/south/apps.yaml").contains("prune: false"));
    assert!(!scratch.top().join("clusters/north/apps.yaml").exists());
    scratch.commit();
    nothing_differs(&scratch);
    let run = scratch.expect(0, &["migrate", "--cluster", "south", "--yes"]);
    assert!(!run.stderr.contains("north"), "{}", run.stderr);
    scratch.commit();
    nothing_differs(&scratch);
    step(&scratch, "this step: finish");
    compare(&scratch, "overlays-finished");
    let run = scratch.expect(2, &["migrate", "--cluster", "nroth"]);
    assert!(run.stderr.contains("did you mean `north`"), "{}", run.stderr);
}

#[test]
fn an_old_one_that_would_delete_is_prepared_first() {
    let scratch = divided("overlays", &["north", "south"]);
    let file = "clusters/north/apps.yaml";
    scratch.replace(file, "prune: false # gitops-windows: was true", "prune: true").commit();
    step(&scratch, "apps still deletes objects that leave it");
    assert!(scratch.text(file).contains("prune: false # gitops-windows: was true"));
    assert!(!scratch.top().join("clusters/south/apps.yaml").exists(), "the other cluster goes on");
}

#[test]
fn nothing_is_divided_below_a_root_that_does_not_build() {
    let scratch = Scratch::fixture("overlays");
    scratch.write("windows.yaml", format!("{SPEC}  north: {{}}\n  south: {{}}\n"));
    scratch.write("clusters/north/node.yaml", "#cloud-config\nhostname: x\n").commit();
    let run = scratch.run(&["split", "--all", "--yes"]);
    let said = "does not build, so no commit reaches apps";
    assert!(run.stderr.contains(said) && run.stderr.contains("clusters/north/apps.yaml"), "{run:?}");
    assert!(!scratch.top().join("apps/north/apps-rt").exists());
}

#[test]
fn commands_are_printed_where_nothing_is_in_git() {
    let scratch = Scratch::fixture("sample");
    scratch.git(&["rm", "-r", "--quiet", "clusters/edge-01/flux", "clusters/edge-02/flux"]);
    scratch.write("windows.yaml", format!("{SPEC}  edge-01: {{}}\n  edge-02: {{}}\n")).commit();
    scratch.take(&["split", "--all", "--yes"]);
    let run = scratch.expect(0, &["migrate", "--cluster", "edge-01"]);
    for part in [
        "--patch '{\"spec\":{\"prune\":false,\"deletionPolicy\":\"Orphan\"}}'",
        "flux create kustomization apps-rt --namespace=flux-system --source=GitRepository/flux-system --path=./clusters/edge-01/apps/apps-rt --prune=false",
        "--path=./clusters/edge-01/apps/apps-rw --prune=false --interval=10m --depends-on=apps-rt",
        "kubectl delete kustomizations.kustomize.toolkit.fluxcd.io \"$1\" --namespace \"$2\"; else ",
        "fi' sh apps flux-system\n",
        "kubectl patch kustomizations.kustomize.toolkit.fluxcd.io apps-rw --namespace flux-system --type=merge --field-manager=flux --patch '{\"spec\":{\"prune\":true}}'",
        "flux export kustomization apps",
    ] {
        assert!(run.stderr.contains(part), "{part}\n{}", run.stderr);
    }
}

#[test]
fn a_gate_of_ones_own_must_name_the_successor_first() {
    let scratch = Scratch::fixture("adopted");
    scratch.take(&["init", "--yes"]);
    scratch.take(&["split", "--all", "--yes"]);
    let run = scratch.expect(5, &["migrate", "--yes"]);
    assert!(
        run.stderr.contains("names apps but not apps-rw. Nothing would suspend apps-rw"),
        "{}",
        run.stderr
    );
    for job in ["begin", "end"] {
        scratch.replace(&format!("infra/maintenance/{job}.yaml"), "\"apps\"", "\"apps\", \"apps-rw\"");
    }
    scratch.commit();
    scratch.take(&["migrate", "--yes"]);
    scratch.take(&["migrate", "--yes"]);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

#[test]
fn an_edited_spec_is_synced_and_nothing_else_that_is_dirty() {
    let scratch = divided("overlays", &["north"]);
    scratch.replace("windows.yaml", "0 22 * * SAT", "0 21 * * SAT");
    scratch.write("notes.txt", "mine\n");
    let run = scratch.expect(4, &["sync", "--yes"]);
    assert!(run.stderr.contains("uncommitted changes: notes.txt\n"), "{}", run.stderr);
    std::fs::remove_file(scratch.top().join("notes.txt")).unwrap();
    scratch.expect(0, &["sync", "--yes"]);
    assert!(scratch.git(&["status", "--short"]).lines().count() > 1);
}

#[test]
fn alerts_and_receivers_follow_and_others_are_told_of() {
    let alert = |name: &str, source: &str| {
        format!(
            "apiVersion: notification.toolkit.fluxcd.io/v1beta3\nkind: Alert\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n  eventSources:\n    # what people look at\n    - kind: Kustomization\n      name: {source}\n    - kind: Kustomization\n      name: infra\n"
        )
    };
    let receiver = "apiVersion: notification.toolkit.fluxcd.io/v1\nkind: Receiver\nmetadata: { name: push, namespace: flux-system }\nspec:\n  type: github\n  resources:\n    - apiVersion: kustomize.toolkit.fluxcd.io/v1\n      kind: Kustomization\n      name: apps # both clusters\n";
    let other = "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: { name: late }\nspec:\n  dependsOn:\n    - { apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, name: apps }\n";
    let scratch = Scratch::fixture("sample");
    scratch.write("clusters/edge-01/flux/alert.yaml", alert("edge", "apps"));
    scratch.write("clusters/edge-02/flux/alert.yaml", alert("edge", "infra"));
    scratch.write("clusters/edge-01/flux/late.yaml", other);
    scratch.write("infra/hooks/push.yaml", receiver);
    scratch.write("infra/hooks/kustomization.yaml", "resources: [push.yaml]\n");
    for cluster in ["edge-01", "edge-02"] {
        let file = format!("clusters/{cluster}/infra/kustomization.yaml");
        scratch.replace(&file, "resources:\n", "resources:\n  - ../../../infra/hooks\n");
    }
    scratch.write("windows.yaml", format!("{SPEC}  edge-01: {{}}\n  edge-02: {{}}\n")).commit();
    scratch.take(&["split", "--all", "--yes"]);
    let run = scratch.expect(0, &["migrate", "--cluster", "edge-01", "--yes"]);
    assert!(
        run.stderr.contains("ResourceSet late in clusters/edge-01/flux/late.yaml names Flux Kustomization apps, which goes: name apps-rt and apps-rw there yourself"),
        "{}",
        run.stderr
    );
    let expected = alert("edge", "apps-rt") + "    - kind: Kustomization\n      name: apps-rw\n";
    assert_eq!(scratch.text("clusters/edge-01/flux/alert.yaml"), expected);
    // The other cluster has `apps` still.
    let item = |name: &str| {
        format!(
            "    - apiVersion: kustomize.toolkit.fluxcd.io/v1\n      kind: Kustomization\n      name: {name}\n"
        )
    };
    let both = format!("{receiver}{}{}", item("apps-rt"), item("apps-rw"));
    assert_eq!(scratch.text("infra/hooks/push.yaml"), both);
    scratch.commit();
    scratch.expect(0, &["migrate", "--cluster", "edge-02", "--yes"]);
    assert_eq!(scratch.text("clusters/edge-02/flux/alert.yaml"), alert("edge", "infra"));
    let first = "    - apiVersion: kustomize.toolkit.fluxcd.io/v1\n      kind: Kustomization\n      name: apps # both clusters\n";
    assert_eq!(scratch.text("infra/hooks/push.yaml"), both.replace(first, ""));
}

/// Whatever the mechanism, no cluster gets anything else from one commit to the next.
#[test]
fn each_step_with_a_held_source_gives_what_the_one_before_gave() {
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: flux-system, namespace: flux-system }\nspec: { interval: 1m, url: https://git.example.org/fleet.git, ref: { branch: main } }\n";
    for (fixture, clusters) in [("overlays", "  north: {}\n  south: {}\n"), ("per-app", "  home: {}\n")] {
        let scratch = Scratch::fixture(fixture);
        if fixture == "per-app" {
            scratch.write("clusters/home/flux/source.yaml", source);
        }
        let gate = "gate: { mechanism: follow, every: 5m, from: 2026-11-01, through: 2027-10-31 }\n";
        scratch.write("windows.yaml", format!("{SPEC}{clusters}{gate}")).commit();
        let mut steps = vec![&["sync", "--while-open", "--yes"][..], &["split", "--all", "--yes"]];
        steps.extend([&["migrate", "--while-open", "--yes"][..]; 2]);
        for step in steps {
            scratch.take(step);
            nothing_differs(&scratch);
        }
        let run = scratch.expect(0, &["migrate"]);
        assert!(run.stderr.contains("Nothing to change"), "{}", run.stderr);
    }
}
