//! What is told together: clusters that get the same some minutes apart, and what only seems to hold a cluster's name.

use super::repository::{compared, files, map, with, with_cluster, words};

const LIST: &str = "apps/apps-rt/kustomization.yaml";

#[test]
fn some_minutes_more_are_the_same_time() {
    let base = with_cluster(&with_cluster(&files(), "two"), "three");
    let base = with(
        &base,
        &[
            ("clusters/two/flux-system/gotk-sync.yaml", "interval: 1m", "interval: 10m"),
            ("clusters/three/flux-system/gotk-sync.yaml", "interval: 1m", "interval: 4h"),
        ],
    );
    let after = with(
        &base,
        &[
            ("apps/apps-rt/settings.yaml", "a: '1'", "a: '2'"),
            ("apps/apps-rw/deployment.yaml", "1.29.0", "1.30.0"),
        ],
    );
    insta::assert_snapshot!(words(&compared(&base, &after)));
}

/// In cluster `dev`, `/dev/null` is no name of it.
#[test]
fn a_text_that_clusters_share_does_not_hold_the_name_of_one() {
    let base = with_cluster(&files(), "dev");
    let after = with(
        &base,
        &[
            (LIST, "settings.yaml", "settings.yaml, b.yaml"),
            ("apps/apps-rt/b.yaml", "", &map("b", "a: cat /dev/null")),
        ],
    );
    let told = words(&compared(&base, &after));
    assert!(told.contains("created  ConfigMap shop/b  in dev, one by"), "{told}");
    assert!(!told.contains("{cluster}"), "{told}");
    // What each of them calls by its name is alike.
    let after = with(
        &base,
        &[
            ("clusters/one/a.yaml", "", &map("a", "from: one, to: /dev/null")),
            ("clusters/dev/a.yaml", "", &map("a", "from: dev, to: /dev/null")),
        ],
    );
    let told = words(&compared(&base, &after));
    assert!(told.contains("created  ConfigMap shop/a  in dev, one by"), "{told}");
}

/// What else a list brings is no place of an object that stays.
#[test]
fn a_list_that_brings_another_object_is_not_behind_one_that_stays() {
    let base = files();
    let edits = [
        ("apps/apps-rt/settings.yaml", "a: '1'", "a: '2'"),
        (LIST, "settings.yaml", "settings.yaml, b.yaml"),
        ("apps/apps-rt/b.yaml", "", &map("b", "")[..]),
    ];
    let places = |edits: &[(&str, &str, &str)]| {
        let report = compared(&base, &with(&base, edits));
        let line = report.changes.iter().find(|line| line.id.name == "settings").unwrap();
        line.files.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(places(&edits), "apps/apps-rt/settings.yaml:4");
    // What shapes it is.
    let labels = (LIST, "resources:", "labels: [{ pairs: { a: b } }]\nresources:");
    assert_eq!(
        places(&[&edits[..], &[labels]].concat()),
        "apps/apps-rt/kustomization.yaml:1, apps/apps-rt/settings.yaml:4"
    );
}
