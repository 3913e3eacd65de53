//! Lists that Flux reads and kustomize refuses: kustomize-controller reads the list of the folder that it applies anew, and
//! leaves out what it does not know.

use crate::repository::{CONFIG_MAP, INIT, SERVICE, finished, notes, repository, root, told};
use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;

/// A list with a field that kustomize does not know.
const UNKNOWN: &str =
    "# the shop\nresources:\n  - web\n  - api\npatch: # no field of kustomize\n  - path: all.yaml\n";

/// A cluster with the apps `web` and `api`, of which this is the list.
fn shop(list: &str) -> Scratch {
    let app = "resources: [service.yaml, config.yaml]\n";
    repository(&[
        ("clusters/edge/flux-system.yaml", &root("edge")),
        ("clusters/edge/apps.yaml", &flux_kustomization("apps", "apps/edge", "")),
        ("apps/edge/kustomization.yaml", list),
        ("apps/edge/web/kustomization.yaml", app),
        ("apps/edge/web/service.yaml", &SERVICE.replace("NAME", "web")),
        ("apps/edge/web/config.yaml", &CONFIG_MAP.replace("NAME", "web")),
        ("apps/edge/api/kustomization.yaml", app),
        ("apps/edge/api/service.yaml", &SERVICE.replace("NAME", "api")),
        ("apps/edge/api/config.yaml", &CONFIG_MAP.replace("NAME", "api")),
    ])
}

#[test]
fn a_field_that_kustomize_does_not_know_is_divided_with_the_rest() {
    let scratch = shop(UNKNOWN);
    assert_eq!(notes(&scratch), ["GW069"]);
    insta::assert_snapshot!(told(&scratch, &INIT), @r"
    edge
      apps/edge  Flux Kustomization apps  apps web, api
    Gate: what opens and closes the windows in a cluster.
    Nothing waits yet.
    Without a split: remove type `rt` and its rules, and `gitops-windows sync` gates whole Flux Kustomizations.
    After `gitops-windows split --all` and `gitops-windows migrate`, 1 Flux Kustomization waits for its window.
    ");
    insta::assert_snapshot!(scratch.expect(0, &["verify"]).stdout, @r"
    Nothing is split, so nothing can differ.
    ");
    insta::assert_snapshot!(told(&scratch, &["split", "--all", "--yes"]), @"
    edge
      apps/edge  split
        why: web: split, moved apart, every object stays the same
        api: split, moved apart, every object stays the same
    Entry point: the folder of a Flux Kustomization. Side: its part of one change type.
    Next: commit it, wait until the clusters have applied it, then run `gitops-windows migrate`.
    ");
    insta::assert_snapshot!(scratch.expect(0, &["verify"]).stdout, @r"
    All is well: 1 entry point is equal.
    ");
    assert_eq!(scratch.text("apps/edge/kustomization.yaml"), UNKNOWN);
    insta::assert_snapshot!(scratch.text("apps/edge/edge-rt/kustomization.yaml"), @r"
    # the shop
    resources:
      - web
      - api
    patch: # no field of kustomize
      - path: all.yaml
    ");
    scratch.take(&["join", "--all", "--yes"]);
    assert_eq!(scratch.text("apps/edge/kustomization.yaml"), UNKNOWN);
    insta::assert_snapshot!(finished(&scratch), @r"
    edge
      apps/edge  finished (step 3 of 3)
        apps-rt, apps-rw apply it
    Nothing to change.
    Every split entry point is handed over.
    ");
    insta::assert_snapshot!(scratch.expect(0, &["verify"]).stdout, @r"
    All is well: 1 entry point is equal.
    ");
    assert_eq!(notes(&scratch), ["GW069", "GW069"]);
}

#[test]
fn a_projection_goes_without_such_a_field_and_an_umbrella_keeps_it() {
    let list = "commonLabels: { a: b }\nnamePrefix: p-\npatch: [all.yaml]\nresources: [web, api, own.yaml]\n";
    let scratch = shop(list);
    scratch.write("apps/edge/own.yaml", CONFIG_MAP.replace("NAME", "own")).commit();
    scratch.take(&INIT);
    insta::assert_snapshot!(told(&scratch, &["split", "--all", "--yes"]), @"
    note: `patch` of apps/edge/kustomization.yaml is no field of kustomize. apps/edge/edge-all goes without it
    edge
      apps/edge  split by projection
        why: apps/edge/kustomization.yaml lists files itself, which stay where they are
    Entry point: the folder of a Flux Kustomization. Side: its part of one change type.
    Projection: each side builds the whole app and keeps the objects of its change type.
    Next: commit it, wait until the clusters have applied it, then run `gitops-windows migrate`.
    ");
    scratch.expect(0, &["verify"]);
    insta::assert_snapshot!(scratch.text("apps/edge/kustomization.yaml"), @r"
    # The parts of this folder reach clusters at different times, so its content moved into them.
    # What stood here, for `gitops-windows join` and for you:
    #| commonLabels: { a: b }
    #| namePrefix: p-
    #| patch: [all.yaml]
    #| resources: [web, api, own.yaml]
    apiVersion: kustomize.config.k8s.io/v1beta1
    kind: Kustomization
    resources:
      - edge-all
    ");
    insta::assert_snapshot!(scratch.text("apps/edge/edge-all/kustomization.yaml"), @r"
    commonLabels: { a: b }
    namePrefix: p-
    resources: [../web, ../api, ../own.yaml]
    ");
    scratch.take(&["join", "--all", "--yes"]);
    assert_eq!(scratch.text("apps/edge/kustomization.yaml"), list);
}

#[test]
fn an_empty_list_builds_to_nothing() {
    for list in ["", "# soon\n", "resources:\n"] {
        let scratch = shop(list);
        assert!(!told(&scratch, &INIT).contains("does not build"), "{list}");
        scratch.expect(0, &["verify"]);
        // The apps beside it reach no cluster.
        let found = scratch.expect(0, &["check"]).stdout;
        assert!(found.contains("GW044") && !found.contains("does not build"), "{list}: {found}");
        assert!(!found.contains("error["), "{list}: {found}");
    }
}

#[test]
fn a_base_is_read_by_kustomize() {
    let scratch = shop(UNKNOWN);
    scratch.write("clusters/edge/apps.yaml", flux_kustomization("apps", "apps/over", ""));
    scratch.write("apps/over/kustomization.yaml", "resources: [../edge]\n").commit();
    let run = scratch.expect(1, &["check"]);
    assert!(run.stdout.contains("unknown field"), "{}", run.stdout);
}
