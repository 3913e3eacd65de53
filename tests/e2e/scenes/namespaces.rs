//! Flux Kustomizations in the namespaces of their apps.

use serde_json::json;

use super::migrations::{Case, begin, landed, nothing_lost};
use crate::api::Change;
use crate::fleet::{CRON_JOBS, Fleet, JOBS, kustomization_at};
use crate::wait::{WORK, until};

/// Two apps of one name, each with its Flux Kustomization in its own namespace.
const HOMES: Case = Case {
    files: "tests/e2e/fixtures/homes",
    clusters: &[("attic", "clusters/attic")],
    before: &["apps", "media/radio", "tools/radio"],
    after: &["media/radio-rt", "media/radio-rw", "tools/radio-rt", "tools/radio-rw"],
};

/// Divides and hands over in all namespaces, closes and opens there, and goes on in one where another fails.
pub fn play(fleet: &mut Fleet) {
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
    let cluster = &fleet.clusters[0];
    until("the gate is on", WORK, || {
        let gate = cluster.api.list(CRON_JOBS);
        (gate.len() == 2 && gate.iter().all(|job| job["spec"]["suspend"] == false)).then_some(())
    });
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
