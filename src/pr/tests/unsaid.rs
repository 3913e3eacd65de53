//! What `pr` says where a parent does not build, or where only the cluster knows a path.

use super::repository::{Files, compared, files, flux, lines, map, with};
use crate::pr::Report;

/// Returns what nothing is said of, a line each: why, of which side, and what builds it.
fn withheld(report: &Report) -> Vec<String> {
    let name = |one: &crate::pr::Withheld| {
        let named = one.by.kustomization.as_ref().map(|(_, name)| name.clone());
        named.unwrap_or_else(|| one.by.path.to_string())
    };
    let side = |is_head: bool| if is_head { "head" } else { "base" };
    let all = report.withheld.iter();
    all.map(|one| format!("{} {} {}: {}", one.cause, side(one.is_head), name(one), one.reason)).collect()
}

/// The repository with a Flux Kustomization that applies others by a list.
fn nested(list: &str) -> Files {
    with(
        &files(),
        &[
            ("clusters/one/more.yaml", "", &flux("more", "more", "")),
            ("more/kustomization.yaml", "", list),
            ("more/a.yaml", "", &flux("a", "apps/a", "")),
            ("more/b.yaml", "", &flux("b", "apps/b", "")),
            ("apps/a/a.yaml", "", &map("a", "")),
            ("apps/b/b.yaml", "", &map("b", "")),
        ],
    )
}

#[test]
fn a_parent_that_does_not_build_brings_nothing_new() {
    let base = nested("resources: [a.yaml]\n");
    let after = with(
        &nested("resources: [a.yaml, b.yaml, lacking.yaml]\n"),
        &[("apps/a/a.yaml", "data: {  }", "data: { a: '1' }")],
    );
    let report = compared(&base, &after);
    // What the cluster has goes on with what its own folder holds.
    assert_eq!(lines(&report), ["ConfigMap/a changed at-once"]);
    let expected = [
        "build head more: open more/lacking.yaml: no such file or directory",
        "parent head b: Flux Kustomization more does not build. Git does not show the future of b",
    ];
    assert_eq!(withheld(&report), expected);
    // What it brings once it builds is new.
    assert_eq!(lines(&compared(&base, &nested("resources: [a.yaml, b.yaml]\n"))).len(), 2);
}

#[test]
fn a_parent_that_did_not_build_is_not_known_to_have_brought_anything() {
    let base = nested("resources: [a.yaml, b.yaml, lacking.yaml]\n");
    let report = compared(&base, &nested("resources: [a.yaml]\n"));
    assert_eq!(lines(&report), [""; 0]);
    let expected = [
        "build base more: open more/lacking.yaml: no such file or directory",
        "parent base b: Flux Kustomization more did not build. Git does not show whether b was applied",
    ];
    assert_eq!(withheld(&report), expected);
    // A remote base is there for Flux: what stands beside it is brought.
    let remote = nested("resources: [a.yaml, 'https://example.org/x.yaml']\n");
    let report = compared(&files(), &remote);
    assert_eq!(lines(&report)[1..], ["ConfigMap/a created at-once"], "{:?}", withheld(&report));
}

#[test]
fn a_path_of_the_cluster_is_told_where_a_folder_that_it_may_be_differs() {
    let unknown = flux("far", "teams/web/${ENVIRONMENT}/deploy", "");
    let base = with(
        &files(),
        &[
            ("clusters/one/far.yaml", "", &unknown),
            ("teams/base/kustomization.yaml", "", "resources: [a.yaml]\n"),
            ("teams/base/a.yaml", "", &map("a", "")),
            ("teams/web/prod/deploy/kustomization.yaml", "", "resources: [../../../base]\n"),
            ("teams/web/prod/infra/b.yaml", "", &map("b", "")),
            ("teams/web/dev/deploy/c.yaml", "", &map("c", "")),
        ],
    );
    let told = |path: &str| {
        let mut after = base.clone();
        after.get_mut(path).unwrap().push_str("# more\n");
        withheld(&compared(&base, &after)).len()
    };
    assert_eq!(told("apps/apps-rt/settings.yaml"), 0);
    assert_eq!(told("teams/web/prod/infra/b.yaml"), 0, "it is no folder of that path");
    assert_eq!(told("teams/base/a.yaml"), 1, "a folder lists it");
    assert_eq!(told("teams/web/dev/deploy/c.yaml"), 1, "Flux lists it");
    // Also where something that is known reads it too.
    let shared = with(
        &base,
        &[("apps/apps-rt/kustomization.yaml", "settings.yaml", "settings.yaml, ../../teams/base")],
    );
    let after = with(&shared, &[("teams/base/a.yaml", "data: {  }", "data: { a: '1' }")]);
    let report = compared(&shared, &after);
    assert_eq!(
        (lines(&report), withheld(&report).len()),
        (vec!["ConfigMap/a changed at-once".to_owned()], 1)
    );
}

#[test]
fn a_list_that_a_root_without_one_gets_makes_nothing_new() {
    let mut base = files();
    base.retain(|path, _| !path.contains("/flux-system/") && !path.contains("/gate/"));
    base.insert("clusters/one/vars.yaml".to_owned(), map("vars", "a: '1'"));
    let list = "resources: [apps.yaml, vars.yaml]\n";
    let listed = with(&base, &[("clusters/one/kustomization.yaml", "", list)]);
    assert_eq!(lines(&compared(&base, &listed)), [""; 0]);
    assert_eq!(lines(&compared(&listed, &base)), [""; 0]);
    let more = with(
        &listed,
        &[
            ("clusters/one/more.yaml", "", &flux("more", "apps/apps-rt", "")),
            ("clusters/one/kustomization.yaml", "vars.yaml", "vars.yaml, more.yaml"),
        ],
    );
    assert_eq!(
        lines(&compared(&base, &more)),
        ["Kustomization/more created unknown", "ConfigMap/settings created unknown"]
    );
    // What else such a root gets is not told as an object, and not left out in silence.
    let new = with(
        &base,
        &[
            ("clusters/one/more.yaml", "", &map("more", "a: '1'")),
            ("clusters/one/far.yaml", "", &flux("far", "far/${ENVIRONMENT}", "")),
        ],
    );
    let report = compared(&base, &new);
    assert_eq!(lines(&report), ["Kustomization/far created unknown"]);
    let expected = [
        "path head far: only the cluster knows the path of Flux Kustomization far",
        "unreached head clusters/one: no Flux Kustomization in Git applies clusters/one/more.yaml to one",
    ];
    assert_eq!(withheld(&report), expected);
}
