//! What gates suspend and resume.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::code::{ONE_SIDED_GATE, UNKNOWN_TARGET};
use crate::check::subject::Subject;
use crate::delivery::{Cluster, ClusterKey, Delivery, Doubt, GateJob, Hold, UnclearJob};
use crate::diagnostic::{Diagnostic, Place};
use crate::mechanism::Action;
use crate::text::did_you_mean;

/// How many Flux Kustomizations are named at most as what may be meant.
const MOST_NAMES: usize = 8;

/// Finds targets that do not exist, and gates of which one half is missing or off.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for job in &subject.jobs {
        // On the way to a split, jobs that a spec implies stay off until their targets are there.
        if subject.spec.is_some() && job.suspended {
            continue;
        }
        findings.extend(unknown(subject, job));
        findings.extend(kept_out(subject, job));
    }
    findings.extend(subject.deliveries.iter().filter_map(|delivery| unmoved(subject, delivery)));
    let clusters: BTreeSet<&ClusterKey> = subject.jobs.iter().map(|job| &job.cluster).collect();
    for cluster in clusters {
        findings.extend(one_sided(subject, cluster));
    }
    findings
}

fn unknown(subject: &Subject<'_>, job: &GateJob) -> Vec<Diagnostic> {
    // What bootstrap writes says nothing about where the others are kept.
    let in_git = || {
        subject.reconciled_in(&job.cluster).filter(|delivery| {
            subject.flux(delivery).is_some_and(|flux| !flux.file.is_within(&delivery.path))
        })
    };
    let known: Vec<_> =
        subject.reconciled_in(&job.cluster).filter(|delivery| delivery.flux.is_some()).collect();
    // What does not build may bring them.
    let is_failing = subject.model.delivered.named(&job.cluster.name).is_some_and(Cluster::has_failing);
    if is_failing || in_git().next().is_none() {
        return Vec::new();
    }
    let unknown = job.targets.iter().filter(|(namespace, name)| {
        name != "*" && !known.iter().any(|delivery| delivery.is_named(namespace, name))
    });
    unknown
        .map(|(_, name)| {
            let names: BTreeSet<&str> = in_git().map(|delivery| delivery.name.as_str()).collect();
            let consequence = match job.action {
                Action::Close if job.reading.patches.is_empty() => {
                    "It suspends nothing, and `flux suspend` does not fail"
                }
                Action::Close => "It suspends nothing, and the job fails",
                Action::Open => "It resumes nothing",
                Action::Follow => "A held source that is created again can't learn its last commit",
            };
            UNKNOWN_TARGET
                .finding(format!(
                    "CronJob `{}` {} {name}, which is not in Git. {consequence}",
                    job.name,
                    job.action.verb()
                ))
                .at(job.place.clone())
                .help(match (did_you_mean(name, names.iter().copied()), names.len()) {
                    (_, ..=MOST_NAMES) => {
                        format!(
                            "name one of {}, or add {name} to Git",
                            names.into_iter().collect::<Vec<_>>().join(", ")
                        )
                    }
                    (Some(question), _) => format!("{question} Else add {name} to Git"),
                    (None, all) => format!("name one of the {all} of the cluster, or add {name} to Git"),
                })
        })
        .collect()
}

/// Finds what a job names and the cluster perhaps lacks, as Git suspends what brings it.
fn kept_out(subject: &Subject<'_>, job: &GateJob) -> Vec<Diagnostic> {
    let mut found: BTreeMap<&str, (Place, BTreeSet<&str>)> = BTreeMap::new();
    // `flux suspend` alone fails for nothing that is missing; with `runner: flux`, kubectl looks afterwards.
    let is_asked = job.action != Action::Follow && job.pod().to_string().contains("kubectl");
    for delivery in subject.reconciled_in(&job.cluster).filter(|_| is_asked) {
        let Some(flux) = subject.flux(delivery) else { continue };
        let is_named = job.targets.iter().any(|(namespace, name)| delivery.is_named(namespace, name));
        if let (true, Some(Doubt::Suspended(above))) = (is_named, subject.model.doubt(flux)) {
            let place =
                || subject.model.kept_out_by(flux).map_or(job.place.clone(), |by| by.place("suspend"));
            found.entry(above).or_insert_with(|| (place(), BTreeSet::new())).1.insert(&delivery.name);
        }
    }
    let folder = subject.spec.and_then(|spec| spec.gate_folder(&job.cluster.name).ok());
    // The gate as a whole stays: it says too what else it goes on holding.
    let remedy = match folder.is_some_and(|folder| subject.model.graph.has(&folder)) {
        true => "remove it from the command of each CronJob\nrun `gitops-windows sync`",
        false => "take it out of the command",
    };
    let told = |(above, (place, names)): (&str, (Place, BTreeSet<&str>))| {
        let (names, verb) = (names.into_iter().collect::<Vec<_>>().join(", "), job.action.verb());
        UNKNOWN_TARGET
            .finding(format!(
                "CronJob `{}` {verb} {names}. Git suspends {above}, which brings that: if the cluster lacks it, the job fails",
                job.name
            ))
            .at(job.place.clone())
            .related(format!("`suspend: true` of {above}"), place)
            .help(format!(
                "ask the cluster with `gitops-windows status`\nwhere it lacks that, {remedy}\nor let Git resume {above}"
            ))
    };
    found.into_iter().map(told).collect()
}

/// What reads a held source waits for a job that moves that.
fn unmoved(subject: &Subject<'_>, delivery: &Delivery) -> Option<Diagnostic> {
    let Some(Hold::Source(source)) = &delivery.gated else { return None };
    let flux = subject.flux(delivery)?;
    let text = format!(
        "{} reads held source {source}, which nothing moves. No commit ever reaches it",
        delivery.name
    );
    let help = "run `gitops-windows sync`\nor let it read the original source";
    Some(ONE_SIDED_GATE.finding(text).at(flux.place("sourceRef")).help(help))
}

fn one_sided(subject: &Subject<'_>, cluster: &ClusterKey) -> Vec<Diagnostic> {
    let jobs: Vec<&GateJob> = subject.jobs_of(cluster).collect();
    // A pair that is off as a whole is somebody's decision; half of one is not.
    if jobs.iter().all(|job| job.suspended) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for job in jobs.iter().filter(|job| !job.suspended && job.action != Action::Follow) {
        let opposite = |other: &&&GateJob| other.action != job.action;
        let turns = |other: &GateJob, target: &(String, String)| {
            other.targets.iter().any(|(namespace, name)| {
                *namespace == target.0 && (*name == target.1 || name == "*" || target.1 == "*")
            })
        };
        // The other half may be what is not understood.
        let may_be = |unclear: &&UnclearJob| {
            unclear.cluster == *cluster && unclear.unclear.action.is_none_or(|action| action != job.action)
        };
        if subject.unclear.iter().any(|unclear| may_be(&unclear)) {
            continue;
        }
        for target in &job.targets {
            if jobs.iter().filter(opposite).any(|other| !other.suspended && turns(other, target)) {
                continue;
            }
            let sleeping = jobs.iter().filter(opposite).find(|other| turns(other, target));
            let (name, verb) = (&target.1, job.action.verb());
            let consequence = match job.action {
                Action::Open => "The window never closes",
                _ => "It is suspended once and never resumed",
            };
            let finding = ONE_SIDED_GATE
                .finding(format!(
                    "CronJob `{}` {verb} {name}, and no active CronJob of the cluster does the reverse. {consequence}",
                    job.name
                ))
                .at(job.place.clone())
                .help("pair the CronJobs: each that suspends needs another that resumes the same Flux Kustomizations");
            findings.push(match sleeping {
                Some(other) => finding
                    .related(format!("CronJob `{}` is suspended itself", other.name), other.place.clone()),
                None => finding,
            });
        }
    }
    findings
}
