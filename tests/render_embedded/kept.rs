//! Builds are kept between runs, and never believed blindly.
#![allow(clippy::disallowed_methods, reason = "writes into a temporary folder")]

use std::path::{Path, PathBuf};

use gitops_windows::render::{Anew, Embedded, Object, RenderError, Renderer, Request, Tally};
use gitops_windows::repo::{File, Snapshot};
use serde_json::json;

use super::{CONFIG, folder, path, snapshot};

/// Two folders that build one object each, of a base that both take in.
fn two() -> Snapshot {
    snapshot(&[
        ("base/kustomization.yaml", "resources: [x.yaml]\n"),
        ("base/x.yaml", CONFIG),
        ("a/kustomization.yaml", "resources: [../base]\nnamePrefix: a-\n"),
        ("b/kustomization.yaml", "resources: [../base]\nnamePrefix: b-\n"),
        ("c/notes.txt", "no kustomization"),
    ])
}

fn requests() -> [Request; 4] {
    let flux = Request::flux(path("a"), &json!({"targetNamespace": "web"}));
    [folder("a"), folder("b").with_origins(), folder("c"), flux]
}

type Outcomes = Vec<Result<Vec<Object>, RenderError>>;

/// Builds as a run of its own does.
fn run(cache: &Path, tree: &Snapshot) -> (Outcomes, Tally) {
    let renderer = Embedded::default().with_cache(cache);
    let outcomes = renderer.render(tree, &requests());
    (outcomes, renderer.tally().unwrap())
}

fn files(cache: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_second_run_builds_nothing() {
    let cache = tempfile::tempdir().unwrap();
    let (built, tally) = run(cache.path(), &two());
    assert_eq!(tally, Tally { asked: 4, distinct: 4, made: 4, remembered: 0, kept: 0 });
    assert_eq!(built, Embedded::default().render(&two(), &requests()));
    let (again, tally) = run(cache.path(), &two());
    assert_eq!(tally, Tally { asked: 4, distinct: 4, made: 0, remembered: 0, kept: 4 });
    assert_eq!(built, again);
}

#[test]
fn a_changed_file_makes_the_builds_that_looked_at_it() {
    let cache = tempfile::tempdir().unwrap();
    run(cache.path(), &two());
    let with = |place: &str, text: &str| {
        let mut tree = two();
        tree.insert(path(place), File::new(text.as_bytes()));
        tree
    };
    for (tree, made) in [
        (with("elsewhere/x.yaml", CONFIG), 0),
        (with("a/kustomization.yaml", "resources: [../base]\nnamePrefix: c-\n"), 2),
        (with("base/x.yaml", &CONFIG.replace("value", "other")), 3),
        (with("c/kustomization.yaml", "resources: [../base]\n"), 1),
        // What they would be built from before.
        (two(), 0),
    ] {
        let (built, tally) = run(cache.path(), &tree);
        assert_eq!((tally.made, tally.kept), (made, 4 - made));
        assert_eq!(built, Embedded::default().render(&tree, &requests()));
    }
}

#[test]
fn a_file_that_is_not_what_was_written_is_built_again() {
    let cache = tempfile::tempdir().unwrap();
    let (built, _) = run(cache.path(), &two());
    let spoil: [fn(&mut Vec<u8>); 4] = [
        Vec::clear,
        |text| text.truncate(text.len() / 2),
        |text| text.retain(|byte| *byte != b'a'),
        |text| text.extend_from_slice(b"\n{}\n{}"),
    ];
    for spoil in spoil {
        for file in files(cache.path()) {
            let mut text = std::fs::read(&file).unwrap();
            spoil(&mut text);
            std::fs::write(&file, text).unwrap();
        }
        let (again, tally) = run(cache.path(), &two());
        assert_eq!((again, tally.made), (built.clone(), 4));
    }
    assert_eq!(run(cache.path(), &two()).1.made, 0);
}

#[test]
fn a_folder_that_cannot_be_made_costs_time_only() {
    let cache = tempfile::tempdir().unwrap();
    let file = cache.path().join("file");
    std::fs::write(&file, "").unwrap();
    let (built, tally) = run(&file.join("builds"), &two());
    assert_eq!(tally.made, 4);
    assert_eq!(built, run(&file.join("builds"), &two()).0);
}

#[test]
fn a_proof_takes_nothing_from_other_runs() {
    let cache = tempfile::tempdir().unwrap();
    let (built, _) = run(cache.path(), &two());
    let renderer = Embedded::default().with_cache(cache.path());
    renderer.render(&two(), &requests());
    assert_eq!(renderer.tally().unwrap().made, 0);
    let proven = Anew(&renderer).render(&two(), &requests());
    assert_eq!((proven, renderer.tally().unwrap().made), (built, 4));
    Anew(&renderer).render(&two(), &requests());
    assert_eq!(renderer.tally().unwrap().made, 4, "this run has made them");
}

#[test]
fn the_twin_of_a_build_is_found_too() {
    let cache = tempfile::tempdir().unwrap();
    Embedded::default().with_cache(cache.path()).render(&two(), &[folder("a")]);
    let renderer = Embedded::default().with_cache(cache.path());
    renderer.render(&two(), &[Request::flux(path("a"), &json!({"interval": "1m"}))]);
    assert_eq!(renderer.tally().unwrap().made, 0);
}
