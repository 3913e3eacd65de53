//! The CronJobs of a gate and their last runs, as a cluster has them.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::delivery::BuiltJob;
use crate::live::{Objects, owner};
use crate::mechanism::Action;
use crate::schedule::{CronExpr, zone};
use crate::text::words;

/// How much later than its time a run may start before it counts as missed.
const LATE: SignedDuration = SignedDuration::from_secs(90);

/// The most characters of what a controller says.
const SAID: usize = 200;

/// A CronJob that Git has, as its cluster has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveJob {
    /// Its namespace; empty where the cluster does not have it.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its kind and its name.
    pub shown: String,
    /// Whether it is a CronJob, which can be run once by hand.
    pub is_cron_job: bool,
    /// What it says of itself where it is not ready.
    pub failure: Option<String>,
    /// What it does.
    pub action: Action,
    /// Whether the cluster has it.
    pub is_there: bool,
    /// When it was made there.
    pub created: Option<Timestamp>,
    /// Whether it is suspended there.
    pub is_suspended: bool,
    /// Whether it does there what it does in Git.
    pub is_as_in_git: bool,
    /// The time of its last run, by its schedule.
    pub scheduled: Option<Timestamp>,
    /// The first time at which it should have run, and did not.
    pub missed: Option<Timestamp>,
    /// The runs that the cluster remembers, the last one first.
    pub runs: Vec<Run>,
}

/// A run of a CronJob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The name of the Job.
    pub name: String,
    /// When it began.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// How it ended.
    pub outcome: Outcome,
    /// How many of its pods have failed.
    pub failures: u64,
    /// Why it failed, in Kubernetes' words.
    pub reason: Option<String>,
}

words! {
    /// How a run ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Outcome {
        /// It goes on.
        Running = "running",
        /// All that it was to do is done.
        Succeeded = "succeeded",
        /// It was given up.
        Failed = "failed",
    }
}

impl LiveJob {
    /// Looks a CronJob up.
    pub fn of(built: &BuiltJob, objects: &Objects, now: Timestamp) -> LiveJob {
        let Some(found) = objects.job(&built.name) else {
            return LiveJob {
                namespace: String::new(),
                name: built.name.clone(),
                shown: built.shown(),
                is_cron_job: built.is_cron_job(),
                failure: None,
                action: built.action,
                is_there: false,
                created: None,
                is_suspended: false,
                is_as_in_git: true,
                scheduled: None,
                missed: None,
                runs: Vec::new(),
            };
        };
        let scheduled = instant(&found["status"]["lastScheduleTime"]);
        LiveJob {
            namespace: found["metadata"]["namespace"].as_str().unwrap_or_default().to_owned(),
            name: built.name.clone(),
            shown: built.shown(),
            is_cron_job: built.is_cron_job(),
            failure: not_ready(found),
            action: built.action,
            is_there: true,
            created: instant(&found["metadata"]["creationTimestamp"]),
            is_suspended: found["spec"]["suspend"] == true,
            is_as_in_git: BuiltJob::of(found).is_some_and(|live| is_same(built, &live)),
            scheduled,
            missed: missed(found, scheduled, now),
            runs: runs(found, objects),
        }
    }

    /// Returns whether it has run, by its schedule or by hand.
    pub fn has_run(&self) -> bool {
        self.scheduled.is_some() || !self.runs.is_empty()
    }

    /// Returns the last run.
    pub fn last(&self) -> Option<&Run> {
        self.runs.first()
    }
}

/// Compares what two CronJobs do; what one with a held source holds back is what reads that.
fn is_same(built: &BuiltJob, live: &BuiltJob) -> bool {
    let key = |job: &BuiltJob| {
        let targets = job.targets.clone();
        let own = (job.mechanism, job.action, job.schedule.clone(), job.time_zone.clone());
        (own, job.table.clone(), job.held.clone(), Some(targets).filter(|_| job.held.is_none()))
    };
    key(built) == key(live)
}

/// Returns the first time after the last run, or the last change of the schedule, at which it should have run by now.
fn missed(job: &Value, scheduled: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    let spec = &job["spec"];
    if spec["suspend"] == true {
        return None;
    }
    let changed = |path: &[&str]| owner(job, path).and_then(|owner| owner.at);
    let from = [
        scheduled,
        instant(&job["metadata"]["creationTimestamp"]),
        changed(&["spec", "schedule"]),
        changed(&["spec", "suspend"]),
    ];
    let from = from.into_iter().flatten().max()?;
    let cron = CronExpr::parse(spec["schedule"].as_str()?).ok()?;
    // The zone of a controller is not known.
    let next = cron.next_after(from, &zone::parse(spec["timeZone"].as_str()?).ok()?)?;
    (next + LATE < now).then_some(next)
}

fn runs(cron_job: &Value, objects: &Objects) -> Vec<Run> {
    let metadata = &cron_job["metadata"];
    let is_own = |job: &&Value| {
        let owners = job["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        let is_it = |one: &Value| one["kind"] == "CronJob" && one["uid"] == metadata["uid"];
        job["metadata"]["namespace"] == metadata["namespace"] && owners.into_iter().any(is_it)
    };
    let mut found: Vec<Run> = objects.jobs.iter().filter(is_own).map(run).collect();
    found.sort_by(|a, b| (b.started, &b.name).cmp(&(a.started, &a.name)));
    found
}

fn run(job: &Value) -> Run {
    let status = &job["status"];
    let conditions = status["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let holds = |kind: &str| conditions.iter().find(|one| one["type"] == kind && one["status"] == "True");
    let (failed, complete) = (holds("Failed"), holds("Complete"));
    let outcome = match (failed, complete) {
        (Some(_), _) => Outcome::Failed,
        (None, Some(_)) => Outcome::Succeeded,
        (None, None) => Outcome::Running,
    };
    let transition = |one: &Value| instant(&one["lastTransitionTime"]);
    Run {
        name: job["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
        started: instant(&status["startTime"]),
        ended: instant(&status["completionTime"]).or_else(|| failed.or(complete).and_then(transition)),
        outcome,
        failures: status["failed"].as_u64().unwrap_or_default(),
        reason: failed.and_then(|one| one["reason"].as_str()).map(str::to_owned),
    }
}

/// Returns what a controller says of an object that is not ready.
pub(super) fn not_ready(object: &Value) -> Option<String> {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let ready = conditions.into_iter().find(|one| one["type"] == "Ready" && one["status"] == "False")?;
    let said = ready["message"].as_str().or_else(|| ready["reason"].as_str()).unwrap_or("nothing said");
    Some(said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SAID).collect())
}

/// Reads a time of the API.
pub(super) fn instant(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}
