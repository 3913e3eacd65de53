//! What the tool makes of the fixtures, as whole trees: nothing may be missing, nothing extra.
//!
//! `GITOPS_WINDOWS_BLESS=1 cargo test --test golden` writes the trees in `tests/golden/` anew.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, and writes when asked")]

mod support;

use support::golden::compare;
use support::scratch::{Scratch, Tree, WINDOW, assert_same, copy, tree};

/// Writes, and holds the printed patch and a second run to what was written.
#[track_caller]
fn write(scratch: &Scratch, arguments: &[&str]) {
    let before = scratch.tree();
    let shown = scratch.run(&[arguments, &["--format", "patch"]].concat());
    assert_eq!(shown.code, 1, "{}", shown.stderr);
    assert_same(&before, &scratch.tree(), "a run without --yes wrote");
    scratch.expect(0, &[arguments, &["--yes"]].concat());
    let written = scratch.tree();

    let applied = Scratch::empty();
    std::fs::remove_dir_all(applied.top()).unwrap();
    scratch.git(&["worktree", "add", "--quiet", "--detach", applied.top().to_str().unwrap()]);
    let patch = scratch.outside().join("a.patch");
    std::fs::write(&patch, &shown.stdout).unwrap();
    applied.git(&["apply", patch.to_str().unwrap()]);
    assert_same(&written, &tree(applied.top()), "invariant 3: the patch is not what was written");
    scratch.git(&["worktree", "remove", "--force", applied.top().to_str().unwrap()]);

    scratch.commit();
    let again = if arguments.contains(&"init") { &["sync"] } else { arguments };
    for command in [again, &["sync"]] {
        let run = scratch.expect(0, &[command, &["--yes"]].concat());
        assert_eq!(run.stdout, "", "invariant 2: {command:?} found something to change");
        assert_same(&written, &scratch.tree(), "invariant 2: a second run wrote");
    }
}

fn initialised(fixture: &str) -> Scratch {
    let scratch = Scratch::fixture(fixture);
    let arguments = ["init"].into_iter().chain(WINDOW.into_iter().filter(|_| fixture == "sample"));
    write(&scratch, &arguments.collect::<Vec<_>>());
    scratch
}

#[test]
fn init_of_the_sample() {
    compare(&initialised("sample"), "sample-init");
}

#[test]
fn split_of_the_sample() {
    let scratch = initialised("sample");
    write(&scratch, &["split", "app", "web"]);
    compare(&scratch, "sample-split");
}

#[test]
fn init_of_a_repository_with_a_gate() {
    compare(&initialised("adopted"), "adopted-init");
}

#[test]
fn split_of_a_repository_with_a_gate() {
    let scratch = initialised("adopted");
    write(&scratch, &["split", "--all"]);
    compare(&scratch, "adopted-split");
}

/// SOPS, links, vars, configurations, transformers and validators, generated Secrets, and generators
/// that an overlay merges into or replaces.
#[test]
fn split_of_what_kustomize_can_do() {
    let scratch = Scratch::fixture("features");
    // The spec asks for gates, which `sync` makes.
    scratch.take(&["sync", "--yes"]);
    let before = scratch.tree();
    write(&scratch, &["split", "--all"]);
    compare(&scratch, "features-split");
    scratch.expect(0, &["verify"]);
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "invariant 2: join does not give back every byte");
}

/// Types named live and window, a folder of sets, a version in the path, jobs named by what they do,
/// and the infrastructure split, so that its windows change in real time: by templates alone.
#[test]
fn a_layout_of_templates_alone() {
    let scratch = Scratch::fixture("record");
    scratch.take(&["split", "--all", "--yes"]);
    write(&scratch, &["sync"]);
    for again in [&["sync"][..], &["split", "--all"]] {
        assert_eq!(scratch.expect(0, again).stdout, "", "{again:?} found something to change");
    }
    scratch.expect(0, &["verify"]);
    compare(&scratch, "record-split");
    scratch.expect(0, &["join", "--all", "--yes"]);
    let fixture = support::scratch::fixtures().join("record/clusters/dev-edge/sets");
    let joined = tree(&scratch.top().join("clusters/dev-edge/sets"));
    assert_same(&tree(&fixture), &joined, "join did not give the sets back");
}

#[test]
fn a_gate_below_a_side_is_no_side_and_stays_when_that_is_joined() {
    let scratch = Scratch::fixture("record");
    for command in [&["sync", "--yes"][..], &["split", "--all", "--yes"]] {
        scratch.take(command);
    }
    scratch.take(&["join", "--all", "--yes"]);
    scratch.git(&["diff", "--exit-code", "HEAD~2"]);
}

#[test]
fn init_in_an_empty_folder() {
    let scratch = Scratch::empty();
    let arguments = ["init", "--cluster", "edge-01", "--cluster", "edge-02", "--app", "nginx"];
    scratch.expect(0, &[&arguments, &WINDOW[..], &["--yes"]].concat());
    compare(&scratch, "scaffold");
    scratch.commit();
    for again in [&["sync"][..], &["split", "app", "nginx"]] {
        assert_eq!(scratch.expect(0, again).stdout, "", "{again:?} found something to change");
    }
}

#[test]
fn init_with_alerts_in_an_empty_folder() {
    let scratch = Scratch::empty();
    let arguments = ["init", "--cluster", "edge-01", "--app", "nginx", "--alerts", "slack"];
    scratch.expect(0, &[&arguments, &WINDOW[..], &["--yes"]].concat());
    compare(&scratch, "scaffold-alerts");
    scratch.commit();
    for again in [&["sync"][..], &["split", "app", "nginx"]] {
        assert_eq!(scratch.expect(0, again).stdout, "", "{again:?} found something to change");
    }
}

#[test]
fn undo_gives_back_every_byte() {
    let scratch = initialised("sample");
    let before = scratch.tree();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.expect(0, &["undo", "--yes"]);
    assert_same(&before, &scratch.tree(), "undo left a difference");
}

#[test]
fn a_subfolder_of_a_git_repository_works_the_same() {
    let scratch = Scratch::empty();
    copy(&support::scratch::fixtures().join("sample"), &scratch.top().join("fleets/one"));
    for cluster in ["edge-01", "edge-02"] {
        for kind in ["apps", "infra"] {
            let file = format!("fleets/one/clusters/{cluster}/flux/{kind}.yaml");
            scratch.replace(&file, "path: ./clusters", "path: ./fleets/one/clusters");
        }
    }
    scratch.commit();
    let init = [&["-C", "fleets/one", "init", "--yes"], &WINDOW[..]].concat();
    scratch.expect(0, &init);
    scratch.commit();
    scratch.expect(0, &["-C", "fleets/one", "split", "app", "web", "--yes"]);
    let at_top = initialised("sample");
    at_top.expect(0, &["split", "app", "web", "--yes"]);
    let names = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&tree(&scratch.top().join("fleets/one"))), names(&at_top.tree()));
    assert_eq!(scratch.git(&["status", "--porcelain", "--", ":!fleets/one"]), "");
}

/// A gate that holds a source, where CronJobs that suspend stood before.
#[test]
fn a_gate_that_follows() {
    let scratch = Scratch::empty();
    let arguments = ["init", "--yes", "--cluster", "edge-01", "--cluster", "edge-02", "--app", "web"];
    scratch.expect(0, &arguments.into_iter().chain(WINDOW).collect::<Vec<_>>());
    for cluster in ["edge-01", "edge-02"] {
        let text = format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
             metadata: {{ name: flux-system, namespace: flux-system }}\n\
             spec: {{ interval: 1m, ref: {{ branch: main }}, secretRef: {{ name: flux-system }}, url: ssh://git@github.com/acme/fleet }}\n---\n\
             apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
             metadata: {{ name: flux-system, namespace: flux-system }}\n\
             spec: {{ interval: 10m, path: ./clusters/{cluster}/flux, prune: true, sourceRef: {{ kind: GitRepository, name: flux-system }} }}\n"
        );
        scratch.write(&format!("clusters/{cluster}/flux/gotk-sync.yaml"), text);
    }
    scratch.replace(
        "windows.yaml",
        "gate:\n",
        "gate:\n  mechanism: follow\n  every: 5m\n  from: 2026-11-01\n  through: 2026-11-30\n",
    );
    scratch.commit();
    write(&scratch, &["sync"]);
    compare(&scratch, "scaffold-follow");
}
