//! The fields of a Flux Kustomization give what `flux build kustomization --dry-run` gives.
//!
//! The flux command is found by `GITOPS_WINDOWS_FLUX`, or on PATH.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may fail and speak"
)]
#![allow(clippy::disallowed_methods, reason = "writes into a temporary folder")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use gitops_windows::render::Request;
use gitops_windows::repo::{Entry, Snapshot};
use serde_json::{Value, json};
use support::path;

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: apps
  labels: {app: web}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: example.com/web:1.0}
        - {name: side, image: side}
";
const CONFIG: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {region: '${region}', key: value}\n";

/// The repository that all cases build.
const FILES: &[(&str, &str)] = &[
    (
        "plain/kustomization.yaml",
        "resources: [web.yaml, config.yaml]\nimages: [{name: side, newTag: old, newName: elsewhere}]\n",
    ),
    ("plain/web.yaml", DEPLOYMENT),
    ("plain/config.yaml", CONFIG),
    ("yml/kustomization.yml", "resources: [../plain]\nnamePrefix: inner-\n"),
    ("bare/web.yaml", DEPLOYMENT),
    ("bare/nested/config.yml", CONFIG),
    ("bare/nested/notes.txt", "nothing"),
    ("bare/whole/kustomization.yaml", "resources: [hidden.yaml]\nnameSuffix: -whole\n"),
    (
        "bare/whole/hidden.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: hidden}\nstringData: {a: b}\n",
    ),
    ("bare/whole/other.yaml", "this: is no object\n"),
    ("parts/kustomization.yaml", "components: [../component]\n"),
    (
        "component/kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [extra.yaml]\nlabels: [{pairs: {part: extra}}]\n",
    ),
    (
        "component/extra.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: extra}\nspec: {ports: [{port: 80}]}\n",
    ),
    (
        "generated/kustomization.yaml",
        "configMapGenerator: [{name: made, literals: [a=b]}]\nresources: [web.yaml]\n",
    ),
    ("generated/web.yaml", DEPLOYMENT),
    ("nothing/readme.txt", "nothing\n"),
    ("empty/kustomization.yaml", ""),
    ("void/kustomization.yaml", "resources:\n"),
    ("unknown/kustomization.yaml", "resources: [../plain]\nnamePrefix: p-\nspec: {commonLabels: {a: b}}\n"),
    (
        "within/kustomization.yaml",
        "resources: [../plain]\nimages: [{name: side, newTag: 1.20, color: red}]\n",
    ),
    ("over/kustomization.yaml", "resources: [../unknown]\n"),
    ("over-void/kustomization.yaml", "resources: [../plain, ../void]\n"),
];

fn cases() -> Vec<(&'static str, Value)> {
    let json_patch = "- op: replace\n  path: /data/key\n  value: changed\n";
    let merge_patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: apps\nspec:\n  replicas: 3\n";
    let delete = "$patch: delete\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n";
    vec![
        ("plain", json!({})),
        ("plain", json!({"targetNamespace": "other"})),
        ("plain", json!({"namePrefix": "pre-", "nameSuffix": "-post"})),
        ("yml", json!({"namePrefix": "pre-"})),
        (
            "plain",
            json!({"commonMetadata": {"labels": {"app": "all", "team": "x"}, "annotations": {"note": "yes"}}}),
        ),
        ("plain", json!({"patches": [{"patch": json_patch, "target": {"kind": "ConfigMap"}}]})),
        ("plain", json!({"patches": [{"patch": merge_patch}]})),
        (
            "plain",
            json!({"patches": [{"patch": delete}, {"patch": merge_patch, "target": {"labelSelector": "app=web"}}]}),
        ),
        ("plain", json!({"patches": [{"patch": json_patch, "target": {"kind": "Nothing"}}]})),
        (
            "plain",
            json!({"images": [{"name": "example.com/web", "newTag": "2.0"}, {"name": "side", "newTag": "new"}]}),
        ),
        (
            "plain",
            json!({"images": [{"name": "side", "digest": "sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3"}]}),
        ),
        ("plain", json!({"components": ["../component"]})),
        ("plain", json!({"components": ["../missing", "../component"], "ignoreMissingComponents": true})),
        ("plain", json!({"components": ["../missing"]})),
        ("plain", json!({"components": ["https://github.com/example/x"]})),
        ("bare", json!({})),
        ("bare", json!({"targetNamespace": "other", "namePrefix": "x-", "components": ["../component"]})),
        ("empty", json!({})),
        ("void", json!({})),
        ("void", json!({"components": ["../component"]})),
        ("unknown", json!({})),
        ("unknown", json!({"namePrefix": "q-"})),
        ("within", json!({})),
        ("over", json!({})),
        ("over-void", json!({})),
        ("parts", json!({})),
        ("parts", json!({"targetNamespace": "other"})),
        ("generated", json!({"nameSuffix": "-s"})),
        ("nothing", json!({})),
        ("missing", json!({})),
        ("plain", json!({"buildMetadata": ["originAnnotations"]})),
    ]
}

fn flux() -> Option<PathBuf> {
    if let Some(place) = std::env::var_os("GITOPS_WINDOWS_FLUX") {
        return Some(place.into());
    }
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join("flux")).find(|place| place.is_file());
    if found.is_none() {
        eprintln!("skipped: there is no flux command, by GITOPS_WINDOWS_FLUX or on PATH");
    }
    found
}

/// Sorts objects, and takes off what the flux command adds for its owner.
fn normal(mut objects: Vec<Value>) -> Vec<Value> {
    for object in &mut objects {
        let metadata = object["metadata"].as_object_mut().unwrap();
        if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
            labels.retain(|name, _| !name.starts_with("kustomize.toolkit.fluxcd.io/"));
            if labels.is_empty() {
                metadata.remove("labels");
            }
        }
        // The command hides what a Secret holds, encrypted or not.
        if object["kind"] == "Secret" {
            object
                .as_object_mut()
                .unwrap()
                .retain(|name, _| !["data", "stringData", "sops"].contains(&name.as_str()));
        }
    }
    objects.sort_by_key(ToString::to_string);
    objects
}

/// Writes a snapshot's files.
fn write(tree: &Snapshot, top: &Path) {
    for (name, entry) in tree.entries() {
        let Entry::File(file) = entry else { continue };
        let place = top.join(name.as_str());
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, file.bytes()).unwrap();
    }
}

/// Builds a folder with the flux command, `Err` with what it said.
fn command(flux: &Path, top: &Path, folder: &str, spec: &Value) -> Result<Vec<Value>, String> {
    let mut whole = spec.clone();
    for (name, value) in
        [("interval", json!("5m")), ("prune", json!(true)), ("path", json!(format!("./{folder}")))]
    {
        whole[name] = value;
    }
    whole["sourceRef"] = json!({"kind": "GitRepository", "name": "x"});
    let kustomization = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {"name": "x", "namespace": "flux-system"}, "spec": whole,
    });
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("flux.json");
    std::fs::write(&file, kustomization.to_string()).unwrap();
    let output = Command::new(flux)
        .args(["build", "kustomization", "x", "--dry-run", "--in-memory-build", "--path"])
        .arg(top.join(folder))
        .arg("--kustomization-file")
        .arg(&file)
        .env("HOME", room.path())
        .current_dir(top)
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8(output.stdout).unwrap();
    Ok(serde_saphyr::from_multiple(&text).unwrap())
}

/// Compares with the flux command; the difference, if there is one.
fn compare(flux: &Path, top: &Path, tree: &Snapshot, folder: &str, spec: &Value) -> Option<String> {
    let theirs = command(flux, top, folder, spec);
    let ours = support::built(tree, &[Request::flux(path(folder), spec)]).remove(0);
    let values =
        ours.as_ref().ok().map(|all| all.iter().map(|one| Value::clone(&one.value)).collect::<Vec<_>>());
    let same = values.map(normal) == theirs.clone().ok().map(normal);
    (!same).then(|| format!("{folder} {spec}\nours   {ours:?}\ntheirs {theirs:?}"))
}

#[test]
fn fields_are_applied_as_the_controller_does() {
    let Some(flux) = flux() else { return };
    let room = tempfile::tempdir().unwrap();
    let tree = support::snapshot(FILES);
    write(&tree, room.path());
    let different: Vec<String> = cases()
        .iter()
        .filter_map(|(folder, spec)| compare(&flux, room.path(), &tree, folder, spec))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}

#[test]
fn folders_without_a_kustomization_are_built_as_the_controller_does() {
    let Some(flux) = flux() else { return };
    let mut different = Vec::new();
    let mut count = 0;
    for top in support::corpus() {
        let tree = support::read(&top);
        // The command can't build below a folder with an odd name, as the corpus has.
        let room = tempfile::tempdir().unwrap();
        write(&tree, room.path());
        let with = support::kustomizations(&tree);
        let mut folders: Vec<_> = tree.entries().filter_map(|(path, _)| path.parent()).collect();
        folders.dedup();
        folders.retain(|folder| !with.contains(folder) && folder.segments().count() > 1);
        for folder in folders.iter().step_by(folders.len().div_ceil(6).max(1)) {
            count += 1;
            different.extend(compare(
                &flux,
                room.path(),
                &tree,
                folder.as_str(),
                &json!({"namePrefix": "x-"}),
            ));
        }
    }
    eprintln!("{count} folders");
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}
