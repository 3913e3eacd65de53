//! What goes with its Namespace.

use super::repository::{Files, NOW, OPEN, compared_at, files, with, words};

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n";

/// The repository with the Namespace among what lands at once.
fn with_namespace(more: &str) -> Files {
    with(
        &files(),
        &[
            ("apps/apps-rt/shop.yaml", "", &NAMESPACE.replace("name: shop", &format!("name: shop{more}"))),
            ("apps/apps-rt/kustomization.yaml", "settings.yaml", "settings.yaml, shop.yaml"),
        ],
    )
}

fn removed(now: &str, base: &Files) -> String {
    let after = with(
        base,
        &[
            ("apps/apps-rt/kustomization.yaml", "settings.yaml, shop.yaml", ""),
            ("apps/apps-rw/kustomization.yaml", "deployment.yaml", ""),
        ],
    );
    words(&compared_at(now, base, &after))
}

#[test]
fn what_waits_goes_with_its_namespace() {
    insta::assert_snapshot!(removed(NOW, &with_namespace("")));
    // It may be open, and then all goes at once anyhow.
    assert!(removed(OPEN, &with_namespace("")).contains("3 objects change in 1 cluster: "));
    assert!(!removed(OPEN, &with_namespace("")).contains("outside-window"));
    // A Namespace that Flux keeps takes nothing along.
    let kept = with_namespace(", annotations: { kustomize.toolkit.fluxcd.io/prune: disabled }");
    assert!(!removed(NOW, &kept).contains("goes with"), "{}", removed(NOW, &kept));
}
