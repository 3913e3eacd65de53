//! Who builds which folder.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::repo::{File, generated_children};

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

/// `apps-extra` sorts between `apps` and what lies in it.
#[test]
fn folders_below_are_found_whatever_stands_beside_them() {
    let mut snapshot = Snapshot::default();
    for folder in ["c/apps", "c/apps-extra", "c/apps/nginx", "c-2/apps", "d"] {
        let file = File::new(&b"resources: []\n"[..]);
        snapshot.insert(path(&format!("{folder}/kustomization.yaml")), file);
    }
    let graph = Graph::read(&snapshot);
    let below = |folder: &str| graph.below(&path(folder)).map(RepoPath::as_str).collect::<Vec<_>>();
    assert_eq!(below("c"), ["c/apps", "c/apps-extra", "c/apps/nginx"]);
    assert_eq!(below("c/apps"), ["c/apps/nginx"]);
    assert_eq!(graph.below(&RepoPath::top()).count(), 5);
    assert_eq!(generated_children(&graph, &path("c")), ["c/apps", "c/apps-extra"].map(path));
}

#[test]
fn whoever_builds_a_folder_or_takes_in_a_file_is_found_from_there() {
    let mut snapshot = Snapshot::default();
    for (folder, resources) in [
        ("base", "[app.yaml]"),
        ("c/apps", "[../../base]"),
        ("c/apps/deep", "[../../../base]"),
        ("c/list", "[../apps]"),
        ("c/broken", "{"),
        ("d/e/f", "[x.yaml]"),
    ] {
        let file = File::new(format!("resources: {resources}\n").into_bytes());
        snapshot.insert(path(&format!("{folder}/kustomization.yaml")), file);
    }
    let graph = Graph::read(&snapshot);
    let folders =
        ["base", "c", "c/apps", "c/apps/deep", "c/broken", "c/list", "d", "d/e", "d/e/f", "d/e/none"];
    let all: Vec<RepoPath> = folders.into_iter().map(path).chain([RepoPath::top()]).collect();
    for folder in &all {
        let builds = all.iter().filter(|above| built(&graph, above).contains(folder));
        assert!(!graph.has(folder) || graph.built_by(folder) == builds.cloned().collect(), "{folder}");
        let file = folder.join("app.yaml").unwrap();
        let taking_in = graph.taken_in_by(&file);
        for above in &all {
            let is_listed =
                built(&graph, above).iter().any(|list| graph.referrers(&file).any(|one| one == list));
            let mut between = file.parents().take_while(|folder| folder.is_within(above));
            let is_loose = file.is_within(above) && between.all(|folder| !graph.has(&folder));
            assert_eq!(taking_in.contains(above), is_listed || is_loose, "{above} {file}");
        }
    }
}

/// What is no list and no link changes no graph, so that it is read once for the trees of a plan.
#[test]
fn trees_that_differ_beside_lists_share_their_graph() {
    let list = |text: &str| File::new(text.as_bytes());
    let mut tree = Snapshot::new(
        [
            (path("a/kustomization.yaml"), Entry::File(list("resources: [x.yaml, ../link]\n"))),
            (path("a/x.yaml"), Entry::File(list("a: 1\n"))),
            (path("b/kustomization.yaml"), Entry::File(list("resources: []\n"))),
            (path("link"), Entry::Symlink { target: "b".to_owned() }),
        ]
        .into(),
    );
    let is_shared = |tree: &Snapshot, graph: &Graph| Arc::ptr_eq(&Graph::read(tree).folders, &graph.folders);
    let before = tree.clone();
    tree.insert(path("a/x.yaml"), list("a: 2\n"));
    tree.remove(&path("a/none"));
    let graph = Graph::read(&tree);
    assert!(is_shared(&before, &graph) && graph.children(&path("a")) == [path("b")]);
    for name in ["b/kustomization.yaml", "c/Kustomization"] {
        let mut other = tree.clone();
        other.insert(path(name), list("resources: [y.yaml]\n"));
        assert!(!is_shared(&other, &graph) && Graph::read(&other).referrers(&path("b/y.yaml")).count() < 2);
        other.remove(&path(name));
        assert!(!is_shared(&other, &graph));
    }
    let mut other = tree.clone();
    other.remove(&path("link"));
    assert_eq!(Graph::read(&other).children(&path("a")), []);
    other.put(path("link"), Entry::Symlink { target: "a".to_owned() });
    assert_eq!(Graph::read(&other).children(&path("a")), [path("a")]);
    assert!(is_shared(&before, &graph));
}
