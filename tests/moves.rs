//! What moves between sides that are live, on whole repositories: types that change, apps that are
//! split later, and the way back.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, and writes when asked")]

#[path = "support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
mod support;

use std::path::Path;

use divided::{NAMESPACE_ONLY, SECRET_TOO, SPEC, divided, finished, rules};
use support::scratch::{Node, Scratch, Tree, assert_same};

#[test]
fn an_object_that_gets_a_window_is_kept_from_being_pruned_first() {
    let scratch = finished("overlays", &["north", "south"]);
    rules(&scratch, NAMESPACE_ONLY);
    // What the rules give a window elsewhere goes on.
    let side = scratch.text("apps/north/north-rt/kustomization.yaml");
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(run.stderr.contains("warning: a cluster may delete ConfigMap shop/web in north"), "{run:?}");
    assert_eq!(scratch.text("apps/north/north-rt/kustomization.yaml"), side);
    let before = scratch.tree();
    for command in [&["sync", "--yes", "--allow-dirty"][..], &["diff"]] {
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

    scratch.git(&["reset", "--quiet", "--hard"]);
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
fn an_entry_point_of_which_nothing_may_move_holds_up_no_other() {
    let scratch = finished("overlays", &["north", "south"]);
    let kept = "  - target: { kind: ConfigMap }\n    patch: |-\n      - { op: add, path: /metadata/annotations, value: { kustomize.toolkit.fluxcd.io/prune: disabled } }\n";
    let list = "apps/south/south-all/kustomization.yaml";
    scratch.write(list, scratch.text(list) + kept).commit();
    let side = |cluster: &str| scratch.text(&format!("apps/{cluster}/{cluster}-rt/kustomization.yaml"));
    let (north, south) = (side("north"), side("south"));
    rules(&scratch, NAMESPACE_ONLY);
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(
        run.stderr.contains("warning: a cluster may delete ConfigMap shop/web in north"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("apps/north in cluster north is left as it is"), "{}", run.stderr);
    assert!(side("north") == north && side("south") != south, "{}", run.stderr);
    scratch.commit();
    let run = scratch.expect(5, &["sync", "--yes"]);
    assert!(run.stderr.contains("error: a cluster may delete ConfigMap shop/web in north"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn an_object_that_loses_its_window_moves_in_one_step() {
    let scratch = finished("overlays", &["north", "south"]);
    let side = |of: &str| scratch.text(&format!("apps/north/north-{of}/kustomization.yaml"));
    assert!(!side("rw").contains("Secret"));
    rules(&scratch, SECRET_TOO);
    // What is encrypted goes nowhere where it would be applied as it is.
    let file = "clusters/north/apps-rt.yaml";
    assert!(!scratch.text(file).contains("decryption:"));
    let run = scratch.expect(5, &["sync", "--yes"]);
    assert!(run.stderr.contains("apps-rt in north does not decrypt"), "{}", run.stderr);
    for cluster in ["north", "south"] {
        let decryption =
            "  prune: true # tidy\n  decryption:\n    provider: sops\n    secretRef:\n      name: sops-age\n";
        scratch.replace(&format!("clusters/{cluster}/apps-rt.yaml"), "  prune: true # tidy\n", decryption);
    }
    scratch.git(&["add", "clusters"]);
    scratch.git(&["commit", "--quiet", "--message", "decrypt"]);
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(run.stderr.contains("Secret shop/web in north goes from apps-rw to apps-rt"), "{}", run.stderr);
    assert!(side("rw").contains("Secret|ConfigMap|Namespace"), "{}", side("rw"));
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["diff"]).stdout, "");
}

#[test]
fn the_first_gate_comes_before_a_changed_type() {
    for (fixture, clusters) in
        [("per-app", ["home"].as_slice()), ("sample", ["edge-01", "edge-02"].as_slice())]
    {
        let scratch = Scratch::fixture(fixture);
        let clusters: String = clusters.iter().map(|cluster| format!("  {cluster}: {{}}\n")).collect();
        scratch.write("windows.yaml", SPEC.replace("gate: { enabled: false }\n", "") + &clusters).commit();
        for command in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
            scratch.take(command);
        }
        let moved = "rules:\n- { kind: Namespace, type: rt }\n- { kind: ConfigMap, type: rt }\n- { kind: Deployment, type: rt }\n- { type: rw }\n";
        rules(&scratch, moved);
        let run = scratch.expect(0, &["sync", "--yes"]);
        for said in ["in the step that brings the first gate", "commit the gate without this"] {
            assert!(run.stderr.contains(said), "{said}: {run:?}");
        }
        assert!(!run.stderr.contains("would be added by"), "{run:?}");
        assert!(scratch.git(&["status", "--short"]).contains("reconciliation-windows"), "no gate");
        scratch.commit();
        let run = scratch.expect(0, &["sync", "--yes"]);
        assert!(run.stderr.contains("let this land while the window is closed"), "{run:?}");
    }
}

#[test]
fn a_gate_that_is_switched_off_holds_nothing_back_for_a_changed_type() {
    let scratch = finished("per-app", &["home"]);
    let moved = "rules:\n- { kind: Namespace, type: rt }\n- { kind: ConfigMap, type: rt }\n- { kind: Deployment, type: rt }\n- { type: rw }\n";
    scratch.replace("windows.yaml", "types:\n", "gate: { enabled: false }\ntypes:\n");
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    // Switched on in the same step, the gate comes first all the same.
    for enabled in ["false", "true"] {
        let spec = scratch.text("windows.yaml");
        rules(&scratch, moved);
        scratch.replace("windows.yaml", "enabled: false", &format!("enabled: {enabled}"));
        let run = scratch.run(&["sync", "--yes"]);
        for said in ["and no job that runs in home closes", "commit the gate without this"] {
            assert!(run.stderr.contains(said), "{said}: {run:?}");
        }
        assert!(!run.stderr.contains("let this land while the window is closed:"), "{run:?}");
        scratch.git(&["checkout", "--quiet", "--", "."]);
        assert_eq!(scratch.text("windows.yaml"), spec);
    }
}

#[test]
fn before_the_hand_over_a_rule_moves_objects_either_way() {
    let scratch = divided("overlays", &["north", "south"]);
    for text in [NAMESPACE_ONLY, SECRET_TOO] {
        rules(&scratch, text);
        scratch.expect(0, &["sync", "--yes"]);
        scratch.take(&["verify"]);
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
    scratch.take(&["verify"]);
    let kept = "  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n";
    scratch.replace("apps/web/web-rw/service.yaml", kept, "").commit();
    assert_same(&start, &scratch.tree(), "there and back again");
}

/// Returns the bytes of a file of a tree.
fn file_of(tree: &Tree, path: &str) -> Vec<u8> {
    match &tree[Path::new(path)] {
        Node::File(bytes, _) => bytes.clone(),
        other => panic!("{path} is {other:?}"),
    }
}

#[test]
fn one_document_of_several_follows_a_changed_type() {
    let scratch = Scratch::fixture("sample");
    let more = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: web\n";
    let service = scratch.text("apps/web/service.yaml");
    let about = "---\n# About the service.\n---\n";
    scratch.write("apps/web/service.yaml", format!("{more}{about}{service}"));
    scratch.write("windows.yaml", format!("{SPEC}  edge-02: {{}}\n")).commit();
    scratch.take(&["split", "--all", "--yes"]);
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
    }
    scratch.take(&["sync", "--yes"]);
    rules(&scratch, SERVICE_TOO);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.expect(0, &["verify"]);
    let (rt, rw) =
        (scratch.text("apps/web/web-rt/service.yaml"), scratch.text("apps/web/web-rw/service.yaml"));
    // What only holds comments goes with what follows it.
    assert_eq!(rt, format!("---\n# About the service.\n---\n{service}"));
    assert_eq!(rw, more);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

#[test]
fn a_file_that_another_folder_lists_too_stays_where_it_is() {
    let scratch = finished("sample", &["edge-02"]);
    scratch.write("apps/other/kustomization.yaml", "resources:\n  - ../web/web-rw/service.yaml\n").commit();
    rules(&scratch, SERVICE_TOO);
    let before = scratch.tree();
    let run = scratch.expect(5, &["sync", "--yes"]);
    assert!(
        run.stderr.contains("Service web/web is rt by the rules and on the side of rw"),
        "{}",
        run.stderr
    );
    assert_same(&before, &scratch.tree(), "something was moved");
}

#[test]
fn a_list_stays_where_it_is() {
    let scratch = Scratch::fixture("sample");
    let item =
        |name: &str| format!("  - {{ apiVersion: v1, kind: Service, metadata: {{ name: {name} }} }}\n");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n{}{}", item("one"), item("two"));
    scratch.write("apps/web/list.yaml", &list);
    scratch.replace("apps/web/kustomization.yaml", "resources:\n", "resources:\n  - list.yaml\n");
    scratch.write("windows.yaml", format!("{SPEC}  edge-02: {{}}\n")).commit();
    for command in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        scratch.take(command);
    }
    rules(&scratch, SERVICE_TOO);
    let run = scratch.run(&["sync", "--yes"]);
    assert!(
        run.stderr.contains("Service web/one is rt by the rules and on the side of rw"),
        "{}",
        run.stderr
    );
    assert_eq!(scratch.text("apps/web/web-rw/list.yaml"), list);
}

#[test]
fn a_move_that_would_delete_holds_up_nothing_else() {
    let scratch = finished("sample", &["edge-02"]);
    rules(&scratch, NAMESPACE_ONLY);
    let run = scratch.expect(5, &["sync", "--yes"]);
    assert!(
        run.stderr.contains("a cluster may delete ConfigMap web/web-content in edge-02"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("prune: disabled"), "{}", run.stderr);
    scratch.replace("windows.yaml", "0 22 * * SAT", "0 21 * * SAT");
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(run.stderr.contains("1 entry point is left as before"), "{}", run.stderr);
    let gate = "clusters/edge-02/infra/reconciliation-windows/open-reconciliation-window-patch.yaml";
    assert!(scratch.text(gate).contains("0 21 * * SAT"));
    assert!(scratch.top().join("apps/web/web-rt/configmap.yaml").exists());
}

#[test]
fn each_entry_point_moves_what_is_safe_for_itself() {
    let scratch = Scratch::fixture("sample");
    let object = |kind: &str| format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: third }}\n");
    scratch.write("apps/third/config.yaml", object("ConfigMap"));
    scratch.write("apps/third/service.yaml", object("Service"));
    scratch.write("apps/third/account.yaml", object("ServiceAccount"));
    let listed =
        "namespace: web\nnamePrefix: my-\nresources:\n  - config.yaml\n  - service.yaml\n  - account.yaml\n";
    scratch.write("apps/third/kustomization.yaml", listed);
    scratch.write("clusters/edge-02/more/kustomization.yaml", "resources:\n  - ../../../apps/third\n");
    let flux = scratch.text("clusters/edge-02/flux/apps.yaml");
    let flux = flux.replace("name: apps\n", "name: more\n").replace("/apps\n", "/more\n");
    scratch.write("clusters/edge-02/flux/more.yaml", flux);
    scratch.write("windows.yaml", format!("{SPEC}  edge-02: {{}}\n")).commit();
    for command in
        [&["sync", "--yes"][..], &["split", "--all", "--yes"], &["migrate", "--yes"], &["migrate", "--yes"]]
    {
        scratch.take(command);
    }
    assert!(scratch.top().join("apps/third/third-rw/service.yaml").exists());
    // The Service of each gets real-time; the ConfigMap of one gets a window, which would delete it.
    rules(
        &scratch,
        "rules:\n- { kind: Namespace, type: rt }\n- { kind: ConfigMap, name: my-third, type: rt }\n- { kind: Service, type: rt }\n- { type: rw }\n",
    );
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(
        run.stderr.contains("a cluster may delete ConfigMap web/web-content in edge-02"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("Service web/my-third in edge-02 goes from more-rw to more-rt"),
        "{}",
        run.stderr
    );
    assert!(scratch.top().join("apps/third/third-rt/service.yaml").exists());
    assert!(scratch.top().join("apps/web/web-rw/service.yaml").exists());
    assert!(scratch.top().join("apps/web/web-rt/configmap.yaml").exists());
}

#[test]
fn what_sync_can_not_move_is_refused_with_the_ways_on() {
    let scratch = Scratch::fixture("sample");
    let file = "apps/probe/service.yaml";
    scratch.write(file, "apiVersion: v1\nkind: Service\nmetadata:\n  name: probe\n");
    let list = "apps/probe/kustomization.yaml";
    scratch.replace(list, "resources:\n", "resources:\n  - service.yaml\n");
    scratch.write("windows.yaml", format!("{SPEC}  edge-02: {{}}\n")).commit();
    for command in
        [&["sync", "--yes"][..], &["split", "--all", "--yes"], &["migrate", "--yes"], &["migrate", "--yes"]]
    {
        scratch.take(command);
    }
    rules(&scratch, PROBE_TOO);
    for command in ["sync", "diff"] {
        let run = scratch.expect(5, &[command]);
        for said in [
            "Service web/probe is rt by the rules and on the side of rw",
            "run `gitops-windows split app probe`, which brings the parts of probe to their sides",
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
