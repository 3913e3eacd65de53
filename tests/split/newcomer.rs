//! Apps that come after the migration and are listed whole by one side.

use crate::divided::finished;
use crate::support::scratch::Scratch;

const RT: &str = "clusters/edge-01/apps/apps-rt/kustomization.yaml";
const RW: &str = "clusters/edge-01/apps/apps-rw/kustomization.yaml";

/// A migrated repository with one more app, which a side lists; nothing of that is committed.
fn added(list: &str, folder: &str) -> Scratch {
    let scratch = finished("sample", &["edge-01", "edge-02"]);
    let object = |api: &str, kind: &str, rest: &str| {
        format!("apiVersion: {api}\nkind: {kind}\nmetadata:\n  name: shop\n  namespace: web\n{rest}")
    };
    let pod = "spec:\n  selector:\n    matchLabels: { app: shop }\n  template:\n    metadata:\n      labels: { app: shop }\n    spec:\n      containers: [{ name: shop, image: 'nginx:1.29.0' }]\n";
    scratch
        .write(&format!("{folder}/configmap.yaml"), object("v1", "ConfigMap", "data: { a: b }\n"))
        .write(&format!("{folder}/deployment.yaml"), object("apps/v1", "Deployment", pod))
        .write(
            &format!("{folder}/kustomization.yaml"),
            "resources:\n  - configmap.yaml\n  - deployment.yaml\n",
        );
    let text = scratch.text(list);
    let to = if folder == "apps/shop" { "../../../../apps/shop" } else { "shop" };
    scratch.write(list, text.trim_end().to_owned() + &format!("\n  - {to}\n"));
    scratch
}

#[test]
fn one_command_brings_an_app_to_both_sides() {
    let scratch = added(RW, "apps/shop");
    scratch.commit();
    let run = scratch.run(&["check"]);
    let told = run.stdout + &run.stderr;
    assert!(told.contains("GW045") && told.contains("run `gitops-windows split app shop`"), "{told}");
    let run = scratch.expect(5, &["sync", "--yes"]);
    assert!(run.stderr.contains("run `gitops-windows split app shop`"), "{}", run.stderr);
    let run = scratch.take(&["split", "app", "shop", "--yes"]);
    assert!(run.stderr.contains("a side listed shop whole"), "{}", run.stderr);
    assert!(
        scratch.text(RT).ends_with("  - web\n  - ../../../../apps/shop/shop-rt\n"),
        "{}",
        scratch.text(RT)
    );
    assert!(scratch.text(RW).ends_with("  - ../../../../apps/shop/shop-rw\n"), "{}", scratch.text(RW));
    let run = scratch.expect(0, &["check"]);
    assert!((run.stdout + &run.stderr).contains("Nothing to report."));
    for command in [&["sync"][..], &["migrate"], &["split", "--all"], &["split", "app", "shop"]] {
        let run = scratch.expect(0, command);
        assert!((run.stdout + &run.stderr).contains("Nothing to change."), "{command:?}");
    }
    scratch.expect(0, &["verify"]);
}

#[test]
fn what_a_cluster_may_have_already_is_not_deleted() {
    // The Deployment would wait for the window, deleted until then.
    let scratch = added(RT, "apps/shop");
    scratch.commit();
    let run = scratch.expect(5, &["split", "app", "shop", "--yes"]);
    assert!(run.stderr.contains("prune: disabled"), "{}", run.stderr);
    // What is not committed yet is in no cluster.
    let scratch = added(RT, "apps/shop");
    scratch.expect(0, &["split", "app", "shop", "--yes", "--allow-dirty"]);
    assert!(scratch.text(RT).ends_with("  - ../../../../apps/shop/shop-rt\n"), "{}", scratch.text(RT));
}

#[test]
fn what_is_left_of_an_app_below_its_cluster_is_nobodys() {
    let scratch = added(RW, "clusters/edge-01/apps/shop");
    scratch.replace(RW, "  - shop\n", "  - ../shop\n");
    scratch.take(&["split", "app", "shop", "--yes", "--allow-dirty"]);
    let run = scratch.expect(0, &["migrate"]);
    assert!(!(run.stdout.clone() + &run.stderr).contains("shop"), "{}\n{}", run.stdout, run.stderr);
    let run = scratch.expect(0, &["check"]);
    assert!((run.stdout + &run.stderr).contains("Nothing to report."));
    let is_nobodys = || {
        for command in [&["check"][..], &["sync"], &["migrate"], &["verify"], &["when"], &["clusters"]] {
            let run = scratch.expect(0, command);
            assert!(!(run.stdout.clone() + &run.stderr).contains("shop"), "{}{}", run.stdout, run.stderr);
        }
    };
    is_nobodys();
    // It goes again, and its folder stays.
    scratch.replace(RW, "  - ../shop/shop-rw\n", "").replace(RT, "  - ../shop/shop-rt\n", "").commit();
    is_nobodys();
}

#[test]
fn an_app_in_the_folder_of_a_side_is_to_move_out() {
    let scratch = added(RW, "clusters/edge-01/apps/apps-rw/shop");
    scratch.commit();
    let run = scratch.expect(5, &["split", "app", "shop", "--yes"]);
    assert!(run.stderr.contains("lies in the side that lists it"), "{}", run.stderr);
}

#[test]
fn an_app_that_leaves_leaves_nothing_to_do() {
    let scratch = finished("sample", &["edge-01", "edge-02"]);
    scratch.replace(RW, "  - ../probe\n", "").commit();
    for command in [&["check"][..], &["sync"], &["migrate"]] {
        let run = scratch.expect(0, command);
        let told = run.stdout + &run.stderr;
        assert!(told.contains("Nothing to "), "{command:?}: {told}");
    }
}

#[test]
fn a_side_may_become_empty() {
    let scratch = finished("sample", &["edge-01", "edge-02"]);
    for rest in ["resources: []\n", "resources:\n"] {
        scratch
            .write(RT, format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{rest}"));
        scratch.write(RW, scratch.text(RW).replace("  - web\n", "")).commit();
        let told = scratch.expect(0, &["verify"]).stdout;
        assert!(told.starts_with("clusters/edge-01/apps (edge-01): equal, 2 objects\n"), "{told}");
        for command in [&["sync"][..], &["migrate"]] {
            let run = scratch.expect(0, command);
            assert!((run.stdout + &run.stderr).contains("Nothing to change."), "{rest}");
        }
        let run = scratch.expect(0, &["check"]);
        let told = run.stdout + &run.stderr;
        assert!(told.contains("apps-rt deletes all objects that it applied before"), "{told}");
    }
}
