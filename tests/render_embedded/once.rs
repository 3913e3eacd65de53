//! Each distinct build is made once.

use gitops_windows::render::{Embedded, Renderer, Request, Tally};
use gitops_windows::repo::Snapshot;
use serde_json::json;

use super::{CONFIG, folder, names, path, snapshot};

/// A folder `a` with a kustomization and one object.
fn one(kustomization: &str) -> Snapshot {
    snapshot(&[("a/kustomization.yaml", kustomization), ("a/x.yaml", CONFIG)])
}

/// Asks for one build after the other, and tells how many were made.
fn made(tree: &Snapshot, requests: &[Request]) -> usize {
    let renderer = Embedded::default();
    requests.iter().for_each(|request| drop(renderer.render(tree, std::slice::from_ref(request))));
    renderer.tally().unwrap().made
}

fn flux(spec: &serde_json::Value) -> Request {
    Request::flux(path("a"), spec)
}

#[test]
fn fields_that_no_build_depends_on_make_no_other() {
    let spec = json!({"interval": "1m", "dependsOn": [{"name": "b"}], "targetNamespace": "web"});
    let same = json!({
        "interval": "9m", "sourceRef": {"kind": "Bucket"}, "targetNamespace": "web",
        "postBuild": {"substitute": {"key": "1"}},
    });
    let other = json!({"interval": "1m", "targetNamespace": "api"});
    assert_eq!(made(&one("resources: [x.yaml]\n"), &[flux(&spec), flux(&same), flux(&other)]), 2);
}

#[test]
fn kustomize_and_a_flux_kustomization_without_fields_share_a_build() {
    let both = [folder("a"), flux(&json!({"prune": true}))];
    for (kustomization, count) in [
        ("resources: [x.yaml]\nnamePrefix: p-\n", 1),
        // The controller asks for origins here.
        ("configMapGenerator: [{name: made}]\n", 2),
        // It leaves out what it does not know.
        ("resources: [x.yaml]\nunknown: 1\n", 2),
        // And what is read as a file is what it has written.
        ("resources: [x.yaml]\nconfigMapGenerator: [{name: made, files: [kustomization.yaml]}]\n", 2),
    ] {
        let tree = one(kustomization);
        assert_eq!(made(&tree, &both), count, "{kustomization}");
        let mut turned = both.clone();
        turned.reverse();
        assert_eq!(made(&tree, &turned), count, "{kustomization}");
        let together = Embedded::default();
        let apart =
            both.each_ref().map(|one| Embedded::default().render(&tree, std::slice::from_ref(one)).remove(0));
        assert_eq!(together.render(&tree, &both), apart, "{kustomization}");
        assert_eq!(together.tally().unwrap().made, count, "{kustomization}");
    }
}

#[test]
fn a_batch_builds_what_it_names_often_once_and_with_origins() {
    let tree = one("resources: [x.yaml]\n");
    let renderer = Embedded::default();
    let built = renderer.render(&tree, &[folder("a"), folder("a").with_origins(), folder("a"), folder("b")]);
    assert_eq!(renderer.tally(), Some(Tally { asked: 4, distinct: 2, made: 2, remembered: 2, kept: 0 }));
    let origins: Vec<bool> = built[..3].iter().map(|one| one.as_ref().unwrap()[0].origin.is_some()).collect();
    assert_eq!(origins, [false, true, false]);
    assert!(built[3].is_err());
}

#[test]
fn what_is_built_ahead_is_not_asked_for() {
    let tree = one("resources: [x.yaml]\n");
    let renderer = Embedded::default();
    renderer.prepare(&tree, &[folder("a")]);
    renderer.render(&tree, &[folder("a")]);
    let tally = renderer.tally().unwrap();
    assert_eq!(tally.to_string(), "1 asked for, 1 distinct, 1 made, 1 from memory, 0 from the cache");
}

#[test]
fn an_empty_kustomization_builds_no_better_with_origins() {
    let tree = one("namePrefix: \"\"\n");
    let built = Embedded::default().render(&tree, &[folder("a").with_origins()]).remove(0);
    assert_eq!(built.unwrap_err().message, "kustomization.yaml is empty");
}

/// Whatever meets the annotation by which kustomize tells origins gives what it gives without.
#[test]
fn origins_are_told_beside_everything_that_reads_annotations() {
    let annotated = CONFIG.replace("{name: settings}", "{name: settings, annotations: {a: b}}");
    let hashed = CONFIG.replace("ConfigMap", "Service").replace(
        "{name: settings}",
        "{name: settings, annotations: {internal.config.kubernetes.io/needsHashSuffix: enabled}}",
    );
    let merge = |annotations: &str| {
        format!(
            "resources: [x.yaml]\npatches: [{{patch: '{{apiVersion: v1, kind: ConfigMap, metadata: {{name: settings, annotations: {annotations}}}}}'}}]\n"
        )
    };
    let patched = |target: &str, steps: &[&str]| {
        let steps: String = steps.iter().map(|step| format!("    - {{{step}}}\n")).collect();
        format!("resources: [x.yaml]\npatches:\n- target: {{{target}}}\n  patch: |-\n{steps}")
    };
    let step = |step: &str| patched("kind: ConfigMap", &[step]);
    let steps = |steps: &[&str]| patched("kind: ConfigMap", steps);
    let selected =
        |selector: &str| patched(&format!("annotationSelector: '{selector}'"), &["op: remove, path: /data"]);
    for (kustomization, file) in [
        (merge("{c: d}"), CONFIG),
        (merge("{a: null}"), &annotated),
        (merge("null"), &annotated),
        (merge("{$patch: replace, c: d}"), &annotated),
        (step("op: add, path: /metadata/annotations/c, value: d"), CONFIG),
        (step("op: add, path: /metadata/annotations, value: {c: d}"), CONFIG),
        (step("op: remove, path: /metadata/annotations/a"), &annotated),
        (step("op: remove, path: /metadata/annotations/none"), &annotated),
        (step("op: remove, path: /metadata/annotations/none"), CONFIG),
        (step("op: remove, path: /metadata/annotations/config.kubernetes.io~1origin"), &annotated),
        (step("op: remove, path: /metadata/annotations/config.kubernetes.io~1origin"), CONFIG),
        (step("op: remove, path: /metadata/annotations/alpha.config.kubernetes.io~1transformations"), CONFIG),
        (step("op: remove, path: /metadata/annotations"), CONFIG),
        (step("op: test, path: /metadata/annotations/a, value: b"), &annotated),
        (
            steps(&[
                "op: remove, path: /metadata/annotations/a",
                "op: add, path: /metadata/annotations/c, value: d",
            ]),
            &annotated,
        ),
        (
            steps(&[
                "op: remove, path: /metadata/annotations/a",
                "op: remove, path: /metadata/annotations/a",
            ]),
            &annotated,
        ),
        (
            steps(&["op: remove, path: /metadata/annotations/a", "op: remove, path: /metadata/annotations"]),
            &annotated,
        ),
        (step("op: copy, from: /metadata/annotations/a, path: /data/copy"), &annotated),
        (step("op: copy, from: /metadata, path: /data/copy"), &annotated),
        (step("op: replace, path: /data/key, value: other"), &annotated),
        (
            "resources: [x.yaml]\nlabels: [{pairs: {c: d}, fields: [{path: metadata/annotations}]}]\n"
                .to_owned(),
            CONFIG,
        ),
        ("resources: [x.yaml]\ncommonAnnotations: {c: d}\n".to_owned(), CONFIG),
        (selected("!a"), CONFIG),
        (selected("example.com/a != b"), CONFIG),
        (selected("a in (b, c)"), &annotated),
        (selected("config.kubernetes.io/origin"), CONFIG),
        (selected("!config.kubernetes.io/origin"), &annotated),
        ("resources: [x.yaml]\n".to_owned(), &hashed),
        ("resources: [x.yaml]\nbuildMetadata: [transformerAnnotations]\nnamePrefix: p-\n".to_owned(), CONFIG),
    ] {
        let tree = snapshot(&[("a/kustomization.yaml", &kustomization), ("a/x.yaml", file)]);
        let build = |request| Embedded::default().render(&tree, &[request]).remove(0);
        match (build(folder("a")), build(folder("a").with_origins())) {
            (Ok(plain), Ok(told)) => {
                let values = |objects: &[gitops_windows::render::Object]| -> Vec<serde_json::Value> {
                    objects.iter().map(|object| serde_json::Value::clone(&object.value)).collect()
                };
                assert_eq!(values(&plain), values(&told), "{kustomization}");
                assert_eq!(names(&plain).len(), 1);
            }
            (plain, told) => assert_eq!(plain, told, "{kustomization}"),
        }
    }
}

/// A side of an app: all objects are marked as local, and the mark is taken from some. None is left of these annotations.
#[test]
fn origins_are_told_beside_marks_that_come_and_go() {
    let side = "resources: [../all]\npatches:\n- target: {kind: '.*'}\n  patch: '{apiVersion: v1, kind: Any, metadata: {name: any, annotations: {config.kubernetes.io/local-config: \"true\"}}}'\n- target: {kind: ConfigMap}\n  patch: |-\n    - {op: remove, path: /metadata/annotations/config.kubernetes.io~1local-config}\n";
    let later = "resources: [../side]\npatches:\n- target: {kind: ConfigMap}\n  patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: any, annotations: {c: d}}}'\n- target: {kind: ConfigMap}\n  patch: |-\n    - {op: remove, path: /metadata/annotations/c}\n";
    let tree = snapshot(&[
        ("all/kustomization.yaml", "resources: [x.yaml, y.yaml]\n"),
        ("all/x.yaml", CONFIG),
        ("all/y.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: y, annotations: {a: b}}\n"),
        ("side/kustomization.yaml", side),
        ("later/kustomization.yaml", later),
        ("named/kustomization.yaml", "resources: [../later]\nnamePrefix: p-\ncommonAnnotations: {e: f}\n"),
    ]);
    for (at, name) in [("side", "settings"), ("later", "settings"), ("named", "p-settings")] {
        let built = super::agree(&tree, &[folder(at), folder(at).with_origins()]);
        let told = built[1].as_ref().unwrap();
        assert_eq!((names(built[0].as_ref().unwrap()), names(told)), (vec![name], vec![name]));
        assert_eq!(built[0].as_ref().unwrap()[0].value, told[0].value, "{at}");
        assert_eq!(told[0].origin.as_ref().unwrap().path, path("all/x.yaml"));
    }
}

/// What is put into a kustomization to be told origins is in no object that is made of it as a file.
#[test]
fn a_kustomization_that_is_read_as_a_file_is_as_it_was() {
    let tree = one("resources: [x.yaml]\nconfigMapGenerator: [{name: made, files: [kustomization.yaml]}]\n");
    for request in [folder("a"), flux(&json!({"prune": true})), flux(&json!({"namePrefix": "p-"}))] {
        let build = |request| Embedded::default().render(&tree, &[request]).remove(0).unwrap();
        let (plain, told) = (build(request.clone()), build(request.with_origins()));
        assert_eq!(plain.len(), 2);
        for (plain, told) in plain.iter().zip(&told) {
            assert_eq!(plain.value, told.value);
            assert!(
                told.origin.is_some() || told.value["metadata"]["name"].as_str().unwrap().contains("made")
            );
        }
    }
}
