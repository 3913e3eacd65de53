//! A held source that comes to a cluster while the table says closed.

use serde_json::json;

use super::follow::{applied, follow, pin, uids};
use crate::api::Change;
use crate::fleet::{Fleet, kustomization_at};
use crate::wait::{WORK, holds, until};
use crate::window::Window;

const SPEC: &str = "windows.yaml";
const FLUX: &str = "clusters/edge-01/apps.yaml";
const APPS: [&str; 2] = ["kiosk", "stall"];

fn flux(name: &str) -> String {
    format!(
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: \
         flux-system }}\nspec:\n  interval: 10m\n  path: ./apps/{name}\n  prune: true\n  sourceRef: {{ kind: \
         GitRepository, name: flux-system }}\n"
    )
}

fn service(name: &str, port: u16) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{ name: {name}, namespace: default }}\nspec: {{ ports: [{{ port: {port} \
         }}] }}\n"
    )
}

/// No gate has ever held anything. Of two, one applies the commit that brings the held source before it reads from that, and
/// the other not yet: the first run gives both that commit, and no further one lands.
pub fn play(fleet: &mut Fleet) {
    fleet.tree.write(FLUX, APPS.map(flux).concat());
    let write = |fleet: &Fleet, name: &str, port: u16| {
        fleet.tree.write(&format!("apps/{name}/service.yaml"), service(name, port));
    };
    APPS.iter().for_each(|name| write(fleet, name, 80));
    fleet.merge("The fleet as it is");
    fleet.bootstrap("edge-01", "clusters/edge-01");
    fleet.landed(0, &["flux-system", "kiosk", "stall"]);

    // Only the spec: no gate is written before it says how to hold.
    let window = Window::far().options();
    let options: Vec<&str> = window.iter().map(String::as_str).collect();
    fleet.tool(&[&["init", "--yes"], &options[..]].concat());
    let spec = fleet.tree.text(SPEC);
    fleet.tree.git(&["add", "--all"]);
    fleet.tree.git(&["reset", "--quiet", "--hard"]);
    fleet.tree.write(SPEC, spec);
    follow(fleet, None);
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    APPS.iter().for_each(|name| assert!(!fleet.tree.text(FLUX).contains("suspend:"), "{name}"));
    let cluster = &fleet.clusters[0];
    let before = uids(cluster);

    let suspend = |name: &str, value: serde_json::Value| {
        let patch = json!({ "spec": { "suspend": value } });
        cluster.api.change(&kustomization_at(name), Change::Merge("flux", &patch)).unwrap();
    };
    let attempted = |name: &str, commit: &str| {
        let found = cluster.kustomization(name)?;
        found["status"]["lastAttemptedRevision"].as_str().filter(|own| own.ends_with(commit)).map(drop)
    };
    let reads = |name: &str| Some(cluster.kustomization(name)?["spec"]["sourceRef"]["name"].clone());
    ["flux-system", "stall"].iter().for_each(|name| suspend(name, json!(true)));
    fleet.merge("Hold a source");
    let commit = fleet.tree.git(&["rev-parse", "HEAD"]).trim().to_owned();
    until("kiosk applies what brings the held source", WORK, || attempted("kiosk", &commit));
    suspend("flux-system", json!(null));
    for name in APPS {
        until("it reads the held source", WORK, || (reads(name)? == "flux-system-rw").then_some(()));
    }
    suspend("stall", json!(null));
    assert!(attempted("stall", &commit).is_none(), "both have applied it");

    assert_eq!(until("the first run lets one of both in", WORK * 2, || pin(cluster)), commit);
    let are_at = |commit: &str| {
        let is_at = |name: &&str| applied(cluster, name).is_some_and(|own| own.ends_with(commit));
        APPS.iter().all(is_at).then_some(())
    };
    until("both apply it", WORK, || are_at(&commit));
    APPS.iter().for_each(|name| write(fleet, name, 81));
    fleet.merge("A commit that waits");
    fleet.landed(0, &["flux-system"]);
    let run = || cluster.run_job("follow-reconciliation-window");
    run();
    APPS.iter().for_each(|name| cluster.reconciled(name));
    run();
    let looked = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(10);
    holds("nothing further lands", WORK, || jiff::Timestamp::now() >= looked, || are_at(&commit).is_some());
    let now = uids(cluster);
    let lost: Vec<_> = before.iter().filter(|one| !now.contains(one)).collect();
    assert!(lost.is_empty(), "made again: {lost:?}");
}
