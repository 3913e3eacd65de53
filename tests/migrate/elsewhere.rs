//! What lies outside: Flux Kustomizations that another folder holds, and commands for what no file holds.

use crate::divided::{SPEC, divided};
use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;

/// A repository whose spec covers `fleet/` alone, with one app of cluster north.
fn fleet() -> Scratch {
    let scratch = Scratch::empty();
    scratch.write("fleet/windows.yaml", format!("{SPEC}  north: {{}}\n"));
    scratch.write("fleet/clusters/north/apps/kustomization.yaml", "resources: [../../../apps/web]\n");
    scratch.write("fleet/apps/web/kustomization.yaml", "resources: [all.yaml]\n");
    scratch.write(
        "fleet/apps/web/all.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web, namespace: web }\n---\napiVersion: v1\nkind: Secret\nmetadata: { name: web, namespace: web }\n",
    );
    scratch.commit();
    scratch
}

/// Writes the Flux Kustomizations of the cluster beside the folder of the spec.
fn beside(scratch: &Scratch) {
    for (name, path) in [("apps", "fleet/clusters/north/apps"), ("flux-system", "flux/north")] {
        scratch.write(&format!("flux/north/{name}.yaml"), flux_kustomization(name, path, ""));
    }
    scratch.commit();
}

#[test]
fn what_a_file_outside_of_the_specs_folder_applies_is_moved_by_no_command() {
    const WHERE: &str = "Flux Kustomization apps in flux/north/apps.yaml applies it, but lies outside of the folder of fleet/windows.yaml";
    let scratch = fleet();
    beside(&scratch);
    let run = scratch.expect(5, &["-C", "fleet", "split", "--all", "--yes"]);
    assert!(run.stderr.contains(WHERE), "{}", run.stderr);

    let scratch = fleet();
    scratch.expect(0, &["-C", "fleet", "split", "--all", "--yes"]);
    beside(&scratch);
    let run = scratch.expect(5, &["-C", "fleet", "migrate"]);
    assert!(run.stderr.contains(WHERE) && !run.stderr.contains("kubectl"), "{}", run.stderr);

    // The way that it says.
    scratch.git(&["mv", "fleet/windows.yaml", "windows.yaml"]);
    let spec = scratch.text("windows.yaml");
    scratch.write("windows.yaml", format!("{spec}layout: {{ gate: fleet/infra/reconciliation-windows, clusterGate: 'fleet/clusters/{{cluster}}/infra/reconciliation-windows' }}\n"));
    scratch.commit();
    for next in ["this step: prepare", "this step: hand over", "this step: finish"] {
        let run = scratch.expect(0, &["migrate", "--yes"]);
        assert!(run.stderr.contains(next) || next == "this step: prepare", "{next} {}", run.stderr);
        scratch.commit();
    }
    assert!(scratch.top().join("flux/north/apps-rw.yaml").exists());
}

#[test]
fn an_entry_point_that_its_parent_applies_gets_its_own_without_a_deletion() {
    let scratch = Scratch::fixture("overlays");
    scratch.write("windows.yaml", format!("{SPEC}  north: {{}}\n"));
    scratch.git(&["rm", "-r", "--quiet", "clusters", "reports", "infra"]);
    scratch.write("clusters/north/kustomization.yaml", "resources: [flux-system, apps]\n");
    scratch.write("clusters/north/apps/kustomization.yaml", "resources: [../../../apps/north]\n");
    scratch.write("clusters/north/flux-system/kustomization.yaml", "resources: [gotk-sync.yaml]\n");
    let flux = |name: &str, path: &str, prune: bool| {
        flux_kustomization(name, path, "").replace("prune: true", &format!("prune: {prune}"))
    };
    const SYNC: &str = "clusters/north/flux-system/gotk-sync.yaml";
    scratch.write(SYNC, flux("flux-system", "clusters/north", true)).commit();
    let run = scratch.expect(5, &["split", "--all", "--yes"]);
    let first = "1. give Flux Kustomization flux-system `prune: false`";
    assert!(run.stderr.contains(first), "{}", run.stderr);
    // As it says, with nothing that a cluster may delete.
    scratch.replace(SYNC, "prune: true", "prune: false").commit();
    scratch.write("clusters/north/apps.yaml", flux("apps", "clusters/north/apps", true));
    scratch.replace("clusters/north/kustomization.yaml", "apps]", "apps.yaml]").commit();
    let run = scratch.run(&["check", "--base", "HEAD~1"]);
    assert!(!(run.stdout + &run.stderr).contains("deletes"));
    scratch.replace(SYNC, "prune: false", "prune: true").commit();
    scratch.take(&["split", "--all", "--yes"]);
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
    }
    assert!(scratch.text("clusters/north/apps-rw.yaml").contains("prune: true"));
}

#[test]
fn the_tools_own_gate_and_that_of_another_cluster_hold_no_hand_over_up() {
    // Its own gate holds the whole entry point back, until the rules let some of it go.
    let scratch = Scratch::fixture("overlays");
    scratch.write("windows.yaml", format!("{SPEC}  north: {{}}\nrules: [{{ type: rw }}]\n")).commit();
    scratch.take(&["sync", "--yes"]);
    scratch.write("windows.yaml", format!("{SPEC}  north: {{}}\n")).commit();
    scratch.take(&["sync", "--yes"]);
    scratch.take(&["split", "--all", "--yes"]);
    scratch.expect(0, &["migrate", "--yes"]);

    // A gate of another cluster names another `apps`.
    let scratch = divided("overlays", &["north"]);
    let job = |action: &str, suspend: bool| {
        format!(
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{ name: {action}, namespace: jobs }}\nspec:\n  schedule: '0 4 * * 0'\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          containers:\n          - name: gate\n            image: ghcr.io/fluxcd/flux-cli:v2.9.4\n            command: [kubectl, patch, kustomization, apps, --namespace=flux-system, --type=merge, --field-manager=flux, '--patch={{\"spec\":{{\"suspend\":{suspend}}}}}']\n"
        )
    };
    let gate = |folder: &str| {
        scratch.write(&format!("{folder}/begin.yaml"), job("begin", false));
        scratch.write(&format!("{folder}/end.yaml"), job("end", true));
        scratch.write(&format!("{folder}/kustomization.yaml"), "resources: [begin.yaml, end.yaml]\n");
        scratch.commit();
    };
    gate("infra/south/gate");
    let list = scratch.text("infra/south/kustomization.yaml");
    scratch
        .write("infra/south/kustomization.yaml", list.replace("resources:\n", "resources:\n  - gate\n"))
        .commit();
    scratch.expect(1, &["migrate"]);
    // Nobody in Git builds this one, so it may be north's.
    gate("gates/any");
    let run = scratch.expect(5, &["migrate"]);
    assert!(
        run.stderr.contains("names apps but not apps-rw. Nothing would suspend apps-rw"),
        "{}",
        run.stderr
    );
}

#[test]
fn half_a_hand_over_is_told_where_the_bootstrap_alone_is_left() {
    let scratch = Scratch::fixture("overlays");
    scratch.git(&["rm", "-r", "--quiet", "clusters/south", "apps/south", "reports", "infra"]);
    scratch.git(&["rm", "--quiet", "clusters/north/infra.yaml", "clusters/north/reports.yaml"]);
    scratch.write("windows.yaml", format!("{SPEC}  north: {{}}\n")).commit();
    scratch.take(&["sync", "--yes"]);
    scratch.take(&["split", "--all", "--yes"]);
    scratch.expect(0, &["migrate", "--yes"]);
    // The successors are forgotten.
    scratch.git(&["commit", "--quiet", "--all", "--message", "half"]);
    scratch.git(&["clean", "-fdq"]);
    let run = scratch.expect(5, &["migrate"]);
    assert!(
        run.stderr.contains("revert the commit that removed or broke its Flux Kustomization"),
        "{}",
        run.stderr
    );
    let run = scratch.run(&["check"]);
    assert!(
        run.stdout.contains("no Flux Kustomization of cluster north applies apps/north/north-rt"),
        "{run:?}"
    );
}

#[test]
fn clusters_that_share_an_entry_point_with_a_rest_go_on_together() {
    let shared = |spec: &str| {
        let scratch = Scratch::fixture("overlays");
        scratch.git(&["rm", "-r", "--quiet", "apps/south"]);
        scratch.git(&["mv", "apps/north", "apps/prod"]);
        scratch.write("apps/prod/kustomization.yaml", "resources: [../base/web, ../base/two]\n");
        for (file, text) in [
            ("kustomization.yaml", "resources: [all.yaml]\n"),
            ("all.yaml", "apiVersion: v1\nkind: Secret\nmetadata: { name: two, namespace: two }\n"),
        ] {
            scratch.write(&format!("apps/base/two/{file}"), text);
        }
        for cluster in ["north", "south"] {
            scratch.replace(
                &format!("clusters/{cluster}/apps.yaml"),
                &format!("./apps/{cluster}"),
                "./apps/prod",
            );
        }
        scratch.write("windows.yaml", format!("{SPEC}{spec}")).commit();
        scratch.take(&["split", "app", "web", "--yes"]);
        scratch
    };
    let both = "  north: {}\n  south: {}\n";
    let said = "cluster south applies apps/prod too and does not take this step";

    let scratch = shared(both);
    let run = scratch.expect(5, &["migrate", "--cluster", "north", "--yes"]);
    assert!(run.stderr.contains(said) && run.stderr.contains("add `--cluster south`"), "{}", run.stderr);
    scratch.expect(1, &["migrate", "--cluster", "north", "--cluster", "south"]);
    scratch.expect(1, &["migrate"]);

    scratch.replace("clusters/south/apps.yaml", "  wait: false\n", "  suspend: true\n").commit();
    let run = scratch.expect(5, &["migrate", "--yes"]);
    assert!(run.stderr.contains(said) && run.stderr.contains("south can't go on: "), "{}", run.stderr);
    let run = scratch.expect(5, &["migrate", "--cluster", "north", "--yes"]);
    assert!(run.stderr.contains(said) && run.stderr.contains("south is stuck: "), "{}", run.stderr);

    let scratch = shared("  north: {}\n");
    let run = scratch.expect(5, &["migrate", "--yes"]);
    assert!(
        run.stderr.contains(said) && run.stderr.contains("name south under `clusters`"),
        "{}",
        run.stderr
    );
}
