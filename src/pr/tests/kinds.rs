//! Kinds that come later than objects of them.

use super::chain::told;
use super::repository::{Files, NOW, OPEN, compared_at, files, flux, map, with};

const RT: &str = "apps/apps-rt/kustomization.yaml";
const RW: &str = "apps/apps-rw/kustomization.yaml";
const SETTINGS: &str = "apps/apps-rt/settings.yaml";

fn definition(version: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{ name: ws.x.io }}\nspec: {{ group: \
         x.io, names: {{ kind: W, plural: ws }}, scope: Namespaced, versions: [{{ name: {version}, served: true, storage: true }}] }}\n"
    )
}

fn object(version: &str) -> String {
    format!("apiVersion: x.io/{version}\nkind: W\nmetadata: {{ name: w, namespace: shop }}\n")
}

/// What changes of `apps-rt`, an object a line with when it lands.
fn lands(now: &str, base: &Files, edits: &[(&str, &str, &str)]) -> String {
    let report = compared_at(now, base, &with(base, edits));
    let own = report.changes.iter().filter(|line| line.by.name() == "apps-rt");
    let own = own.map(|line| format!("{} {}: {}", line.id.kind, line.id.name, told(&line.lands)));
    own.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_fails_without_a_kind_lands_once_that_is_there() {
    let (v1, v2) = (definition("v1"), definition("v2"));
    let (w1, w2) = (object("v1"), object("v2"));
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: { name: new }\n";
    let new = [
        (RT, "settings.yaml", "settings.yaml, w.yaml, namespace.yaml"),
        ("apps/apps-rt/w.yaml", "", w1.as_str()),
        ("apps/apps-rt/namespace.yaml", "", namespace),
        (SETTINGS, "a: '1'", "a: '2'"),
    ];
    let definition =
        [(RW, "deployment.yaml", "deployment.yaml, d.yaml"), ("apps/apps-rw/d.yaml", "", v1.as_str())];
    let both = [&new[..], &definition].concat();
    let base = files();
    // What defines something is applied before all else.
    insta::assert_snapshot!(lands(NOW, &base, &both), @r"
    ConfigMap settings: window 2026-11-28T21:00:00Z – 2026-11-28T21:08:00Z; apps-rt applies nothing until CustomResourceDefinition ws.x.io lands
    Namespace new: at-once 2026-11-23T12:00:00Z – 2026-11-23T12:02:03Z
    W w: window 2026-11-28T21:00:00Z – 2026-11-28T21:08:00Z; apps-rt applies nothing until CustomResourceDefinition ws.x.io lands
    ");
    // While it is open, both land at once.
    assert!(!lands(OPEN, &base, &both).contains("applies nothing"));
    // Nothing defines it in Git, so the cluster may have it.
    assert!(!lands(NOW, &base, &new).contains("applies nothing"));
    // It comes with the object.
    let own = [
        (RT, "settings.yaml", "settings.yaml, w.yaml, d.yaml"),
        ("apps/apps-rt/w.yaml", "", w1.as_str()),
        ("apps/apps-rt/d.yaml", "", v1.as_str()),
    ];
    assert!(!lands(NOW, &base, &own).contains("applies nothing"));
    // What has an object of it has the kind, and not each version of it.
    let had = with(&base, &new);
    let edit = ("apps/apps-rt/w.yaml", "namespace: shop", "namespace: shop, labels: { a: b }");
    let adopted = [&definition[..], &[edit]].concat();
    assert!(!lands(NOW, &had, &adopted).contains("applies nothing"));
    let all = with(&base, &both);
    let newer = [("apps/apps-rw/d.yaml", "", v2.as_str()), ("apps/apps-rt/w.yaml", "", w2.as_str())];
    assert!(lands(NOW, &all, &newer).starts_with("W w: window 2026-11-28T21:00:00Z"));
}

/// Its own failure does not concern what another one applies.
#[test]
fn others_land_without_a_kind() {
    let base = with(&files(), &[("clusters/one/more.yaml", "", &flux("more", "more", ""))]);
    let base = with(&base, &[("more/a.yaml", "", &map("a", "a: '1'"))]);
    let edits = [
        (RT, "settings.yaml", "settings.yaml, w.yaml"),
        ("apps/apps-rt/w.yaml", "", &object("v1")),
        (RW, "deployment.yaml", "deployment.yaml, d.yaml"),
        ("apps/apps-rw/d.yaml", "", &definition("v1")),
        ("more/a.yaml", "a: '1'", "a: '2'"),
    ];
    let report = compared_at(NOW, &base, &with(&base, &edits));
    let line = report.changes.iter().find(|line| line.id.name == "a").unwrap();
    assert!(told(&line.lands).starts_with("at-once"), "{}", told(&line.lands));
}

/// What depends on one that fails has nothing to begin with, nor has what such a one brings.
#[test]
fn what_depends_on_one_that_fails_waits_too() {
    let more = |name: &str, on: &str| flux(name, name, &format!("  dependsOn: [{{ name: {on} }}]\n"));
    let all = more("more", "apps-rt") + &more("far", "more");
    let base = with(
        &files(),
        &[
            ("clusters/one/more.yaml", "", &all),
            ("more/a.yaml", "", &map("a", "a: '1'")),
            ("far/b.yaml", "", &map("b", "a: '1'")),
        ],
    );
    let edits = [
        (RT, "settings.yaml", "settings.yaml, w.yaml, inner.yaml"),
        ("apps/apps-rt/w.yaml", "", &object("v1")),
        ("apps/apps-rt/inner.yaml", "", &flux("inner", "inner", "")),
        ("inner/c.yaml", "", &map("c", "")),
        (RW, "deployment.yaml", "deployment.yaml, d.yaml"),
        ("apps/apps-rw/d.yaml", "", &definition("v1")),
        ("more/a.yaml", "a: '1'", "a: '2'"),
        ("far/b.yaml", "a: '1'", "a: '2'"),
    ];
    let report = compared_at(NOW, &base, &with(&base, &edits));
    let lines = report.changes.iter().filter(|line| ["a", "b", "c"].contains(&line.id.name.as_str()));
    let lines = lines.map(|line| format!("{}: {}", line.by.name(), told(&line.lands)));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}
