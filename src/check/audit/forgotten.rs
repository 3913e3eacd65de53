//! Gates of which the spec wants none.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::code::FORGOTTEN_GATE;
use crate::check::subject::Subject;
use crate::delivery::{Applied, ClusterKey, GateJob};
use crate::diagnostic::{Diagnostic, Place};
use crate::mechanism;
use crate::plan::gate;

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
    let told = |name: &str, what: String, place: Place| {
        let text = format!("{what} in cluster {name}, {}. It goes on", spec.why_ungated(name));
        let kept = gate::kept(spec, name);
        let help = format!("run `gitops-windows sync`, which says how the gate goes{kept}");
        FORGOTTEN_GATE.finding(text).at(place).help(help)
    };
    let of_jobs = by_cluster.into_iter().filter_map(|(cluster, jobs)| {
        let names: BTreeSet<String> = jobs.iter().map(|job| format!("`{}`", job.name)).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        Some(told(&cluster.name, format!("CronJob {names} closes"), jobs.first()?.place.clone()))
    });
    let mut found: Vec<Diagnostic> = of_jobs.collect();
    // No CronJob, and so none of those above.
    let is_other = |applied: &&Applied| mechanism::is_job(applied.value()) && applied.id.kind != "CronJob";
    for delivery in subject.deliveries.iter().filter(|delivery| !spec.gates(&delivery.cluster.name)) {
        for applied in delivery.objects.iter().filter(is_other) {
            if mechanism::turns(applied.value()).iter().any(|turn| turn.action.holds()) {
                let what = format!("{} `{}` closes", applied.id.kind, applied.id.name);
                let place = subject.sources.place(applied, &["spec", "schedule"]);
                found.push(told(&delivery.cluster.name, what, place));
            }
        }
    }
    let lost = gate::stranded(subject.model, subject.snapshot, spec);
    found.extend(lost.into_iter().map(|one| one.code(FORGOTTEN_GATE.code)));
    found
}
