//! What an artifact has not although it lies in the repository.

use super::repository::{Edit, Files, edited, findings};
use crate::diagnostic::render;

const RT: &str = "apps/rt/kustomization.yaml";
const LOGO: [Edit; 2] = [
    (RT, "service.yaml]\n", "service.yaml]\nconfigMapGenerator: [{ name: logo, files: [logo.png] }]\n"),
    ("apps/rt/logo.png", "", "x"),
];

/// Returns what is told of a repository with edits, with its places.
fn told(edits: &[Edit]) -> (Vec<String>, String) {
    let (codes, found) = findings(&[edited(&[edits])], None).remove(0);
    (codes, render(&found, false, 200))
}

#[test]
fn a_file_that_flux_leaves_out_by_default_is_told_where_it_is_named() {
    insta::assert_snapshot!(told(&LOGO).1);
    // Any line replaces the defaults.
    let replaced = [LOGO.as_slice(), &[(".sourceignore", "", "other\n")]].concat();
    assert_eq!(told(&replaced).0, [""; 0]);
    // What is beside that changes nothing.
    let beside = [("apps/rt/other.png", "", "x"), (".github/workflows/ci.yaml", "", "on: push\n")];
    assert_eq!(told(&beside).0, [""; 0]);
}

#[test]
fn links_are_in_no_artifact() {
    let real = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: shop }\n";
    let file = [
        ("apps/rt/settings.yaml", "", "<link>../../shared/settings.yaml"),
        ("shared/settings.yaml", "", real),
    ];
    let folder = [
        (RT, "[namespace.yaml, settings.yaml, service.yaml]", "[namespace.yaml, linked, service.yaml]"),
        ("apps/rt/linked", "", "<link>../../shared"),
        ("shared/kustomization.yaml", "", "resources: [settings.yaml]\n"),
        ("shared/settings.yaml", "", real),
    ];
    // Flux lists the files of a folder without a list, and so not a link.
    let listed = [
        ("clusters/edge/apps.yaml", "path: ./apps/rt", "path: ./apps/listed"),
        ("apps/listed/a.yaml", "", real),
        ("apps/listed/b.yaml", "", "<link>../rt/service.yaml"),
    ];
    let path =
        [("clusters/edge/apps.yaml", "path: ./apps/rt", "path: ./apps/now"), ("apps/now", "", "<link>rt")];
    let all = [&file[..], &folder, &listed, &path].map(|edits| told(edits).1).join("\n");
    insta::assert_snapshot!(all);
    // One that no build reads does not matter.
    assert_eq!(told(&[("AGENTS.md", "", "<link>README.md"), ("README.md", "", "x")]).0, [""; 0]);
}

#[test]
fn a_folder_that_is_left_out_is_told_once() {
    let all = told(&[(".sourceignore", "", "/apps/rw\n")]).1;
    let list = told(&[(".sourceignore", "", "/apps/rw/kustomization.yaml\n")]).1;
    insta::assert_snapshot!(format!("{all}\n{list}"));
}

#[test]
fn a_linked_list_is_in_no_artifact() {
    let list = ("shared/list.yaml", "", "resources: [settings.yaml]\n");
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: shop }\n";
    // What a Flux Kustomization builds is listed by Flux; what a list names is not found.
    let built = [
        ("clusters/edge/apps.yaml", "path: ./apps/rt", "path: ./apps/linked"),
        ("apps/linked/kustomization.yaml", "", "<link>../../shared/list.yaml"),
        ("apps/linked/settings.yaml", "", settings),
        list,
    ];
    let named = [
        (RT, "[namespace.yaml, settings.yaml, service.yaml]", "[namespace.yaml, linked, service.yaml]"),
        ("apps/rt/linked/kustomization.yaml", "", "<link>../../../shared/list.yaml"),
        ("apps/rt/linked/settings.yaml", "", settings),
        list,
    ];
    insta::assert_snapshot!([&built[..], &named].map(|edits| told(edits).1).join("\n"));
}

#[test]
fn a_gate_that_is_not_fetched_is_told_as_it_runs() {
    // What brings it does not build, so that the cluster keeps what it has.
    let fails = told(&[(".sourceignore", "", "/infra/gate/close.yaml\n")]).1;
    // Flux lists what else lies there, and prunes the rest.
    let lists = told(&[
        ("clusters/edge/apps.yaml", "path: ./clusters/edge/infra", "path: ./infra/gate"),
        (".sourceignore", "", "/infra/gate/kustomization.yaml\n/infra/gate/close.yaml\n"),
    ])
    .1;
    insta::assert_snapshot!(format!("{fails}\n{lists}"));
}

#[test]
fn a_file_that_no_source_fetches_breaks_no_build() {
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: shop }\n";
    let listed = [
        ("clusters/edge/apps.yaml", "path: ./apps/rt", "path: ./apps/listed"),
        ("apps/listed/namespace.yaml", "", "apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n"),
        ("apps/listed/settings.yaml", "", settings),
    ];
    let broken = |edit: Edit, ignore: &'static str| {
        let edits = [listed.as_slice(), &[edit, (".sourceignore", "", ignore)]].concat();
        told(&edits).0
    };
    let chart = ("apps/listed/chart/templates/claim.yaml", "", "app: [name]-claim\n");
    assert_eq!(broken(chart, "other\n"), ["GW033 apps/listed/chart/templates/claim.yaml:1"]);
    assert_eq!(broken(chart, "/apps/listed/chart\n"), [""; 0]);
    let list = ("apps/listed/old/kustomization.yaml", "", "resources: [\n");
    assert_eq!(broken(list, "other\n"), ["GW033 apps/listed/old/kustomization.yaml:1"]);
    assert_eq!(broken(list, "/apps/listed/old\n"), [""; 0]);
}

/// What a source of some folders has at first.
const SPARSE: [Edit; 2] = [
    (
        "clusters/edge/flux-system/gotk-sync.yaml",
        "fleet }\n",
        "fleet, sparseCheckout: [p000/clusters, ./p000/apps, p000/infra, p000/docs] }\n",
    ),
    ("docs/a.md", "", "x"),
];

#[test]
fn a_path_that_a_checkout_lacks_stops_the_source() {
    assert_eq!(told(&SPARSE).0, [""; 0]);
    insta::assert_snapshot!(told(&SPARSE[..1]).1);
}

#[test]
fn a_path_leaves_the_list_before_its_files() {
    let all = edited(&[&SPARSE]);
    let shorter: Edit = ("clusters/edge/flux-system/gotk-sync.yaml", ", p000/docs]", "]");
    let codes = |before, after: Files| {
        let (codes, found) = findings(&[after], Some(&[before])).remove(0);
        (codes, render(&found, false, 200))
    };
    // The cluster still has the longer list as the change arrives.
    insta::assert_snapshot!(codes(all.clone(), edited(&[&[SPARSE[0], shorter]])).1);
    // One commit earlier it is dropped.
    let dropped = edited(&[&[SPARSE[0], shorter, SPARSE[1]]]);
    assert_eq!(codes(all, dropped.clone()).0, [""; 0]);
    assert_eq!(codes(dropped, edited(&[&[SPARSE[0], shorter]])).0, [""; 0]);
}
