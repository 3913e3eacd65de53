//! Flux Kustomizations to which the one that applies them says more.

use crate::repository::{INIT, SERVICE, gate, notes, repository, told};
use crate::support::{flux_kustomization, scratch::Scratch};

/// A parent that patches `spec` into every Flux Kustomization that it applies, and its child `shop`.
fn family(spec: &str, child: &str, service: &str) -> Scratch {
    let patch = format!(
        "  patches:\n    - target: {{ group: kustomize.toolkit.fluxcd.io, kind: Kustomization }}\n      patch: |\n        \
         apiVersion: kustomize.toolkit.fluxcd.io/v1\n        kind: Kustomization\n        metadata: {{ name: any }}\n        \
         spec: {spec}\n"
    );
    repository(&[
        ("clusters/prod/parent.yaml", &flux_kustomization("parent", "apps", &patch)),
        ("apps/kustomization.yaml", "resources: [shop.yaml]\n"),
        ("apps/shop.yaml", child),
        ("apps/shop/kustomization.yaml", "resources: [service.yaml]\n"),
        ("apps/shop/service.yaml", service),
    ])
}

#[test]
fn a_source_from_the_parent_is_a_source() {
    let child = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
        metadata: { name: shop, namespace: flux-system }\nspec: { path: ./apps/shop }\n";
    let source = "{ interval: 10m, prune: true, sourceRef: { kind: GitRepository, name: flux-system } }";
    let scratch = family(source, child, &SERVICE.replace("NAME", "shop"));
    insta::assert_snapshot!(told(&scratch, &INIT), @"
    note: the folder of prod is a guess: nothing in Git names its root
     = help: where that is wrong, correct that cluster in windows.yaml
             or before that is written: `gitops-windows init --cluster-folder NAME=FOLDER`

    note: the gate of cluster prod suspends shop entirely. Every object there has a window
     --> windows.yaml
     = help: leave it undivided
             or give objects that must not wait a real-time type under `rules`, then run `gitops-windows split --all`
    prod
      apps/shop  Flux Kustomization shop
    Gate: what opens and closes the windows in a cluster.
    From Sun 2026-11-29 04:00 UTC, 1 Flux Kustomization waits for Sat 2026-12-05 22:00 UTC. Nothing else changes.
    ");
    assert!(gate(&scratch).contains("\"shop\""));
    assert_eq!(notes(&scratch), [""; 0]);
}

#[test]
fn variables_from_the_parent_are_variables() {
    let child = flux_kustomization("shop", "apps/shop", "  postBuild: { substitute: { HOST: x } }\n");
    let service = SERVICE.replace("NAME", "shop") + "---\n" + &SERVICE.replace("NAME", "\"${HOST}-${ZONE}\"");
    let scratch = family("{ postBuild: { substitute: { ZONE: north } } }", &child, &service);
    // One that no list names gets nothing from the parent, and nothing is said of its variables.
    let archived = flux_kustomization("archived", "apps/shop", "");
    scratch.write("archive/archived.yaml", archived).commit();
    insta::assert_snapshot!(told(&scratch, &INIT), @"
    note: Flux Kustomization archived is not alive: no cluster gets it
     --> archive/archived.yaml
     = help: `gitops-windows clusters` lists them

    note: the folder of prod is a guess: nothing in Git names its root
     = help: where that is wrong, correct that cluster in windows.yaml
             or before that is written: `gitops-windows init --cluster-folder NAME=FOLDER`

    note: the gate of cluster prod suspends shop entirely. Every object there has a window
     --> windows.yaml
     = help: leave it undivided
             or give objects that must not wait a real-time type under `rules`, then run `gitops-windows split --all`
    prod
      apps/shop  Flux Kustomization shop
    Gate: what opens and closes the windows in a cluster.
    From Sun 2026-11-29 04:00 UTC, 1 Flux Kustomization waits for Sat 2026-12-05 22:00 UTC. Nothing else changes.
    ");
    assert!(gate(&scratch).contains("\"shop\""));
    assert_eq!(notes(&scratch), [""; 0]);
}
