//! Names and numbers of types, and names of what is divided.

use std::path::Path;

use crate::repository::{BOTH, TYPES, entry, flux, gated, repository, spec};
use crate::support::scratch::{Scratch, assert_same};

#[test]
fn job_names_end_at_52_characters() {
    let long = "w".repeat(60);
    let text = |types: &str| spec(types, "{}").replace("night", &long);
    let scratch = repository(&[("apps", BOTH)]);
    // A window's name is no part of a job's, a type's is where several have windows.
    scratch.write("windows.yaml", text(&format!("{{ rt: {{}}, rw: {{ window: {long} }} }}"))).commit();
    scratch.take(&["sync", "--yes"]);
    let types = format!("{{ rt: {{}}, rw: {{ window: {long} }}, {long}: {{ window: {long} }} }}");
    scratch.write("windows.yaml", text(&types));
    scratch.commit();
    let before = scratch.tree();
    let run = scratch.expect(3, &["sync", "--yes"]);
    assert!(run.stderr.contains("Kubernetes takes at most 52"), "{}", run.stderr);
    assert_same(&before, &scratch.tree(), "something was written");
}

/// Names that begin with each other, and names that look like numbers of windows.
#[test]
fn types_that_are_prefixes_of_each_other() {
    let scratch = repository(&[("apps", &["ConfigMap", "Secret", "Deployment", "Role"])]);
    let types = "{ r: {}, r-t: { window: night }, r-t-w: { window: night }, r-t-w-2: { window: night } }";
    let rules = "rules: [{ kind: ConfigMap, type: r }, { kind: Secret, type: r-t }, { kind: Role, type: r-t-w }, { type: r-t-w-2 }]\n";
    scratch.write("windows.yaml", spec(types, "{}") + rules).commit();
    scratch.take(&["split", "--all", "--yes"]);
    scratch.take(&["sync", "--yes"]);
    for (name, file) in [("r", "configmap"), ("r-t", "secret"), ("r-t-w", "role"), ("r-t-w-2", "deployment")]
    {
        assert!(scratch.top().join(format!("apps/apps/apps-{name}/{file}.yaml")).exists(), "{name}");
        assert_eq!(gated(&scratch).contains(&format!("apps-{name}")), name != "r", "{name}");
    }
    scratch.expect(0, &["verify"]);
    // A second window of `r-t-w` has the very job of `r-t-w-2`.
    let two = spec(types, "{}")
        .replace("r-t-w: { window: night }", "r-t-w: { window: [night, day] }")
        .replace("{ night:", "{ day: { timeZone: UTC, open: 0 9 * * *, for: 1h }, night:");
    scratch.write("windows.yaml", two + rules).commit();
    let run = scratch.expect(3, &["sync", "--yes"]);
    assert!(
        run.stderr.contains("both have the CronJob `open-reconciliation-window-r-t-w-2`"),
        "{}",
        run.stderr
    );
}

/// Fifty types in an order, each with its own kind of object and window.
#[test]
fn fifty_types() {
    let scratch = Scratch::empty();
    let mut types = vec!["t0: {}".to_owned()];
    let (mut rules, mut resources) = (Vec::new(), Vec::new());
    for number in 0..50 {
        if number > 0 {
            types.push(format!("t{number}: {{ window: night }}"));
        }
        rules.push(format!("{{ name: o{number}, type: t{number} }}"));
        resources.push(format!("o{number}.yaml"));
        scratch.write(
            &format!("apps/a/o{number}.yaml"),
            format!("apiVersion: v1\nkind: Secret\nmetadata: {{ name: o{number}, namespace: x }}\n"),
        );
    }
    rules.push("{ type: t0 }".to_owned());
    scratch.write("apps/a/kustomization.yaml", format!("resources: [{}]\n", resources.join(", ")));
    scratch.write("clusters/edge/apps/kustomization.yaml", "resources: [../../../apps/a]\n");
    flux(&scratch, "apps", "clusters/edge/apps", "");
    let text = spec(&format!("{{ {} }}", types.join(", ")), "{}");
    scratch.write("windows.yaml", format!("{text}rules: [{}]\n", rules.join(", "))).commit();
    scratch.take(&["split", "--all", "--yes"]);
    scratch.take(&["sync", "--yes"]);
    for number in 0..50 {
        let side = scratch.text(&format!("clusters/edge/apps/apps-t{number}/kustomization.yaml"));
        assert!(
            side.contains(&format!("apps/a/a-t{number}\n")) || side.contains(&format!("a-t{number}]")),
            "{side}"
        );
        assert!(scratch.top().join(format!("apps/a/a-t{number}/o{number}.yaml")).exists());
    }
    let jobs = scratch.tree().into_keys().filter(|path| {
        path.starts_with("infra/reconciliation-windows") && path.to_string_lossy().ends_with("-job.yaml")
    });
    assert_eq!(jobs.count(), 2 * 49);
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

/// What Kubernetes takes as a name (RFC 1123 subdomain) and what only its objects' paths take.
#[test]
fn names_with_every_character_that_kubernetes_allows() {
    let scratch = Scratch::empty();
    let name = format!("0-a.b-c.{}9", "x".repeat(40));
    entry(&scratch, &name, BOTH);
    flux(&scratch, &name, &format!("clusters/edge/{name}"), "");
    // RBAC names may hold nearly anything; they stay as they are.
    scratch.write(
        &format!("apps/{name}/deployment.yaml"),
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: { name: \"system:a b'\\\"${x}{{ y }}#\" }\n",
    );
    scratch.write("windows.yaml", spec(TYPES, "{}")).commit();
    scratch.take(&["split", "--all", "--yes"]);
    scratch.take(&["sync", "--yes"]);
    assert_eq!(gated(&scratch), [format!("{name}-rw")]);
    assert!(Path::new(&scratch.top().join(format!("apps/{name}/{name}-rw/deployment.yaml"))).exists());
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

/// A folder may be called as no cluster may.
#[test]
fn a_cluster_gets_a_name_where_its_folder_is_none() {
    let scratch = Scratch::empty();
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
        metadata: { name: apps, namespace: flux-system }\n\
        spec: { interval: 10m, path: ./apps, prune: true, sourceRef: { kind: GitRepository, name: flux-system } }\n";
    scratch
        .write("clusters/_prod/apps.yaml", flux)
        .write(
            "apps/c.yaml",
            "{ apiVersion: v1, kind: Service, metadata: { name: a }, spec: { ports: [{ port: 80 }] } }\n",
        )
        .commit();
    let run = scratch.expect(3, &["init", "--yes"]);
    insta::assert_snapshot!(run.stderr, @r"
    error: cluster name `_prod` names a folder: letters, digits and, between them, `.`, `_` and `-`
     = help: give it a name: `gitops-windows init --cluster-folder prod=clusters/_prod`
    ");
    scratch.expect(0, &["init", "--cluster-folder", "prod=clusters/_prod", "--yes"]);
    let told = scratch.expect(0, &["clusters"]);
    insta::assert_snapshot!(told.stdout, @"
    prod  root clusters/_prod
      flux-system/apps                    apps
      flux-system/reconciliation-windows  clusters/prod/infra/reconciliation-windows
    ");
}
