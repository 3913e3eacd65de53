//! Pull requests after which the API server refuses a Flux Kustomization, so that nothing of its parent's build is applied.

use super::repository::{Files, compared, files, flux, lines, map, with, without, words};

/// A repository with one more Flux Kustomization.
fn base() -> Files {
    let more = [
        ("clusters/one/infra.yaml", flux("infra", "infra", "")),
        ("infra/a.yaml", map("a", "a: '1'")),
        ("infra/b.yaml", map("b", "")),
    ];
    more.iter().fold(files(), |files, (path, text)| with(&files, &[(path, "", text)]))
}

#[test]
fn nothing_lands_beside_a_refused_flux_kustomization_and_its_old_spec_goes_on() {
    let base = base();
    let refused = |from: &str, to: &str| {
        let after = with(
            &base,
            &[
                ("clusters/one/infra.yaml", from, to),
                ("clusters/one/new.yaml", "", &map("new", "")),
                ("infra/a.yaml", "a: '1'", "a: '2'"),
            ],
        );
        compared(&base, &without(&after, "infra/b.yaml"))
    };
    for (from, to) in [
        ("  prune: true\n", ""),
        ("  prune: true\n", "  purne: true\n"),
        ("interval: 5m", "interval: 10 min"),
        ("  prune: true\n", "  prune: true\n  components: ../a\n"),
    ] {
        // The old spec prunes.
        assert_eq!(
            lines(&refused(from, to)),
            ["ConfigMap/a changed at-once", "ConfigMap/b deleted at-once"],
            "{from}{to}"
        );
    }
    insta::assert_snapshot!(words(&refused("  prune: true\n", "")));
}

#[test]
fn a_remote_base_that_comes_is_no_error() {
    let base = base();
    let remote = "resources: [a.yaml, b.yaml, 'https://example.org/x//deploy?ref=v1']\n";
    insta::assert_snapshot!(words(&compared(
        &base,
        &with(&base, &[("infra/kustomization.yaml", "", remote)])
    )));
}

#[test]
fn what_begins_to_apply_to_another_cluster_leaves_its_objects() {
    let base = base();
    let remote = (
        "clusters/one/infra.yaml",
        "  prune: true\n",
        "  prune: true\n  kubeConfig: { secretRef: { name: far } }\n",
    );
    insta::assert_snapshot!(words(&compared(&base, &with(&base, &[remote]))));
}

#[test]
fn a_remedy_is_one_line() {
    let claim = |size: &str| {
        let spec = format!(
            "spec: {{ accessModes: [ReadWriteOnce], resources: {{ requests: {{ storage: {size} }} }} }}"
        );
        format!(
            "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{ name: c, namespace: shop }}\n{spec}\n"
        )
    };
    let base = with(&base(), &[("infra/claim.yaml", "", &claim("2Gi"))]);
    let told = words(&compared(&base, &with(&base, &[("infra/claim.yaml", "", &claim("1Gi"))])));
    assert!(told.contains("→ leave the field as it is; or give the new object another name"), "{told}");
}
