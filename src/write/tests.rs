//! Trees before and after, compared as a whole: names, contents, permission bits, empty folders.

mod faults;
mod outside;

use std::collections::BTreeMap;

use super::*;
use crate::change::Change;
use crate::repo::File;
use crate::repo::scratch::{Scratch, Tree};

pub(super) fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

/// The plan from the files on disk to `after`, a list of (path, content, executable).
pub(super) fn plan_to(scratch: &Scratch, after: &[(&str, &str, bool)]) -> Changes {
    let before = scratch.repository().read().unwrap().snapshot;
    let after: BTreeMap<RepoPath, File> = after
        .iter()
        .map(|(name, text, executable)| (path(name), File::new(text.as_bytes()).with_mode(*executable)))
        .collect();
    let names = before.entries().map(|(path, _)| path.clone()).chain(after.keys().cloned());
    let changes = names.map(|path| {
        let (old, new) = (before.file(&path).cloned(), after.get(&path).cloned());
        (path, Change { before: old, after: new, moved_from: None })
    });
    changes.filter(|(_, change)| change.before != change.after).collect()
}

/// A plan that makes one file.
pub(super) fn creating(name: &str) -> Changes {
    let change = Change { before: None, after: Some(File::new(*b"new\n")), moved_from: None };
    [(path(name), change)].into_iter().collect()
}

/// A tree with everything that a write can meet, and the plan over it.
pub(super) fn everything(scratch: &Scratch) -> Changes {
    scratch.put("edited", "1\n").put("same", "s").put("run", "#!\n").put("private", "p\n");
    scratch.put("apps/nginx/deployment.yaml", "d\n").put("apps/nginx/configmap.yaml", "c");
    scratch.put("old/deep/gone", "g").put("file", "becomes a folder").put("folder/x", "becomes a file");
    scratch.mode("private", 0o600);
    scratch.mode("old/deep", 0o700);
    let mut plan = plan_to(
        scratch,
        &[
            ("edited", "2\n", false),
            ("same", "s", false),
            ("run", "#!\n", true),
            ("private", "q\n", false),
            ("apps/nginx/nginx-rt/configmap.yaml", "c", false),
            ("apps/nginx/nginx-rw/deployment.yaml", "d\n", false),
            ("file/inside/it", "new", true),
            ("folder", "file now", false),
        ],
    );
    let from = path("apps/nginx/configmap.yaml");
    plan.get_mut(&path("apps/nginx/nginx-rt/configmap.yaml")).unwrap().moved_from = Some(from);
    plan
}

/// Returns the tree that a plan should leave.
pub(super) fn expected(before: &Tree, plan: &Changes) -> Tree {
    let mut files: BTreeMap<String, (u32, Vec<u8>)> =
        before.iter().filter(|(name, _)| !name.ends_with('/')).map(|(k, v)| (k.clone(), v.clone())).collect();
    for (path, change) in plan.iter() {
        let mode = files.remove(path.as_str()).map(|(mode, _)| mode);
        if let Some(file) = &change.after {
            let mode = match (mode, file.executable) {
                (None | Some(0o644), true) => 0o755,
                (mode, _) => mode.unwrap_or(0o644),
            };
            files.insert(path.to_string(), (mode, file.bytes().to_vec()));
        }
    }
    let mut tree = files.clone();
    for name in files.keys() {
        let mut parent = path(name).parent();
        while let Some(folder) = parent.filter(|folder| !folder.is_top()) {
            let name = format!("{folder}/");
            let mode = before.get(&name).map_or(0o755, |(mode, _)| *mode);
            tree.insert(name, (mode, Vec::new()));
            parent = folder.parent();
        }
    }
    tree
}

#[test]
fn writes_every_kind_of_change_and_takes_it_back() {
    for scratch in [Scratch::git(), Scratch::plain()] {
        let plan = everything(&scratch);
        let repository = scratch.repository();
        let before = scratch.tree();
        let snapshot = repository.read().unwrap().snapshot;
        let written = write(&repository, &plan).unwrap();
        assert_eq!(written.paths, plan.keys().cloned().collect::<Vec<_>>());
        assert_eq!(scratch.tree(), expected(&before, &plan));
        assert_eq!(repository.read().unwrap().snapshot, plan.apply(&snapshot));
        assert_eq!(recover(&repository), Ok(None));

        let back = undo_plan(&repository).unwrap().unwrap();
        assert_eq!(back.apply(&plan.apply(&snapshot)), snapshot);
        let moved = &back[&path("apps/nginx/configmap.yaml")];
        assert_eq!(moved.moved_from, Some(path("apps/nginx/nginx-rt/configmap.yaml")));
        assert!(undo(&repository).unwrap().is_some());
        assert_eq!(scratch.tree(), before);
        assert_eq!((undo(&repository), undo_plan(&repository)), (Ok(None), Ok(None)));
    }
}

#[test]
fn invariant_3_the_written_tree_is_what_git_apply_makes() {
    let scratch = Scratch::git();
    let plan = everything(&scratch);
    let other = Scratch::git();
    everything(&other);
    other.put("patch", crate::diff::patch(&plan));
    other.run(&["apply", "--whitespace=nowarn", "patch"]);
    other.remove("patch");
    write(&scratch.repository(), &plan).unwrap();
    let mut expected = other.tree();
    // git writes a changed file anew; the writer keeps who may read it.
    expected.get_mut("private").unwrap().0 = 0o600;
    assert_eq!(scratch.tree(), expected);
}

#[test]
fn an_empty_plan_leaves_no_trace() {
    let scratch = Scratch::plain();
    assert_eq!(write(&scratch.repository(), &Changes::default()), Ok(Written::default()));
    assert_eq!((recover(&scratch.repository()), undo(&scratch.repository())), (Ok(None), Ok(None)));
    assert_eq!(std::fs::read_dir(scratch.top()).unwrap().count(), 0);
}

#[test]
fn a_stale_plan_names_every_file_and_writes_nothing() {
    let scratch = Scratch::git();
    let plan = everything(&scratch);
    scratch.remove("file");
    scratch.put("edited", "by hand").put("file/x", "").remove("old/deep/gone");
    scratch.mode("run", 0o755);
    scratch.put("apps/nginx/nginx-rt/configmap.yaml", "c");
    let before = scratch.tree();
    let error = write(&scratch.repository(), &plan).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    let said: Vec<&str> = error.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    for (name, what) in [
        ("edited", "was edited"),
        ("file", "became a folder"),
        ("old/deep/gone", "was removed"),
        ("run", "has another mode"),
        ("apps/nginx/nginx-rt/configmap.yaml", "was created"),
    ] {
        assert!(said.iter().any(|said| said.contains(&format!("`{name}` {what}"))), "{name}: {said:#?}");
    }
    assert_eq!(said.len(), 5);
    assert_eq!(scratch.tree(), before);
}

#[test]
fn undo_refuses_when_anything_was_edited_since() {
    let scratch = Scratch::git();
    let plan = everything(&scratch);
    write(&scratch.repository(), &plan).unwrap();
    scratch.put("edited", "by hand").put("old/deep/gone", "came back");
    let before = scratch.tree();
    let error = undo(&scratch.repository()).unwrap_err();
    assert_eq!((error.kind, error.diagnostics.len()), (ErrorKind::Conflict, 1));
    assert!(["`edited`", "`old/deep/gone`"].iter().all(|name| error.to_string().contains(name)), "{error}");
    assert_eq!(undo_plan(&scratch.repository()).unwrap_err(), error);
    assert_eq!(scratch.tree(), before);
    scratch.put("edited", "2\n").remove("old/deep/gone");
    assert!(undo(&scratch.repository()).unwrap().is_some());
}

#[test]
fn only_the_last_write_is_taken_back() {
    let scratch = Scratch::git();
    let repository = scratch.repository();
    write(&repository, &creating("one")).unwrap();
    write(&repository, &creating("two/deep")).unwrap();
    assert_eq!(undo(&repository).unwrap().unwrap().paths, [path("two/deep")]);
    assert_eq!(scratch.tree().keys().collect::<Vec<_>>(), ["one"]);
    assert_eq!(undo(&repository), Ok(None));
}

#[test]
fn two_writers_at_once_end_in_a_conflict() {
    let scratch = Scratch::git();
    let repository = scratch.repository();
    let mut watch = Real;
    let first = Disk::open(&repository, &mut watch).unwrap();
    let error = write(&repository, &creating("a")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert!(error.to_string().contains("another run is writing"));
    drop(first);
    write(&repository, &creating("a")).unwrap();
}

#[test]
fn names_that_differ_in_case_only_are_refused() {
    let refused = |existing: &[&str], created: &[&str]| {
        let scratch = Scratch::git();
        for name in existing {
            scratch.put(name, "");
        }
        let mut plan = Changes::default();
        for name in created {
            plan.append(&mut creating(name));
        }
        let before = scratch.tree();
        let result = write(&scratch.repository(), &plan);
        if let Err(error) = &result {
            assert!(error.to_string().contains("differ in case only"), "{error}");
            assert_eq!(scratch.tree(), before);
        }
        result.is_err()
    };
    assert!(refused(&[], &["A.yaml", "a.yaml"]));
    assert!(refused(&["apps/x"], &["Apps/y"]));
    assert!(refused(&["a/É"], &["a/é"]));
    assert!(!refused(&["apps/x", "X"], &["apps/y", "b/x"]));
}

#[test]
fn a_git_folder_on_another_file_system_is_crossed() {
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else {
        std::io::Write::write_all(&mut std::io::stderr(), b"skipped: no second file system at /dev/shm\n")
            .unwrap();
        return;
    };
    let scratch = Scratch::on_disk();
    let git_dir = elsewhere.path().join("git");
    scratch.run(&["init", "-q", "--separate-git-dir", git_dir.to_str().unwrap()]);
    let plan = everything(&scratch);
    let before = scratch.tree();
    write(&scratch.repository(), &plan).unwrap();
    assert_eq!(scratch.tree(), expected(&before, &plan));
    undo(&scratch.repository()).unwrap();
    assert_eq!(scratch.tree(), before);
}

#[test]
fn without_file_mode_permission_bits_are_left_alone() {
    let scratch = Scratch::git();
    scratch.put("a", "1").put("b", "1");
    scratch.mode("a", 0o777);
    scratch.run(&["config", "core.fileMode", "false"]);
    let plan = plan_to(&scratch, &[("a", "2", false), ("b", "1", true)]);
    write(&scratch.repository(), &plan).unwrap();
    let tree = scratch.tree();
    assert_eq!((tree["a"].clone(), tree["b"].clone()), ((0o777, b"2".to_vec()), (0o644, b"1".to_vec())));
    undo(&scratch.repository()).unwrap();
    assert_eq!(scratch.tree()["a"], (0o777, b"1".to_vec()));
}
