//! Taking away again, in every layout: a gate, a cluster, and the tool as a whole (docs/ways.md).

use std::collections::BTreeSet;

use gitops_windows::mechanism;
use serde_json::Value;

use crate::divided::nothing_is_deleted;
use crate::support::scratch::{Scratch, WINDOW};

/// The repositories, each as it was before the tool came.
const ALL: [&str; 10] = [
    "sample",
    "overlays",
    "per-app",
    "layouts/monorepo",
    "layouts/environment",
    "layouts/teams",
    "layouts/hub-and-spoke",
    "layouts/flux-instance",
    "layouts/d1-fleet",
    "layouts/d2-fleet",
];

/// Plays a way in each layout, and names those in which it fails.
fn each_layout(play: impl Fn(&str) + std::panic::RefUnwindSafe) {
    let fails = |layout: &&&str| std::panic::catch_unwind(|| play(layout)).is_err();
    let failed: Vec<&&str> = ALL.iter().filter(fails).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// A repository that went the whole way, with how many commits each part of it took.
struct Gone {
    scratch: Scratch,
    splits: usize,
    migrates: usize,
}

fn gone_the_way(scratch: Scratch) -> Gone {
    scratch.git(&["tag", "before"]);
    scratch.take(&[&["init", "--yes", "--now=2026-11-23T12:00:00Z"][..], &WINDOW].concat());
    let repeat = |command: &[&str], most: usize| {
        (0..most)
            .take_while(|_| {
                scratch.run(command);
                let is_changed = !scratch.git(&["status", "--porcelain"]).is_empty();
                if is_changed {
                    scratch.commit();
                }
                is_changed
            })
            .count()
    };
    let splits = repeat(&["split", "--all", "--yes"], 1);
    let migrates = repeat(&["migrate", "--yes"], 4);
    Gone { scratch, splits, migrates }
}

/// Returns the clusters of which the spec speaks.
fn clusters(scratch: &Scratch) -> Vec<String> {
    let spec = scratch.text("windows.yaml");
    let own = spec.lines().skip_while(|line| !line.starts_with("clusters:")).skip(1);
    let own = own.take_while(|line| line.starts_with(' ')).filter(|line| !line.starts_with("   "));
    own.filter_map(|line| Some(line.trim().split_once(':')?.0.to_owned())).collect()
}

/// Takes a cluster out of the spec, as people do. Where the spec says its roots, these have to stay while its gate goes.
fn forget(scratch: &Scratch, cluster: &str, keeps_roots: bool) {
    let spec = scratch.text("windows.yaml");
    let own = |folder: &str| format!("  {cluster}:\n    roots: clusters/{cluster}{folder}\n");
    let roots = [own(""), own("/flux")].into_iter().find(|roots| spec.contains(roots)).unwrap_or(own(""));
    if keeps_roots && spec.contains(&roots) {
        scratch.replace("windows.yaml", &roots, &format!("{roots}    hasGate: false\n"));
    } else if spec.contains(&roots) {
        scratch.replace("windows.yaml", &roots, "");
    } else {
        scratch.replace("windows.yaml", &format!("  {cluster}: {{}}\n"), "");
    }
}

/// Returns what clusters delete by the last commit, by cluster and kind.
#[track_caller]
fn deleted(scratch: &Scratch) -> BTreeSet<(String, String)> {
    let run = scratch.run(&["pr", "--base", "HEAD~1", "--format", "json", "--now", "2026-11-23T12:00:00Z"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    let changes = report["changes"].as_array().unwrap();
    let gone = changes.iter().filter(|one| one["change"] == "deleted" && one["lands"]["state"] != "never");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let named = |one: &Value| {
        (text(&one["cluster"]), format!("{} {}", text(&one["object"]["kind"]), text(&one["object"]["name"])))
    };
    gone.map(named).collect()
}

/// Removes the gate of a cluster by the commands of docs/ways.md.
#[track_caller]
fn remove_gate(scratch: &Scratch, cluster: &str) {
    forget(scratch, cluster, true);
    scratch.commit();
    let run = scratch.expect(0, &["sync", "--allow-deletion", "--yes"]);
    scratch.commit();
    let again = scratch.expect(0, &["sync"]);
    assert!(again.stderr.ends_with("Nothing to change.\n"), "{cluster}: {}\n{}", run.stderr, again.stderr);
    for (of, object) in deleted(scratch) {
        let (kind, name) = object.split_once(' ').unwrap();
        let is_told = run.stderr.contains(&format!("cluster {cluster} deletes "))
            && run.stderr.contains(&format!("{kind} "))
            && run.stderr.contains(name);
        assert!(of == cluster, "{of} {object}: {}", run.stderr);
        let is_own = object == "Kustomization reconciliation-windows";
        assert!(is_own || is_told && mechanism::is_kind(kind), "{object}: {}", run.stderr);
    }
    let said = scratch.run(&["check"]).stdout;
    assert!(!said.contains("GW065"), "{cluster}: {said}");
}

/// Takes the gates and the spec out, after which all is as it was before.
#[track_caller]
fn last_goes(scratch: &Scratch, layout: &str) {
    for cluster in clusters(scratch) {
        forget(scratch, &cluster, false);
    }
    scratch.commit();
    let run = scratch.expect(0, &["sync", "--allow-deletion", "--yes"]);
    let rest = ["infra/reconciliation-windows", "windows.yaml", "windows.schema.json"];
    // Where nothing waited there was no gate.
    scratch.git(&[&["rm", "--quiet", "-r", "--ignore-unmatch"][..], &rest].concat());
    scratch.commit();
    assert_eq!(scratch.git(&["diff", "--stat", "before"]), "", "{layout}: {}", run.stderr);
}

#[test]
fn the_gate_of_a_cluster_goes_in_every_layout() {
    each_layout(|layout| {
        let scratch = gone_the_way(Scratch::fixture(layout)).scratch;
        for cluster in clusters(&scratch) {
            remove_gate(&scratch, &cluster);
        }
    });
}

#[test]
fn a_cluster_is_retired_in_every_layout() {
    each_layout(|layout| {
        let scratch = gone_the_way(Scratch::fixture(layout)).scratch;
        let clusters = clusters(&scratch);
        let Some(cluster) = clusters.last().filter(|one| scratch.top().join("clusters").join(one).exists())
        else {
            return;
        };
        scratch.git(&["rm", "--quiet", "-r", &format!("clusters/{cluster}")]);
        forget(&scratch, cluster, false);
        scratch.commit();
        let run = scratch.expect(0, &["sync"]);
        assert!(run.stderr.contains("Nothing to change."), "{layout}: {}", run.stderr);
        nothing_is_deleted(&scratch);
    });
}

#[test]
fn the_tool_goes_in_every_layout() {
    each_layout(|layout| {
        let Gone { scratch, splits, migrates } = gone_the_way(Scratch::fixture(layout));
        for back in 0..migrates {
            scratch.git(&["revert", "--no-edit", &format!("HEAD~{}", 2 * back)]);
            scratch.expect(0, &["verify", "--base", "HEAD~1"]);
            nothing_is_deleted(&scratch);
            // Flux Kustomizations go, and leave their objects to the old one.
            let lost = deleted(&scratch);
            assert!(
                lost.iter().all(|(_, object)| object.starts_with("Kustomization ")),
                "{layout}: {lost:?}"
            );
        }
        if splits > 0 {
            scratch.take(&["join", "--all", "--yes"]);
            nothing_is_deleted(&scratch);
        }
        last_goes(&scratch, layout);
    });
}

/// Nobody else knows that its CronJobs go on.
#[test]
fn a_gate_is_told_of_where_the_roots_of_its_cluster_went_from_the_spec() {
    let scratch = gone_the_way(Scratch::fixture("sample")).scratch;
    forget(&scratch, "edge-02", false);
    scratch.commit();
    let said =
        "clusters/edge-02/infra/reconciliation-windows holds a gate of a cluster that is not in windows.yaml";
    let run = scratch.expect(0, &["sync", "--allow-deletion"]);
    assert!(run.stderr.contains(said) && run.stderr.contains("`hasGate: false`"), "{}", run.stderr);
    let run = scratch.expect(0, &["check"]);
    assert!(run.stdout.contains(said) && run.stdout.contains("GW065"), "{}", run.stdout);
}

/// What the tool wrote conflicts then, and can be written anew.
#[test]
fn the_way_back_after_the_gates_have_changed() {
    let Gone { scratch, migrates, .. } = gone_the_way(Scratch::fixture("overlays"));
    let steps: Vec<String> =
        (0..migrates).map(|back| scratch.git(&["rev-parse", &format!("HEAD~{back}")])).collect();
    scratch.take(&["sync", "--every", "5m", "--yes"]);
    for (index, step) in steps.iter().enumerate() {
        let revert = std::process::Command::new("git")
            .args(["revert", "--no-commit", step.trim()])
            .current_dir(scratch.top())
            .output()
            .unwrap();
        assert_eq!(revert.status.success(), index > 0, "{revert:?}");
        if index == 0 {
            let told = scratch.expect(4, &["sync", "--yes", "--allow-dirty"]).stderr;
            insta::assert_snapshot!("generated_files_with_conflict_markers", told);
        }
        scratch.git(&["checkout", "HEAD", "--", "*reconciliation-windows/*"]);
        scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
        scratch.commit();
        scratch.expect(0, &["verify", "--base", "HEAD~1"]);
        nothing_is_deleted(&scratch);
        assert!(scratch.expect(0, &["sync"]).stderr.ends_with("Nothing to change.\n"));
    }
    scratch.take(&["join", "--all", "--yes"]);
    nothing_is_deleted(&scratch);
    last_goes(&scratch, "overlays");
}
