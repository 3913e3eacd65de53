//! What is not alive, or stands still on purpose.

use crate::repository::{CONFIG_MAP, INIT, SERVICE, finished, gate, notes, repository, root, told};
use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;

#[test]
fn what_git_suspends_is_left_out_of_the_gate() {
    let sleeping = flux_kustomization("old", "apps/old", "  suspend: true\n");
    let scratch = repository(&[
        ("clusters/prod/flux.yaml", &root("prod")),
        ("clusters/prod/old.yaml", &sleeping),
        ("clusters/prod/shop.yaml", &flux_kustomization("shop", "apps/shop", "")),
        ("apps/old/kustomization.yaml", "resources: [service.yaml]\n"),
        ("apps/old/service.yaml", &SERVICE.replace("NAME", "old")),
        ("apps/shop/kustomization.yaml", "resources: [service.yaml]\n"),
        ("apps/shop/service.yaml", &SERVICE.replace("NAME", "shop")),
    ]);
    insta::assert_snapshot!(told(&scratch, &INIT), @"
    note: the gate of cluster prod leaves out old: `suspend: true` stands in Git

    note: the gate of cluster prod suspends shop entirely. Every object there has a window
     --> windows.yaml
     = help: leave it undivided
             or give objects that must not wait a real-time type under `rules`, then run `gitops-windows split --all`
    prod
      apps/old   Flux Kustomization old
      apps/shop  Flux Kustomization shop
    Gate: what opens and closes the windows in a cluster.
    From Sun 2026-11-29 04:00 UTC, 1 Flux Kustomization waits for Sat 2026-12-05 22:00 UTC. Nothing else changes.
    ");
    let gate = gate(&scratch);
    assert!(gate.contains("\"shop\"") && !gate.contains("\"old\""), "{gate}");
    assert_eq!(notes(&scratch), [""; 0]);
    let when = scratch.expect(0, &["when", "old", "--now", "2026-11-23T12:00:00Z"]);
    insta::assert_snapshot!(when.stdout, @r"
    prod
      (all)  old: suspended

    prod: `spec.suspend: true` stands in Git: nothing lands, and the windows can't change that for long.
      → remove the line from the Flux Kustomization
    ");
    insta::assert_snapshot!(told(&scratch, &["split", "--all", "--yes"]), @r#"
prod
  apps/old  not divided
    why: all of its objects have type rw: Git suspends its Flux Kustomization
  apps/shop  not divided
    why: all of its objects have type rw. A gate suspends its whole Flux Kustomization
Nothing to change.
"#);

    // Woken up, it waits for its window like the others.
    scratch.replace("clusters/prod/old.yaml", "  suspend: true\n", "").commit();
    scratch.take(&["sync", "--yes"]);
    assert!(crate::repository::gate(&scratch).contains("\"old\", \"shop\""));
}

#[test]
fn what_git_suspends_is_not_divided() {
    let scratch = repository(&[
        ("clusters/prod/flux.yaml", &root("prod")),
        ("clusters/prod/old.yaml", &flux_kustomization("old", "apps/old", "  suspend: true\n")),
        ("clusters/prod/shop.yaml", &flux_kustomization("shop", "apps/shop", "")),
        ("apps/old/kustomization.yaml", "resources: [config.yaml, service.yaml]\n"),
        ("apps/old/config.yaml", &CONFIG_MAP.replace("NAME", "old")),
        ("apps/old/service.yaml", &SERVICE.replace("NAME", "old")),
        ("apps/shop/kustomization.yaml", "resources: [config.yaml, service.yaml]\n"),
        ("apps/shop/config.yaml", &CONFIG_MAP.replace("NAME", "shop")),
        ("apps/shop/service.yaml", &SERVICE.replace("NAME", "shop")),
    ]);
    scratch.take(&INIT);
    insta::assert_snapshot!(told(&scratch, &["split", "--all", "--yes"]), @"
    prod
      apps/shop  split by projection
        why: apps/shop/kustomization.yaml lists files itself, which stay where they are
    warning: apps/old in cluster prod is left as it is:
             Flux Kustomization old has `suspend: true` in Git. No change of it reaches the cluster
     --> clusters/prod/old.yaml:9:12
      |
    9 |   suspend: true
      |            ^^^^
      |
      = help: 1. remove `suspend` there
              2. wait until the cluster has applied that
              3. go on
    Entry point: the folder of a Flux Kustomization. Side: its part of one change type.
    Projection: each side builds the whole app and keeps the objects of its change type.
    1 entry point is left as before, for the reasons above.
    Next: commit it, wait until the clusters have applied it, then run `gitops-windows migrate`.
    ");
    scratch.commit();
    let gate = gate(&scratch);
    assert!(gate.contains("\"shop-rw\"") && !gate.contains("\"old"), "{gate}");
    // What was not begun needs no step.
    scratch.take(&["migrate", "--yes"]);
    scratch.take(&["migrate", "--yes"]);
    insta::assert_snapshot!(told(&scratch, &["migrate", "--yes"]), @r#"
prod
  apps/shop  finished (step 3 of 3)
    shop-rt, shop-rw apply it
Nothing to change.
Every split entry point is handed over.
"#);
    assert_eq!(notes(&scratch), [""; 0]);
}

/// A Flux Kustomization and an app that lists have beside others, and that they list no more.
fn commented_out() -> Scratch {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n";
    let list = "resources: [config.yaml, service.yaml]\n";
    let (on, off) = (flux_kustomization("on", "base/on", ""), flux_kustomization("off", "base/off", ""));
    repository(&[
        ("clusters/prod/apps.yaml", &flux_kustomization("apps", "apps/prod", "")),
        (
            "apps/prod/team/kustomization.yaml",
            "resources:\n  - namespace.yaml\n  - on.yaml\n  # - off.yaml\n",
        ),
        ("apps/prod/team/namespace.yaml", namespace),
        ("apps/prod/team/on.yaml", &on),
        ("apps/prod/team/off.yaml", &off),
        ("apps/prod/site/kustomization.yaml", "resources:\n  - live\n  # - gone\n"),
        ("apps/prod/site/live/kustomization.yaml", list),
        ("apps/prod/site/live/config.yaml", &CONFIG_MAP.replace("NAME", "live")),
        ("apps/prod/site/live/service.yaml", &SERVICE.replace("NAME", "live")),
        ("apps/prod/site/gone/kustomization.yaml", list),
        ("apps/prod/site/gone/config.yaml", &CONFIG_MAP.replace("NAME", "gone")),
        ("apps/prod/site/gone/service.yaml", &SERVICE.replace("NAME", "gone")),
        ("base/on/kustomization.yaml", "resources: [service.yaml]\n"),
        ("base/on/service.yaml", &SERVICE.replace("NAME", "on")),
        ("base/off/kustomization.yaml", "resources: [service.yaml]\n"),
        ("base/off/service.yaml", &SERVICE.replace("NAME", "off")),
    ])
}

#[test]
fn what_no_list_names_is_not_in_the_way() {
    let scratch = commented_out();
    insta::assert_snapshot!(told(&scratch, &INIT), @"
    note: Flux Kustomization off is not alive: no cluster gets it
     --> apps/prod/team/off.yaml
     = help: `gitops-windows clusters` lists them

    note: the folder of prod is a guess: nothing in Git names its root
     = help: where that is wrong, correct that cluster in windows.yaml
             or before that is written: `gitops-windows init --cluster-folder NAME=FOLDER`

    note: the gate of cluster prod suspends on entirely. Every object there has a window
     --> windows.yaml
     = help: leave it undivided
             or give objects that must not wait a real-time type under `rules`, then run `gitops-windows split --all`
    prod
      apps/prod  Flux Kustomization apps  no kustomization.yaml: Flux makes one
      base/on    Flux Kustomization on
    Gate: what opens and closes the windows in a cluster.
    From Sun 2026-11-29 04:00 UTC, 1 Flux Kustomization waits for Sat 2026-12-05 22:00 UTC. Nothing else changes.
    After `gitops-windows split --all` and `gitops-windows migrate`, 2 Flux Kustomizations in 1 cluster wait for their windows.
    ");
    let untouched = |scratch: &Scratch| {
        let is_off = |path: &str| path.contains("/off") || path.contains("/gone");
        let files = scratch.git(&["ls-files"]);
        let files = files.lines().filter(|path| is_off(path));
        files.map(|path| (path.to_owned(), scratch.text(path))).collect::<Vec<_>>()
    };
    let before = untouched(&scratch);
    insta::assert_snapshot!(finished(&scratch), @r#"
prod
  apps/prod  finished (step 3 of 3)
    apps-rt, apps-rw apply it
Nothing to change.
Every split entry point is handed over.
"#);
    assert_eq!(untouched(&scratch), before);
    let gate = gate(&scratch);
    assert!(gate.contains("\"apps-rw\"") && !gate.contains("\"off\"") && !gate.contains("gone"), "{gate}");
    assert_eq!(notes(&scratch), [""; 0]);
    assert!(scratch.text("clusters/prod/apps-rw.yaml").contains("prune: true"));
}

#[test]
fn a_broken_file_is_told_where_git_names_no_root() {
    let shop = flux_kustomization("shop", "apps/shop", "");
    let broken = format!("{}  path: [\n", flux_kustomization("web", "apps/web", ""));
    let scratch = repository(&[
        ("clusters/prod/shop.yaml", &shop),
        ("clusters/prod/more/web.yaml", &broken),
        ("clusters/prod/off/kustomization.yaml", "resources: []\n"),
        ("clusters/prod/off/web.yaml", &broken),
        ("templates/web.yaml", &broken),
        ("apps/shop/kustomization.yaml", "resources: [service.yaml]\n"),
        ("apps/shop/service.yaml", &SERVICE.replace("NAME", "shop")),
    ]);
    let run = scratch.expect(1, &["check"]);
    insta::assert_snapshot!(run.stderr + &run.stdout, @r#"
note: the folder of prod is a guess: nothing in Git names its root
 = help: where that is wrong, correct that cluster in windows.yaml
         or before that is written: `gitops-windows init --cluster-folder NAME=FOLDER`
error[GW033]: clusters/prod/more/web.yaml is not valid YAML: unclosed bracket '['. Folders that list it do not build
 --> clusters/prod/more/web.yaml:9:9
  |
9 |   path: [
  |         ^
  |
  = help: mend the file; `kustomize build` may fail on it too
"#);
}
