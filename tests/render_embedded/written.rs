//! What stands in for YAML that kustomize or kustomize-controller writes for itself is read as that is.

use gitops_windows::render::Request;
use serde_json::json;

use super::{CONFIG, agree, build, folder, path, snapshot};

#[test]
fn a_kustomization_that_is_read_as_a_file_is_what_the_controller_writes() {
    let list = "resources: [x.yaml]\nconfigMapGenerator: [{name: made, files: [kustomization.yaml]}]\n";
    let tree = snapshot(&[("a/kustomization.yaml", list), ("a/x.yaml", CONFIG)]);
    let request = Request::flux(path("a"), &json!({"targetNamespace": "web"}));
    let built = super::support::built(&tree, &[request]).remove(0).unwrap();
    let made = built.iter().find(|one| one.value["metadata"]["name"] != "settings").unwrap();
    let written = made.value["data"]["kustomization.yaml"].as_str().unwrap();
    insta::assert_snapshot!(written, @r"
    apiVersion: kustomize.config.k8s.io/v1beta1
    configMapGenerator:
    - files:
      - kustomization.yaml
      name: made
    kind: Kustomization
    namespace: web
    resources:
    - x.yaml
    ");
}

#[test]
fn an_empty_kustomization_is_told_as_such() {
    for text in ["", "null\n", "# nothing\n"] {
        let tree = snapshot(&[("a/kustomization.yaml", text)]);
        for request in [folder("a"), folder("a").with_origins()] {
            let refused = super::support::built(&tree, &[request]).remove(0).unwrap_err();
            assert_eq!(refused.message, "kustomization.yaml is empty", "{text:?}");
        }
    }
    assert!(build(&snapshot(&[("a/kustomization.yaml", "- a\n")]), "a").is_err());
}

/// Objects whose fields are of all kinds, some of which merging changes.
const ODD: &str = r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: odd # said
  labels: {y: "yes", n: "no", e: }
data:
  a: ~
  b: null
  c: "yes"
  d: !!str 12
  e: ''
  f: |
    text
  # {"type":"string"}
  g: z # {"$openapi":"x"}
  h: 0o7
  i: .5
list: [{name: a, v: 1}, {name: a, v: 2}, ~]
none: {}
nothing: []
deep: {n: ~, o: {p: ~, q: 2001-01-01, r: on}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
        - name: a
          image: b:1
          ports: [{containerPort: 80, name: x}, {containerPort: 80, name: y}]
          env: [{name: A, value: "1"}, {name: A, value: "2"}]
        - name: b
          command: [a, b]
          securityContext: {runAsUser: 0}
"#;

#[test]
fn odd_fields_are_merged_and_configured_as_kustomize_does_it() {
    let long = "k".repeat(1100);
    let patch = |fields: &str| {
        format!(
            "patches: [{{target: {{kind: .*}}, patch: '{{apiVersion: v1, kind: A, metadata: {{name: a}}, {fields}}}'}}]\n"
        )
    };
    let lists = [
        patch("data: {z: w}"),
        patch("data: {a: null, c: \"no\", g: on}"),
        patch("deep: {o: {p: 1}}, list: []"),
        patch(
            "spec: {template: {spec: {containers: [{name: a, image: c, env: [{name: A, $patch: delete}]}]}}}",
        ),
        patch("data: {z: \"<&> \\u2028 ü \\t\"}"),
        "patches: [{target: {kind: Config.*}, patch: '[{op: add, path: /data/z, value: \"1\"}]'}]\n"
            .to_owned(),
        "patches: [{target: {kind: (}, patch: '[{op: remove, path: /data}]'}]\n".to_owned(),
        "patches: [{target: {kind: A}, patch: 'x: ['}]\n".to_owned(),
        "patches: [{target: {kind: A}}]\n".to_owned(),
        "commonAnnotations: {\"a<b>\": x, q: \"a\\tb\\u2028 é\", s: '<<'}\n".to_owned(),
        "commonAnnotations: {'<<': x}\n".to_owned(),
        format!("commonAnnotations: {{{long}: x}}\n"),
        format!("commonAnnotations: {{a: {long}}}\n"),
        "commonAnnotations: {a: 1.50, b: true, c: 0x10, d: 1e3}\n".to_owned(),
        "namePrefix: 12\n".to_owned(),
        "replicas: [{name: web, count: 3}]\nimages: [{name: b, newTag: \"1.10\"}]\n".to_owned(),
        "labels: [{pairs: {a: b}, includeSelectors: true}]\nnamespace: n\n".to_owned(),
    ];
    let mut files = vec![("x.yaml".to_owned(), ODD.to_owned())];
    let mut requests = Vec::new();
    for (index, list) in lists.iter().enumerate() {
        files.push((format!("{index}/kustomization.yaml"), format!("resources: [../x.yaml]\n{list}")));
        requests.push(folder(&index.to_string()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let tree = snapshot(&files);
    let built = agree(&tree, &requests);
    let failed = built.iter().filter(|one| one.is_err()).count();
    assert!((3..10).contains(&failed), "{failed} of {}", built.len());
    // The controller's way through the same, where it reads the same.
    let alike = requests.iter().zip(&built).filter(|(_, built)| built.is_ok());
    for (request, built) in alike {
        let own = Request::flux(request.path.clone(), &json!({"commonMetadata": {}}));
        let found = super::support::built(&tree, &[own]).remove(0);
        assert_eq!(found.as_ref().ok(), built.as_ref().ok(), "{request:?}");
    }
}
