//! Patches that name their object: they find it by its ids, as kustomize does by reading all objects.

use std::fmt::Write as _;

use gitops_windows::render::Request;
use gitops_windows::repo::{File, Snapshot};

use super::dice::Dice;
use super::support::kustomizations;
use super::support::thorough::some;
use super::{agree, names, path, snapshot};

const BODIES: [&str; 4] =
    ["data: { b: Mg== }", "data: { a: null }", "$patch: delete", "data: { $patch: replace, z: eg== }"];

/// What an overlay does to objects of these kinds, names and namespaces: most patches fit, some come too late.
fn layer(dice: &mut Dice, objects: &[(&str, &str, &str)]) -> String {
    let mut text = String::new();
    text.push_str(dice.of(&["", "", "namePrefix: p-\n"]));
    text.push_str(dice.of(&["", "", "", "namespace: x\n"]));
    text.push_str(dice.of(&["", "", "commonAnnotations: { team: web }\n"]));
    let count = dice.below(6);
    text.push_str(if count > 0 { "patches:\n" } else { "" });
    for _ in 0..count {
        let (kind, name, namespace) = objects[dice.below(objects.len())];
        let prefix = dice.of(&["", "", "", "p-"]);
        let body = dice.of(&BODIES);
        let options = dice.of(&["", "", "", "", "allowNameChange", "allowKindChange"]);
        let named = match namespace {
            "" => format!("name: {prefix}{name}"),
            _ => format!("name: {prefix}{name}, namespace: {namespace}"),
        };
        let _ = match dice.below(8) {
            0 => writeln!(
                text,
                "- target: {{ kind: {kind}, name: {name} }}\n  patch: '[{{ op: add, path: /metadata/labels, value: {{ a: b }} }}]'"
            ),
            1 => writeln!(
                text,
                "- target: {{ kind: {kind} }}\n  patch: '[{{ op: replace, path: /metadata/name, value: renamed }}]'"
            ),
            _ => {
                let options = match options {
                    "" => String::new(),
                    option => format!("  options: {{ {option}: true }}\n"),
                };
                write!(
                    text,
                    "- patch: |\n    apiVersion: v1\n    kind: {kind}\n    metadata: {{ {named} }}\n    {body}\n{options}"
                )
            }
        };
    }
    text
}

#[test]
fn patches_by_chance() {
    let mut built = 0;
    for seed in some(1..80_u64, 3) {
        let mut dice = Dice(seed * 104_729);
        let mut objects = Vec::new();
        for _ in 0..5 {
            let one = (
                dice.of(&["ConfigMap", "ConfigMap", "Secret"]),
                dice.of(&["a", "b", "c", "p-a", "d"]),
                dice.of(&["", "", "x"]),
            );
            if !objects.contains(&one) {
                objects.push(one);
            }
        }
        let text = objects.iter().fold(String::new(), |mut text, (kind, name, namespace)| {
            let namespace =
                if namespace.is_empty() { String::new() } else { format!(", namespace: {namespace}") };
            let _ = write!(
                text,
                "---\napiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}{namespace} }}\ndata: {{ a: MQ== }}\n"
            );
            text
        });
        let base = format!("resources: [all.yaml]\n{}", layer(&mut dice, &objects));
        let over = format!("resources: [../base]\n{}", layer(&mut dice, &objects));
        let tree = snapshot(&[
            ("base/all.yaml", &text),
            ("base/kustomization.yaml", &base),
            ("over/kustomization.yaml", &over),
        ]);
        let folders = kustomizations(&tree);
        let requests: Vec<Request> =
            folders.into_iter().map(|folder| Request::base(folder).with_origins()).collect();
        built += agree(&tree, &requests).iter().filter(|outcome| outcome.is_ok()).count();
    }
    assert!(built > 13, "{built} of them build");
}

/// 1,000 patches of 3,000 objects: read one after the other for each patch, they take two minutes.
#[test]
fn many_patches_take_time_that_grows_with_their_number() {
    let size = |all: usize| some(0..all, 5).count();
    let (objects, patched) = (size(3_000), size(1_000));
    let mut all = String::new();
    let mut text = String::from("resources: [all.yaml]\npatches:\n");
    for number in 0..objects {
        let object = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: map-{number} }}\n");
        let _ = write!(all, "---\n{object}");
        if number < patched {
            let patch = object.replace('\n', "\n    ");
            let _ = writeln!(text, "- patch: |\n    {patch}data: {{ a: b }}");
        }
    }
    let mut tree = Snapshot::default();
    tree.insert(path("many/all.yaml"), File::new(all.as_bytes()));
    tree.insert(path("many/kustomization.yaml"), File::new(text.as_bytes()));
    let request = super::folder("many").with_origins();
    let built = super::Embedded::default();
    let built = super::Renderer::render(&built, &tree, &[request]).remove(0).unwrap();
    assert_eq!((built.len(), names(&built)[0]), (objects, "map-0"));
    assert_eq!(built.iter().filter(|object| object.value["data"]["a"] == "b").count(), patched);
    assert!(built.iter().all(|object| object.origin.is_some()));
}
