//! CronJobs that no API server takes.

use crate::check::code::REFUSED_JOB;
use crate::check::setting::setting;
use crate::check::subject::Subject;
use crate::delivery::GateJob;
use crate::diagnostic::{Diagnostic, Place};
use crate::mechanism::LONGEST_JOB_NAME;
use crate::schedule::{CronExpr, zone};

/// Finds CronJobs of gates that the API server refuses (Kubernetes `pkg/apis/batch/validation`,
/// `ValidateCronJobCreate` and `validateCronJobSpec`).
///
/// What holds a variable of `postBuild` is not judged.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let each = |job| [schedule(subject, job), zone(subject, job), name(subject, job)];
    subject.jobs.iter().flat_map(each).flatten().collect()
}

fn refused(subject: &Subject<'_>, job: &GateJob, why: &str, place: Place, help: String) -> Diagnostic {
    let carrier = &subject.deliveries[job.delivery];
    REFUSED_JOB
        .finding(format!(
            "the API server refuses CronJob `{}`: {why}. {} fails and applies nothing new",
            job.name, carrier.name
        ))
        .at(place)
        .help(help)
}

fn schedule(subject: &Subject<'_>, job: &GateJob) -> Option<Diagnostic> {
    let text = job.value["spec"]["schedule"].as_str().unwrap_or_default();
    if text.contains("${") {
        return None;
    }
    let error = CronExpr::parse(text).err()?;
    let help = error.help.clone().unwrap_or_else(|| "give five fields, such as `0 22 * * SAT`".to_owned());
    let why = format!("schedule `{text}`: {}", error.message);
    Some(refused(subject, job, &why, setting(subject, job, "schedule"), help))
}

fn zone(subject: &Subject<'_>, job: &GateJob) -> Option<Diagnostic> {
    let name = job.value["spec"]["timeZone"].as_str()?;
    if name.contains("${") {
        return None;
    }
    let error = zone::parse(name).err()?;
    Some(refused(subject, job, &error.message, setting(subject, job, "timeZone"), error.help()))
}

fn name(subject: &Subject<'_>, job: &GateJob) -> Option<Diagnostic> {
    let length = job.name.len();
    if length <= LONGEST_JOB_NAME || job.name.contains("${") {
        return None;
    }
    let place = subject.sources.place(subject.applied(job)?, &["metadata", "name"]);
    let why = format!("its name has {length} characters, and at most {LONGEST_JOB_NAME} are taken");
    Some(refused(subject, job, &why, place, "give it a shorter name".to_owned()))
}
