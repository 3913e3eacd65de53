//! What many folders list is read once, and nobody can tell.

use gitops_windows::render::{Embedded, Renderer, Request};
use gitops_windows::repo::{File, Snapshot};

use super::{CONFIG, folder, path, snapshot};

/// Four overlays of a base that has a base of its own.
fn overlays() -> Snapshot {
    let mut tree = snapshot(&[
        ("base/kustomization.yaml", "resources: [x.yaml, ../deep]\nnamePrefix: b-\n"),
        ("base/x.yaml", CONFIG),
        ("deep/kustomization.yaml", "configMapGenerator: [{name: made, files: [text]}]\n"),
        ("deep/text", "one"),
    ]);
    for number in 0..4 {
        put(&mut tree, &format!("o{number}"), &format!("resources: [../base]\nnamespace: n{number}\n"));
    }
    tree
}

fn put(tree: &mut Snapshot, name: &str, text: &str) {
    tree.insert(path(&format!("{name}/kustomization.yaml")), File::new(text.as_bytes()));
}

/// Builds all of these by one instance, one tree after the other, and expects what new instances give.
fn same_as_alone(trees: &[&Snapshot], requests: &[Request]) {
    let together = Embedded::default();
    for (position, tree) in trees.iter().enumerate() {
        for request in requests {
            let one = std::slice::from_ref(request);
            let built = together.forgetful().render(tree, one);
            assert_eq!(built, Embedded::default().render(tree, one), "tree {position}: {request:?}");
        }
    }
}

#[test]
fn a_base_is_what_its_files_say_now() {
    let before = overlays();
    let mut after = before.clone();
    after.insert(path("deep/text"), File::new(*b"two"));
    let mut broken = before.clone();
    broken.remove(&path("deep/text"));
    let mut requests: Vec<Request> = (0..4).map(|number| folder(&format!("o{number}"))).collect();
    requests.push(folder("o0").with_origins());
    same_as_alone(&[&before, &after, &broken, &before], &requests);
}

#[test]
fn a_base_that_reaches_back_is_a_cycle_from_there_only() {
    let mut tree = overlays();
    put(&mut tree, "o3", "resources: [../base, inner]\n");
    put(&mut tree, "o3/inner", "resources: [../../back]\n");
    put(&mut tree, "back", "resources: [../o2]\n");
    put(&mut tree, "o2", "resources: [../base]\ncomponents: [../part]\n");
    put(&mut tree, "part", "kind: Component\nresources: [../third]\n");
    put(&mut tree, "third", "resources: [../deep]\n");
    put(&mut tree, "a", "resources: [../back]\n");
    put(&mut tree, "b", "resources: [../back]\n");
    put(&mut tree, "third/c", "resources: [../../back]\n");
    put(&mut tree, "o2/d", "resources: [../../back]\n");
    let requests = ["o0", "o1", "a", "b", "o3", "third/c", "o2/d", "a"].map(folder);
    same_as_alone(&[&tree], &requests);
}

#[test]
fn a_base_with_a_schema_of_its_own_is_read_each_time() {
    let mut tree = overlays();
    put(&mut tree, "base", "resources: [x.yaml]\nopenapi: {version: v1.21.2}\n");
    let requests = ["o0", "o1", "o2", "o3"].map(folder);
    same_as_alone(&[&tree, &overlays()], &requests);
}
