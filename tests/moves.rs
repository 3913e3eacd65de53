//! What moves between sides that are live, on whole repositories: types that change, apps that are
//! split later, and the way back.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, and writes when asked")]

#[path = "support/divided.rs"]
mod divided;
mod support;

use std::path::Path;

use divided::{NAMESPACE_ONLY, SECRET_TOO, SPEC, divided, finished, rules};
use support::scratch::{Node, Scratch, Tree, assert_same};

#[test]
fn an_object_that_gets_a_window_is_kept_from_being_pruned_first() {
    let scratch = finished("overlays", &["north", "south"]);
    rules(&scratch, NAMESPACE_ONLY);
    let before = scratch.tree();
    for command in [&["sync", "--yes"][..], &["diff"]] {
        let run = scratch.expect(5, command);
        assert!(
            run.stderr.contains("ConfigMap shop/web in north: Flux Kustomization apps-rt loses it"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("kustomize.toolkit.fluxcd.io/prune: disabled"), "{}", run.stderr);
    }
    assert_same(&before, &scratch.tree(), "something was written");
    let run = scratch.expect(5, &["verify"]);
    assert!(run.stdout.contains("is on the side of rt; by the rules it is rw"), "{}", run.stdout);

    scratch.git(&["checkout", "--quiet", "windows.yaml"]);
    scratch.replace(
        "apps/base/web/configmap.yaml",
        "metadata:\n",
        "metadata:\n  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n",
    );
    scratch.commit();
    rules(&scratch, NAMESPACE_ONLY);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["diff"]).stdout, "");
}

#[test]
fn an_object_that_loses_its_window_moves_in_one_step() {
    let scratch = finished("overlays", &["north", "south"]);
    let side = |of: &str| scratch.text(&format!("apps/north/north-{of}/kustomization.yaml"));
    assert!(!side("rw").contains("Secret"));
    rules(&scratch, SECRET_TOO);
    // What is encrypted goes nowhere where it would be applied as it is.
    let file = "clusters/north/apps-rt.yaml";
    if !scratch.text(file).contains("decryption:") {
        let run = scratch.expect(5, &["sync", "--yes"]);
        assert!(
            run.stderr.contains("apps-rt in north, which it would go to, does not decrypt"),
            "{}",
            run.stderr
        );
        for cluster in ["north", "south"] {
            let decryption = "  prune: true # tidy\n  decryption:\n    provider: sops\n    secretRef:\n      name: sops-age\n";
            scratch.replace(
                &format!("clusters/{cluster}/apps-rt.yaml"),
                "  prune: true # tidy\n",
                decryption,
            );
        }
        scratch.git(&["add", "clusters"]);
        scratch.git(&["commit", "--quiet", "--message", "decrypt"]);
    }
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(run.stderr.contains("Secret shop/web in north goes from apps-rw to apps-rt"), "{}", run.stderr);
    assert!(side("rw").contains("Secret|ConfigMap|Namespace"), "{}", side("rw"));
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["diff"]).stdout, "");
}

#[test]
fn before_the_hand_over_a_rule_moves_objects_either_way() {
    let scratch = divided("overlays", &["north", "south"]);
    for text in [NAMESPACE_ONLY, SECRET_TOO] {
        rules(&scratch, text);
        scratch.expect(0, &["sync", "--yes"]);
        scratch.expect(0, &["verify"]);
        scratch.commit();
    }
}

const SERVICE_TOO: &str = "rules:\n- { kind: Namespace, type: rt }\n- { kind: ConfigMap, type: rt }\n- { kind: Service, type: rt }\n- { type: rw }\n";
const PROBE_TOO: &str = "rules:\n- { kind: Namespace, type: rt }\n- { kind: ConfigMap, type: rt }\n- { kind: Service, name: probe, type: rt }\n- { type: rw }\n";

/// Writes the manifest annotation that keeps an object.
fn keep(scratch: &Scratch, file: &str) {
    let kept = "metadata:\n  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n";
    scratch.replace(file, "metadata:\n", kept).commit();
}

#[test]
fn a_plainly_divided_app_follows_a_changed_type() {
    let scratch = finished("sample", &["edge-01", "edge-02"]);
    let start = scratch.tree();
    rules(&scratch, SERVICE_TOO);
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(run.stderr.contains("Service web/web in edge-02 goes from apps-rw to apps-rt"), "{}", run.stderr);
    assert!(scratch.top().join("apps/web/web-rt/service.yaml").exists());
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    scratch.commit();

    // And back, with what is said to make it safe.
    let back = |scratch: &Scratch| {
        let spec = String::from_utf8(file_of(&start, "windows.yaml")).unwrap();
        scratch.write("windows.yaml", spec);
    };
    back(&scratch);
    let run = scratch.expect(5, &["sync", "--yes"]);
    assert!(
        run.stderr.contains("apps-rt loses it") && run.stderr.contains("prune: disabled"),
        "{}",
        run.stderr
    );
    scratch.git(&["checkout", "--quiet", "windows.yaml"]);
    keep(&scratch, "apps/web/web-rt/service.yaml");
    back(&scratch);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.expect(0, &["verify"]);
    scratch.commit();
    let kept = "  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n";
    scratch.replace("apps/web/web-rw/service.yaml", kept, "").commit();
    assert_same(&start, &scratch.tree(), "there and back again");
}

/// Gives the bytes of a file of a tree.
fn file_of(tree: &Tree, path: &str) -> Vec<u8> {
    match &tree[Path::new(path)] {
        Node::File(bytes, _) => bytes.clone(),
        other => panic!("{path} is {other:?}"),
    }
}

#[test]
fn one_document_of_several_follows_a_changed_type() {
    let scratch = Scratch::fixture("sample");
    let more = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: web\n---\n";
    let service = scratch.text("apps/web/service.yaml");
    scratch.write("apps/web/service.yaml", format!("{more}{service}"));
    scratch.write("windows.yaml", format!("{SPEC}  edge-02: {{}}\n")).commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    for _ in 0..2 {
        scratch.expect(0, &["migrate", "--yes"]);
        scratch.commit();
    }
    rules(&scratch, SERVICE_TOO);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.text("apps/web/web-rt/service.yaml"), format!("---\n{service}"));
    assert!(scratch.text("apps/web/web-rw/service.yaml").starts_with(more.trim_end_matches("---\n")));
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

#[test]
fn what_sync_can_not_move_is_refused_with_two_ways_on() {
    let scratch = Scratch::fixture("sample");
    let file = "apps/probe/service.yaml";
    scratch.write(file, "apiVersion: v1\nkind: Service\nmetadata:\n  name: probe\n");
    let list = "apps/probe/kustomization.yaml";
    scratch.replace(list, "resources:\n", "resources:\n  - service.yaml\n");
    scratch.write("windows.yaml", format!("{SPEC}  edge-02: {{}}\n")).commit();
    for command in
        [&["sync", "--yes"][..], &["split", "--all", "--yes"], &["migrate", "--yes"], &["migrate", "--yes"]]
    {
        scratch.expect(0, command);
        scratch.commit();
    }
    rules(&scratch, PROBE_TOO);
    for command in ["sync", "diff"] {
        let run = scratch.expect(5, &[command]);
        for said in [
            "Service web/probe is rt by the rules and on the side of rw",
            "annotate it with `gitops-windows/type: rw`",
            "put it into a folder that the side for rt lists",
        ] {
            assert!(run.stderr.contains(said), "{}", run.stderr);
        }
    }
    scratch.expect(5, &["verify"]);
    scratch.commit();
    // Left where it is.
    scratch.replace(file, "metadata:\n", "metadata:\n  annotations:\n    gitops-windows/type: rw\n").commit();
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    scratch.git(&["revert", "--no-edit", "HEAD"]);
    // Moved.
    scratch.git(&["mv", file, "apps/probe.yaml"]);
    scratch.replace(list, "  - service.yaml\n", "");
    scratch.write("apps/probe-live/kustomization.yaml", "namespace: web\nresources: [../probe.yaml]\n");
    let side = "clusters/edge-02/apps/apps-rt/kustomization.yaml";
    scratch.replace(side, "resources:\n", "resources:\n  - ../../../../apps/probe-live\n").commit();
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

/// Two apps on two clusters, of which one is divided and migrated.
fn one_app_of_two() -> (Scratch, Tree) {
    let scratch = Scratch::fixture("sample");
    scratch.write("windows.yaml", format!("{SPEC}  edge-01: {{}}\n  edge-02: {{}}\n"));
    scratch.write("apps/probe/extra.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: extra }\n");
    scratch.replace("apps/probe/kustomization.yaml", "resources:\n", "resources:\n  - extra.yaml\n").commit();
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    let start = scratch.tree();
    scratch.expect(0, &["split", "app", "web", "--yes"]);
    scratch.commit();
    for _ in 0..2 {
        scratch.expect(0, &["migrate", "--yes"]);
        scratch.commit();
        scratch.expect(0, &["verify"]);
    }
    (scratch, start)
}

/// Makes sure that nobody deletes anything on the way from the commit before.
#[track_caller]
fn nothing_is_deleted(scratch: &Scratch) {
    let run = scratch.run(&["check", "--base", "HEAD~1"]);
    let said = run.stdout + &run.stderr;
    assert!(!said.contains("GW012") && !said.contains("GW013"), "{said}");
}

#[test]
fn a_join_says_the_way_back_and_it_holds() {
    let (scratch, start) = one_app_of_two();
    for command in [&["join", "--all", "--yes"][..], &["join", "app", "web", "--yes"]] {
        let run = scratch.expect(5, command);
        assert!(run.stderr.contains("go back as you came"), "{command:?} {}", run.stderr);
    }
    for back in ["HEAD", "HEAD~2"] {
        scratch.git(&["revert", "--no-edit", back]);
        nothing_is_deleted(&scratch);
    }
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&start, &scratch.tree(), "the way back does not end where it began");
}

#[test]
fn an_app_that_is_split_later_moves_to_live_sides_in_three_steps() {
    let (scratch, _) = one_app_of_two();
    let finished = scratch.tree();
    let gate = |scratch: &Scratch| {
        scratch.text("clusters/edge-01/infra/reconciliation-windows/close-reconciliation-window-patch.yaml")
    };
    let split = ["split", "app", "probe", "--yes"];
    let run = scratch.expect(0, &split);
    assert!(run.stderr.contains("its sides are live, so first nothing of it prunes"), "{}", run.stderr);
    for name in ["apps", "apps-rt", "apps-rw"] {
        let text = scratch.text(&format!("clusters/edge-01/flux/{name}.yaml"));
        assert!(text.contains("prune: false # gitops-windows: was true\n"), "{text}");
    }
    assert!(gate(&scratch).contains("suspend: false"), "the windows stopped");
    scratch.commit();
    nothing_is_deleted(&scratch);

    let run = scratch.expect(0, &split);
    assert!(run.stderr.contains("its sides take over at once"), "{}", run.stderr);
    assert!(!scratch.top().join("clusters/edge-01/flux/apps.yaml").exists());
    assert!(gate(&scratch).contains("suspend: false"), "the windows stopped");
    scratch.commit();
    nothing_is_deleted(&scratch);
    scratch.expect(0, &["verify"]);

    scratch.expect(0, &["migrate", "--yes"]);
    assert!(scratch.text("clusters/edge-01/flux/apps-rt.yaml").contains("prune: true\n"));
    scratch.commit();
    nothing_is_deleted(&scratch);
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    assert_eq!(scratch.expect(0, &["migrate"]).stdout, "");

    for back in ["HEAD", "HEAD~2", "HEAD~4"] {
        scratch.git(&["revert", "--no-edit", back]);
        nothing_is_deleted(&scratch);
    }
    assert_same(&finished, &scratch.tree(), "the way back does not end where it began");
}

#[test]
fn a_later_split_keeps_what_stays_and_who_waits() {
    let scratch = Scratch::fixture("sample");
    scratch.write("windows.yaml", format!("{SPEC}  edge-01: {{}}\n"));
    for app in ["probe", "third"] {
        scratch.write(
            &format!("apps/{app}/extra.yaml"),
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {app} }}\n"),
        );
        scratch.write(
            &format!("apps/{app}/one.yaml"),
            format!("apiVersion: v1\nkind: Service\nmetadata: {{ name: {app} }}\n"),
        );
        scratch.write(
            &format!("apps/{app}/kustomization.yaml"),
            "namespace: web\nresources:\n  - extra.yaml\n  - one.yaml\n",
        );
    }
    scratch.replace(
        "clusters/edge-01/apps/kustomization.yaml",
        "resources:\n",
        "resources:\n  - ../../../apps/third\n",
    );
    let waiter = scratch.text("clusters/edge-01/flux/apps.yaml");
    let waiter = waiter.replace("name: apps\n", "name: late\n").replace("/apps\n", "/late\n");
    scratch.write("clusters/edge-01/flux/late.yaml", format!("{waiter}  dependsOn:\n    - name: apps\n"));
    scratch.write("clusters/edge-01/late/kustomization.yaml", "resources: []\n");
    scratch.commit();
    scratch.expect(0, &["split", "app", "web", "--yes"]);
    scratch.commit();
    for _ in 0..2 {
        scratch.expect(0, &["migrate", "--yes"]);
        scratch.commit();
    }
    let waits = scratch.text("clusters/edge-01/flux/late.yaml");
    assert!(waits.contains("    - name: apps\n    - name: apps-rt\n"), "{waits}");
    for _ in 0..2 {
        scratch.expect(0, &["split", "app", "probe", "--yes"]);
        scratch.commit();
        nothing_is_deleted(&scratch);
    }
    assert!(scratch.text("clusters/edge-01/apps/kustomization.yaml").contains("third"));
    assert!(scratch.text("clusters/edge-01/flux/apps.yaml").contains("prune: false"));
    scratch.expect(0, &["migrate", "--yes"]);
    scratch.commit();
    nothing_is_deleted(&scratch);
    scratch.expect(0, &["verify"]);
    assert!(scratch.text("clusters/edge-01/flux/apps.yaml").contains("prune: true\n"));
    assert_eq!(waits, scratch.text("clusters/edge-01/flux/late.yaml"));
}

#[test]
fn what_only_has_sides_left_is_not_joined_in_silence() {
    let scratch = finished("overlays", &["north", "south"]);
    let run = scratch.expect(5, &["join", "--all", "--yes"]);
    assert!(
        run.stderr.contains("applies one of its sides") && run.stderr.contains("go back as you came"),
        "{}",
        run.stderr
    );
}
