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

/// The repository with a Flux Kustomization that gives what it applies a value, and a ConfigMap with another one.
fn patching(list: &str) -> Files {
    let patch = r#"  patches: [{ target: { kind: Kustomization }, patch: '[{"op":"add","path":"/spec/postBuild","value":{"substitute":{"V":"x"}}}]' }]"#;
    let from = "  postBuild: { substituteFrom: [{ kind: ConfigMap, name: vars }] }\n";
    let vars = map("vars", "site: north").replace("namespace: shop", "namespace: flux-system");
    with(
        &nested(list),
        &[
            ("clusters/one/more.yaml", "", &flux("more", "more", &format!("{patch}\n"))),
            ("clusters/one/reader.yaml", "", &flux("reader", "apps/reader", from)),
            ("more/vars.yaml", "", &vars),
            ("apps/a/a.yaml", "", &map("a", "a: '${V}', b: '1'")),
            ("apps/a/deep.yaml", "", &flux("deep", "deep/${V}", "")),
            ("apps/reader/r.yaml", "", &map("r", "a: '${site}'")),
            ("deep/x/d.yaml", "", &map("d", "a: '1'")),
        ],
    )
}

/// Nothing applies what the list of a parent that fails says: what it has brought before stays as it is.
#[test]
fn below_a_parent_that_begins_to_fail_all_has_the_spec_and_the_values_of_before() {
    const LIST: &str = "resources: [a.yaml, vars.yaml]\n";
    const TORN: &str = "resources: [a.yaml, vars.yaml, lacking.yaml]\n";
    let base = patching(LIST);
    let torn = patching(TORN);
    assert_eq!(lines(&compared(&base, &torn)), [""; 0]);
    assert_eq!(
        withheld(&compared(&base, &torn)),
        ["build head more: open more/lacking.yaml: no such file or directory"]
    );
    // What the same commit makes of them comes with the commit that mends it.
    let edits = [
        ("more/a.yaml", "./apps/a", "./apps/b"),
        ("more/vars.yaml", "north", "south"),
        ("apps/a/a.yaml", "b: '1'", "b: '2'"),
        ("deep/x/d.yaml", "'1'", "'2'"),
    ];
    let report = compared(&base, &with(&torn, &edits));
    assert_eq!(lines(&report), ["ConfigMap/a changed at-once", "ConfigMap/d changed at-once"]);
    let fields: Vec<&str> =
        report.changes.iter().flat_map(|line| &line.fields).map(|field| field.path.as_str()).collect();
    assert_eq!(fields, ["data.b", "data.a"]);
    // The values of what Git begins to suspend stay too.
    let suspended =
        with(&base, &[("clusters/one/more.yaml", "  prune: true\n", "  prune: true\n  suspend: true\n")]);
    let report = compared(&base, &with(&suspended, &[("more/vars.yaml", "north", "south")]));
    let changed: Vec<&str> = report.changes.iter().map(|line| line.id.name.as_str()).collect();
    assert_eq!(changed, ["more", "vars"]);
    // So does the spec: what a suspended parent does not give them keeps none of their files from them.
    let patch = "spec:\n  patches: [{ target: { kind: ConfigMap }, patch: '[{\"op\":\"add\",\"path\":\"/data/c\",\"value\":\"3\"}]' }]\n";
    let edits = [("more/a.yaml", "spec:\n", patch), ("apps/a/a.yaml", "b: '1'", "b: '2'")];
    let report = compared(&base, &with(&suspended, &edits));
    assert_eq!(
        lines(&report),
        [
            "Kustomization/more changed at-once",
            "Kustomization/a changed unknown",
            "ConfigMap/a changed at-once"
        ]
    );
    let of_map = report.changes.iter().filter(|line| line.id.kind == "ConfigMap");
    let fields: Vec<&str> = of_map.flat_map(|line| &line.fields).map(|field| field.path.as_str()).collect();
    assert_eq!(fields, ["data.b"]);
    // What its patches have given them before nobody knows.
    let report = compared(&torn, &base);
    assert!(report.changes.iter().all(|line| line.id.name != "a"), "{:?}", lines(&report));
    let expected = [
        "build base more: open more/lacking.yaml: no such file or directory",
        "parent base a: Flux Kustomization more did not build. Git does not show whether a was applied",
        "path base deep: only the cluster knows the path of Flux Kustomization deep",
    ];
    assert_eq!(withheld(&report), expected);
}

/// A root that suspends itself does so by applying the commit.
#[test]
fn what_a_root_brings_that_suspends_itself_has_the_spec_of_the_commit() {
    let edits = [
        ("clusters/one/flux-system/gotk-sync.yaml", "  prune: true\n", "  prune: true\n  suspend: true\n"),
        ("clusters/one/apps.yaml", "./apps/apps-rt", "./apps/other"),
        ("apps/other/o.yaml", "", &map("other", "")),
    ];
    let report = compared(&files(), &with(&files(), &edits));
    let names: Vec<&str> = report.changes.iter().map(|line| line.id.name.as_str()).collect();
    assert!(names.contains(&"other") && names.contains(&"settings"), "{names:?}");
}

/// `flux bootstrap` writes the file into a repository that has never had it.
#[test]
fn controllers_that_a_commit_takes_away_are_not_yet_to_come() {
    const LISTS: [(&str, &str, &str); 2] = [
        (
            "clusters/one/flux-system/kustomization.yaml",
            "",
            "resources: [gotk-components.yaml, gotk-sync.yaml]\n",
        ),
        ("clusters/one/kustomization.yaml", "", "resources: [flux-system, apps.yaml]\n"),
    ];
    const FILE: &str = "clusters/one/flux-system/gotk-components.yaml";
    let base = with(&with(&files(), &LISTS), &[(FILE, "", "# none\n")]);
    let mut head = with(
        &base,
        &[
            ("clusters/one/apps.yaml", "./apps/apps-rt", "./apps/other"),
            ("apps/other/o.yaml", "", &map("other", "")),
            ("apps/apps-rt/settings.yaml", "a: '1'", "a: '2'"),
        ],
    );
    assert!(lines(&compared(&base, &head)).iter().any(|line| line.starts_with("ConfigMap/other")));
    head.remove(FILE);
    let report = compared(&base, &head);
    assert_eq!(lines(&report), ["ConfigMap/settings changed at-once"], "{:?}", withheld(&report));
    assert!(withheld(&report)[0].starts_with("build head flux-system:"), "{:?}", withheld(&report));
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
