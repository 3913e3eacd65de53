//! Invariant 7: whatever the plan and the disk say, nothing outside of the tree is written.

use super::*;
use crate::error::ErrorKind;

/// Writes a plan for one new file; it must fail and change neither the tree nor the outside.
fn refuse(scratch: &Scratch, outside: &Scratch, name: &str, words: &str) {
    let (tree, other) = (scratch.tree(), outside.tree());
    let git = crate::repo::scratch::tree_of(&scratch.at(".git/hooks"));
    let error = write(&scratch.repository(), &creating(name)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid, "{name}: {error}");
    assert!(error.to_string().contains(words), "{name}: {error}");
    assert!(error.diagnostics.iter().all(|diagnostic| diagnostic.help.is_some()));
    assert_eq!((scratch.tree(), outside.tree()), (tree, other), "{name}");
    assert_eq!(crate::repo::scratch::tree_of(&scratch.at(".git/hooks")), git);
}

#[test]
fn invariant_7_links_lead_nowhere() {
    let outside = Scratch::plain();
    outside.put("victim", "v");
    let scratch = Scratch::git();
    scratch.put("inside/x", "1");
    scratch.link("out", outside.top());
    scratch.link("relative", format!("../{}", outside.top().file_name().unwrap().to_str().unwrap()));
    scratch.link("loop", "loop");
    scratch.link("within", "inside");
    scratch.link("hooks", ".git/hooks");
    scratch.link("target", outside.at("victim"));
    scratch.link("dangling", outside.at("new"));
    for name in ["out/new", "out/a/b", "relative/new", "loop/x", "within/new", "hooks/post-checkout"] {
        refuse(&scratch, &outside, name, "is below a symbolic link");
    }
    for name in ["target", "dangling", "out", "within"] {
        refuse(&scratch, &outside, name, "is a symbolic link");
    }
}

#[test]
fn invariant_7_a_folder_replaced_by_a_link_after_the_plan_was_made() {
    let outside = Scratch::plain();
    outside.put("x", "1");
    let scratch = Scratch::git();
    scratch.put("apps/x", "1");
    let plan = plan_to(&scratch, &[("apps/x", "2", false), ("apps/new", "3", false)]);
    scratch.remove("apps/x");
    std::fs::remove_dir(scratch.at("apps")).unwrap();
    scratch.link("apps", outside.top());
    let other = outside.tree();
    let error = write(&scratch.repository(), &plan).unwrap_err();
    assert_eq!((error.kind, error.diagnostics.len()), (ErrorKind::Invalid, 2));
    assert_eq!(outside.tree(), other);
}

#[test]
fn invariant_7_a_link_put_in_place_between_two_steps_leads_nowhere() {
    /// Puts a link in the way of the last folder, just before a file is put into it.
    struct Swap<'a>(&'a Scratch, &'a Scratch);
    impl Watch for Swap<'_> {
        fn before(&mut self, action: &str) -> disk::Verdict {
            if action.ends_with(" to apps/new/b") {
                std::fs::remove_dir(self.0.at("apps/new")).unwrap();
                self.0.link("apps/new", self.1.top());
            }
            disk::Verdict::Go
        }
    }
    let (scratch, outside) = (Scratch::git(), Scratch::plain());
    let error = write_watched(&scratch.repository(), &creating("apps/new/b"), &mut Swap(&scratch, &outside));
    assert_eq!(error.unwrap_err().kind, ErrorKind::Invalid);
    assert!(outside.tree().is_empty());
}

#[test]
fn invariant_7_git_folders_are_never_written() {
    let outside = Scratch::plain();
    let scratch = Scratch::git();
    for name in [
        ".git/hooks/x",
        ".git/config",
        ".GIT/hooks/x",
        "a/.git/hooks/x",
        ".git./x",
        ".git /x",
        "GIT~1/x",
        ".g\u{200c}it/x",
        ".git:stream",
        ".git",
    ] {
        refuse(&scratch, &outside, name, "is in a `.git` folder");
    }
    refuse(&scratch, &outside, ".gitops-windows/next/journal.json", "own journal");
    refuse(&scratch, &outside, "a\nb", "control character");
    scratch.put("nested/.git/HEAD", "x").put("sub/.git", "gitdir: elsewhere");
    refuse(&scratch, &outside, "nested/x", "is in another git repository");
    refuse(&scratch, &outside, "sub/deep/x", "is in another git repository");
}

#[test]
fn invariant_7_paths_that_leave_are_no_paths() {
    for text in ["../x", "a/../../x", "/etc/passwd", "a\\..\\x", "a\0b"] {
        assert!(RepoPath::parse(text).is_err(), "{text}");
    }
    let journal = |path: &str| {
        format!(
            r#"{{"version":1,"id":"1-2","undo":false,"made":[],"removed":[],
               "steps":[{{"path":{path:?},"before":null,"after":null,"moved_from":null}}]}}"#
        )
    };
    assert!(Journal::parse(journal("a").as_bytes()).is_ok());
    for text in ["../x", "/etc/passwd", ".git/hooks/x", "", "a/../../b"] {
        assert!(Journal::parse(journal(text).as_bytes()).is_err(), "{text}");
    }
    assert!(Journal::parse(journal("a").replace("1-2", "../2").as_bytes()).is_err());
}

#[test]
fn invariant_7_what_is_no_file_is_not_replaced() {
    let outside = Scratch::plain();
    let scratch = Scratch::git();
    let made = std::process::Command::new("mkfifo").arg(scratch.at("pipe")).status().unwrap();
    assert!(made.success());
    scratch.put("folder/kept", "k").put("file", "f");
    refuse(&scratch, &outside, "pipe", "a pipe, socket or device");
    refuse(&scratch, &outside, "pipe/x", "`pipe` is a file and no folder");
    refuse(&scratch, &outside, "folder", "it is a folder");
    refuse(&scratch, &outside, "file/x", "`file` is a file and no folder");

    // The folder loses one file but keeps one that the plan does not know of.
    scratch.put("half/known", "1");
    let mut plan =
        plan_to(&scratch, &[("folder/kept", "k", false), ("file", "f", false), ("half", "2", false)]);
    scratch.put("half/unknown", "u");
    let before = scratch.tree();
    let error = write(&scratch.repository(), &plan).unwrap_err();
    assert!(error.to_string().contains("keeps other files"), "{error}");
    plan.append(&mut creating("half/x"));
    let error = write(&scratch.repository(), &plan).unwrap_err();
    assert!(error.to_string().contains("is planned as a file"), "{error}");
    assert_eq!(scratch.tree(), before);
}

#[test]
fn invariant_7_the_journal_s_folder_is_no_link() {
    let outside = Scratch::plain();
    let scratch = Scratch::plain();
    scratch.link(".gitops-windows", outside.top());
    assert!(write(&scratch.repository(), &creating("a")).is_err());
    assert!(recover(&scratch.repository()).is_err());
    assert!(outside.tree().is_empty() && !scratch.at("a").exists());
}
