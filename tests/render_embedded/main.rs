//! The embedded kustomize on repositories of our own: odd names, links, and ones that mean harm.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod support;

use std::time::{Duration, Instant};

use gitops_windows::render::{Embedded, Limits, Object, RenderError, Renderer, Request};
use gitops_windows::repo::{Entry, File, Snapshot};
use serde_json::Value;
use support::{folder, kustomize, path, snapshot};

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {key: value}\n";

fn build(snapshot: &Snapshot, request: &str) -> Result<Vec<Object>, RenderError> {
    Embedded::default().render(snapshot, &[folder(request)]).remove(0)
}

fn refusal(files: &[(&str, &str)], request: &str) -> String {
    build(&snapshot(files), request).expect_err("this can't be built").message
}

fn names(objects: &[Object]) -> Vec<&str> {
    objects.iter().map(|object| object.value["metadata"]["name"].as_str().unwrap()).collect()
}

/// Builds with both and expects the same.
fn agree(snapshot: &Snapshot, requests: &[Request]) -> Vec<Result<Vec<Object>, RenderError>> {
    let embedded = Embedded::default().render(snapshot, requests);
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
fn remote_things_are_named() {
    for place in [
        "https://github.com/example/repository//deploy?ref=v1",
        "git@github.com:example/repository.git",
        "https://example.com/deploy.yaml",
        "http://127.0.0.1:1/x.yaml",
        "ssh://git@example.com/x.git",
    ] {
        let message = refusal(&[("a/kustomization.yaml", &format!("resources: [\"{place}\"]\n"))], "a");
        let expected = format!("needs the remote base `{place}`, which is not in the repository");
        assert!(message.contains(&expected), "{message}");
    }
    let component = "components: [\"https://github.com/example/repository//component\"]\n";
    let message = refusal(&[("a/kustomization.yaml", component)], "a");
    assert!(message.contains("remote") && message.contains("github.com/example/repository"), "{message}");
}

#[test]
fn plugins_and_charts_are_refused() {
    let message = refusal(
        &[(
            "a/kustomization.yaml",
            "helmCharts: [{name: minecraft, repo: https://example.com, version: 1.0.0}]\n",
        )],
        "a",
    );
    assert!(message.contains("--enable-helm"), "{message}");

    let plugin = "apiVersion: someteam.example.com/v1\nkind: Exec\nmetadata: {name: x}\n";
    let files = [("a/kustomization.yaml", "generators: [plugin.yaml]\n"), ("a/plugin.yaml", plugin)];
    let message = refusal(&files, "a");
    assert!(message.contains("external plugins disabled"), "{message}");

    for function in ["exec: {path: ./run.sh}", "container: {image: example.com/x}"] {
        let plugin = format!(
            "apiVersion: example.com/v1\nkind: X\nmetadata:\n  name: x\n  annotations:\n    config.kubernetes.io/function: |\n      {function}\n"
        );
        let files = [
            ("a/kustomization.yaml", "transformers: [plugin.yaml]\nresources: [c.yaml]\n"),
            ("a/plugin.yaml", plugin.as_str()),
            ("a/c.yaml", CONFIG),
            ("a/run.sh", "#!/bin/sh\ntouch /tmp/reached\n"),
        ];
        let message = refusal(&files, "a");
        assert!(message.contains("external plugins disabled"), "{message}");
    }
}

#[test]
fn an_alias_bomb_ends_in_an_error() {
    let mut bomb =
        String::from("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..10 {
        let list = vec![format!("*a{}", level - 1); 10].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    let limits = Limits { time: Duration::from_secs(10), ..Limits::default() };
    for files in [
        [("a/kustomization.yaml", "resources: [x.yaml]\n"), ("a/x.yaml", bomb.as_str())],
        [("a/kustomization.yaml", bomb.as_str()), ("a/x.yaml", CONFIG)],
    ] {
        let start = Instant::now();
        let outcome = Embedded::new(limits).render(&snapshot(&files), &[folder("a")]).remove(0);
        let message = outcome.unwrap_err().message;
        let said = ["excessive aliasing", "memory", "longer than", "nests too deeply"];
        assert!(said.iter().any(|reason| message.contains(reason)), "{message}");
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn deep_nesting_ends_in_an_error_and_the_others_go_on() {
    let deep = format!("{CONFIG}x: {}{}\n", "[".repeat(9_000), "]".repeat(9_000));
    let deeper = format!("{CONFIG}x: {}{}\n", "[".repeat(2_000_000), "]".repeat(2_000_000));
    let tree = snapshot(&[
        ("deep/kustomization.yaml", "resources: [x.yaml]\n"),
        ("deep/x.yaml", &deep),
        ("deeper/kustomization.yaml", "resources: [x.yaml]\n"),
        ("deeper/x.yaml", &deeper),
        ("good/kustomization.yaml", "resources: [x.yaml]\n"),
        ("good/x.yaml", CONFIG),
    ]);
    let wanted = ["good", "deep", "good", "deeper", "good"].map(folder);
    let built = Embedded::default().render(&tree, &wanted);
    for index in [0, 2, 4] {
        assert_eq!(names(built[index].as_ref().unwrap()), ["settings"]);
    }
    assert!(built[3].is_err());
}

#[test]
fn memory_and_time_are_bounded() {
    let many: String =
        (0..100).map(|n| format!("---\n{}", CONFIG.replace("settings", &format!("c{n}")))).collect();
    let big = format!("{CONFIG}  big: {}\n", "x".repeat(40 << 20)).replace("data: {key: value}", "data:");
    let tree = snapshot(&[
        ("a/kustomization.yaml", "resources: [x.yaml]\nnamePrefix: x-\n"),
        ("a/x.yaml", &many),
        ("b/kustomization.yaml", "resources: [x.yaml]\n"),
        ("b/x.yaml", CONFIG),
        ("big/kustomization.yaml", "resources: [x.yaml]\n"),
        ("big/x.yaml", &big),
    ]);
    let limits = Limits { time: Duration::from_millis(1), ..Limits::default() };
    let built = Embedded::new(limits).render(&tree, &[folder("a")]);
    let message = &built[0].as_ref().unwrap_err().message;
    assert!(message.contains("takes longer than"), "{message}");

    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let built = Embedded::new(limits).render(&tree, &[folder("b"), folder("big"), folder("b")]);
    let message = &built[1].as_ref().unwrap_err().message;
    assert!(message.contains("MiB of memory"), "{message}");
    assert!(built[0].is_ok() && built[2].is_ok());

    let limits = Limits { answer: 1 << 12, ..Limits::default() };
    let built = Embedded::new(limits).render(&tree, &[folder("b"), folder("a"), folder("b")]);
    let message = &built[1].as_ref().unwrap_err().message;
    assert!(message.contains("of objects"), "{message}");
    assert!(built[0].is_ok() && built[2].is_ok());

    // Too little to start with.
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let built = Embedded::new(limits).render(&tree, &[folder("b"), folder("b")]);
    assert!(built.iter().all(|outcome| outcome.as_ref().unwrap_err().message.contains("can't be started")));
}

/// A sealed memfd is refused by a busy kernel, so that nothing could be built.
#[cfg(target_os = "linux")]
#[test]
fn an_instance_needs_no_file_of_the_kernel() {
    let tree = snapshot(&[("a/kustomization.yaml", "resources: [x.yaml]\n"), ("a/x.yaml", CONFIG)]);
    assert!(build(&tree, "a").is_ok());
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    let kept: Vec<_> = targets.filter(|target| target.to_string_lossy().contains("memfd")).collect();
    assert!(kept.is_empty(), "{kept:?}");
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
fn a_schema_of_its_own_does_not_leak() {
    let schema = r#"{"definitions":{"v1.X":{"properties":{"list":{"type":"array","items":{"type":"object"},"x-kubernetes-patch-merge-key":"name","x-kubernetes-patch-strategy":"merge"}},"x-kubernetes-group-version-kind":[{"group":"example.com","kind":"X","version":"v1"}]}}}"#;
    let object =
        "apiVersion: example.com/v1\nkind: X\nmetadata: {name: x}\nlist: [{name: a, v: 1}, {name: b}]\n";
    let patch = "apiVersion: example.com/v1\nkind: X\nmetadata: {name: x}\nlist: [{name: a, w: 2}]\n";
    let with = "resources: [x.yaml]\nopenapi: {path: schema.json}\npatches: [{path: patch.yaml}]\n";
    let without = "resources: [../with/x.yaml]\npatches: [{path: ../with/patch.yaml}]\n";
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: a, image: x}, {name: b, image: y}]}}}\n";
    let change = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: b, image: z}]}}}\n";
    let plain = "resources: [d.yaml]\npatches: [{path: p.yaml}]\n";
    let both = format!("{with}namePrefix: x-\n")
        .replace("[x.yaml]", "[x.yaml, ../plain/d.yaml]")
        .replace("patches: [", "patches: [{path: ../plain/p.yaml}, ");
    let tree = snapshot(&[
        ("with/kustomization.yaml", with),
        ("with/schema.json", schema),
        ("with/x.yaml", object),
        ("with/patch.yaml", patch),
        ("without/kustomization.yaml", without),
        ("plain/kustomization.yaml", plain),
        ("plain/d.yaml", deployment),
        ("plain/p.yaml", change),
        (
            "both/kustomization.yaml",
            &both
                .replace("x.yaml", "../with/x.yaml")
                .replace("schema", "../with/schema")
                .replace("{path: patch", "{path: ../with/patch"),
        ),
    ]);
    let order = ["plain", "with", "without", "plain", "both", "plain", "with"].map(folder);
    let built = agree(&tree, &order[..3]);
    assert_ne!(built[1], built[2], "the schema makes a difference");
    agree(&tree, &order);
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
        outcome.clone().map(|objects| objects.into_iter().map(|object| object.value).collect())
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
