use std::path::PathBuf;

use super::Repository;
use crate::error::ErrorKind;
use crate::limit::FILE;
use crate::path::RepoPath;
use crate::repo::scratch::Scratch;
use crate::repo::{Entry, Snapshot};

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

fn paths(snapshot: &Snapshot) -> Vec<String> {
    snapshot.entries().map(|(path, _)| path.to_string()).collect()
}

#[test]
fn reads_what_git_tracks_or_would_track() {
    let scratch = Scratch::git();
    scratch.put("b.yaml", "b: 1\n").put("a/x y.yaml", "é\r\n").put("gone.yaml", "x").put("run.sh", "#!\n");
    scratch.put(".gitignore", "ignored\n").commit();
    scratch.mode("run.sh", 0o755);
    scratch.put("ignored", "x").put("new.yaml", "n").put("nested/.git/HEAD", "x").put("nested/y", "y");
    scratch.remove("gone.yaml");
    let reading = scratch.repository().read().unwrap();
    assert_eq!(reading.notes, []);
    assert!(reading.snapshot.file(&path("run.sh")).unwrap().executable);
    assert_eq!(reading.snapshot.file(&path("a/x y.yaml")).unwrap().bytes(), "é\r\n".as_bytes());
    assert!(!paths(&reading.snapshot).contains(&"gone.yaml".to_owned()));
    assert!(!paths(&reading.snapshot).contains(&"ignored".to_owned()));
    assert!(paths(&reading.snapshot).contains(&"new.yaml".to_owned()));
}

#[test]
fn finds_the_top_and_the_folder_it_was_asked_from() {
    let scratch = Scratch::git();
    scratch.put("Sample3/clusters/a", "");
    let repository = Repository::discover(&scratch.at("Sample3")).unwrap();
    assert_eq!(repository.spec_dir(), &path("Sample3"));
    assert_eq!(repository.top(), scratch.top().canonicalize().unwrap());
    assert!(repository.git().unwrap().git_dir.ends_with(".git"));
    assert_eq!(paths(&repository.read().unwrap().snapshot), ["Sample3/clusters/a"]);
}

#[test]
fn a_linked_working_tree_has_a_git_folder_of_its_own() {
    let scratch = Scratch::git();
    scratch.put("a", "1").commit();
    scratch.run(&["worktree", "add", "-q", "linked"]);
    let repository = Repository::discover(&scratch.at("linked")).unwrap();
    assert!(repository.git().unwrap().git_dir.ends_with(".git/worktrees/linked"));
    assert_eq!(paths(&repository.read().unwrap().snapshot), ["a"]);
}

#[test]
fn a_folder_outside_of_git_is_its_own_top() {
    let scratch = Scratch::plain();
    scratch.put("a/b", "1").put(".git-not/x", "2").put(".gitops-windows/last/journal.json", "3");
    let repository = scratch.repository();
    assert_eq!((repository.git(), repository.spec_dir()), (None, &RepoPath::top()));
    assert_eq!(paths(&repository.read().unwrap().snapshot), [".git-not/x", "a/b"]);
    assert_eq!(repository.dirty(), Ok(vec![]));
}

#[test]
fn refuses_what_has_no_working_tree() {
    let scratch = Scratch::git();
    scratch.run(&["init", "-q", "--bare", "bare.git"]);
    let said = |dir: PathBuf| Repository::discover(&dir).unwrap_err().to_string();
    assert!(said(scratch.at("bare.git")).contains("a bare git repository"));
    assert!(said(scratch.at(".git")).contains("a git folder"));
    assert!(said(scratch.at("missing")).contains("can't read"));
    scratch.put("file", "");
    assert!(said(scratch.at("file")).contains("is not a folder"));
    scratch.remove(".git/HEAD");
    let error = Repository::discover(scratch.top()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert!(error.to_string().contains("git says: not a git repository"), "{error}");
}

#[test]
fn a_line_break_in_the_name_of_the_top_is_part_of_it() {
    let scratch = Scratch::plain();
    scratch.run(&["init", "-q", "a\nb"]);
    scratch.put("a\nb/below/file", "");
    let found = Repository::discover(&scratch.at("a\nb/below")).unwrap();
    assert_eq!((found.top(), found.spec_dir().as_str()), (&*scratch.at("a\nb"), "below"));
}

#[test]
fn invariant_7_links_are_recorded_and_never_followed() {
    let outside = Scratch::plain();
    outside.put("secret", "s");
    let scratch = Scratch::git();
    scratch.put("real/a", "1").put("dir/b", "2").commit();
    scratch.link("out", outside.top());
    scratch.link("real/up", "../dir/b");
    // A tracked folder that was replaced by a link: git calls its files deleted.
    scratch.remove("dir/b");
    std::fs::remove_dir(scratch.at("dir")).unwrap();
    outside.put("b", "stolen");
    scratch.link("dir", outside.top());
    let snapshot = scratch.repository().read().unwrap().snapshot;
    assert_eq!(paths(&snapshot), ["dir", "out", "real/a", "real/up"]);
    assert!(snapshot.resolve(&path("real/up")).is_err());
    assert!(snapshot.resolve(&path("out/secret")).is_err());
    assert_eq!(snapshot.entry(&path("real/up")), Some(&Entry::Symlink { target: "../dir/b".to_owned() }));
}

#[test]
fn odd_files_are_left_out_and_named() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::git();
    scratch.put("a\\b", "").put("a\nb", "").put("ok", "");
    scratch.put(std::ffi::OsStr::from_bytes(b"x").to_str().unwrap(), "");
    std::fs::File::create(scratch.top().join(std::ffi::OsStr::from_bytes(b"\xff"))).unwrap();
    let large = std::fs::File::create(scratch.at("large")).unwrap();
    large.set_len(FILE + 1).unwrap();
    let reading = scratch.repository().read().unwrap();
    assert_eq!(paths(&reading.snapshot), ["large", "ok", "x"]);
    assert_eq!(reading.snapshot.entry(&path("large")), Some(&Entry::Large { bytes: FILE + 1 }));
    let notes: Vec<&str> = reading.notes.iter().map(|note| note.message.as_str()).collect();
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes.iter().all(|note| !note.contains('\n')));
}

#[test]
fn a_pipe_outside_of_git_does_not_block() {
    let scratch = Scratch::plain();
    let made = std::process::Command::new("mkfifo").arg(scratch.at("pipe")).status().unwrap();
    assert!(made.success());
    let reading = scratch.repository().read().unwrap();
    assert_eq!((paths(&reading.snapshot).len(), reading.notes.len()), (0, 1));
}

#[test]
fn names_every_changed_file_once() {
    let scratch = Scratch::git();
    scratch.put("a b", "1").put("moved", "22222").put("same", "3").commit();
    assert_eq!(scratch.repository().dirty(), Ok(vec![]));
    scratch.put("a b", "changed").put("dir/é", "new");
    scratch.run(&["mv", "moved", "there"]);
    let dirty = scratch.repository().dirty().unwrap();
    assert_eq!(dirty, [path("a b"), path("dir/é"), path("moved"), path("there")]);
}

#[test]
fn a_commit_reads_like_the_disk_it_was_made_of() {
    let scratch = Scratch::git();
    scratch
        .put("a/b c", "1\r\n")
        .put("empty", "")
        .put("run", "x")
        .put("é", [0, 255, 10])
        .put("same", "1\r\n");
    scratch.mode("run", 0o755);
    scratch.link("link", "a/b c");
    let large = std::fs::File::create(scratch.at("large")).unwrap();
    large.set_len(FILE + 1).unwrap();
    scratch.commit();
    let repository = scratch.repository();
    let disk = repository.read().unwrap();
    assert_eq!(repository.snapshot_at("HEAD").unwrap(), disk);
    assert_eq!(repository.snapshot_at("main").unwrap(), disk);
    scratch.put("a/b c", "2");
    assert_ne!(repository.read().unwrap(), disk);
    assert_eq!(repository.snapshot_at("HEAD").unwrap(), disk);
    for bad in ["", "nothing", "--help", "HEAD\nHEAD", "HEAD:a/b c"] {
        assert!(repository.snapshot_at(bad).unwrap_err().to_string().contains("knows no commit"), "{bad}");
    }
}

#[test]
fn a_commit_is_read_without_the_pictures_that_a_partial_clone_lacks() {
    let scratch = Scratch::git();
    scratch.put("a.yaml", "a: 1\n").put("b.yaml", "b: 1\n").put("crds.yaml", "c: 1\n").put("rack.png", "png");
    scratch.commit();
    let repository = scratch.repository();
    let lose = |content: &str| {
        let header = format!("blob {}\0{content}", content.len());
        let name: String = sha1::Digest::finalize(<sha1::Sha1 as sha1::Digest>::new_with_prefix(header))
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let file = format!(".git/objects/{}/{}", &name[..2], &name[2..]);
        // `git add` may have written it again, or not.
        if scratch.at(&file).exists() {
            scratch.remove(&file);
        }
    };
    lose("png");
    let first = repository.snapshot_at("HEAD").unwrap().snapshot;
    assert!(matches!(first.entry(&path("rack.png")), Some(Entry::Lacking { .. })));
    // What both trees lack tells nothing of what differs.
    lose("c: 1\n");
    let first = repository.snapshot_at("HEAD").unwrap().snapshot;
    scratch.put("a.yaml", "a: 2\n").put("rack.png", "other").commit();
    lose("c: 1\n");
    let second = repository.snapshot_beside("HEAD", &first).unwrap().snapshot;
    let differing: Vec<String> = second.differing(&first).iter().map(ToString::to_string).collect();
    assert_eq!(differing, ["a.yaml", "rack.png"]);
    assert!(matches!(second.entry(&path("crds.yaml")), Some(Entry::Lacking { .. })));
    scratch.put("crds.yaml", "c: 2\n").commit();
    for (revision, other) in
        [("HEAD", &second), ("HEAD~1", &repository.snapshot_at("HEAD").unwrap().snapshot)]
    {
        let told = repository.snapshot_beside(revision, other).unwrap_err().to_string();
        assert!(told.contains("git has no content for `crds.yaml`"), "{told}");
    }
    // A clone without most contents tells nothing.
    lose("b: 1\n");
    lose("a: 1\n");
    assert!(repository.snapshot_at("HEAD~2").unwrap_err().to_string().contains("git has no content"));
}

#[test]
fn a_sparse_checkout_is_said_aloud() {
    let scratch = Scratch::git();
    scratch.put("a/x", "1").put("b/y", "2").commit();
    scratch.run(&["sparse-checkout", "set", "a"]);
    let reading = scratch.repository().read().unwrap();
    assert_eq!(paths(&reading.snapshot), ["a/x"]);
    assert!(reading.notes[0].message.contains("sparse checkout"));
}

#[test]
fn without_file_mode_the_index_says_what_is_executable() {
    let scratch = Scratch::git();
    scratch.put("a", "1").put("b", "2").commit();
    scratch.run(&["config", "core.fileMode", "false"]);
    scratch.run(&["update-index", "--chmod=+x", "a"]);
    scratch.mode("b", 0o777);
    let snapshot = scratch.repository().read().unwrap().snapshot;
    assert!(snapshot.file(&path("a")).unwrap().executable);
    assert!(!snapshot.file(&path("b")).unwrap().executable);
}
