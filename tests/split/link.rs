//! Folders and files behind symbolic links, which are in no artifact.

use crate::repository::{app, flux, repository};

#[cfg(unix)]
#[test]
fn what_flux_does_not_see_is_not_divided() {
    let scratch = repository(&[("apps/one/kustomization.yaml", "resources:\n  - web\n")]);
    app(&scratch, "base/web");
    std::os::unix::fs::symlink("../../base/web", scratch.top().join("apps/one/web")).unwrap();
    flux(&scratch, "apps/one");
    let run = scratch.expect(3, &["split", "--all", "--yes"]);
    let told = run.stderr.lines().skip_while(|line| !line.contains("apps/one in cluster")).nth(1);
    insta::assert_snapshot!(told.unwrap_or(&run.stderr), @"       apps/one does not build: Flux Kustomization one never sees apps/one/web: `apps/one/web` is a symbolic link, and no source fetches links");
    let check = scratch.run(&["check"]).stdout;
    assert!(check.contains("GW066"), "{check}");
}

#[cfg(unix)]
#[test]
fn what_a_linked_folder_builds_on_is_known_to_come_from_there() {
    let scratch = repository(&[
        ("apps/one/kustomization.yaml", "resources:\n  - web\n"),
        ("overlays/far/away/web/kustomization.yaml", "resources:\n  - ../../../../base/web\n"),
    ]);
    app(&scratch, "base/web");
    std::os::unix::fs::symlink("../../overlays/far/away/web", scratch.top().join("apps/one/web")).unwrap();
    flux(&scratch, "apps/one");
    let run = scratch.expect(0, &["explain", "base/web/config.yaml"]);
    assert!(run.stdout.contains("apps/one"), "{}", run.stdout);
    assert!(run.stderr.contains("apps/one does not build"), "{}", run.stderr);
}

/// One whose build fails for a link must not begin to apply things since another one was divided, and the file in place of
/// the link moved on.
#[cfg(unix)]
#[test]
fn what_fails_for_a_link_goes_on_failing_when_others_are_divided() {
    let scratch = repository(&[
        ("apps/one/kustomization.yaml", "resources:\n  - ../../base/web\n"),
        ("clusters/c/two/kustomization.yaml", "resources:\n  - ../../../base/web\n"),
    ]);
    app(&scratch, "base/web");
    scratch.git(&["mv", "base/web/deployment.yaml", "deployment.yaml"]);
    std::os::unix::fs::symlink("../../deployment.yaml", scratch.top().join("base/web/deployment.yaml"))
        .unwrap();
    flux(&scratch, "apps/one");
    let run = scratch.expect(3, &["split", "--all", "--yes"]);
    insta::assert_snapshot!(run.stderr, @r"
    error: apps/one in cluster c is left as it is:
           apps/one does not build: Flux Kustomization one never sees base/web/deployment.yaml: `base/web/deployment.yaml` is a symbolic link, and no source fetches links
     --> apps/one
     = help: put files in place of the link, or name its target

    error: clusters/c/two in cluster c is left as it is:
           dividing it would change apps/one, of which Flux never sees base/web/deployment.yaml: `base/web/deployment.yaml` is a symbolic link, and no source fetches links
     = help: put files in place of the link, or name its target
    ");
}
