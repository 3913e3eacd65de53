//! What an outage of the CronJob controller does to a gate.

use std::collections::BTreeMap;

use crate::check::code::OUTAGE_RACE;
use crate::check::hand_made::window;
use crate::check::setting::setting;
use crate::check::subject::Subject;
use crate::delivery::GateJob;
use crate::diagnostic::Diagnostic;
use crate::mechanism::Action;
use crate::schedule::{Deadlines, Timeline, deadlines};

/// Finds CronJobs whose deadlines make an outage open a window late, or leave it open.
///
/// After an outage the controller starts the latest missed run of each CronJob that is not older than its
/// `startingDeadlineSeconds` (Kubernetes, `mostRecentScheduleTime`). An opening needs one that is no longer
/// than its window; one of a closing must not end before the next opening.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = Vec::new();
    let mut known = Known::new();
    // One that looks at a table does what is right whenever it runs.
    for job in subject.jobs.iter().filter(|job| !job.suspended && job.reading.table.is_none()) {
        let deadline = job.value["spec"]["startingDeadlineSeconds"].as_u64();
        let right = right(subject, job, &mut known);
        let finding = match (job.action, deadline, right) {
            (Action::Open, None, _) => OUTAGE_RACE
                .finding(format!(
                    "CronJob `{}` has no `startingDeadlineSeconds`. After an outage it opens a past window and races with the closing",
                    job.name
                ))
                .help(match right {
                    Some(right) => format!("set it to {right}"),
                    None => "set it to a little less than the window's length in seconds".to_owned(),
                }),
            (Action::Open, Some(seconds), Some(right)) if seconds > u64::from(right + TRYING) => OUTAGE_RACE
                .finding(format!(
                    "CronJob `{}` may start {seconds} seconds late, longer than its window. After an outage of the controller it opens a past window",
                    job.name
                ))
                .help(format!("set `startingDeadlineSeconds` to {right}")),
            (Action::Close, Some(seconds), Some(right)) if seconds < u64::from(right) => OUTAGE_RACE
                .finding(format!(
                    "CronJob `{}` may start only {seconds} seconds late. After a longer outage the window stays open until the next closing",
                    job.name
                ))
                .help(format!("set `startingDeadlineSeconds` to {right}, or remove it")),
            _ => continue,
        };
        let finding = finding.at(setting(subject, job, "startingDeadlineSeconds"));
        if !findings.iter().any(|other| other.place == finding.place) {
            findings.push(finding);
        }
    }
    findings
}

/// What a Job may need to do its work; so much less than the window is the right deadline.
const TRYING: u32 = 300;

/// The deadlines of windows, by the schedules of what opens and closes and the zone: many clusters have one.
type Known<'s> = BTreeMap<[&'s str; 3], Option<Deadlines>>;

/// Returns the deadline that suits a job's schedule, of several windows the one that asks for least.
fn right<'s>(subject: &'s Subject<'_>, job: &'s GateJob, known: &mut Known<'s>) -> Option<u32> {
    let opposite = |other: &&GateJob| other.action != job.action && other.targets == job.targets;
    let found = subject.jobs_of(&job.cluster).filter(opposite).filter_map(|other| {
        let (open, close) = if job.action == Action::Open { (job, other) } else { (other, job) };
        let window = window(open, close)?;
        let said = |job: &'s GateJob, key: &str| job.value["spec"][key].as_str().unwrap_or_default();
        let key = [said(open, "schedule"), said(close, "schedule"), said(open, "timeZone")];
        let deadlines = known.entry(key).or_insert_with(|| {
            let timeline = Timeline::of_pairs([(window.pair().ok()?, window.zone_or_utc())]);
            deadlines(&timeline).into_iter().next()
        });
        let own = deadlines.as_ref()?;
        let own = if job.action == Action::Open { own.open } else { own.close };
        own.map(|deadline| deadline.starting)
    });
    if job.action == Action::Open { found.max() } else { found.min() }
}
