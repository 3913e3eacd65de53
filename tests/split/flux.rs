//! What the Flux Kustomization of an entry point does with the parts.

use crate::repository::{DEPLOYMENT, app, flux, from_source, repository};
use crate::support::scratch::Scratch;

/// Writes an entry point of two apps and its Flux Kustomization with a field of its own; the first app's
/// Deployment reads its ConfigMap.
fn two_apps(field: &str) -> Scratch {
    let scratch = repository(&[("apps/first/kustomization.yaml", "resources:\n  - web\n  - mail\n")]);
    app(&scratch, "apps/first/web");
    app(&scratch, "apps/first/mail");
    let reading = DEPLOYMENT
        .replace("image: main:1\n", "image: main:1\n          envFrom: [{ configMapRef: { name: NAME } }]\n");
    scratch.write("apps/first/web/deployment.yaml", reading.replace("NAME", "web"));
    flux(&scratch, "apps/first");
    let file = "clusters/c/first.yaml";
    scratch.write(file, format!("{}{field}", scratch.text(file))).commit();
    scratch
}

#[test]
fn one_app_is_held_to_what_its_flux_kustomization_builds() {
    // With the ConfigMap on another side, nothing tells the suffix to the Deployment.
    let scratch = two_apps("  nameSuffix: -c\n");
    let run = scratch.expect(5, &["split", "app", "web", "--yes"]);
    assert!(run.stderr.contains("from \"web-c\" to \"web\""), "{}", run.stderr);
    assert!(run.stderr.contains("Flux Kustomization's own fields"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
    scratch.expect(0, &["split", "app", "mail", "--yes"]);
    assert!(scratch.text("apps/first/first-rw/kustomization.yaml").contains("mail"));
    scratch.expect(0, &["verify"]);
}

#[test]
fn an_annotation_that_the_controller_sets_for_bases_is_told_to_go() {
    let scratch = repository(&[("apps/first/kustomization.yaml", "bases:\n  - web\n")]);
    app(&scratch, "apps/first/web");
    flux(&scratch, "apps/first");
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("lose the annotation `config.kubernetes.io/origin`"), "{}", run.stderr);
}

#[test]
fn an_entry_point_that_its_flux_kustomization_can_not_build_is_left() {
    let scratch = two_apps("  components:\n    - ../nowhere\n");
    let run = scratch.expect(3, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("Flux Kustomization first"), "{}", run.stderr);
    assert!(run.stderr.contains("nowhere"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

/// What only the build of another one applies could not be handed over, so it is not divided.
#[test]
fn what_another_build_applies_is_left_with_the_way_to_its_own_flux_kustomization() {
    let scratch = repository(&[
        ("clusters/c/flux-system.yaml", &from_source("flux-system", "./clusters/c", "flux-system")),
        ("clusters/c/kustomization.yaml", "resources:\n  - flux-system.yaml\n  - apps\n"),
        ("clusters/c/apps/kustomization.yaml", "resources:\n  - web\n"),
    ]);
    app(&scratch, "clusters/c/apps/web");
    let run = scratch.expect(5, &["split", "--all", "--yes"]);
    insta::assert_snapshot!(run.stderr);
}

#[test]
fn sides_of_generated_files_are_handed_over_whose_source_is_not_in_git() {
    let scratch = repository(&[
        ("clusters/c/flux-system.yaml", &from_source("flux-system", "./clusters/c", "flux-system")),
        ("clusters/c/apps.yaml", &from_source("apps", "./apps", "apps-src")),
    ]);
    app(&scratch, "apps");
    scratch.take(&["split", "--all", "--yes"]);
    assert!(!scratch.top().join("apps/apps-rw/deployment.yaml").exists());
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
    }
    let run = scratch.expect(0, &["clusters"]);
    for side in ["apps-rt", "apps-rw"] {
        assert!(run.stdout.contains(&format!("flux-system/{side}      apps/{side}")), "{}", run.stdout);
    }
    assert!(!scratch.top().join("clusters/c/apps.yaml").exists());
    scratch.expect(0, &["verify"]);
}
