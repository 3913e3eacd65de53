//! Gates that hold what is pushed to a registry.

use serde_json::{Value, json};

use super::follow::{asked, bootstrapped};
use super::{permissions, rendered};
use crate::support::scratch::Scratch;

const INFRA: &str = "clusters/edge-01/infra";

/// As [`bootstrapped`], of a repository that is pushed to a registry as it is.
fn pushed() -> Scratch {
    let scratch = bootstrapped();
    for file in scratch.git(&["ls-files"]).lines() {
        let text = scratch.text(file);
        if !text.contains("kind: GitRepository") {
            continue;
        }
        let text = text
            .replace("kind: GitRepository", "kind: OCIRepository")
            .replace("ref: { branch: main }", "ref: { tag: latest }\n  layerSelector: { operation: copy }")
            .replace("ssh://git@github.com/acme/fleet", "oci://ghcr.io/acme/fleet");
        scratch.write(file, text);
    }
    scratch.commit();
    scratch
}

fn object<'o>(objects: &'o [Value], kind: &str, name: &str) -> &'o Value {
    objects.iter().find(|one| one["kind"] == kind && one["metadata"]["name"] == name).unwrap()
}

#[test]
fn what_is_gated_reads_an_artifact_that_a_job_moves() {
    let scratch = pushed();
    asked(&scratch);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    assert!(scratch.expect(0, &["sync"]).stdout.is_empty(), "a second sync changes something");
    let objects = rendered(&scratch, INFRA);
    let source = object(&objects, "OCIRepository", "flux-system-rw");
    assert_eq!(source["apiVersion"], "source.toolkit.fluxcd.io/v1");
    assert_eq!(
        source["spec"],
        json!({
            "interval": "24h",
            "layerSelector": { "operation": "copy" },
            "ref": { "tag": "held~until-the-first-tick" },
            "secretRef": { "name": "flux-system" },
            "url": "oci://ghcr.io/acme/fleet",
        })
    );
    let sources: Vec<String> =
        permissions(&objects).into_iter().filter(|rule| rule.contains("repositories")).collect();
    assert_eq!(
        sources,
        [
            "source.toolkit.fluxcd.io ocirepositories [flux-system,flux-system-rw] get",
            "source.toolkit.fluxcd.io ocirepositories [flux-system-rw] patch",
        ]
        .map(|rule| format!("ServiceAccount jobs/reconciliation-window in flux-system: {rule}"))
    );
    let file = "clusters/edge-01/infra/reconciliation-windows/flux-system-rw.yaml";
    insta::assert_snapshot!(scratch.text(file));
    let gated = scratch.text("clusters/edge-01/flux/apps-rw.yaml");
    assert!(gated.contains("kind: OCIRepository\n    name: flux-system-rw"), "{gated}");
    assert_eq!(scratch.run(&["verify"]).code, 0);
}

#[test]
fn everybody_knows_what_an_artifact_waits_for() {
    let scratch = pushed();
    asked(&scratch);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("apps-rw      clusters/edge-01/apps/apps-rw, gated by rw"), "{told}");
    let found = scratch.expect(0, &["check", "--now", "2026-11-20T00:00:00Z"]).stdout;
    let codes: Vec<&str> = found.lines().filter(|line| line.contains("[GW")).collect();
    assert_eq!(codes.iter().filter(|line| !line.contains("[GW002]")).count(), 0, "{found}");
    let base = scratch.git(&["rev-parse", "HEAD"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "replicas: 1", "replicas: 3");
    scratch.commit();
    let arguments = ["pr", "--base", base.trim(), "--now", "2026-11-23T00:00:00Z", "--format", "json"];
    let told: Value = serde_json::from_str(&scratch.run(&arguments).stdout).unwrap();
    assert_eq!(told["changes"][0]["lands"]["earliest"], "2026-11-28T21:00:00Z", "{told:#}");
    // By hand.
    let now = ["--now", "2026-11-23T00:00:00Z"];
    let open = [&["override", "open", "--cluster", "edge-01"][..], &now].concat();
    let stop = [&["stop", "--without-git", "--cluster", "edge-01", "--reason", "INC-7"][..], &now].concat();
    let told = [open, stop].map(|words| scratch.expect(0, &words).stdout).concat();
    insta::assert_snapshot!(told);
}

#[test]
fn the_way_back_from_a_held_artifact_is_written_in_an_open_window() {
    let scratch = pushed();
    asked(&scratch);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    scratch.replace("windows.yaml", "mechanism: follow", "mechanism: suspend");
    scratch.commit();
    let told = scratch.expect(5, &["sync"]).stderr;
    assert!(told.contains("apps-rw reads held source flux-system-rw"), "{told}");
    scratch.expect(0, &["sync", "--while-open", "--yes"]);
    scratch.commit();
    let objects = rendered(&scratch, INFRA);
    assert!(!objects.iter().any(|one| one["kind"] == "OCIRepository"));
    assert!(scratch.text("clusters/edge-01/flux/apps-rw.yaml").contains("name: flux-system\n"));
}

/// What a FluxInstance makes stands in no file; its held copy needs the same Secret.
#[test]
fn what_a_flux_instance_pulls_is_copied_with_its_secret() {
    let scratch = pushed();
    let sync = "sync: { kind: OCIRepository, url: \"oci://ghcr.io/acme/fleet\", ref: latest, pullSecret: ghcr, provider: generic, path: clusters/CLUSTER/flux }";
    for cluster in ["edge-01", "edge-02"] {
        let instance = format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {{ name: flux, namespace: flux-system }}\nspec: {{ {sync} }}\n"
        );
        scratch
            .write(&format!("clusters/{cluster}/flux/gotk-sync.yaml"), instance.replace("CLUSTER", cluster));
    }
    scratch.commit();
    asked(&scratch);
    scratch.expect(0, &["sync", "--yes"]);
    let objects = rendered(&scratch, INFRA);
    assert_eq!(
        object(&objects, "OCIRepository", "flux-system-rw")["spec"],
        json!({
            "interval": "24h",
            "provider": "generic",
            "ref": { "tag": "held~until-the-first-tick" },
            "secretRef": { "name": "ghcr" },
            "url": "oci://ghcr.io/acme/fleet",
        })
    );
}

#[test]
fn flux_operator_holds_no_artifact() {
    let scratch = pushed();
    scratch.replace(
        "windows.yaml",
        "gate:\n",
        "gate:\n  mechanism: flux-operator\n  provider: { type: GitHubBranch, secret: git }\n",
    );
    scratch.commit();
    let told = scratch.expect(5, &["sync"]).stderr;
    assert!(told.contains("`mechanism: follow`"), "{told}");
}

/// What is pushed from a folder begins there, and only the spec can say so.
#[test]
fn the_spec_says_of_which_folder_an_artifact_is_made() {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str| {
        let text = crate::support::flux_kustomization(name, path, "");
        text.replace("kind: GitRepository, name: flux-system", "kind: OCIRepository, name: fleet")
    };
    let object = "apiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: web }\n";
    scratch
        .write("k8s/clusters/one/flux/apps.yaml", flux("apps", "apps/web"))
        .write("k8s/apps/web/kustomization.yaml", "resources: [web.yaml]\n")
        .write("k8s/apps/web/web.yaml", object)
        .commit();
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(!told.contains("k8s/apps/web"), "{told}");
    scratch.write(
        "windows.yaml",
        "apiVersion: gitops-windows/v1\ntypes:\n  rt: {}\n  rw: { window: w }\nwindows:\n  w: { timeZone: UTC, open: 0 8 * * MON, close: 0 17 * * THU }\nclusters: { one: { roots: k8s/clusters/one } }\nflux: { source: { kind: OCIRepository, name: fleet, path: k8s } }\n",
    );
    scratch.commit();
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("k8s/apps/web"), "{told}");
    // Only what is made of a folder can say of which.
    scratch.replace("windows.yaml", "kind: OCIRepository", "kind: GitRepository");
    scratch.commit();
    let told = scratch.expect(3, &["clusters"]).stderr;
    assert!(told.contains("`path`"), "{told}");
}
