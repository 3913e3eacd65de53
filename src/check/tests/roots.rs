//! What a change takes out of folders that the spec names as roots.

use super::repository::{Files, edited, findings, together};
use super::spec::{SPEC, files, spec};
use crate::check::{Subject, history};
use crate::delivery::{Known, Model, World};
use crate::diagnostic::render;
use crate::render::Lent;
use crate::repo::Snapshot;

const SPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: { name: zz }\n";

/// What is told of a change where the spec names these roots.
fn told(roots: &str, before: &Files, after: &Files) -> Vec<String> {
    let spec = spec(&SPEC.replace("edge: {}", &format!("edge: {{ roots: [{roots}] }}")));
    let renderer = Lent::default();
    let [before, after] = [before, after].map(|files| together(std::slice::from_ref(files)));
    let read = |files: &Snapshot, known: Known| Model::read(files, &spec.folder(), &known, &renderer);
    let old = read(&before, Known::of(&spec).before(&after));
    let new = read(&after, Known::of(&spec).after(World { snapshot: &before, model: &old }));
    let subject = |files, model| Subject::new(files, model, Some(&spec), &renderer);
    let found = history(&subject(&before, &old), &subject(&after, &new));
    found.into_iter().map(|told| format!("{} {}", told.finding.code.unwrap(), told.finding.message)).collect()
}

/// Nothing in Git applies it, and the cluster has what lies in it.
#[test]
fn what_leaves_a_root_of_the_spec_is_told() {
    let (mut before, gone) = (files(), files());
    before.insert("clusters/edge/zz.yaml".to_owned(), SPACE.to_owned());
    let mut moved = files();
    moved.insert("extra/zz.yaml".to_owned(), SPACE.to_owned());
    let flux = moved.get_mut("clusters/edge/flux.yaml").unwrap();
    let infra = flux.split_inclusive("---\n").next().unwrap();
    flux.push_str(&infra.replace("clusters/edge/infra", "extra").replace("name: infra", "name: extra"));
    let outside = "GW054 the Flux Kustomization of p000/clusters/edge outside of Git deletes 1 object";
    let space = "Namespace zz. With a Namespace go all objects in it: zz";
    let of = |after: &Files| told("clusters/edge", &before, after);
    assert_eq!(of(&gone), [format!("{outside} by this change, if it prunes: {space}")]);
    assert_eq!(of(&moved), [format!("{outside} if it prunes before extra is applied: {space}")]);
}

/// A fleet of two roots, each with its list, that have the Namespace or not.
fn fleet(edge: bool, shared: bool, value: &str) -> Files {
    let mut found = Files::new();
    for (name, has) in [("edge", edge), ("shared", shared)] {
        let list = if has { "resources: [zz.yaml]\n" } else { "" };
        let generator =
            format!("configMapGenerator: [{{ name: {name}, namespace: shop, literals: [a={value}] }}]\n");
        found.insert(format!("fleet/{name}/kustomization.yaml"), format!("{list}{generator}"));
        if has {
            found.insert(format!("fleet/{name}/zz.yaml"), SPACE.to_owned());
        }
    }
    found
}

#[test]
fn a_new_hash_in_a_root_of_the_spec_is_no_deletion() {
    let none: [String; 0] = [];
    let of = |roots, after: &Files| told(roots, &fleet(false, false, "b"), after);
    for roots in ["fleet/edge", "fleet/edge, fleet/shared"] {
        assert_eq!(of(roots, &fleet(false, false, "c")), none, "{roots}");
    }
    let mut without = fleet(false, false, "b");
    let list = "resources: [other.yaml]\n".to_owned();
    without.insert("fleet/edge/kustomization.yaml".to_owned(), list);
    without.insert("fleet/edge/other.yaml".to_owned(), SPACE.to_owned());
    let found = of("fleet/edge", &without);
    assert!(matches!(&found[..], [one] if one.contains("if it prunes: ConfigMap shop/edge-")), "{found:?}");
}

#[test]
fn what_goes_from_one_root_of_the_spec_to_another_is_a_move() {
    let roots = "fleet/edge, fleet/shared";
    let words = "GW054 the Flux Kustomization of p000/fleet/edge outside of Git deletes 1 object if it prunes before \
                 p000/fleet/shared is applied: Namespace zz. With a Namespace go all objects in it: zz";
    assert_eq!(told(roots, &fleet(true, false, "b"), &fleet(false, true, "b")), [words]);
    // The other one had it too.
    let none: [String; 0] = [];
    assert_eq!(told(roots, &fleet(true, true, "b"), &fleet(false, true, "b")), none);
}

/// `pr` says so too: it fails, deletes nothing, and what it applied goes on.
#[test]
fn a_root_without_its_folder_fails_and_deletes_nothing() {
    let base = edited(&[]);
    let mut gone = base.clone();
    gone.retain(|path, _| !path.starts_with("clusters/edge/"));
    let found = findings(&[gone], Some(&[base]));
    insta::assert_snapshot!(render(&found[0].1, false, 100));
}
