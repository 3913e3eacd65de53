//! The variants of the published guides: alerts beside a gate, a gate over a whole cluster, clusters
//! that live in several folders.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail, and moves what it works on"
)]

mod support;

use serde_json::{Value, json};
use support::scratch::{Scratch, WINDOW, assert_same};
use support::{built, folder, read};

/// Renders a folder and gives the one object of a kind in it.
fn object(scratch: &Scratch, path: &str, kind: &str) -> Option<Value> {
    let results = built(&read(scratch.top()), &[folder(path)]);
    let objects = results
        .into_iter()
        .next()
        .unwrap()
        .unwrap()
        .into_iter()
        .map(|object| std::sync::Arc::unwrap_or_clone(object.value));
    let mut found: Vec<Value> = objects.filter(|object| object["kind"] == kind).collect();
    assert!(found.len() < 2, "{found:?}");
    found.pop()
}

fn sources(alert: &Value) -> Vec<(&str, &str)> {
    let sources = alert["spec"]["eventSources"].as_array().unwrap();
    sources
        .iter()
        .map(|source| (source["kind"].as_str().unwrap(), source["name"].as_str().unwrap()))
        .collect()
}

#[test]
fn alerts_speak_of_exactly_what_the_gate_holds_back() {
    let scratch = Scratch::fixture("sample");
    scratch.expect(0, &[&["init", "--yes", "--alerts", "slack"], &WINDOW[..]].concat());
    scratch.commit();
    let gate = "clusters/edge-01/infra/reconciliation-windows";
    let provider = object(&scratch, gate, "Provider").unwrap();
    assert_eq!(
        provider["spec"],
        json!({ "type": "slack", "secretRef": { "name": "reconciliation-window-alerts" } })
    );
    let alert = object(&scratch, gate, "Alert").unwrap();
    assert_eq!(alert["apiVersion"], "notification.toolkit.fluxcd.io/v1beta3");
    assert_eq!(alert["metadata"]["namespace"], "flux-system");
    assert_eq!(alert["spec"]["providerRef"]["name"], provider["metadata"]["name"]);
    assert_eq!(alert["spec"]["eventSeverity"], "error");
    assert_eq!(alert["spec"]["eventMetadata"]["cluster"], "edge-01");
    let role = object(&scratch, gate, "Role").unwrap();
    let held = role["rules"][0]["resourceNames"].as_array().unwrap();
    let held: Vec<_> = held.iter().map(|name| ("Kustomization", name.as_str().unwrap())).collect();
    assert_eq!(sources(&alert), held);

    let with = scratch.tree();
    scratch.expect(0, &["sync"]);
    scratch
        .replace("windows.yaml", "  type: slack\n", "  type: msteams\n  channel: 'releases: edge'\n")
        .commit();
    scratch.take(&["sync", "--yes"]);
    let provider = object(&scratch, gate, "Provider").unwrap();
    assert_eq!(provider["spec"]["type"], "msteams");
    assert_eq!(provider["spec"]["channel"], "releases: edge");
    scratch
        .replace("windows.yaml", "  type: msteams\n  channel: 'releases: edge'\n", "  type: slack\n")
        .commit();
    scratch.expect(0, &["sync", "--yes"]);
    assert_same(&with, &scratch.tree(), "back and forth left a difference");
}

#[test]
fn alerts_that_are_wanted_no_more_go() {
    for fixture in ["sample", "adopted"] {
        let scratch = Scratch::fixture(fixture);
        scratch.take(&["init", "--yes"]);
        let without = scratch.tree();
        let spec = scratch.text("windows.yaml");
        scratch
            .write("windows.yaml", format!("{spec}\nalerts: {{ type: discord, secret: chat }}\n"))
            .commit();
        let said = scratch.expect(0, &["sync", "--yes"]).stderr;
        assert!(said.contains("the Secret chat in flux-system"), "{said}");
        scratch.commit();
        let gate = match fixture {
            "sample" => "clusters/edge-01/infra/reconciliation-windows",
            _ => "clusters/plant-north/infra/maintenance",
        };
        assert_eq!(object(&scratch, gate, "Provider").unwrap()["spec"]["secretRef"]["name"], "chat");
        assert_eq!(sources(&object(&scratch, gate, "Alert").unwrap()).len(), 1);
        let again = scratch.expect(0, &["sync"]);
        assert!(!again.stderr.contains("Secret chat"), "{}", again.stderr);
        assert_eq!(again.stdout, "");
        scratch.write("windows.yaml", spec).commit();
        scratch.expect(0, &["sync", "--yes"]);
        assert_same(&without, &scratch.tree(), "alerts left something behind");
    }
}

#[test]
fn an_alert_of_an_unknown_type_or_in_the_place_of_a_patch_is_refused() {
    let scratch = Scratch::fixture("sample");
    scratch.expect(2, &["init", "--alerts", "pigeon"]);
    scratch.expect(0, &[&["init", "--yes", "--alerts", "slack"], &WINDOW[..]].concat());
    let spec = scratch.text("windows.yaml");
    scratch.commit();
    scratch.write("windows.yaml", format!("{spec}\nlayout: {{ openPatchFile: alert.yaml }}\n")).commit();
    let said = scratch.expect(3, &["sync"]).stderr;
    assert!(said.contains("would hold both an alert and a patch"), "{said}");
    scratch.write("windows.yaml", spec.replace("slack", "pigeon")).commit();
    assert!(scratch.expect(3, &["sync"]).stderr.contains("`pigeon` is not `slack`"));
}

/// A gate of somebody else's over a whole cluster goes on as it is; once the apps are split, its jobs
/// name what no longer is, and nobody may have to find that out by a change that came at once.
#[test]
fn a_gate_over_a_whole_cluster_is_not_said_to_hold_the_sides() {
    let scratch = Scratch::fixture("adopted");
    for cluster in ["plant-north", "plant-south"] {
        std::fs::remove_dir_all(scratch.top().join(format!("clusters/{cluster}/flux"))).unwrap();
    }
    scratch.commit();
    const SAID: &str = "suspend apps but not apps-rw";
    let init = scratch.expect(0, &["init", "--yes"]);
    assert!(!init.stderr.contains(SAID), "{}", init.stderr);
    scratch.commit();
    let whole = scratch.expect(0, &["sync"]);
    assert!(!whole.stderr.contains(SAID), "{}", whole.stderr);
    scratch.take(&["split", "--all", "--yes"]);
    let split = scratch.expect(0, &["sync"]);
    assert!(split.stderr.contains(SAID), "{}", split.stderr);
    for job in ["begin", "end"] {
        scratch.replace(&format!("infra/maintenance/{job}.yaml"), "\"apps\"", "\"apps\", \"apps-rw\"");
    }
    scratch.commit();
    let mended = scratch.expect(0, &["sync"]);
    assert!(!mended.stderr.contains(SAID), "{}", mended.stderr);
}

/// The sample's first cluster, in two folders that say nothing of each other but for the spec.
fn in_several_folders() -> Scratch {
    let scratch = Scratch::fixture("sample");
    let top = scratch.top();
    for (from, to) in [("apps", "regions/north"), ("flux", "regions/north"), ("infra", "platform/north")] {
        std::fs::create_dir_all(top.join(to)).unwrap();
        std::fs::rename(top.join("clusters/edge-01").join(from), top.join(to).join(from)).unwrap();
    }
    std::fs::remove_dir_all(top.join("clusters")).unwrap();
    for (name, folder) in [("apps", "regions/north"), ("infra", "platform/north")] {
        let file = format!("regions/north/flux/{name}.yaml");
        scratch.replace(&file, &format!("./clusters/edge-01/{name}"), &format!("./{folder}/{name}"));
    }
    scratch.write(
        "windows.yaml",
        "apiVersion: gitops-windows/v1
types: { rt: {}, rw: { window: night } }
windows:
  night: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 4 * * SUN }
clusters:
  north: { paths: [regions/north, platform/north] }
layout:
  clusterGate: 'platform/{cluster}/infra/reconciliation-windows'
",
    );
    scratch.commit();
    scratch
}

#[test]
fn a_cluster_may_live_in_several_folders() {
    let scratch = in_several_folders();
    scratch.take(&["sync", "--yes"]);
    let carrier = scratch.text("platform/north/infra/kustomization.yaml");
    assert!(carrier.contains("- reconciliation-windows\n"), "{carrier}");
    for arguments in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        let run = scratch.expect(0, arguments);
        assert!(run.stderr.lines().any(|line| line == "north"), "{}", run.stderr);
        scratch.commit();
    }
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    scratch.expect(0, &["verify"]);
    let when = scratch.expect(0, &["when", "--format", "json", "--now", "2026-03-23T12:00:00Z"]).stdout;
    let when: Value = serde_json::from_str(&when).unwrap();
    assert_eq!(when.pointer("/lines/0/cluster"), Some(&json!("north")), "{when:#}");
    let role = object(&scratch, "platform/north/infra", "Role").unwrap();
    assert_eq!(role["rules"][0]["resourceNames"], json!(["apps-rw"]));
    let check = scratch.expect(0, &["check"]);
    assert!(check.stdout.is_empty() && check.stderr.contains("Nothing to report"), "{}", check.stderr);
}

/// What stands in one folder is applied together, wherever it points.
#[test]
fn init_takes_one_folder_of_flux_kustomizations_for_one_cluster() {
    let scratch = in_several_folders();
    std::fs::remove_file(scratch.top().join("windows.yaml")).unwrap();
    scratch.commit();
    let said = scratch.expect(0, &["init", "--yes"]).stderr;
    let spec = scratch.text("windows.yaml");
    let clusters = gitops_windows::spec::parse(&support::path("windows.yaml"), spec.as_bytes());
    assert_eq!(clusters.unwrap().spec.clusters.keys().collect::<Vec<_>>(), ["north"], "{said}");
}

/// A folder that holds one name twice is not applied as it is, and nothing says by whom then: nothing is
/// written, and what to write is said.
#[test]
fn init_does_not_guess_that_folders_are_one_cluster() {
    let scratch = in_several_folders();
    std::fs::remove_file(scratch.top().join("windows.yaml")).unwrap();
    let again = scratch.text("regions/north/flux/apps.yaml");
    scratch.write("regions/north/flux/again.yaml", again).commit();
    let said = scratch.expect(3, &["init", "--yes"]).stderr;
    assert!(said.contains("roots: [FOLDER]"), "{said}");
}
