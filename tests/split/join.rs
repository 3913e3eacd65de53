//! What a `join` gives back, and what it takes along.

use crate::repository::{CONFIG_MAP, app, flux, repository};
use crate::support::scratch::assert_same;

#[test]
fn a_folder_that_flux_lists_by_itself_comes_back() {
    let scratch = repository(&[("apps/web/readme.md", "web\n")]);
    app(&scratch, "apps/web");
    scratch.write("apps/loose.yaml", CONFIG_MAP.replace("NAME", "loose"));
    flux(&scratch, "apps");
    let before = scratch.tree();
    scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(scratch.text("apps/apps-rt/kustomization.yaml").contains("../apps-all"));
    scratch.commit();
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
}

#[test]
fn an_entry_point_that_another_builds_on_is_joined() {
    let scratch = repository(&[
        ("apps/all/kustomization.yaml", "resources:\n  - group\n"),
        ("apps/all/group/kustomization.yaml", "resources:\n  - ../web\n"),
        ("apps/all/web/kustomization.yaml", "resources:\n  - ../../../base/web\n"),
    ]);
    app(&scratch, "base/web");
    flux(&scratch, "apps/all");
    flux(&scratch, "apps/all/web");
    let before = scratch.tree();
    scratch.take(&["split", "--all", "--yes"]);
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
}

#[test]
fn what_a_side_alone_lists_is_not_lost_by_join() {
    let scratch = repository(&[("apps/kustomization.yaml", "resources:\n  - web\n")]);
    app(&scratch, "apps/web");
    flux(&scratch, "apps");
    scratch.expect(0, &["split", "--all", "--yes"]);
    app(&scratch, "apps/mail");
    scratch.replace("apps/apps-rw/kustomization.yaml", "resources:\n", "resources:\n  - ../mail\n").commit();
    let before = scratch.tree();
    let run = scratch.expect(5, &["join", "--all", "--yes"]);
    let words = "apps/apps-rw/kustomization.yaml lists `../mail`, which apps/kustomization.yaml does not";
    assert!(run.stderr.contains(words), "{}", run.stderr);
    assert_same(&before, &scratch.tree(), "a refused join wrote");
}

#[test]
fn a_file_that_a_part_got_since_comes_along() {
    let scratch = repository(&[("apps/kustomization.yaml", "resources:\n  - web\n")]);
    app(&scratch, "apps/web");
    flux(&scratch, "apps");
    let before = scratch.tree();
    scratch.expect(0, &["split", "--all", "--yes"]);
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: later\n  namespace: n\n";
    scratch
        .replace("apps/apps-rw/web/kustomization.yaml", "resources:\n", "resources:\n  - later.yaml\n")
        .write("apps/apps-rw/web/later.yaml", secret)
        .commit();
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_eq!(scratch.text("apps/web/later.yaml"), secret);
    scratch.replace("apps/web/kustomization.yaml", "  - later.yaml\n", "");
    scratch.commit().git(&["rm", "--quiet", "apps/web/later.yaml"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
}

#[test]
fn one_of_several_divided_apps_is_joined() {
    let scratch = repository(&[("apps/kustomization.yaml", "resources:\n  - web\n  - mail # by hand\n")]);
    app(&scratch, "apps/web");
    app(&scratch, "apps/mail");
    flux(&scratch, "apps");
    let before = scratch.tree();
    scratch.take(&["split", "app", "web", "--yes"]);
    let with_web = scratch.tree();
    scratch.take(&["split", "app", "mail", "--yes"]);
    scratch.expect(0, &["join", "app", "mail", "--yes"]);
    assert_same(&with_web, &scratch.tree(), "join of one app changed more");
    scratch.commit();
    scratch.expect(0, &["join", "app", "web", "--yes"]);
    assert_same(&before, &scratch.tree(), "join of the last app left something");
}

#[test]
fn what_was_handed_over_is_still_known_by_its_name() {
    let scratch = repository(&[("apps/kustomization.yaml", "resources:\n  - web\n")]);
    app(&scratch, "apps/web");
    flux(&scratch, "apps");
    scratch.take(&["split", "--all", "--yes"]);
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
    }
    let run = scratch.expect(5, &["join", "app", "apps", "--yes"]);
    let words =
        "apps in cluster c is left as it is:\n       Flux Kustomization apps-rt applies one of its sides";
    assert!(run.stderr.contains(words), "{}", run.stderr);
    // Another name beside it is none all the same.
    let run = scratch.expect(2, &["join", "app", "apps", "gone", "--yes"]);
    assert!(run.stderr.contains("there is no app `gone`"), "{}", run.stderr);
    assert!(!run.stderr.contains("no app `apps`"), "{}", run.stderr);
}

/// What takes the tool out is not refused for a window: that is told.
#[test]
fn a_window_that_stays_open_keeps_nobody_from_joining() {
    let scratch = repository(&[("apps/kustomization.yaml", "resources:\n  - web\n")]);
    app(&scratch, "apps/web");
    flux(&scratch, "apps");
    let before = scratch.tree();
    scratch.expect(0, &["split", "--all", "--yes"]);
    let (sound, unsound) = ("open: 0 22 * * *, close: 0 4 * * *", "open: 0 22 * * SAT, close: 0 2 * * SUN");
    scratch.replace("windows.yaml", sound, unsound).commit();
    assert!(scratch.expect(3, &["split", "--all"]).stderr.contains("error[GW104]"));
    let run = scratch.expect(0, &["join", "--all", "--yes"]);
    assert!(run.stderr.contains("warning[GW104]"), "{}", run.stderr);
    scratch.replace("windows.yaml", unsound, sound);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
}

/// A gate that stands is brought up to date with windows.yaml, so that its window must be sound.
#[test]
fn a_join_gives_no_gate_a_window_that_stays_open() {
    let scratch = repository(&[("apps/kustomization.yaml", "resources:\n  - web\n")]);
    app(&scratch, "apps/web");
    flux(&scratch, "apps");
    for command in ["split --all --yes", "sync --yes"] {
        scratch.expect(0, &command.split(' ').collect::<Vec<_>>());
        scratch.commit();
    }
    scratch.replace(
        "windows.yaml",
        "open: 0 22 * * *, close: 0 4 * * *",
        "open: 0 22 * * SAT, close: 0 2 * * SUN",
    );
    scratch.commit();
    let run = scratch.expect(3, &["join", "--all"]);
    assert!(run.stderr.contains("error[GW104]"), "{}", run.stderr);
}
