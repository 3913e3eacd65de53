//! Trees in `tests/golden/`: what the tool makes, whole.

#![allow(clippy::disallowed_methods, reason = "writes when asked")]

use std::path::Path;

use super::scratch::{Node, Scratch, Tree, assert_same, link, tree};

/// Holds a repository to a golden tree; `GITOPS_WINDOWS_BLESS=1` writes that anew.
#[track_caller]
pub fn compare(scratch: &Scratch, name: &str) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("GITOPS_WINDOWS_BLESS").is_some_and(|value| value == "1") {
        if place.exists() {
            std::fs::remove_dir_all(&place).unwrap();
        }
        std::fs::create_dir_all(&place).unwrap();
        copy_tree(scratch, &place);
    }
    let expected = if place.exists() { tree(&place) } else { Tree::new() };
    let hint = format!(
        "tests/golden/{name} is not what the tool makes: if it should be, run the same test with GITOPS_WINDOWS_BLESS=1"
    );
    assert_same(&expected, &scratch.tree(), &hint);
}

fn copy_tree(scratch: &Scratch, place: &Path) {
    for (path, node) in scratch.tree() {
        std::fs::create_dir_all(place.join(&path).parent().unwrap()).unwrap();
        match node {
            Node::File(..) => drop(std::fs::copy(scratch.top().join(&path), place.join(&path)).unwrap()),
            Node::Link(target) => link(&target, &place.join(&path)),
            Node::EmptyFolder => panic!("{} can't be kept in a golden tree", path.display()),
        }
    }
}
