//! From one Flux Kustomization to several: no object is ever deleted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::fleet::{CRON_JOBS, Fleet};
use crate::wait::{WORK, until};
use crate::window::Window;

/// A repository to migrate.
pub struct Case {
    /// Its files, below the project.
    pub files: &'static str,
    /// The clusters that follow it, with the folder that each is bootstrapped onto.
    pub clusters: &'static [(&'static str, &'static str)],
    /// The Flux Kustomizations before.
    pub before: &'static [&'static str],
    /// Those that come in place of the first.
    pub after: &'static [&'static str],
}

/// Objects by kind and name, with their UIDs.
pub type Uids = BTreeMap<String, String>;

/// A prefix before every name, a hashed generator, two clusters.
pub const PREFIXED: Case = Case {
    files: "fixtures/sample",
    clusters: &[("edge-01", "clusters/edge-01/flux"), ("edge-02", "clusters/edge-02/flux")],
    before: &["apps", "infra"],
    after: &["apps-rt", "apps-rw"],
};

/// The same, on the cluster with the prefix alone.
pub const ONE_OF_THEM: Case = Case { clusters: &[("edge-01", "clusters/edge-01/flux")], ..PREFIXED };

/// Substitutions after the build, alerts, and the Kustomizations listed by hand.
const NOTIFIED: Case = Case {
    files: "tests/e2e/fixtures/notified",
    clusters: &[("canteen", "clusters/canteen/flux")],
    before: &["apps", "infra"],
    after: &["apps-rt", "apps-rw"],
};

/// Bases with a folder for each cluster, beside the folder that Flux is bootstrapped onto.
const LAYERED: Case = Case {
    files: "tests/e2e/fixtures/layered",
    clusters: &[("station", "clusters/station")],
    before: &["apps", "infrastructure"],
    after: &["apps-rt", "apps-rw"],
};

/// A projected split, applied for real, and a plain one beside it.
pub fn prefixed(fleet: &mut Fleet) {
    migrate(fleet, &PREFIXED);
}

/// With `postBuild` variables and a namespace of its own in Git.
pub fn notified(fleet: &mut Fleet) {
    migrate(fleet, &NOTIFIED);
    let path = "/apis/notification.toolkit.fluxcd.io/v1beta3/namespaces/flux-system/alerts/kitchen";
    let alert = fleet.clusters[0].api.get(path).unwrap();
    let sources = alert["spec"]["eventSources"].as_array().unwrap();
    let names: Vec<&str> = sources.iter().filter_map(|source| source["name"].as_str()).collect();
    assert_eq!(names, NOTIFIED.after, "the alert hears nothing any more");
}

/// As Flux's own guide lays repositories out.
pub fn layered(fleet: &mut Fleet) {
    migrate(fleet, &LAYERED);
}

/// Brings the case into its clusters and gives what they hold.
pub fn begin(fleet: &mut Fleet, case: &Case) -> Vec<Uids> {
    let files: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(case.files);
    fleet.copy(&files);
    fleet.merge("The fleet as it is");
    for (name, folder) in case.clusters {
        fleet.bootstrap(name, folder);
    }
    landed(fleet, case.before);
    let before: Vec<Uids> = fleet.clusters.iter().map(crate::cluster::Cluster::uids).collect();
    assert!(before.iter().all(|objects| objects.len() >= 3), "too little to lose: {before:?}");
    let window = Window::far().options();
    let options: Vec<&str> = window.iter().map(String::as_str).collect();
    fleet.tool(&[&["init", "--yes"], &options[..]].concat());
    fleet.merge("Windows");
    landed(fleet, case.before);
    before
}

#[track_caller]
pub fn landed(fleet: &Fleet, names: &[&str]) {
    for cluster in 0..fleet.clusters.len() {
        fleet.landed(cluster, &["flux-system"]);
        fleet.landed(cluster, names);
    }
}

/// Names the objects that are not there any more, or that were made anew.
pub fn lost(before: &Uids, now: &Uids) -> Vec<String> {
    before.iter().filter(|(name, uid)| now.get(*name) != Some(uid)).map(|(name, _)| name.clone()).collect()
}

#[track_caller]
pub fn nothing_lost(fleet: &Fleet, before: &[Uids], step: &str) {
    for (cluster, before) in fleet.clusters.iter().zip(before) {
        let lost = lost(before, &cluster.uids());
        let (name, objects) = (&cluster.name, before.len());
        println!("migration: {name}, {step}: {} of {objects} objects deleted", lost.len());
        assert!(lost.is_empty(), "{name}, {step}: {lost:?}");
    }
}

/// Waits until nothing of the old Kustomization is left.
#[track_caller]
pub fn handed_over(fleet: &Fleet, case: &Case) {
    for cluster in &fleet.clusters {
        until("the old Kustomization is gone", WORK, || {
            cluster.kustomization(case.before[0]).is_none().then_some(())
        });
    }
    landed(fleet, case.after);
}

/// Takes the three steps, one commit each, and closes the window; gives what the clusters held before.
pub fn migrate(fleet: &mut Fleet, case: &Case) -> Vec<Uids> {
    let before = begin(fleet, case);
    nothing_lost(fleet, &before, "before");

    fleet.tool(&["split", "--all", "--yes"]);
    fleet.merge("Restructure");
    landed(fleet, case.before);
    nothing_lost(fleet, &before, "restructured");

    fleet.tool(&["migrate", "--yes"]);
    fleet.merge("Hand over");
    handed_over(fleet, case);
    nothing_lost(fleet, &before, "handed over");

    fleet.tool(&["migrate", "--yes"]);
    fleet.merge("Finish");
    landed(fleet, case.after);
    nothing_lost(fleet, &before, "finished");
    for cluster in &fleet.clusters {
        for name in case.after {
            let found = cluster.kustomization(name).unwrap();
            assert_eq!(found["spec"]["prune"], true, "{name} does not prune");
        }
        until("the gate is on", WORK, || {
            let gate = cluster.api.list(CRON_JOBS);
            (gate.len() == 2 && gate.iter().all(|job| job["spec"]["suspend"] == false)).then_some(())
        });
        cluster.run_job("close-reconciliation-window");
        assert!(cluster.is_suspended(case.after[1]));
    }
    nothing_lost(fleet, &before, "closed");
    assert_eq!(fleet.tool(&["migrate", "--yes"]), "", "there is a step after the last");
    before
}

/// A restructuring that is taken back before the hand-over: the old Kustomization never noticed.
pub fn join(fleet: &mut Fleet) {
    let case = &ONE_OF_THEM;
    let before = begin(fleet, case);
    for (step, arguments) in
        [("restructured", ["split", "--all", "--yes"]), ("joined", ["join", "--all", "--yes"])]
    {
        fleet.tool(&arguments);
        fleet.merge(step);
        landed(fleet, case.before);
        nothing_lost(fleet, &before, step);
    }
    let apps = fleet.clusters[0].kustomization("apps").unwrap();
    assert_eq!(apps["spec"]["prune"], true, "joined, and yet it does not prune");
}

/// Control: the same three commits, of which the cluster sees only the last.
pub fn one_commit(fleet: &mut Fleet) {
    let case = &ONE_OF_THEM;
    let before = begin(fleet, case);
    for step in ["split", "migrate", "migrate"] {
        let all: &[&str] = if step == "split" { &["--all"] } else { &[] };
        fleet.tool(&[&[step], all, &["--yes"]].concat());
        fleet.tree.commit();
    }
    fleet.merge("Control: everything at once");
    let ours: Uids =
        before[0].clone().into_iter().filter(|(name, _)| !name.starts_with("PriorityClass")).collect();
    let objects = ours.len();
    let lost = until("everything of the apps was deleted", WORK, || {
        let lost = lost(&ours, &fleet.clusters[0].uids());
        (lost.len() == objects).then_some(lost)
    });
    println!("control: in one commit: {} of {objects} objects deleted", lost.len());
}

/// `migrate --confirm` asks the live cluster before each step: behind the last commit it refuses and
/// writes nothing, and once the cluster has caught up it goes on.
pub fn confirm(fleet: &mut Fleet) {
    let case = &ONE_OF_THEM;
    let before = begin(fleet, case);
    fleet.tool(&["split", "--all", "--yes"]);
    for (step, names) in [("Restructure", case.before), ("Hand over", case.after)] {
        fleet.clusters[0].hold_source(true);
        fleet.merge(step);
        let arguments = ["migrate", "--cluster", "edge-01", "--confirm", "--yes"];
        let refused = fleet.tool_on_cluster(0, &arguments);
        assert_eq!(refused.code, 5, "{step}: {}\n{}", refused.stdout, refused.stderr);
        assert_eq!(fleet.tree.git(&["status", "--porcelain"]), "", "{step}: a refusal wrote");
        fleet.clusters[0].hold_source(false);
        fleet.clusters[0].fetch();
        if step == "Hand over" {
            handed_over(fleet, case);
        }
        landed(fleet, names);
        // What is ready with an older commit is not ready for the next step.
        fleet.clusters[0].hold_source(true);
        fleet.tree.write("notes.txt", step);
        fleet.merge("Something else");
        let refused = fleet.tool_on_cluster(0, &arguments);
        assert_eq!(refused.code, 5, "{step}: {}\n{}", refused.stdout, refused.stderr);
        assert!(refused.stderr.contains("which lacks HEAD"), "{step}: {}", refused.stderr);
        fleet.clusters[0].hold_source(false);
        fleet.clusters[0].fetch();
        landed(fleet, names);
        let gone_on = fleet.tool_on_cluster(0, &arguments);
        assert_eq!(gone_on.code, 0, "{step}: {}\n{}", gone_on.stdout, gone_on.stderr);
        assert_ne!(fleet.tree.git(&["status", "--porcelain"]), "", "{step}: nothing was written");
        nothing_lost(fleet, &before, step);
    }
    fleet.merge("Finish");
    landed(fleet, case.after);
    nothing_lost(fleet, &before, "finished");
}
