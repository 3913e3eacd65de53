//! Flux Kustomizations in the namespaces of their apps.

use serde_json::json;

use super::follow::{follow, pin};
use super::migrations::{Case, Uids, begin, landed, nothing_lost};
use crate::api::Change;
use crate::cluster::Cluster;
use crate::fleet::{CRON_JOBS, Fleet, JOBS, SOURCES, kustomization_at, ready};
use crate::wait::{WORK, until};

/// Two apps of one name, each with its Flux Kustomization in its own namespace.
const HOMES: Case = Case {
    files: "tests/e2e/fixtures/homes",
    clusters: &[("attic", "clusters/attic")],
    before: &["apps", "media/radio", "tools/radio"],
    after: &["media/radio-rt", "media/radio-rw", "tools/radio-rt", "tools/radio-rw"],
};

/// Divides and hands over in all namespaces; gives what there was.
fn divided(fleet: &mut Fleet) -> Vec<Uids> {
    let before = begin(fleet, &HOMES);
    nothing_lost(fleet, &before, "before");
    fleet.tool(&["split", "--all", "--yes"]);
    fleet.merge("Restructure");
    landed(fleet, HOMES.before);
    nothing_lost(fleet, &before, "restructured");
    for step in ["handed over", "finished"] {
        fleet.tool(&["migrate", "--yes"]);
        fleet.merge(step);
        until("the old ones are gone", WORK, || {
            let gone = |name: &&str| fleet.clusters[0].kustomization(name).is_none();
            HOMES.before[1..].iter().all(gone).then_some(())
        });
        landed(fleet, HOMES.after);
        nothing_lost(fleet, &before, step);
    }
    before
}

fn gate_is_on(cluster: &Cluster) {
    until("the gate is on", WORK, || {
        let gate = cluster.api.list(CRON_JOBS);
        (gate.len() == 2 && gate.iter().all(|job| job["spec"]["suspend"] == false)).then_some(())
    });
}

/// Closes and opens in all namespaces, and goes on in one where another fails.
pub fn play(fleet: &mut Fleet) {
    let before = divided(fleet);
    let cluster = &fleet.clusters[0];
    gate_is_on(cluster);
    for (job, closed) in [("close-reconciliation-window", true), ("open-reconciliation-window", false)] {
        cluster.run_job(job);
        for name in HOMES.after {
            assert_eq!(cluster.is_suspended(name), closed && name.ends_with("-rw"), "{job}: {name}");
        }
    }

    // One is not there any more: the other is closed all the same, and the job fails.
    let held = json!({ "spec": { "suspend": true } });
    cluster.api.change(&kustomization_at("apps"), Change::Merge("scene", &held)).unwrap();
    let keeps = json!({ "spec": { "deletionPolicy": "Orphan" } });
    cluster.api.change(&kustomization_at("media/radio-rw"), Change::Merge("scene", &keeps)).unwrap();
    cluster.api.change(&kustomization_at("media/radio-rw"), Change::Delete).unwrap();
    until("it is gone", WORK, || cluster.kustomization("media/radio-rw").is_none().then_some(()));
    let job = cluster.start_job("close-reconciliation-window");
    until("the closing has failed", WORK, || {
        (cluster.api.get(&format!("{JOBS}/{job}"))?["status"]["failed"].as_u64()? >= 1).then_some(())
    });
    assert!(cluster.is_suspended("tools/radio-rw"), "one that failed kept the other open");
    nothing_lost(fleet, &before, "closed");
}

/// One held source serves Flux Kustomizations of several namespaces.
pub fn held(fleet: &mut Fleet) {
    let before = divided(fleet);
    let cluster = &fleet.clusters[0];
    let rw = ["media/radio-rw", "tools/radio-rw"];
    let all_at = |commit: &str| {
        let is_at = |name: &&str| {
            let found = cluster.kustomization(name).filter(ready);
            found.is_some_and(|found| {
                found["status"]["lastAppliedRevision"].as_str().is_some_and(|own| own.ends_with(commit))
            })
        };
        rw.iter().all(is_at).then_some(())
    };
    // A job that finds them at several commits leaves it to people which one is held.
    gate_is_on(cluster);
    cluster.run_job("open-reconciliation-window");
    let newest = fleet.revision();
    until("both have applied what is there", WORK, || all_at(newest.rsplit(':').next().unwrap()));
    // And while open by hand, one may apply the commit that brings the held source before it reads from that.
    cluster.run_job("close-reconciliation-window");
    follow(fleet, None);
    fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    fleet.merge("Hold a source");
    let first = until("the first run lets in the commit", WORK, || pin(cluster));
    until("both have applied it", WORK, || all_at(&first));
    nothing_lost(fleet, &before, "held");

    let files = fleet.tree.git(&["ls-files", "*/deployment.yaml"]);
    for file in files.lines() {
        let text = fleet.tree.text(file);
        fleet.tree.write(file, text.replacen("/radio:1", "/radio:2", 1));
        assert_ne!(fleet.tree.text(file), text, "{file}");
    }
    fleet.merge("A commit that waits");
    fleet.landed(0, &["flux-system", "media/radio-rt", "tools/radio-rt"]);
    cluster.run_job("follow-reconciliation-window");
    rw.iter().for_each(|name| cluster.reconciled(name));
    assert!(all_at(&first).is_some(), "the commit that waits has landed");

    // Of those in one namespace nothing is left, so what the others have says what was let in.
    cluster.api.change(&format!("{SOURCES}/flux-system-rw"), Change::Delete).unwrap();
    cluster.api.change(&kustomization_at(rw[0]), Change::Delete).unwrap();
    until("it is gone", WORK, || cluster.kustomization(rw[0]).is_none().then_some(()));
    for name in ["flux-system", "apps"] {
        cluster.reconcile(&kustomization_at(name));
    }
    assert_eq!(until("the next run sets the commit again", WORK, || pin(cluster)), first);
    until("both have applied it", WORK, || all_at(&first));
    cluster.shell(&fleet.tool(&["override", "open", "--cluster", "attic"]));
    let newest = fleet.revision();
    until("both land", WORK, || all_at(newest.rsplit(':').next().unwrap()));
    nothing_lost(fleet, &before, "opened by hand");
}
