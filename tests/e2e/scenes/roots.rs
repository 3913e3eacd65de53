//! Clusters are what their roots and builds make them.

use super::migrations::{Case, begin, landed, nothing_lost};
use crate::belief;
use crate::fleet::Fleet;
use crate::wait::{WORK, until};

/// A parent whose patches say source, `prune` and `postBuild` of its children, and whose variables say a path; a child
/// that Git suspends, and one that its list leaves out.
const FERRY: Case = Case {
    files: "tests/e2e/fixtures/ferry",
    clusters: &[("ferry", "clusters/ferry")],
    before: &["apps", "deck", "mast"],
    after: &[],
};

/// The folder of a FluxInstance, and a Flux Kustomization that Git suspends.
const PIER: Case = Case {
    files: "tests/e2e/fixtures/pier",
    clusters: &[("pier", "pier/flux")],
    before: &["kiosk"],
    after: &["kiosk-rt", "kiosk-rw"],
};

/// What parents change in their children is believed, and what they set again is not divided.
pub fn patched(fleet: &mut Fleet) {
    let before = begin(fleet, &FERRY);
    belief::holds(fleet, "with windows");
    let crew = fleet.clusters[0].api.get("/api/v1/namespaces/deck/configmaps/deck-settings").unwrap();
    assert_eq!(crew["data"]["crew"], "twelve", "the parent's patch did not reach the build");
    let refused = fleet.tree.run(&["split", "--all", "--yes"]);
    assert_eq!(refused.code, 5, "{}\n{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("their parent's build overrides `spec.prune`"), "{}", refused.stderr);
    assert_eq!(fleet.tree.git(&["status", "--porcelain"]), "", "a refusal wrote");
    nothing_lost(fleet, &before, "refused");
}

/// A cluster with the root of a FluxInstance goes the whole way; what Git suspends stays suspended.
pub fn instance(fleet: &mut Fleet) {
    let before = begin(fleet, &PIER);
    belief::holds(fleet, "with windows");
    fleet.tool(&["split", "--all", "--yes"]);
    fleet.merge("Restructure");
    landed(fleet, PIER.before);
    belief::holds(fleet, "restructured");
    for step in ["handed over", "finished"] {
        fleet.tool(&["migrate", "--yes"]);
        fleet.merge(step);
        until("the old one is gone", WORK, || {
            fleet.clusters[0].kustomization("kiosk").is_none().then_some(())
        });
        landed(fleet, PIER.after);
        belief::holds(fleet, step);
        nothing_lost(fleet, &before, step);
    }
    let cluster = &fleet.clusters[0];
    for (job, is_closed) in [("close-reconciliation-window", true), ("open-reconciliation-window", false)] {
        cluster.run_job(job);
        assert_eq!(cluster.is_suspended("kiosk-rw"), is_closed, "{job}");
        assert!(cluster.is_suspended("booth"), "{job} resumed what Git suspends");
    }
    assert!(cluster.api.get("/api/v1/namespaces/booth").is_none(), "what Git suspends was applied");
}
