//! Pull requests after which a folder of the artifact is empty: its Flux Kustomization builds no object, and prunes all.

use super::repository::{Files, SUBMODULE, compared, files, flux, lines, map, source, with, without, words};

const ALL: [&str; 2] = ["ConfigMap/a deleted at-once", "ConfigMap/b deleted at-once"];

/// A repository of which a folder has no list of its own.
fn base() -> Files {
    with(
        &files(),
        &[
            ("clusters/one/infra.yaml", "", &flux("infra", "infra", "")),
            ("infra/a.yaml", "", &map("a", "")),
            ("infra/b.yaml", "", &map("b", "")),
            ("shared/a.yaml", "", "kind: none\n"),
        ],
    )
}

#[test]
fn what_patterns_leave_out_of_a_folder_is_pruned() {
    let base = base();
    let lines_with =
        |patterns: &str| lines(&compared(&base, &with(&base, &[(".sourceignore", "", patterns)])));
    for patterns in ["/infra/*", "/infra/a.yaml\n/infra/b.yaml", "/infra/*.yaml"] {
        assert_eq!(lines_with(patterns), ALL, "{patterns}");
    }
    // A pattern that matches the folder leaves that out too, and the build fails.
    for patterns in ["/infra", "infra/", "/infra/*\n/infra"] {
        assert_eq!(lines_with(patterns), [""; 0], "{patterns}");
    }
    let ignoring = source("1m").replace("spec: {", "spec: { ignore: '/infra/*.yaml',");
    let sync = "clusters/one/flux-system/gotk-sync.yaml";
    let told = lines(&compared(&base, &with(&base, &[(sync, &source("1m"), &ignoring)])));
    assert_eq!(told[1..], ALL, "{told:?}");
}

#[test]
fn what_becomes_a_link_is_pruned() {
    let base = base();
    let link = |name: &str, files: &Files| {
        with(files, &[(&format!("infra/{name}.yaml"), "", &format!("<link>../shared/{name}.yaml"))])
    };
    assert_eq!(lines(&compared(&base, &link("a", &base))), ALL[..1]);
    let all = compared(&base, &link("a", &link("b", &base)));
    assert_eq!(lines(&all), ALL);
    insta::assert_snapshot!(words(&all));
}

#[test]
fn what_becomes_a_submodule_is_pruned() {
    let base = base();
    let gone = without(&without(&base, "infra/a.yaml"), "infra/b.yaml");
    assert_eq!(lines(&compared(&base, &gone)), [""; 0]);
    let submodule = with(&gone, &[("infra", "", SUBMODULE)]);
    let told = compared(&base, &submodule);
    assert_eq!(lines(&told), ALL);
    insta::assert_snapshot!(words(&told));
    // With its content nobody knows what lies there.
    let fetched = source("1m").replace("spec: {", "spec: { recurseSubmodules: true,");
    let sync = "clusters/one/flux-system/gotk-sync.yaml";
    let known = compared(&base, &with(&submodule, &[(sync, &source("1m"), &fetched)]));
    assert_eq!(lines(&known), ["GitRepository/flux-system changed at-once"]);
}
