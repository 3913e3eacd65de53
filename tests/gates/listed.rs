//! Gates that people wrote into folders without a kustomization.yaml: Flux makes one of what lies there.

use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;
use crate::{jobs, rendered};

/// What edits the window of an adopted gate.
const EDIT: [&str; 8] =
    ["windows", "set", "reconciliation-window", "--open", "0 9 * * MON", "--close", "0 18 * * THU", "--yes"];

const ROLE: &str = "apiVersion: v1
kind: ServiceAccount
metadata: { name: gate, namespace: flux-system }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: gate, namespace: flux-system }
rules:
  - apiGroups: [kustomize.toolkit.fluxcd.io]
    resources: [kustomizations]
    resourceNames: [apps]
    verbs: [get, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: gate, namespace: flux-system }
subjects: [{ kind: ServiceAccount, name: gate, namespace: flux-system }]
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: gate }
";

/// Writes a CronJob of a gate.
fn job(name: &str, schedule: &str, deadline: u32, suspend: bool) -> String {
    format!(
        "apiVersion: batch/v1
kind: CronJob
metadata: {{ name: {name}, namespace: flux-system }}
spec:
  schedule: {schedule}
  timeZone: Europe/Oslo
  startingDeadlineSeconds: {deadline}
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      backoffLimit: 10
      template:
        spec:
          serviceAccountName: gate
          restartPolicy: Never
          containers:
            - name: gate
              image: ghcr.io/fluxcd/flux-cli:v2.9.4
              command: [kubectl, patch, kustomizations.kustomize.toolkit.fluxcd.io, apps, --namespace=flux-system, --type=merge, --field-manager=flux, '--patch={{\"spec\":{{\"suspend\":{suspend}}}}}']
"
    )
}

/// Makes a repository of one cluster, of which Flux Kustomization `infra` builds a folder, with some files.
fn one_cluster(path: &str, files: &[&str]) -> Scratch {
    let scratch = Scratch::empty();
    for (name, path) in [("flux-system", "clusters/prod"), ("apps", "apps"), ("infra", path)] {
        scratch.write(&format!("clusters/prod/{name}.yaml"), flux_kustomization(name, path, ""));
    }
    let object = |kind: &str, name: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: default }}\n")
    };
    scratch.write("apps/kustomization.yaml", "resources: [web.yaml]\n");
    scratch.write("apps/web.yaml", object("Service", "web") + "spec: { ports: [{ port: 80 }] }\n");
    for file in files {
        let text = match file.rsplit('/').next() {
            Some("open.yaml") => job("open", "0 18 * * FRI", 212100, false),
            Some("close.yaml") => job("close", "0 6 * * MON", 389100, true),
            Some("role.yaml") => ROLE.to_owned(),
            _ => object("ConfigMap", "other"),
        };
        scratch.write(file, text);
    }
    scratch.commit();
    scratch
}

/// Goes the whole way: the gate is adopted, `check` has nothing to say, and an edit of its window reaches the jobs that stood
/// there, of which there are no others.
fn stays_one(scratch: &Scratch, built: &str) {
    let run = scratch.expect(0, &["init", "--yes"]);
    assert!(!run.stderr.contains("not adopted"), "{}", run.stderr);
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("open: 0 18 * * FRI") && spec.contains("close: 0 6 * * MON"), "{spec}");
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    assert_eq!(scratch.expect(0, &["check"]).stdout, "");
    scratch.expect(0, &EDIT);
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    let found = jobs(&rendered(scratch, built));
    let times: Vec<_> = found.iter().map(|(name, job)| (name.as_str(), job.0.as_str(), job.2)).collect();
    assert_eq!(times, [("close", "0 18 * * THU", false), ("open", "0 9 * * MON", false)]);
    let all = scratch.git(&["grep", "--files-with-matches", "kind: CronJob"]);
    assert_eq!(all.lines().count(), 2, "{all}");
}

#[test]
fn a_gate_in_a_folder_of_its_own() {
    let scratch = one_cluster(
        "infra/gates",
        &["infra/gates/open.yaml", "infra/gates/close.yaml", "infra/gates/role.yaml"],
    );
    stays_one(&scratch, "infra/gates");
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("  clusterGate: infra/gates\n"), "{spec}");
    // Two clusters can't have one folder for their gates.
    scratch.write("windows.yaml", spec.replace("  prod: {}\n", "  prod: {}\n  next: {}\n"));
    let run = scratch.expect(3, &["sync"]);
    let said = "`clusterGate` of the layout is one folder, but there are several clusters";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn a_gate_below_the_folder_of_its_flux_kustomization() {
    let files = ["infra/gates/open.yaml", "infra/gates/close.yaml", "infra/role.yaml", "infra/other.yaml"];
    let scratch = one_cluster("infra", &files);
    stays_one(&scratch, "infra/gates");
    // Beside it Flux goes on listing what comes.
    assert!(!scratch.top().join("infra/kustomization.yaml").exists());
}

#[test]
fn a_gate_in_several_folders() {
    let files = ["infra/open/open.yaml", "infra/close/close.yaml", "infra/role.yaml"];
    stays_one(&one_cluster("infra", &files), "infra");
}

#[test]
fn a_gate_beside_a_folder_that_has_a_list() {
    let files = ["infra/open.yaml", "infra/close.yaml", "infra/role.yaml", "infra/other/other.yaml"];
    let scratch = one_cluster("infra", &files);
    scratch.write("infra/other/kustomization.yaml", "resources: [other.yaml]\n").commit();
    stays_one(&scratch, "infra");
}

#[test]
fn a_gate_that_a_list_of_its_authors_has() {
    let scratch = one_cluster("infra", &["infra/open.yaml", "infra/close.yaml", "infra/role.yaml"]);
    scratch.write("infra/kustomization.yaml", "resources: [open.yaml, close.yaml, role.yaml]\n").commit();
    stays_one(&scratch, "infra");
}

#[test]
fn a_gate_among_the_flux_kustomizations() {
    let files =
        ["clusters/prod/gate/open.yaml", "clusters/prod/gate/close.yaml", "clusters/prod/gate/role.yaml"];
    let scratch = one_cluster("infra", &[&files[..], &["infra/other.yaml"]].concat());
    stays_one(&scratch, "clusters/prod/gate");
    assert!(!scratch.top().join("clusters/prod/kustomization.yaml").exists());
}
