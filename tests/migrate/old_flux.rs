//! A cluster whose Flux, as Git holds it, has no `deletionPolicy`.

use crate::divided::{SPEC, nothing_differs, nothing_is_deleted};
use crate::support::scratch::Scratch;

const CRD: &str = "clusters/CLUSTER/flux-system/crd.yaml";

/// The fields that the fixture's Flux Kustomizations have.
const FIELDS: [&str; 12] = [
    "interval: { type: string }",
    "dependsOn: { items: { properties: { name: { type: string }, namespace: { type: string } } } }",
    "sourceRef: { properties: { kind: { type: string }, name: { type: string }, namespace: { type: string } } }",
    "path: { type: string }",
    "prune: { type: boolean }",
    "wait: { type: boolean }",
    "timeout: { type: string }",
    "retryInterval: { type: string }",
    "serviceAccountName: { type: string }",
    "commonMetadata: { x-kubernetes-preserve-unknown-fields: true }",
    "postBuild: { x-kubernetes-preserve-unknown-fields: true }",
    "decryption: { x-kubernetes-preserve-unknown-fields: true }",
];

/// The field that Flux 2.5 brought.
pub(crate) const POLICY: &str = "              deletionPolicy: { type: string }\n";

/// The CustomResourceDefinition of Flux Kustomizations of a version of Flux, with more fields.
pub(crate) fn definition(version: &str, more: &str) -> String {
    let fields: String = FIELDS.iter().map(|field| format!("              {field}\n")).collect();
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: kustomizations.kustomize.toolkit.fluxcd.io\n  labels: {{ app.kubernetes.io/version: {version} }}\nspec:\n  group: kustomize.toolkit.fluxcd.io\n  names: {{ kind: Kustomization }}\n  versions:\n  - name: v1\n    served: true\n    schema:\n      openAPIV3Schema:\n        properties:\n          spec:\n            properties:\n{fields}              healthChecks: {{ x-kubernetes-preserve-unknown-fields: true }}\n{more}"
    )
}

/// The fixture with a Flux of its own in each cluster: without `deletionPolicy` in the north, with it in the south.
fn repository() -> Scratch {
    let scratch = Scratch::fixture("overlays");
    scratch.write("windows.yaml", format!("{SPEC}  north: {{}}\n  south: {{}}\n"));
    for (cluster, version, more) in [("north", "v2.3.0", ""), ("south", "v2.5.0", POLICY)] {
        scratch.write(&CRD.replace("CLUSTER", cluster), definition(version, more));
        let list = format!("clusters/{cluster}/flux-system/kustomization.yaml");
        scratch.replace(&list, "- gotk-sync.yaml\n", "- gotk-sync.yaml\n- crd.yaml\n");
    }
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    scratch
}

fn apps(scratch: &Scratch, cluster: &str) -> String {
    scratch.text(&format!("clusters/{cluster}/apps.yaml"))
}

#[test]
fn prune_alone_is_written_where_git_holds_a_flux_without_policies() {
    let scratch = repository();
    let before = scratch.tree();
    scratch.take(&["split", "--all", "--yes"]);
    assert!(apps(&scratch, "north").contains("prune: false # gitops-windows: was true # tidy"));
    assert!(!apps(&scratch, "north").contains("deletionPolicy"));
    assert!(apps(&scratch, "south").contains("deletionPolicy: Orphan"));
    assert!(!nothing_is_deleted(&scratch).contains("GW071"));
    // Another Flux since is no edit of the file.
    let joined = scratch.expect(0, &["join", "--all", "--yes"]);
    assert_eq!(scratch.tree(), before, "{joined:?}");
    scratch.git(&["reset", "--quiet", "--hard"]);
    for next in ["hand over", "finish"] {
        let run = scratch.expect(0, &["migrate", "--yes"]);
        assert!(run.stderr.contains(&format!("this step: {next}")), "{}", run.stderr);
        scratch.commit();
        nothing_differs(&scratch);
        assert!(!nothing_is_deleted(&scratch).contains("GW071"));
        assert_eq!(scratch.expect(0, &["sync", "--yes"]).stdout, "");
    }
    assert!(scratch.run(&["migrate"]).stderr.contains("finished"));
}

#[test]
fn a_flux_without_v1_is_to_be_upgraded_to_the_first_one_that_serves_it() {
    let scratch = repository();
    let crd = CRD.replace("CLUSTER", "north");
    let now = scratch.text(&crd);
    scratch.write(&crd, now.replace("- name: v1\n", "- name: v1beta2\n").replace("v2.3.0", "v0.41.2"));
    scratch.commit();
    let told = scratch.run(&["split", "--all", "--dry-run"]).stderr;
    for said in ["Flux v0.41.2 of", "does not serve kustomize.toolkit.fluxcd.io/v1", "north to 2.0 or later"]
    {
        assert!(told.contains(said), "{said}: {told}");
    }
    scratch.write(&crd, now.replace("v2.3.0", "v2.0.0")).commit();
    scratch.take(&["split", "--all", "--yes"]);
    assert!(apps(&scratch, "north").contains("prune: false # gitops-windows: was true"));
}

#[test]
fn a_policy_that_never_landed_stops_the_next_step() {
    let scratch = repository();
    scratch.replace(
        "clusters/north/apps.yaml",
        "  wait: false\n",
        "  wait: false\n  deletionPolicy: Orphan\n",
    );
    scratch.commit();
    let said = scratch.run(&["check"]);
    let said = said.stdout + &said.stderr;
    for part in ["GW071", "does not declare `spec.deletionPolicy` of apps", "2.5 or later"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let run = scratch.run(&["split", "--all", "--dry-run"]);
    let said = "Flux v2.3.0 of clusters/north/flux-system/crd.yaml does not declare `spec.deletionPolicy`";
    assert!(
        run.stderr.contains(said) && run.stderr.contains("upgrade Flux of cluster north"),
        "{}",
        run.stderr
    );
    assert!(!run.stdout.contains("clusters/north/apps.yaml"), "{}", run.stdout);
}

#[test]
fn a_held_source_needs_a_policy() {
    let scratch = repository();
    let gate = "gate: { mechanism: follow, every: 5m, from: 2026-11-01, through: 2027-01-31 }\n";
    scratch.write("windows.yaml", scratch.text("windows.yaml") + gate).commit();
    let run = scratch.run(&["split", "--all", "--dry-run"]);
    assert!(run.stderr.contains("has no `deletionPolicy`"), "{}", run.stderr);
}
