//! Flux Kustomizations that wait for whatever applies them.

use crate::repository::{INIT, SERVICE, finished, notes, repository, root, told};
use crate::support::flux_kustomization;

#[test]
fn one_inside_that_waits_for_the_divided_one_waits_for_its_sides() {
    let scratch = repository(&[
        ("clusters/prod/flux.yaml", &root("prod")),
        ("clusters/prod/certs.yaml", &flux_kustomization("certs", "apps/certs", "")),
        ("apps/certs/kustomization.yaml", "resources: [namespace.yaml, service.yaml, issuer.yaml]\n"),
        ("apps/certs/namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n"),
        ("apps/certs/service.yaml", &SERVICE.replace("NAME", "certs")),
        (
            "apps/certs/issuer.yaml",
            &flux_kustomization("issuer", "apps/issuer", "  dependsOn:\n    - name: certs\n"),
        ),
        ("apps/issuer/service.yaml", &SERVICE.replace("NAME", "issuer")),
    ]);
    told(&scratch, &INIT);
    insta::assert_snapshot!(finished(&scratch), @r#"
prod
  apps/certs  finished (step 3 of 3)
    certs-rt, certs-rw apply it
Nothing to change.
Every split entry point is handed over.
"#);
    let issuer = scratch.text("apps/certs/issuer.yaml");
    assert!(issuer.ends_with("  dependsOn:\n    - name: certs-rt\n    - name: certs-rw\n"), "{issuer}");
    assert_eq!(notes(&scratch), [""; 0]);
}

#[test]
fn a_gate_stands_in_the_root_and_not_in_the_folder_of_an_app() {
    // Only Flux Operator says what applies the folder of all apps.
    let instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: { name: flux, namespace: flux-system }\nspec: { sync: { kind: GitRepository, url: 'https://example.org/fleet', path: apps } }\n";
    let scratch = repository(&[
        ("bootstrap/flux.yaml", instance),
        ("apps/shop/ks.yaml", &flux_kustomization("shop", "apps/shop/app", "")),
        ("apps/shop/app/kustomization.yaml", "resources: [service.yaml]\n"),
        ("apps/shop/app/service.yaml", &SERVICE.replace("NAME", "shop")),
        ("apps/shop/kustomization.yaml", "resources: [ks.yaml]\n"),
    ]);
    scratch.take(&INIT);
    let files = scratch.git(&["ls-files"]);
    let own: Vec<&str> = files.lines().filter(|path| path.ends_with("reconciliation-windows.yaml")).collect();
    assert_eq!(own, ["apps/reconciliation-windows.yaml"]);
    let run = scratch.expect(0, &["check"]);
    assert!(
        (run.stdout.clone() + &run.stderr).contains("Nothing to report."),
        "{}{}",
        run.stdout,
        run.stderr
    );
    scratch.expect(0, &["sync"]);
}

#[test]
fn what_no_gate_holds_back_is_not_said_to_be_held_back() {
    let waits = flux_kustomization("conf", "apps/conf", "  dependsOn: [{ name: base }]\n");
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: conf, namespace: shop }\n";
    let scratch = repository(&[
        ("clusters/prod/flux.yaml", &root("prod")),
        ("clusters/prod/base.yaml", &flux_kustomization("base", "apps/base", "")),
        ("clusters/prod/conf.yaml", &waits),
        ("clusters/prod/shop.yaml", &flux_kustomization("shop", "apps/shop", "")),
        ("apps/base/kustomization.yaml", "resources: [service.yaml]\n"),
        ("apps/base/service.yaml", &SERVICE.replace("NAME", "base")),
        ("apps/conf/kustomization.yaml", "resources: [conf.yaml]\n"),
        ("apps/conf/conf.yaml", config),
        ("apps/shop/kustomization.yaml", "resources: [service.yaml]\n"),
        ("apps/shop/service.yaml", &SERVICE.replace("NAME", "shop")),
    ]);
    scratch.take(&INIT);
    insta::assert_snapshot!(told(&scratch, &["split", "--all", "--yes"]), @r#"
prod
  apps/base  not divided
    why: all of its objects have type rw. No gate suspends its Flux Kustomization: `gitops-windows sync --dry-run` says why
  apps/conf  not divided
    why: all of its objects have type rt
  apps/shop  not divided
    why: all of its objects have type rw. A gate suspends its whole Flux Kustomization
Nothing to change.
"#);
}
