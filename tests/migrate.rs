//! `migrate` on whole repositories: each step as a tree, and what is refused.
//!
//! `GITOPS_WINDOWS_BLESS=1 cargo test --test migrate` writes the trees in `tests/golden/` anew.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, and writes when asked")]

#[path = "support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
mod support;

use divided::{SPEC, divided};
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
    assert_eq!(scratch.expect(0, &["sync", "--yes"]).stdout, "", "sync found something to change");
    assert_same(&written, &scratch.tree(), "a second run wrote");
}

fn whole_way(fixture: &str, clusters: &[&str]) {
    let scratch = divided(fixture, clusters);
    step(&scratch, "next: hand over");
    compare(&scratch, &format!("{fixture}-handed-over"));
    step(&scratch, "next: finish");
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
    let run = scratch.expect(0, &["migrate", "--cluster", "south", "--yes"]);
    assert!(!run.stderr.contains("north"), "{}", run.stderr);
    scratch.commit();
    step(&scratch, "next: finish");
    compare(&scratch, "overlays-finished");
    let run = scratch.expect(2, &["migrate", "--cluster", "nroth"]);
    assert!(run.stderr.contains("did you mean `north`"), "{}", run.stderr);
}

#[test]
fn an_old_one_that_would_delete_is_prepared_first() {
    let scratch = divided("overlays", &["north", "south"]);
    let file = "clusters/north/apps.yaml";
    scratch.replace(file, "prune: false # gitops-windows: was true", "prune: true").commit();
    step(&scratch, "unprepared, apps would delete what it loses");
    assert!(scratch.text(file).contains("prune: false # gitops-windows: was true"));
    assert!(!scratch.top().join("clusters/south/apps.yaml").exists(), "the other cluster goes on");
}

#[test]
fn what_is_half_done_is_named_with_the_way_on() {
    let scratch = divided("overlays", &["north", "south"]);
    for (change, said) in [
        (
            Box::new(|scratch: &Scratch| {
                scratch.replace("clusters/north/apps.yaml", "  wait: false\n", "  suspend: true\n");
            }) as Box<dyn Fn(&Scratch)>,
            "has `suspend: true` in Git",
        ),
        (
            Box::new(|scratch| {
                let text = scratch.text("clusters/north/apps.yaml");
                scratch.write("clusters/north/copy.yaml", text);
            }),
            "stands twice",
        ),
        (
            Box::new(|scratch| {
                let text =
                    scratch.text("clusters/north/apps.yaml").replace("./apps/north", "./apps/north/north-rt");
                let text = text.replace("name: apps\n", "name: apps-rt\n");
                scratch.write("clusters/north/rt.yaml", &text);
                scratch.write("clusters/north/rt2.yaml", text.replace("name: apps-rt", "name: also"));
            }),
            "all apply apps/north/north-rt",
        ),
        (
            Box::new(|scratch| {
                let text = scratch.text("clusters/north/reports.yaml");
                scratch.write("clusters/north/taken.yaml", text.replace("name: reports", "name: apps-rw"));
            }),
            "apps-rw stands in clusters/north/taken.yaml already",
        ),
    ] {
        change(&scratch);
        scratch.commit();
        let run = scratch.expect(5, &["migrate", "--cluster", "north", "--yes"]);
        assert!(run.stderr.contains(said) && run.stderr.contains("help:"), "{said}: {}", run.stderr);
        assert_eq!(scratch.git(&["status", "--short"]), "", "{said}");
        scratch.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    }
}

#[test]
fn commands_are_printed_where_nothing_is_in_git() {
    let scratch = Scratch::fixture("sample");
    scratch.git(&["rm", "-r", "--quiet", "clusters/edge-01/flux", "clusters/edge-02/flux"]);
    scratch.write("windows.yaml", format!("{SPEC}  edge-01: {{}}\n  edge-02: {{}}\n")).commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    let run = scratch.expect(0, &["migrate", "--cluster", "edge-01"]);
    for part in [
        "--patch '{\"spec\":{\"prune\":false,\"deletionPolicy\":\"Orphan\"}}'",
        "flux create kustomization apps-rt --namespace=flux-system --source=GitRepository/flux-system --path=./clusters/edge-01/apps/apps-rt --prune=false",
        "--path=./clusters/edge-01/apps/apps-rw --prune=false --interval=10m --depends-on=apps-rt",
        "kubectl delete kustomizations.kustomize.toolkit.fluxcd.io apps --namespace flux-system",
        "kubectl patch kustomizations.kustomize.toolkit.fluxcd.io apps-rw --namespace flux-system --type=merge --field-manager=flux --patch '{\"spec\":{\"prune\":true}}'",
        "flux export kustomization apps",
    ] {
        assert!(run.stderr.contains(part), "{part}\n{}", run.stderr);
    }
}

#[test]
fn a_gate_of_ones_own_must_name_the_successor_first() {
    let scratch = Scratch::fixture("adopted");
    scratch.expect(0, &["init", "--yes"]);
    scratch.commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    let run = scratch.expect(5, &["migrate", "--yes"]);
    assert!(run.stderr.contains("acts on apps and not on apps-rw"), "{}", run.stderr);
    for job in ["begin", "end"] {
        scratch.replace(&format!("infra/maintenance/{job}.yaml"), "\"apps\"", "\"apps\", \"apps-rw\"");
    }
    scratch.commit();
    scratch.expect(0, &["migrate", "--yes"]);
    scratch.commit();
    scratch.expect(0, &["migrate", "--yes"]);
    scratch.commit();
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
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
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

#[test]
fn a_side_that_is_gone_and_a_folder_of_another_source_stop_the_migration() {
    let scratch = divided("overlays", &["north", "south"]);
    let file = "clusters/north/apps.yaml";
    let text = scratch.text(file);
    scratch.write(file, text.replace("kind: GitRepository", "kind: OCIRepository")).commit();
    let run = scratch.run(&["migrate", "--cluster", "north"]);
    assert!(run.code != 0 && run.stdout.is_empty(), "{run:?}");
    assert!(
        run.stderr.contains("builds from OCIRepository") && !run.stderr.contains("flux create"),
        "{run:?}"
    );
    scratch.write(file, text).commit();
    scratch.expect(0, &["migrate", "--cluster", "north", "--yes"]);
    scratch.commit();
    let gone = scratch.text("clusters/north/apps-rw.yaml");
    let gone = gone.lines().find_map(|line| line.trim().strip_prefix("path: ./")).unwrap();
    std::fs::remove_dir_all(scratch.top().join(gone)).unwrap();
    scratch.commit();
    let run = scratch.run(&["migrate", "--cluster", "north", "--yes"]);
    assert!(run.code != 0 && run.stderr.contains("which is not there"), "{run:?}");
    assert_eq!(scratch.git(&["status", "--short"]), "", "a step was taken");
}

/// The head of a Flux Kustomization whose name is anchored.
const ANCHORED: &str = "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: &app NAME\n  namespace: &flux flux-system\n";
/// What it builds, with everything that hangs on the name.
const ANCHORED_SPEC: &str = "spec:
  targetNamespace: media
  commonMetadata:
    labels:
      app.kubernetes.io/name: *app # as in the dashboards
  path: ./apps/media/NAME/app
  prune: true
  sourceRef: &source { kind: GitRepository, name: *flux, namespace: *flux }
  interval: &often 30m
  retryInterval: *often
  healthChecks:
    - { apiVersion: apps/v1, kind: Deployment, name: *app, namespace: media }
  postBuild:
    substitute:
      APP: *app
";

/// The sample with a Flux Kustomization for each app, written with anchors; nothing is divided yet.
fn anchored() -> Scratch {
    let scratch = Scratch::fixture("per-app");
    let one = |name: &str| format!("{ANCHORED}{ANCHORED_SPEC}").replace("NAME", name);
    let waits = "  dependsOn:\n    - name: library\n      namespace: *flux\n";
    let last = "  dependsOn: [{ name: player, namespace: *flux }, { name: library, namespace: *flux }]\n";
    scratch.write("apps/media/library/ks.yaml", one("library"));
    scratch.write("apps/media/player/ks.yaml", one("player") + waits + &one("player-extra") + last);
    scratch.write("windows.yaml", format!("{SPEC}  home: {{}}\n")).commit();
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    scratch
}

#[test]
fn anchors_hand_over_what_they_named() {
    let scratch = anchored();
    let before = scratch.tree();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
    scratch.git(&["reset", "--quiet", "--hard"]);
    step(&scratch, "next: hand over");
    let successor = |name: &str, of: &str| {
        let text =
            format!("{ANCHORED}{ANCHORED_SPEC}").replace("name: &app NAME", &format!("name: {name}-{of}"));
        let text = text.replace("/NAME/app", &format!("/{name}/app/app-{of}")).replace("*app", name);
        text.replace("prune: true", "prune: false # gitops-windows: was true")
    };
    let checks = |text: String| {
        let (start, rest) = text.split_once("  healthChecks:\n").unwrap();
        format!("{start}{}", rest.split_once('\n').unwrap().1)
    };
    let rt = checks(successor("library", "rt"));
    let rw = successor("library", "rw") + "  dependsOn:\n    - name: library-rt\n";
    assert_eq!(scratch.text("apps/media/library/ks-rt.yaml"), rt);
    assert_eq!(scratch.text("apps/media/library/ks-rw.yaml"), rw);
    assert!(!scratch.top().join("apps/media/library/ks.yaml").exists());
    let player = scratch.text("apps/media/player/ks.yaml");
    assert!(
        player.starts_with(&(checks(successor("player", "rt")) + "  dependsOn:\n    - name: library-rt\n")),
        "{player}"
    );
    // What waits keeps its own anchors.
    let extra = format!("{ANCHORED}{ANCHORED_SPEC}").replace("NAME", "player-extra");
    assert!(player.contains(&extra), "{player}");
    let waits = "  dependsOn: [{ name: player-rt, namespace: *flux }, { name: library-rt, namespace: *flux }, {name: player-rw, namespace: flux-system}, {name: library-rw, namespace: flux-system}]\n";
    assert!(player.ends_with(waits), "{player}");
    step(&scratch, "next: finish");
    let finished = |text: &str| text.replace("prune: false # gitops-windows: was true", "prune: true");
    assert_eq!(scratch.text("apps/media/library/ks-rt.yaml"), finished(&rt));
    assert_eq!(scratch.text("apps/media/library/ks-rw.yaml"), finished(&rw));
    let run = scratch.expect(0, &["migrate"]);
    assert!(run.stderr.contains("finished") && run.stderr.contains("Nothing to change"), "{}", run.stderr);
}

#[test]
fn an_entry_point_that_could_not_be_handed_over_is_not_divided() {
    let file = "apps/media/library/ks.yaml";
    let merged = |text: String| {
        let text = text.replace("metadata:\n", "metadata: &meta\n");
        text.replace("    labels:\n", "    annotations:\n      <<: *meta\n    labels:\n")
    };
    let scratch = anchored();
    let plain = scratch.text(file);
    for (text, said, line) in [
        (merged(plain.clone()), "the alias `*meta` can't be written out", "ks.yaml:11:11"),
        (
            format!(
                "apiVersion: v1\nkind: List\nitems:\n  - {}",
                plain.replace("---\n", "").replace('\n', "\n    ").trim_end()
            ),
            "library stands inside a list",
            "ks.yaml:4:5",
        ),
        (
            format!(
                "---\nx-prune: &prune\n  suspend: false\n{}",
                plain.replace("---\n", "").replace("spec:\n", "spec:\n  <<: *prune\n")
            ),
            "`spec.suspend` comes from what is merged here",
            "ks.yaml:10:3",
        ),
    ] {
        scratch.write(file, text).commit();
        let before = scratch.tree();
        let run = scratch.expect(5, &["split", "app", "library", "--yes"]);
        for part in [said, line, "apps/media/library/app in cluster home is left as it is", "help: write"] {
            assert!(run.stderr.contains(part), "{part}\n{}", run.stderr);
        }
        assert_same(&before, &scratch.tree(), "something was written");
        // The others go on, and so they do in the next step.
        let run = scratch.expect(0, &["split", "--all", "--yes"]);
        assert!(
            run.stderr.contains(said) && run.stderr.contains("1 entry point is left as before"),
            "{}",
            run.stderr
        );
        assert!(!scratch.text(file).contains("gitops-windows"));
        assert!(
            scratch.text("apps/media/player/ks.yaml").contains("prune: false # gitops-windows: was true")
        );
        scratch.commit();
        step(&scratch, "next: hand over");
        scratch.git(&["reset", "--quiet", "--hard", "HEAD~2"]);
    }
    scratch.write(file, plain).commit();
    scratch.expect(0, &["split", "app", "library", "--yes"]);
}

#[test]
fn who_waits_and_can_not_be_told_keeps_an_entry_point_whole() {
    let scratch = anchored();
    let waits = "x-waits: &waits\n  - name: library\n";
    let text = scratch.text("clusters/home/flux/apps.yaml").replace("name: cluster-apps", "name: late");
    let text = text
        .replace("./apps\n", "./late\n")
        .replace("  prune: true\n", "  prune: true\n  dependsOn: *waits\n");
    scratch.write("clusters/home/flux/late.yaml", format!("{waits}{text}"));
    scratch.write("late/kustomization.yaml", "resources: []\n").commit();
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("apps/media/library/app in cluster home is left as it is: line 12 of clusters/home/flux/late.yaml can't be edited: the alias `*waits`"), "{}", run.stderr);
    assert!(run.stderr.contains("1 entry point is left as before"), "{}", run.stderr);
    scratch.commit();
    step(&scratch, "next: hand over");
}
