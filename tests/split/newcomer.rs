//! Apps that come after the migration and are listed whole by one side.

use crate::divided::{finished, nothing_is_deleted};
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
    // Nothing lists the folder of the app itself any more.
    assert!(!scratch.top().join("apps/shop/kustomization.yaml").exists());
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
fn an_app_that_is_new_in_a_listed_group_is_in_no_cluster() {
    let scratch = finished("sample", &["edge-01", "edge-02"]);
    let (list, group) = ("resources: [old.yaml]\n", "apps/tools/kustomization.yaml");
    let object = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name}, namespace: web }}\n")
    };
    scratch.write(group, list).write("apps/tools/old.yaml", object("old"));
    scratch.write(RT, scratch.text(RT).trim_end().to_owned() + "\n  - ../../../../apps/tools\n").commit();
    // The Deployment would wait for the window, deleted until then, if a cluster had it.
    let pod = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: shop, namespace: web }\nspec:\n  selector: { matchLabels: { app: shop } }\n  template:\n    metadata: { labels: { app: shop } }\n    spec: { containers: [{ name: shop, image: 'nginx:1.29.0' }] }\n";
    scratch
        .write(group, "resources: [old.yaml, shop]\n")
        .write("apps/tools/shop/pod.yaml", pod)
        .write("apps/tools/shop/kustomization.yaml", "resources: [pod.yaml]\n");
    scratch.expect(0, &["split", "shop", "--yes", "--allow-dirty"]);
    assert!(scratch.text(RW).contains("apps/tools/tools-rw"), "{}", scratch.text(RW));
    // What is committed may be there.
    scratch.git(&["checkout", "--quiet", "."]);
    scratch.git(&["clean", "--quiet", "--force", "-d"]);
    scratch
        .write(group, "resources: [old.yaml, shop]\n")
        .write("apps/tools/shop/pod.yaml", pod)
        .write("apps/tools/shop/kustomization.yaml", "resources: [pod.yaml]\n")
        .commit();
    let run = scratch.expect(5, &["split", "shop", "--yes"]);
    assert!(run.stderr.contains("a cluster may delete Deployment web/shop"), "{}", run.stderr);
}

/// A type that came later has no side to go to: the steps lead to one.
#[test]
fn a_further_type_is_told_how_it_gets_a_side() {
    let scratch = finished("sample", &["edge-01", "edge-02"]);
    scratch
        .replace("windows.yaml", "  rw: { window: nights }\n", "  rw: { window: nights }\n  data: { window: nights }\n")
        .write("windows.yaml", scratch.text("windows.yaml") + "rules:\n- { kind: Service, type: data }\n- { kind: Namespace, type: rt }\n- { kind: ConfigMap, type: rt }\n- { type: rw }\n")
        .commit();
    let way = |run: &str| {
        let steps = [
            "git revert",
            "gitops-windows join --all",
            "gitops-windows split --all",
            "gitops-windows migrate",
        ];
        let places: Vec<_> = steps.iter().map(|step| run.rfind(step)).collect();
        assert!(places.is_sorted() && places[0].is_some(), "{run}");
        assert!(!run.contains("split app"), "{run}");
    };
    let run = scratch.run(&["sync"]);
    way(&run.stderr);
    let run = scratch.run(&["check"]);
    way(&(run.stdout + &run.stderr));
    for revision in ["HEAD~1", "HEAD~3"] {
        scratch.git(&["revert", "--no-edit", revision]);
        nothing_is_deleted(&scratch);
    }
    for command in [
        &["join", "--all", "--yes"][..],
        &["split", "--all", "--yes"],
        &["migrate", "--yes"],
        &["migrate", "--yes"],
    ] {
        scratch.take(command);
        nothing_is_deleted(&scratch);
    }
    assert!(scratch.top().join("clusters/edge-01/apps/apps-data").exists());
    scratch.expect(0, &["verify"]);
    let run = scratch.run(&["check"]);
    assert!(!(run.stdout.clone() + &run.stderr).contains("GW045"), "{run:?}");
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
        let told = scratch.expect(0, &["verify", "--verbose"]).stdout;
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
