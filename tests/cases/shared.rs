//! Clusters that apply one folder.

use crate::repository::{CONFIG_MAP, INIT, SERVICE, finished, notes, repository, root, told};
use crate::support::flux_kustomization;

#[test]
fn every_cluster_of_a_shared_folder_is_named_and_gated() {
    let shop = flux_kustomization("shop", "components/shop", "");
    let scratch = repository(&[
        ("clusters/dev/shop.yaml", &shop),
        ("clusters/prod/shop.yaml", &shop),
        ("components/shop/kustomization.yaml", "resources: [service.yaml, config.yaml]\n"),
        ("components/shop/service.yaml", &SERVICE.replace("NAME", "shop")),
        ("components/shop/config.yaml", &CONFIG_MAP.replace("NAME", "shop")),
    ]);
    insta::assert_snapshot!(told(&scratch, &INIT), @"
    note: the folders of dev, prod are a guess: nothing in Git names their roots
     = help: where that is wrong, correct that cluster in windows.yaml
             or before that is written: `gitops-windows init --cluster-folder NAME=FOLDER`
    dev, prod
      components/shop  Flux Kustomization shop
    Gate: what opens and closes the windows in a cluster.
    Nothing waits yet.
    Without a split: remove type `rt` and its rules, and `gitops-windows sync` gates whole Flux Kustomizations.
    After `gitops-windows split --all` and `gitops-windows migrate`, 2 Flux Kustomizations in 2 clusters wait for their windows.
    ");
    assert!(!scratch.text("windows.yaml").contains("enabled: false"));
    insta::assert_snapshot!(told(&scratch, &["split", "--all", "--yes"]), @"
    dev, prod
      components/shop  split by projection
        why: components/shop/kustomization.yaml lists files itself, which stay where they are
    Entry point: the folder of a Flux Kustomization. Side: its part of one change type.
    Projection: each side builds the whole app and keeps the objects of its change type.
    Next: commit it, wait until the clusters have applied it, then run `gitops-windows migrate`.
    ");
    insta::assert_snapshot!(finished(&scratch), @r#"
dev, prod
  components/shop  finished (step 3 of 3)
    shop-rt, shop-rw apply it
Nothing to change.
Every split entry point is handed over.
"#);
    for cluster in ["dev", "prod"] {
        for job in ["open", "close"] {
            let patch =
                format!("infra/reconciliation-windows-{cluster}/{job}-reconciliation-window-patch.yaml");
            assert!(scratch.text(&patch).contains("suspend: false"), "{patch}");
        }
    }
    assert_eq!(notes(&scratch), [""; 0]);
    insta::assert_snapshot!(scratch.expect(0, &["verify"]).stdout, @r"
    All is well: 1 entry point is equal.
    ");
    insta::assert_snapshot!(scratch.expect(0, &["explain", "components/shop"]).stdout, @r"
    ConfigMap shop/shop: rt (rule 2 of the spec)
      from components/shop/config.yaml
      in clusters dev, prod, components/shop/shop-rt
        by Flux Kustomization shop-rt, at once
    Service shop/shop: rw (rule 3 of the spec)
      from components/shop/service.yaml
      in clusters dev, prod, components/shop/shop-rw
        by Flux Kustomization shop-rw, held by CronJob close-reconciliation-window
    ");
}

/// A folder that a Flux Kustomization builds is its own, wherever it lies: nobody takes its new sides for a cluster.
#[test]
fn sides_beside_the_folders_of_clusters_are_no_clusters() {
    let apps = "clusters/apps-prod";
    let scratch = repository(&[
        ("clusters/prod/flux.yaml", &root("prod")),
        ("clusters/prod/apps.yaml", &flux_kustomization("apps", apps, "")),
        (&format!("{apps}/kustomization.yaml"), "resources: [../../web]\n"),
        ("web/kustomization.yaml", "resources: [map.yaml, service.yaml]\n"),
        ("web/map.yaml", &CONFIG_MAP.replace("NAME", "web")),
        ("web/service.yaml", &SERVICE.replace("NAME", "web")),
    ]);
    told(&scratch, &INIT);
    for step in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        scratch.take(step);
        let clusters = scratch.expect(0, &["clusters"]).stdout;
        assert!(clusters.starts_with("prod  root clusters/prod\n"), "{step:?}: {clusters}");
        scratch.expect(0, &["verify", "--base", "HEAD~1"]);
    }
    let gone =
        scratch.expect(0, &["pr", "--base", "HEAD~1", "--format", "json", "--now", "2026-11-23T12:00:00Z"]);
    assert!(!gone.stdout.contains("\"deleted\""), "{}", gone.stdout);
}
