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
    insta::assert_snapshot!(finished(&scratch), @r"
    apps/certs (prod): finished, certs-rt, certs-rw apply it
    Nothing to change.
    ");
    let issuer = scratch.text("apps/certs/issuer.yaml");
    assert!(issuer.ends_with("  dependsOn:\n    - name: certs-rt\n    - name: certs-rw\n"), "{issuer}");
    assert_eq!(notes(&scratch), [""; 0]);
}
