//! Objects without an anchor are read without a search for one; all others as kustomize reads them.

use super::{agree, folder, names, snapshot};

const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

/// Manifests with anchors, aliases and merges, and with what only looks like those.
fn manifests() -> Vec<String> {
    let bodies = [
        "data: {a: &x one, b: *x}\n",
        "data:\n  a: &x\n    b: &y {c: d}\n  e: *x\n  f: *y\n",
        "data: &x {a: \"1\"}\nother: {<<: *x, b: \"2\"}\n",
        "data: &x {a: \"1\"}\nmore: &y {a: \"2\", c: \"3\"}\nother: {b: \"2\", <<: [*x, *y]}\n",
        "data: {<<: {a: \"1\"}, b: \"2\"}\n",
        "data: {\"<<\": {a: \"1\"}, b: \"2\"}\n",
        "data: {\"\\x3c\\x3c\": c, b: \"2\"}\n",
        "data: {? !!merge x : {a: \"1\"}, b: \"2\"}\n",
        "data: {~: x, \"\": y}\n",
        "data: {null: x, b: y, null: z}\n",
        "data: {? [a, b] : x}\n",
        "data: {? &k a : x, b: *k}\n",
        "data: {a: \"1\", a: \"2\", b: \"3\"}\n",
        "data: {a: '&x', b: '*x', c: \"a & b * c\"}\n",
        "data: !custom {a: b}\nmore: !!null {a: b}\n",
        "data: {a: *x}\n",
        "data: {}\nempty: []\nlist: [[{a: {b: [{c: d}]}}], {}]\n",
        "data: # said\n  # before\n  a: \"1\" # behind\n",
    ];
    let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
    let item = |name: &str, data: &str| {
        format!("- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}, data: {data}}}\n")
    };
    let mut all: Vec<String> = bodies.iter().map(|body| format!("{HEAD}{body}")).collect();
    all.push(list(&[item("a", "&x {a: b}"), item("b", "*x"), item("c", "{d: e}")].concat()));
    all.push(list(&[item("a", "{d: e}"), item("b", "&x {a: &y b, c: *y}"), item("c", "*x")].concat()));
    all.push(format!("{HEAD}data: &x {{a: b}}\n---\n{}data: {{a: c}}\n", HEAD.replace("name: a", "name: b")));
    all
}

#[test]
fn anchors_are_resolved_as_kustomize_does_it() {
    let patch = "patches: [{target: {kind: .*}, patch: '{apiVersion: v1, kind: A, metadata: {name: a, labels: {x: y}}}'}]\n";
    let patched = format!("resources: [x.yaml]\n{patch}");
    let (mut files, mut requests) = (Vec::new(), Vec::new());
    for (index, manifest) in manifests().into_iter().enumerate() {
        for (at, list) in [("plain", "resources: [x.yaml]\n"), ("patched", patched.as_str())] {
            let at = format!("{at}/{index}");
            files.push((format!("{at}/kustomization.yaml"), list.to_owned()));
            files.push((format!("{at}/x.yaml"), manifest.clone()));
            requests.push(folder(&at));
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let built = agree(&snapshot(&files), &requests);
    let named = built.iter().flatten().filter(|objects| names(objects)[0] == "a").count();
    let failed = built.iter().filter(|one| one.is_err()).count();
    assert!(named > 30 && failed > 0 && named + failed == built.len(), "{named} {failed}");
}
