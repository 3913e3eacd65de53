//! What a gate holds back, and what carries it.

use crate::repository::{BOTH, entry, flux, gated, repository, spec};
use crate::support::scratch::{Scratch, assert_same};

/// One type with a window and no split: the whole cluster waits.
#[test]
fn a_window_over_a_whole_cluster() {
    let scratch = repository(&[("apps", BOTH), ("web", BOTH)]);
    scratch.write("windows.yaml", spec("{ all-of-it: { window: night } }", "{}")).commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(run.stderr.contains("suspends apps, web entirely"), "{}", run.stderr);
    assert_eq!(gated(&scratch), ["apps", "web"]);
    let patch = "clusters/edge/infra/reconciliation-windows/close-reconciliation-window-patch.yaml";
    assert!(scratch.text(patch).contains("suspend: false"), "{}", scratch.text(patch));
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    let split = scratch.expect(0, &["split", "--all"]);
    assert!(split.stderr.contains("A gate suspends its whole Flux Kustomization"), "{}", split.stderr);
}

#[test]
fn an_entry_point_of_a_gated_type_alone_is_held_back_by_its_own_name() {
    let scratch = repository(&[("apps", BOTH), ("web", &["Deployment"]), ("conf", &["ConfigMap"])]);
    scratch.take(&["sync", "--yes"]);
    assert_eq!(gated(&scratch), ["web"]);
    // An object of another type does not open the gate behind everybody's back.
    entry(&scratch, "web", BOTH);
    scratch.commit();
    scratch.expect(0, &["sync"]);
}

#[test]
fn what_real_time_depends_on_is_not_held_back() {
    let scratch = repository(&[("apps", BOTH), ("web", &["Deployment"]), ("db", &["Deployment"])]);
    flux(&scratch, "apps", "clusters/edge/apps", "{ name: web }");
    flux(&scratch, "web", "clusters/edge/web", "{ name: db }");
    scratch.commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(run.stderr.contains("no gate suspends Flux Kustomization web of cluster edge"), "{}", run.stderr);
    assert!(run.stderr.contains("no gate suspends Flux Kustomization db of cluster edge"), "{}", run.stderr);
    let gated = gated(&scratch);
    assert!(!gated.contains(&"web".to_owned()) && !gated.contains(&"db".to_owned()), "{gated:?}");
}

/// A cluster whose infrastructure holds an app beside the gate, divided and migrated to its end.
fn divided_infra(apps: &[&str]) -> Scratch {
    let scratch = repository(&[("apps", BOTH), ("storage", BOTH)]);
    flux(&scratch, "infra", "clusters/edge/infra", "");
    std::fs::remove_file(scratch.top().join("clusters/edge/flux/storage.yaml")).unwrap();
    let list = scratch.text("clusters/edge/storage/kustomization.yaml");
    scratch.write("clusters/edge/infra/kustomization.yaml", list);
    std::fs::remove_dir_all(scratch.top().join("clusters/edge/storage")).unwrap();
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    scratch.expect(0, &[&["split", "app"], apps, &["--yes"]].concat());
    for _ in 0..2 {
        scratch.commit();
        scratch.expect(0, &["migrate", "--yes"]);
    }
    scratch.commit();
    scratch
}

/// A change of the window reaches the cluster through what no gate suspends.
#[track_caller]
fn windows_change_in_real_time(scratch: &Scratch, carrier: &str) {
    assert_eq!(gated(scratch), ["infra-rw"]);
    let carries = scratch.text(&format!("{carrier}/kustomization.yaml"));
    assert!(carries.contains("reconciliation-windows"), "{carries}");
    scratch.expect(0, &["windows", "set", "night", "--open", "0 2 * * *", "--yes"]);
    let patch = "clusters/edge/infra/reconciliation-windows/open-reconciliation-window-patch.yaml";
    let patch = scratch.text(patch);
    assert!(patch.contains("schedule: \"0 2 * * *\"") && patch.contains("suspend: false"), "{patch}");
    assert!(scratch.expect(0, &["verify", "--verbose"]).stdout.contains("clusters/edge/infra (edge): equal"));
}

#[test]
fn an_app_beside_the_gate_gets_windows_and_the_gate_stays_real_time() {
    let scratch = divided_infra(&["storage"]);
    assert!(!scratch.top().join("clusters/edge/infra/infra-rw/reconciliation-windows").exists());
    windows_change_in_real_time(&scratch, "clusters/edge/infra");
}

#[test]
fn a_gate_that_is_divided_with_the_apps_beside_it_goes_to_the_real_time_side() {
    let scratch = divided_infra(&["storage", "reconciliation-windows"]);
    windows_change_in_real_time(&scratch, "clusters/edge/infra/infra-rt");
}

#[test]
fn what_carries_the_gate_is_divided_only_when_its_app_is_named() {
    let scratch = repository(&[("apps", BOTH), ("infra", BOTH)]);
    scratch.take(&["sync", "--yes"]);
    let split = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(split.stdout.contains("apps-rw") && !split.stdout.contains("infra-rw"), "{}", split.stdout);
}

#[test]
fn a_gate_that_nothing_applies_is_told_and_listed_again() {
    let scratch = repository(&[("apps", BOTH), ("storage", &["Deployment"])]);
    flux(&scratch, "infra", "clusters/edge/infra", "");
    scratch.write("clusters/edge/infra/kustomization.yaml", "resources: [../../../apps/storage]\n");
    std::fs::remove_file(scratch.top().join("clusters/edge/flux/storage.yaml")).unwrap();
    std::fs::remove_dir_all(scratch.top().join("clusters/edge/storage")).unwrap();
    for arguments in [&["sync"][..], &["split", "--all"], &["migrate"], &["migrate"]] {
        scratch.commit();
        scratch.expect(0, &[arguments, &["--yes"]].concat());
    }
    scratch.commit();
    let before = scratch.tree();
    assert_eq!(gated(&scratch), ["apps-rw"]);
    let list = "clusters/edge/infra/kustomization.yaml";
    let text = scratch.text(list);
    assert!(text.contains("reconciliation-windows"), "{text}");
    scratch.write(list, "resources: [../../../apps/storage]\n").commit();
    let check = scratch.run(&["check"]);
    assert!(check.code == 1 && check.stdout.contains("GW039"), "{}", check.stdout);
    scratch.expect(0, &["sync", "--yes"]);
    assert!(scratch.text(list).contains("reconciliation-windows"));
    scratch.write(list, text);
    assert_same(&before, &scratch.tree(), "something else was written");
}
