//! Entry points that an ArtifactGenerator makes artifacts of.

use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;

const GENERATOR: &str = "apiVersion: source.extensions.fluxcd.io/v1beta1
kind: ArtifactGenerator
metadata: { name: apps, namespace: flux-system }
spec:
  sources:
    - { alias: repo, kind: GitRepository, name: flux-system }
  artifacts:
    - name: apps
      copy:
        - { from: \"@repo/apps/base/**\", to: \"@artifact/base/\" }
        - { from: \"@repo/apps/prod/**\", to: \"@artifact/prod/\", exclude: [\"*.md\"] }
";

/// A cluster with an entry point whose path counts from `apps`.
fn repository(generator: &str) -> Scratch {
    let scratch = Scratch::empty();
    let apps = flux_kustomization("apps", "prod", "")
        .replace("kind: GitRepository, name: flux-system", "kind: ExternalArtifact, name: apps");
    scratch
        .write("clusters/prod/flux-system/gotk-sync.yaml", flux_kustomization("flux-system", "clusters/prod", ""))
        .write("clusters/prod/apps.yaml", apps)
        .write("clusters/prod/generator.yaml", generator)
        .write("apps/base/web/kustomization.yaml", "resources: [all.yaml]\n")
        .write(
            "apps/base/web/all.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web, namespace: web }\n---\napiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: web }\n",
        )
        .write("apps/prod/kustomization.yaml", "resources: [../base/web]\n")
        .write("apps/prod/README.md", "words\n")
        .commit();
    scratch.expect(0, &["init", "--yes"]);
    scratch.commit();
    scratch
}

#[test]
fn paths_of_successors_count_from_where_the_artifact_begins() {
    let scratch = repository(GENERATOR);
    for command in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        scratch.expect(0, command);
        scratch.commit();
        scratch.expect(0, &["verify"]);
    }
    let run = scratch.expect(0, &["migrate"]);
    assert!(run.stderr.contains("finished") && run.stderr.contains("Nothing to change"), "{}", run.stderr);
    let of = |name: &str| scratch.text(&format!("clusters/prod/{name}.yaml"));
    insta::assert_snapshot!(of("apps-rw"), @r"
    apiVersion: kustomize.toolkit.fluxcd.io/v1
    kind: Kustomization
    metadata: { name: apps-rw, namespace: flux-system }
    spec:
      interval: 10m
      path: ./prod/prod-rw
      prune: true
      sourceRef: { kind: ExternalArtifact, name: apps }
      dependsOn:
        - name: apps-rt
    ");
}

/// What is pushed from a folder counts from there, whoever else the root's FluxInstance would have asked.
#[test]
fn what_is_pushed_to_a_registry_is_divided_where_it_is_made() {
    let scratch = Scratch::empty();
    let pushed = |name: &str, path: &str| {
        flux_kustomization(name, path, "").replace("kind: GitRepository", "kind: OCIRepository")
    };
    let instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: { name: flux, namespace: flux-system }\nspec: { sync: { kind: OCIRepository, url: \"oci://ghcr.io/acme/fleet\", ref: latest, path: clusters/prod } }\n";
    scratch
        .write("k8s/clusters/prod/instance.yaml", instance)
        .write("k8s/clusters/prod/apps.yaml", pushed("apps", "apps/prod"))
        .write("k8s/apps/prod/kustomization.yaml", "resources: [all.yaml]\n")
        .write(
            "k8s/apps/prod/all.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web, namespace: web }\n---\napiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: web }\n",
        )
        .commit();
    scratch.expect(0, &["init", "--yes"]);
    scratch.commit();
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("kind: OCIRepository\n    name: flux-system\n    path: k8s\n"), "{spec}");
    for command in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        scratch.take(command);
        scratch.commit();
        scratch.expect(0, &["verify"]);
    }
    let gated = scratch.text("k8s/clusters/prod/apps-rw.yaml");
    assert!(gated.contains("path: ./apps/prod/prod-rw\n"), "{gated}");
    assert!(gated.contains("kind: OCIRepository, name: flux-system"), "{gated}");
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("apps-rw      k8s/apps/prod/prod-rw"), "{told}");
}

#[test]
fn what_the_generator_does_not_copy_is_missing_after_a_split() {
    let scratch = repository(&GENERATOR.replace("prod/**\", to", "prod/kustomization.yaml\", to"));
    let run = scratch.expect(5, &["split", "--all", "--yes"]);
    let told = run.stderr.lines().filter(|line| line.contains("apps/prod"));
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"), @"
    error: apps/prod in cluster prod is left as it is:
           Flux Kustomization apps never sees apps/prod/prod-rt: its ArtifactGenerator does not copy it
    ");
}

/// After the hand-over nobody would own the objects of a side that its source leaves out.
#[test]
fn nothing_is_handed_over_to_a_side_that_its_source_does_not_fetch() {
    let scratch = Scratch::empty();
    scratch
        .write("clusters/prod/flux-system/gotk-sync.yaml", flux_kustomization("flux-system", "clusters/prod", ""))
        .write("clusters/prod/apps.yaml", flux_kustomization("apps", "apps/web", ""))
        .write("apps/web/kustomization.yaml", "resources: [all.yaml]\n")
        .write(
            "apps/web/all.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web, namespace: web }\n---\napiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: web }\n",
        )
        .commit();
    for command in [&["init", "--yes"][..], &["split", "--all", "--yes"]] {
        scratch.expect(0, command);
        scratch.commit();
    }
    scratch.write(".sourceignore", "/apps/web/web-rt/\n").commit();
    let run = scratch.expect(5, &["migrate", "--yes"]);
    insta::assert_snapshot!(run.stderr);
    assert_eq!(scratch.git(&["status", "--short"]), "");
    // Nor without what the build of a side reads.
    scratch.write(".sourceignore", "/apps/web/web-rw/kustomization.yaml\n").commit();
    let run = scratch.expect(5, &["migrate", "--yes"]);
    assert!(run.stderr.contains("apps never sees apps/web/web-rw: "), "{}", run.stderr);
    let told = scratch.run(&["check"]).stdout;
    assert!(told.contains("[GW066]") && told.contains("can't hand apps/web/web-rw over"), "{told}");
    scratch.write(".sourceignore", "/docs/\n").commit();
    scratch.expect(0, &["migrate", "--yes"]);
}
