//! Gates of which the spec wants none.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::code::FORGOTTEN_GATE;
use crate::check::subject::Subject;
use crate::delivery::{ClusterKey, GateJob};
use crate::diagnostic::Diagnostic;

/// Finds CronJobs that close in clusters which the spec does not name, or where none of its types has a window.
///
/// Whoever takes a cluster or the last window out of the spec thinks that nothing waits there any more.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(spec) = subject.spec else { return Vec::new() };
    let mut by_cluster: BTreeMap<&ClusterKey, Vec<&GateJob>> = BTreeMap::new();
    let closes = |job: &&GateJob| job.action.holds() && !job.suspended && !spec.gates(&job.cluster.name);
    for job in subject.jobs.iter().filter(closes) {
        by_cluster.entry(&job.cluster).or_default().push(job);
    }
    let told = |(cluster, jobs): (&ClusterKey, Vec<&GateJob>)| {
        let names: BTreeSet<String> = jobs.iter().map(|job| format!("`{}`", job.name)).collect();
        let names: Vec<String> = names.into_iter().collect();
        let (name, names) = (&cluster.name, names.join(", "));
        let (why, help) = match spec.clusters.contains_key(name) {
            true => (
                "where no type has a window",
                "or give a type windows, where something should wait".to_owned(),
            ),
            false => (
                "which is not in windows.yaml",
                format!("or name {name} under `clusters`, where it should have windows"),
            ),
        };
        let text = format!("CronJob {names} closes in cluster {name}, {why}. It goes on");
        let help = format!("run `gitops-windows sync`, which says how the gate goes\n{help}");
        Some(FORGOTTEN_GATE.finding(text).at(jobs.first()?.place.clone()).help(help))
    };
    by_cluster.into_iter().filter_map(told).collect()
}
