//! Flux Kustomizations of several clusters that stand in one file: what moves there moves in all of them.

use crate::divided::{SPEC, nothing_is_deleted};
use crate::old_flux::{POLICY, definition};
use crate::support::flux_kustomization;
use crate::support::scratch::{Scratch, assert_same};

/// Two clusters that list `common`, with one Flux Kustomization `all` there, and one of their own, `own`; `after` waits for
/// both.
fn fleet(spec: &str) -> Scratch {
    let scratch = Scratch::empty();
    scratch.write("windows.yaml", format!("{SPEC}{spec}"));
    for cluster in ["north", "south"] {
        let top = format!("clusters/{cluster}");
        let list = "resources: [flux-system.yaml, own.yaml, ../../common]\n";
        scratch
            .write(&format!("{top}/kustomization.yaml"), list)
            .write(&format!("{top}/flux-system.yaml"), flux_kustomization("flux-system", &top, ""))
            .write(&format!("{top}/own.yaml"), flux_kustomization("own", &format!("apps/{cluster}"), ""));
        app(&scratch, &format!("apps/{cluster}"));
    }
    let waits = "  dependsOn: [{ name: all }, { name: own }]\n";
    scratch
        .write("common/kustomization.yaml", "resources: [all.yaml, after.yaml]\n")
        .write("common/all.yaml", flux_kustomization("all", "apps/all", ""))
        .write("common/after.yaml", flux_kustomization("after", "apps/after", waits));
    app(&scratch, "apps/all");
    scratch.write("apps/after/kustomization.yaml", "resources: [secret.yaml]\n");
    scratch.write(
        "apps/after/secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: { name: after, namespace: shop }\n",
    );
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    scratch
}

/// Writes an app with a real-time object and one that waits.
fn app(scratch: &Scratch, folder: &str) {
    let name = folder.replace('/', "-");
    scratch.write(&format!("{folder}/kustomization.yaml"), "resources: [web]\n");
    scratch.write(&format!("{folder}/web/kustomization.yaml"), "resources: [map.yaml, secret.yaml]\n");
    for (file, kind) in [("map", "ConfigMap"), ("secret", "Secret")] {
        let text = format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: shop }}\n");
        scratch.write(&format!("{folder}/web/{file}.yaml"), text);
    }
}

const BOTH: &str = "  north: {}\n  south: {}\n";

#[test]
fn one_file_of_two_clusters_is_handed_over_in_one_commit() {
    let scratch = fleet(BOTH);
    scratch.take(&["split", "--all", "--yes"]);
    let prepared = scratch.text("common/all.yaml");
    assert_eq!(prepared.matches("prune: false # gitops-windows: was true").count(), 1, "{prepared}");
    // One cluster alone: neither what both apply from one file, nor what somebody there waits for.
    insta::assert_snapshot!(scratch.expect(5, &["migrate", "--cluster", "north", "--yes"]).stderr);
    assert_eq!(scratch.git(&["status", "--short"]), "");
    insta::assert_snapshot!(scratch.take(&["migrate", "--yes"]).stderr);
    nothing_is_deleted(&scratch);
    let waits = scratch.text("common/after.yaml");
    insta::assert_snapshot!(waits);
    assert!(!scratch.top().join("common/all.yaml").exists());
    scratch.expect(0, &["verify"]);
    let run = scratch.expect(1, &["migrate", "--cluster", "south", "--dry-run"]);
    assert!(run.stderr.contains("and would get it unasked"), "{}", run.stderr);
    scratch.take(&["migrate", "--yes"]);
    nothing_is_deleted(&scratch);
    assert!(scratch.text("common/all-rw.yaml").contains("  prune: true\n"));
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["check"]).stdout, "");
    // The one Role of the gates' base names what each cluster holds.
    assert!(
        scratch
            .text("infra/reconciliation-windows/role.yaml")
            .contains("resourceNames: [after, all-rw, own-rw]")
    );
}

#[test]
fn one_file_of_two_clusters_gets_no_field_that_one_of_them_has_not() {
    for old in ["north", "south"] {
        let scratch = fleet(BOTH);
        for cluster in ["north", "south"] {
            let (version, more) = if cluster == old { ("v2.3.0", "") } else { ("v2.5.0", POLICY) };
            let top = format!("clusters/{cluster}");
            scratch.write(&format!("{top}/crd.yaml"), definition(version, more));
            scratch.replace(&format!("{top}/kustomization.yaml"), "own.yaml", "own.yaml, crd.yaml");
        }
        scratch.commit();
        scratch.take(&["split", "--all", "--yes"]);
        let all = scratch.text("common/all.yaml");
        assert!(
            all.contains("prune: false # gitops-windows: was true") && !all.contains("deletionPolicy"),
            "{old}: {all}"
        );
        for cluster in ["north", "south"] {
            let own = scratch.text(&format!("clusters/{cluster}/own.yaml"));
            assert_eq!(own.contains("deletionPolicy: Orphan"), cluster != old, "{old}: {own}");
        }
        for _ in ["hand over", "finish"] {
            scratch.take(&["migrate", "--yes"]);
            assert!(!nothing_is_deleted(&scratch).contains("GW071"), "{old}");
        }
        scratch.expect(0, &["verify"]);
        assert!(scratch.run(&["migrate"]).stderr.contains("finished"), "{old}");
    }
}

/// In south a real-time Flux Kustomization waits for `after`, so that a gate holds it in north only.
#[test]
fn one_file_of_two_clusters_of_which_a_gate_holds_one_is_handed_over() {
    let scratch = fleet(BOTH);
    let first = flux_kustomization("first", "apps/first", "  dependsOn: [{ name: after }]\n");
    let top = "clusters/south";
    scratch
        .write(&format!("{top}/first.yaml"), first)
        .write(
            &format!("{top}/kustomization.yaml"),
            scratch.text(&format!("{top}/kustomization.yaml")).replace("own.yaml", "own.yaml, first.yaml"),
        )
        .write("apps/first/kustomization.yaml", "resources: [map.yaml]\n")
        .write(
            "apps/first/map.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: first, namespace: shop }\n",
        );
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    scratch.take(&["split", "--all", "--yes"]);
    insta::assert_snapshot!(scratch.take(&["migrate", "--yes"]).stderr);
    nothing_is_deleted(&scratch);
    // In north it could wait for the gated sides too, but the file is that of both.
    insta::assert_snapshot!(scratch.text("common/after.yaml"));
    scratch.take(&["migrate", "--yes"]);
    nothing_is_deleted(&scratch);
    scratch.expect(0, &["verify"]);
    assert_eq!(scratch.expect(0, &["check"]).stdout, "");
}

#[test]
fn a_split_of_one_file_of_two_clusters_is_taken_back_whole() {
    let scratch = fleet(BOTH);
    let before = scratch.tree();
    scratch.take(&["split", "--all", "--yes"]);
    scratch.take(&["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join left something");
}

#[test]
fn a_cluster_that_the_spec_does_not_have_gets_nothing_unasked() {
    let scratch = fleet("  north: {}\n");
    // Nor would what waits for it there find it any more.
    insta::assert_snapshot!(scratch.expect(5, &["split", "--all", "--dry-run"]).stderr);
}

#[test]
fn a_gate_goes_into_the_root_where_other_clusters_apply_all_files_beside_it() {
    let scratch = Scratch::empty();
    // The gates' folders, by the names of the clusters, lie in no root.
    let clusters = "  eu-00: {}\n  eu-01: {}\nrules: [{ type: rw }]\n";
    scratch.write("windows.yaml", format!("{SPEC}{clusters}"));
    for cluster in ["eu/00", "eu/01"] {
        let own = format!(
            "patches:\n  - target: {{ kind: Kustomization, name: flux-system }}\n    patch: |\n      - {{ op: replace, path: /spec/path, value: ./clusters/{cluster} }}\n"
        );
        let list = format!("resources: [../../../common]\n{own}");
        scratch.write(&format!("clusters/{cluster}/kustomization.yaml"), list);
    }
    scratch
        .write("common/kustomization.yaml", "resources: [flux/flux-system.yaml, all/all.yaml]\n")
        .write("common/flux/flux-system.yaml", flux_kustomization("flux-system", "none", ""))
        .write("common/all/all.yaml", flux_kustomization("all", "apps/all", ""));
    app(&scratch, "apps/all");
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    let gates: Vec<String> = scratch
        .tree()
        .keys()
        .map(|path| path.display().to_string())
        .filter(|path| path.ends_with("reconciliation-windows.yaml"))
        .collect();
    let wanted = ["eu/00", "eu/01"].map(|one| format!("clusters/{one}/reconciliation-windows.yaml"));
    assert_eq!(gates, wanted);
    assert_eq!(scratch.expect(0, &["check"]).stdout, "");
}

/// Two clusters with equal files of their own, by which they build one folder.
fn equal(spec: &str) -> Scratch {
    let scratch = Scratch::empty();
    scratch.write("windows.yaml", format!("{SPEC}{spec}"));
    for cluster in ["north", "south"] {
        let top = format!("clusters/{cluster}");
        scratch
            .write(&format!("{top}/flux-system.yaml"), flux_kustomization("flux-system", &top, ""))
            .write(&format!("{top}/all.yaml"), flux_kustomization("all", "apps/all", ""))
            .write(
                &format!("{top}/after.yaml"),
                flux_kustomization("after", "apps/after", "  dependsOn: [{ name: all }]\n"),
            );
    }
    app(&scratch, "apps/all");
    app(&scratch, "apps/after");
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    scratch
}

#[test]
fn files_of_equal_bytes_are_files_of_their_own() {
    let scratch = equal(BOTH);
    let before = scratch.tree();
    scratch.take(&["split", "--all", "--yes"]);
    for cluster in ["north", "south"] {
        for name in ["all", "after"] {
            let text = scratch.text(&format!("clusters/{cluster}/{name}.yaml"));
            assert!(text.contains("prune: false # gitops-windows: was true"), "{cluster} {text}");
        }
    }
    scratch.take(&["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join left something");
    scratch.take(&["split", "--all", "--yes"]);
    // Each goes by itself.
    for cluster in ["north", "south"] {
        scratch.take(&["migrate", "--cluster", cluster, "--yes"]);
        nothing_is_deleted(&scratch);
        let waits = scratch.text(&format!("clusters/{cluster}/after-rw.yaml"));
        assert!(waits.contains("name: all-rw") && !waits.contains("name: all }"), "{waits}");
    }
    scratch.take(&["migrate", "--yes"]);
    nothing_is_deleted(&scratch);
    assert!(scratch.text("clusters/south/all-rw.yaml").contains("  prune: true\n"));
    assert_eq!(scratch.expect(0, &["check"]).stdout, "");
}

#[test]
fn a_cluster_that_moves_nothing_goes_on_pruning() {
    for spec in ["  north: {}\n", "  north: {}\n  south: { hasGate: false }\n"] {
        let scratch = equal(spec);
        let file = "clusters/south/all.yaml";
        let before = scratch.text(file);
        scratch.take(&["split", "--all", "--yes"]);
        assert_eq!(scratch.text(file), before, "{spec}");
        assert!(scratch.text("clusters/north/all.yaml").contains("prune: false"));
        scratch.expect(0, &["verify"]);
    }
}
