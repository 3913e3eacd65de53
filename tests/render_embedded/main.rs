//! The embedded kustomize on repositories of our own: odd names, links, and ones that mean harm.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod anchors;
mod bases;
mod dice;
mod harm;
mod kept;
mod large;
mod once;
mod patches;
mod schema;
/// It is part of a build script, which has no tests.
#[path = "../../renderer/segments.rs"]
#[allow(dead_code, reason = "its own tests use the rest")]
mod segments;
#[path = "../support/mod.rs"]
mod support;
mod written;

use gitops_windows::render::{Embedded, Object, RenderError, Renderer, Request};
use gitops_windows::repo::{Entry, File, Snapshot};
use serde_json::Value;
use support::{folder, kustomize, path, snapshot};

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {key: value}\n";

fn build(snapshot: &Snapshot, request: &str) -> Result<Vec<Object>, RenderError> {
    support::built(snapshot, &[folder(request)]).remove(0)
}

fn refusal(files: &[(&str, &str)], request: &str) -> String {
    build(&snapshot(files), request).expect_err("this can't be built").message
}

fn names(objects: &[Object]) -> Vec<&str> {
    objects.iter().map(|object| object.value["metadata"]["name"].as_str().unwrap()).collect()
}

/// Builds with both and expects the same.
fn agree(snapshot: &Snapshot, requests: &[Request]) -> Vec<Result<Vec<Object>, RenderError>> {
    let embedded = support::built(snapshot, requests);
    let command = kustomize().render(snapshot, requests);
    for (ours, theirs) in embedded.iter().zip(&command) {
        assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{ours:?} {theirs:?}");
    }
    embedded
}

#[test]
fn names_that_are_no_identifiers() {
    for name in ["a+b", "with space", "größe-日本", "a=b,c", "it's", "a#b", "[x]", "a%2Fb"] {
        let quoted = serde_json::to_string(&format!("../{name}")).unwrap();
        let top = format!("resources: [{quoted}]\nnamePrefix: x-\n");
        let inner = format!("{name}/kustomization.yaml");
        let file = format!("{name}/{name}.yaml");
        let resource = format!("resources: [{}]\n", serde_json::to_string(&format!("{name}.yaml")).unwrap());
        let tree = snapshot(&[("top/kustomization.yaml", &top), (&inner, &resource), (&file, CONFIG)]);
        let built = agree(&tree, &[folder("top").with_origins(), folder(name)]);
        let objects = built[0].as_ref().unwrap();
        assert_eq!(names(objects), ["x-settings"], "{name}");
        assert_eq!(objects[0].origin.as_ref().unwrap().path, path(&file));
    }
}

#[test]
fn links_inside_are_followed() {
    let tree = snapshot(&[
        ("real/kustomization.yaml", "resources: [../elsewhere/config.yaml]\n"),
        ("elsewhere/config.yaml", CONFIG),
        ("deep/er/link", "->../../real"),
        ("file/kustomization.yaml", "resources: [link.yaml]\n"),
        ("file/link.yaml", "->../elsewhere/config.yaml"),
        ("top/kustomization.yaml", "resources: [../deep/er/link]\n"),
    ]);
    for outcome in agree(&tree, &[folder("top"), folder("file"), folder("deep/er/link")]) {
        assert_eq!(names(&outcome.unwrap()), ["settings"]);
    }
    let origin = build(&tree, "file").unwrap();
    assert!(origin[0].origin.is_none(), "not asked for");
}

#[test]
fn links_that_leave_dangle_or_turn_are_refused() {
    let top = ("a/kustomization.yaml", "resources: [x.yaml]\n");
    for (target, reason) in [
        ("->/etc/passwd", "leads out of the repository"),
        ("->../../../../../../etc/passwd", "leads out of the repository"),
        ("->nothing.yaml", "no such file or directory"),
        ("->x.yaml", "too many levels of symbolic links"),
    ] {
        let message = refusal(&[top, ("a/x.yaml", target)], "a");
        assert!(message.contains(reason), "{target}: {message}");
    }
}

#[test]
fn paths_that_leave_the_repository_find_nothing() {
    for target in ["../../x.yaml", "../../../etc/passwd", "/etc/passwd", "../../repository/a/x.yaml"] {
        let message = refusal(
            &[("a/kustomization.yaml", &format!("resources: [\"{target}\"]\n")), ("a/x.yaml", CONFIG)],
            "a",
        );
        assert!(message.contains("leads out of the repository"), "{target}: {message}");
    }
    let generator = "configMapGenerator: [{name: x, files: [/etc/hostname]}]\n";
    let message = refusal(&[("a/kustomization.yaml", generator)], "a");
    assert!(message.contains("leads out of the repository"), "{message}");
}

#[test]
fn a_file_of_unknown_content_is_an_error() {
    let mut entries: std::collections::BTreeMap<_, _> =
        snapshot(&[("a/kustomization.yaml", "resources: [x.yaml]\n")])
            .entries()
            .map(|(path, entry)| (path.clone(), entry.clone()))
            .collect();
    entries.insert(path("a/x.yaml"), Entry::Large { bytes: 1 << 40 });
    let message = build(&Snapshot::new(entries), "a").unwrap_err().message;
    assert!(message.contains("needs `a/x.yaml`, which is too large to be read"), "{message}");
}

#[test]
fn empty_and_missing_folders() {
    let tree = snapshot(&[
        ("empty/kustomization.yaml", ""),
        ("null/kustomization.yaml", "resources:\n"),
        ("list/kustomization.yaml", "resources: []\n"),
        ("none/x.yaml", CONFIG),
        ("two/kustomization.yaml", "resources: [x.yaml]\n"),
        ("two/Kustomization", "resources: [x.yaml]\n"),
        ("two/x.yaml", CONFIG),
        ("cycle/kustomization.yaml", "resources: [../cycle]\n"),
        ("above/kustomization.yaml", "resources: [..]\n"),
    ]);
    let folders = ["empty", "null", "list", "none", "two", "cycle", "above", "missing", "none/x.yaml"];
    let built = agree(&tree, &folders.map(folder));
    for (name, outcome) in folders.iter().zip(&built) {
        assert_eq!(outcome.is_ok(), *name == "list", "{name}: {outcome:?}");
    }
}

#[test]
fn values_are_what_the_command_writes() {
    let odd = "apiVersion: v1
kind: ConfigMap
metadata:
  name: odd
  annotations: {}
data:
  yes: on
  octal: 0777
  new-octal: 0o17
  hex: 0x1F
  float: 1.10
  exponent: 1e3
  big: 123456789012345678901234567890
  negative: -0
  date: 2001-01-01
  null-word: ~
  empty:
  quoted: \"0777\"
  single: 'no'
  sexagesimal: 12:30:45
  underscore: 1_000
  literal: |
    a
      b

  kept: |+
    a

  folded: >-
    a
    b

      c
  tab: \"a\\tb\"
  return: \"a\\r\\nb\"
  emoji: \"\\U0001F600 \\u2028\"
  leading: \"  x\"
  merge:
    <<: &base {a: 1, b: y}
    b: 2
  again: *base
  inf: 1.5e300
  tagged: !!str 12
";
    let string = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata:\n  a: y\n  b: !!str 0x10\n  c: '1e3'\n";
    let tree = snapshot(&[
        ("a/kustomization.yaml", "resources: [x.yaml]\n"),
        ("a/x.yaml", odd),
        ("b/kustomization.yaml", "resources: [x.yaml]\ncommonAnnotations: {a: 'yes', b: '012'}\n"),
        ("b/x.yaml", string),
    ]);
    agree(&tree, &[folder("a"), folder("b")]);
    assert!(agree(&tree, &[folder("a")])[0].is_ok());
    let keys = "  1: number\n  true: boolean\n  null: nothing\n  1.5: float\n";
    for line in odd
        .lines()
        .skip(5)
        .chain(keys.lines())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
    {
        if line.ends_with(['|', '+', '-', ':']) || line.contains("base") {
            continue;
        }
        let one = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: one}}\ndata:\n{line}\n");
        let tree = snapshot(&[("a/kustomization.yaml", "resources: [x.yaml]\n"), ("a/x.yaml", &one)]);
        agree(&tree, &[folder("a")]);
    }
}

#[test]
fn origins_do_not_change_the_result() {
    let patch = "[{op: add, path: /metadata/annotations/x, value: y}]";
    let json = format!("resources: [c.yaml]\npatches: [{{target: {{kind: ConfigMap}}, patch: '{patch}'}}]\n");
    let copying = "resources: [c.yaml, d.yaml]\nreplacements: [{source: {kind: ConfigMap, name: settings, fieldPath: metadata}, targets: [{select: {name: other}, fieldPaths: [data.copy], options: {create: true}}]}]\n";
    let marked = "resources: [c.yaml]\nbuildMetadata: [originAnnotations]\n";
    let other = CONFIG.replace("settings", "other");
    let tree = snapshot(&[
        ("json/kustomization.yaml", &json),
        ("json/c.yaml", CONFIG),
        ("copy/kustomization.yaml", copying),
        ("copy/c.yaml", CONFIG),
        ("copy/d.yaml", &other),
        ("marked/kustomization.yaml", marked),
        ("marked/c.yaml", CONFIG),
    ]);
    let plain = ["json", "copy", "marked"].map(folder);
    let built = agree(&tree, &plain);
    let values = |outcome: &Result<Vec<Object>, RenderError>| -> Result<Vec<Value>, RenderError> {
        outcome.clone().map(|objects| {
            objects.into_iter().map(|object| std::sync::Arc::unwrap_or_clone(object.value)).collect()
        })
    };
    let again = Embedded::default().render(&tree, &plain.map(Request::with_origins));
    assert_eq!(built.iter().map(values).collect::<Vec<_>>(), again.iter().map(values).collect::<Vec<_>>());
    let marked = again[2].as_ref().unwrap();
    assert_eq!(marked[0].origin.as_ref().unwrap().path, path("marked/c.yaml"));
}

#[test]
fn many_requests_keep_their_order() {
    let mut tree = Snapshot::default();
    let mut requests = Vec::new();
    for number in 0..150 {
        let name = format!("app-{number}");
        let top = format!("resources: [x.yaml]\nnamePrefix: {name}-\n");
        tree.insert(path(&format!("{name}/kustomization.yaml")), File::new(top.into_bytes()));
        tree.insert(path(&format!("{name}/x.yaml")), File::new(CONFIG.as_bytes()));
        requests.push(folder(&name));
        if number % 10 == 3 {
            requests.push(folder("missing"));
        }
    }
    let built = Embedded::default().render(&tree, &requests);
    assert_eq!(built.len(), requests.len());
    for (request, outcome) in requests.iter().zip(&built) {
        match outcome {
            Ok(objects) => assert_eq!(names(objects), [format!("{}-settings", request.path)]),
            Err(_) => assert_eq!(request.path, path("missing")),
        }
    }
}
