//! Flux Kustomizations beside the old one, and what a step does to what they apply.

use crate::divided::SPEC;
use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;

const APPS: &str = "clusters/north/apps.yaml";

/// The overlays of one cluster, changed before anything is divided.
fn north(change: impl Fn(&Scratch)) -> Scratch {
    let scratch = Scratch::fixture("overlays");
    scratch.git(&["rm", "-r", "--quiet", "clusters/south", "apps/south", "infra/south"]);
    scratch.write("windows.yaml", format!("{SPEC}  north: {{}}\n"));
    change(&scratch);
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    scratch
}

#[test]
fn the_way_back_deletes_nothing_under_any_policy() {
    for policy in ["Delete", "WaitForTermination"] {
        let written = format!("  prune: true # tidy\n  deletionPolicy: {policy} # ours\n");
        let scratch = north(|scratch| {
            scratch.replace(APPS, "  prune: true # tidy\n", &written);
        });
        for command in [&["split", "--all", "--yes"][..], &["migrate", "--yes"]] {
            scratch.take(command);
        }
        let heir = "clusters/north/apps-rw.yaml";
        let kept = format!("  deletionPolicy: MirrorPrune # gitops-windows: was {policy} # ours\n");
        assert!(scratch.text(heir).contains(&kept), "{}", scratch.text(heir));
        scratch.take(&["migrate", "--yes"]);
        assert!(scratch.text(heir).contains(&written), "{}", scratch.text(heir));
        // Both steps taken back at once, and one by one.
        scratch.git(&["read-tree", "-u", "--reset", "HEAD~2"]);
        let run = scratch.expect(5, &["migrate", "--allow-dirty"]);
        let said = format!("apps-rt and apps-rw would go with `deletionPolicy: {policy}` and delete their");
        assert!(run.stderr.contains(&said), "{run:?}");
        scratch.git(&["read-tree", "-u", "--reset", "HEAD~1"]);
        scratch.commit();
        scratch.git(&["read-tree", "-u", "--reset", "HEAD~3"]);
        let run = scratch.run(&["migrate", "--allow-dirty"]);
        assert!(
            !run.stderr.contains("would go with") && run.stderr.contains("split, not handed over"),
            "{run:?}"
        );
        // A hand-over by hand that kept the policy can't be taken back.
        scratch.git(&["read-tree", "-u", "--reset", "HEAD"]);
        scratch.replace(heir, &kept, &format!("  deletionPolicy: {policy}\n")).commit();
        scratch.git(&["read-tree", "-u", "--reset", "HEAD~4"]);
        let run = scratch.expect(5, &["migrate", "--allow-dirty"]);
        let said = format!("handed over in HEAD: apps-rw would go with `deletionPolicy: {policy}`");
        assert!(run.stderr.contains(&said), "{run:?}");
    }
}

/// Adds an app that stays with the old Flux Kustomization.
fn two(scratch: &Scratch, below: &str) {
    let list = "resources:\n  - ../base/web\n  - ../base/two\n";
    scratch.write(&format!("{below}apps/north/kustomization.yaml"), list);
    scratch.write(&format!("{below}apps/base/two/kustomization.yaml"), "resources: [two.yaml]\n");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: two, namespace: shop }\n";
    scratch.write(&format!("{below}apps/base/two/two.yaml"), map);
}

#[test]
fn what_may_build_an_old_entry_point_unseen_keeps_it_whole() {
    let oci = flux_kustomization("apps", "apps/north", "").replace("GitRepository", "OCIRepository");
    for (file, text, why) in [
        ("clusters/lab/apps.yaml", flux_kustomization("apps", "apps/${site}", ""), "its path has a variable"),
        ("clusters/lab/apps.yaml", oci, "it builds from OCIRepository flux-system"),
    ] {
        let scratch = north(|scratch| {
            two(scratch, "");
            scratch.write(file, &text);
        });
        let run = scratch.expect(5, &["split", "app", "web", "--yes"]);
        let said = format!("Flux Kustomization apps in {file} may build apps/north too ({why})");
        assert!(run.stderr.contains(&said), "{run:?}");
        // With nothing left for the old one, its list stays for the other.
        scratch.git(&["reset", "--quiet", "--hard"]);
        scratch.take(&["split", "--all", "--yes"]);
        let list = scratch.text("apps/north/kustomization.yaml");
        scratch.take(&["migrate", "--yes"]);
        scratch.take(&["migrate", "--yes"]);
        assert_eq!(scratch.text("apps/north/kustomization.yaml"), list);
    }
}

#[test]
fn what_stands_outside_of_the_specs_folder_is_seen() {
    let scratch = Scratch::fixture("overlays");
    scratch.git(&["rm", "-r", "--quiet", "clusters/south", "apps/south", "infra/south"]);
    std::fs::create_dir(scratch.top().join("fleet")).unwrap();
    scratch.git(&["mv", "apps", "clusters", "infra", "reports", "fleet"]);
    for file in ["apps", "infra", "reports", "flux-system/gotk-sync"] {
        let file = format!("fleet/clusters/north/{file}.yaml");
        let text = scratch.text(&file).replace("path: ./", "path: ./fleet/");
        scratch.write(&file, text);
    }
    two(&scratch, "fleet/");
    // Another cluster's root, with a source of its own as bootstrap writes it.
    let sync = scratch.text("fleet/clusters/north/flux-system/gotk-sync.yaml");
    scratch.write("lab/flux-system/gotk-sync.yaml", sync.replace("./fleet/clusters/north", "./lab"));
    scratch.write("lab/apps.yaml", flux_kustomization("apps", "fleet/apps/north", ""));
    scratch.write("fleet/windows.yaml", format!("{SPEC}  north: {{}}\n")).commit();
    let run = scratch.expect(5, &["split", "app", "web", "--spec", "fleet/windows.yaml", "--yes"]);
    let said = "apps in lab/apps.yaml may build fleet/apps/north too (it stands outside of fleet)";
    assert!(run.stderr.contains(said), "{run:?}");
    assert_eq!(scratch.git(&["status", "--short"]), "");
}

#[test]
fn a_later_one_of_the_same_folder_gets_successors_and_a_gate_of_its_own() {
    let tenant = |name: &str| {
        let values = format!("  postBuild: {{ substitute: {{ tenant: {name} }} }}\n");
        flux_kustomization(name, "apps/tenant", &values)
    };
    let object = |kind: &str| {
        format!(
            "apiVersion: v1\nkind: {kind}\nmetadata: {{ name: \"${{tenant}}-one\", namespace: shop }}\n---\n"
        )
    };
    let scratch = north(|scratch| {
        scratch.write("apps/tenant/kustomization.yaml", "resources: [all.yaml]\n");
        scratch.write("apps/tenant/all.yaml", object("ConfigMap") + &object("Service"));
        scratch.write("clusters/north/a.yaml", tenant("a"));
    });
    for command in [&["split", "--all", "--yes"][..], &["migrate", "--yes"]] {
        scratch.take(command);
    }
    scratch.write("clusters/north/b.yaml", tenant("b")).commit();
    for _ in 0..4 {
        scratch.take(&["migrate", "--yes"]);
        let text = |name: &str| std::fs::read_to_string(scratch.top().join("clusters/north").join(name));
        let lives = text("b.yaml").is_ok() || (text("b-rt.yaml").is_ok() && text("b-rw.yaml").is_ok());
        assert!(lives, "nothing applies what b does");
    }
    scratch.expect(0, &["sync", "--yes"]);
    let job = scratch.text("infra/reconciliation-windows/close-reconciliation-window-job.yaml");
    for name in ["a-rw", "b-rw"] {
        assert!(job.contains(name), "{name}: {job}");
    }
}

#[test]
fn what_changed_since_the_base_is_not_lost_by_a_step() {
    let scratch = north(|scratch| {
        let spec = scratch.text("windows.yaml")
            + "rules:\n- { kind: Namespace, type: rt }\n- { kind: ConfigMap, type: rt }\n- { type: rw }\n";
        scratch.write("windows.yaml", spec);
    });
    for command in [&["split", "--all", "--yes"][..], &["migrate", "--yes"]] {
        scratch.take(command);
    }
    scratch.git(&["tag", "live"]);
    scratch.replace("windows.yaml", "- { kind: ConfigMap, type: rt }\n", "");
    scratch.take(&["sync", "--yes"]);
    // At once, the one that held it would prune it.
    let run = scratch.expect(5, &["migrate", "--base", "live", "--yes"]);
    for said in [
        "with what was changed since live, the cluster may delete ConfigMap shop/web in north",
        "wait until the cluster has applied that change by itself",
    ] {
        assert!(run.stderr.contains(said), "{said}: {run:?}");
    }
    scratch.take(&["migrate", "--yes"]);
}

#[test]
fn an_old_one_that_nothing_prunes_is_told_of() {
    let scratch = north(|scratch| {
        scratch.replace("clusters/north/flux-system/gotk-sync.yaml", "prune: true", "prune: false");
    });
    scratch.take(&["split", "--all", "--yes"]);
    let run = scratch.expect(0, &["migrate", "--yes"]);
    for said in [
        "warning: Flux Kustomization apps leaves Git and stays in north: its parent flux-system does not prune",
        "kubectl delete",
        "sh apps flux-system",
    ] {
        assert!(run.stderr.contains(said), "{said}: {run:?}");
    }
}

#[test]
fn a_hub_applies_what_goes_to_other_clusters() {
    let scratch = north(|scratch| {
        scratch.git(&["mv", "clusters/north", "clusters/hub"]);
        scratch.replace("clusters/hub/flux-system/gotk-sync.yaml", "clusters/north", "clusters/hub");
        scratch.write("windows.yaml", format!("{SPEC}  north: {{ paths: [apps/north] }}\n"));
        let remote = "  kubeConfig: { secretRef: { name: north } }\n  prune: true # tidy\n";
        scratch.replace("clusters/hub/apps.yaml", "  prune: true # tidy\n", remote);
    });
    scratch.take(&["split", "--all", "--yes"]);
    // What the hub's build makes of it counts.
    let list = "clusters/hub/kustomization.yaml";
    let files = "resources: [flux-system, apps.yaml, infra.yaml, reports.yaml]\n";
    let patch = "patches:\n- target: { kind: Kustomization, name: apps }\n  patch: |-\n    - { op: replace, path: /spec/prune, value: true }\n";
    scratch.write(list, files.to_owned() + patch).commit();
    let run = scratch.expect(5, &["migrate", "--yes"]);
    assert!(run.stderr.contains("still deletes objects that leave it"), "{run:?}");
    scratch.write(list, files).commit();
    scratch.take(&["migrate", "--yes"]);
    assert!(scratch.text("clusters/hub/apps-rw.yaml").contains("kubeConfig"));
    scratch.take(&["migrate", "--yes"]);
}

#[test]
fn clusters_that_build_a_shared_folder_each_in_another_way_move_one_by_one() {
    let scratch = Scratch::fixture("overlays");
    scratch.write("windows.yaml", format!("{SPEC}  north: {{}}\n  south: {{}}\n"));
    scratch.write("monitoring/kustomization.yaml", "resources: [all.yaml]\n");
    let object = |kind: &str| format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: one }}\n---\n");
    scratch.write("monitoring/all.yaml", object("ConfigMap") + &object("Service"));
    for cluster in ["north", "south"] {
        let more = format!("  targetNamespace: mon-{cluster}\n");
        let file = format!("clusters/{cluster}/monitoring.yaml");
        scratch.write(&file, flux_kustomization("monitoring", "monitoring", &more));
    }
    scratch.commit();
    scratch.take(&["split", "--all", "--yes"]);
    for cluster in ["north", "north", "south", "south"] {
        scratch.take(&["migrate", "--cluster", cluster, "--yes"]);
        scratch.expect(0, &["verify"]);
    }
}

#[test]
fn a_list_that_cant_be_edited_stops_its_own_cluster_alone() {
    let scratch = Scratch::fixture("overlays");
    scratch.write("windows.yaml", format!("{SPEC}  north: {{}}\n  south: {{}}\n"));
    for cluster in ["north", "south"] {
        let folder = format!("clusters/{cluster}/kustomization.yaml");
        scratch.write(&folder, "resources:\n- apps.yaml\n- infra.yaml\n");
    }
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    scratch.replace("clusters/south/kustomization.yaml", "resources:\n", "resources: &files\n").commit();
    let run = scratch.expect(1, &["split", "--all", "--dry-run"]);
    let told = "clusters/south/kustomization.yaml";
    assert!(run.stderr.contains(told) && !run.stderr.contains("cluster north"), "{run:?}");
    let run = scratch.take(&["split", "--all", "--yes"]);
    assert!(run.stderr.contains(told), "{run:?}");
    assert!(scratch.top().join("apps/north/north-rw").exists());
    assert!(!scratch.top().join("apps/south/south-rw").exists());
}

/// A gate that holds an undivided entry point lets all that waits land with the hand-over: that is told before it is
/// written, and so is the order that is lost.
#[test]
fn a_hand_over_behind_a_gate_says_when_to_merge_it() {
    let all = "rules:\n  - { type: rw }\n";
    let scratch = Scratch::fixture("overlays");
    scratch.git(&["rm", "-r", "--quiet", "clusters/south", "apps/south", "infra/south"]);
    scratch.write("windows.yaml", format!("{SPEC}  north: {{}}\ngate: {{ enabled: true }}\n{all}"));
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    scratch.replace("windows.yaml", all, "").commit();
    scratch.take(&["split", "--all", "--yes"]);
    let told = scratch.expect(0, &["migrate", "--now", "2026-11-23T12:00:00Z", "--yes"]).stderr;
    let told = told.lines().filter(|line| !line.starts_with("Proven"));
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"));
    scratch.commit();
    let told = scratch.expect(0, &["migrate", "--yes"]).stderr;
    assert!(!told.contains("before the last step"), "{told}");
}

/// What never pruned has no last step: its gate runs from the hand-over on.
#[test]
fn a_hand_over_that_is_the_last_step_says_what_waits_from_then_on() {
    let scratch = north(|scratch| {
        scratch.replace(APPS, "  prune: true # tidy\n", "  prune: false\n");
        scratch.write("windows.yaml", format!("{SPEC}  north: {{}}\ngate: {{ enabled: true }}\n"));
    });
    scratch.take(&["split", "--all", "--yes"]);
    let told = scratch.expect(0, &["migrate", "--yes"]).stderr;
    let says = |name: &str| {
        format!(
            "  Flux Kustomization {name}-rw  waits for its window from this step on\n    why: {name} never prunes, so no further step is left to switch the gate on\n"
        )
    };
    assert!(told.contains(&says("apps")) && !told.contains(&says("infra")), "{told}");
    let jobs = "infra/reconciliation-windows/close-reconciliation-window-job.yaml";
    let job = scratch.text(jobs);
    assert!(job.contains("\"apps-rw\"") && !job.contains("\"infra-rw\""), "{job}");
}
