//! Who set the field by which a gate holds.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::live::owner;
use crate::mechanism::Field;
use crate::schedule::minute;
use crate::status::LiveJob;

/// How long after the end of a run what it set may be noted: the API server drops fractions of seconds.
const AFTER: SignedDuration = SignedDuration::from_secs(5);

/// Who set a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setter {
    /// The field manager.
    pub manager: String,
    /// When it changed the object last; the field is as old as that or older.
    pub at: Option<Timestamp>,
    /// Who that is.
    pub by: By,
}

/// Who a field manager is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// A run of a gate's CronJob, by its name.
    Job(String),
    /// The `flux` command, or a run that the cluster has forgotten.
    Flux,
    /// Flux itself, as Git says it.
    Git,
    /// Somebody else.
    Hand,
}

impl By {
    /// Returns the word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            By::Job(_) => "job",
            By::Flux => "flux",
            By::Git => "git",
            By::Hand => "hand",
        }
    }
}

impl Setter {
    /// Finds out who set a field, from the field managers of its object and the runs of the gate; `at` is when, where that
    /// is known better.
    pub fn of(field: Field<'_>, at: Option<Timestamp>, jobs: &[LiveJob], now: Timestamp) -> Option<Setter> {
        let owner = owner(field.object, field.path)?;
        let by = match () {
            () if owner.is_of_git() => By::Git,
            () if !owner.is_of_flux() => By::Hand,
            () => {
                let runs = |job: &&LiveJob| {
                    job.runs.iter().any(|run| {
                        let end = run.ended.unwrap_or(now) + AFTER;
                        owner.at.zip(run.started).is_some_and(|(at, start)| (start..=end).contains(&at))
                    })
                };
                jobs.iter().find(runs).map_or(By::Flux, |job| By::Job(job.name.clone()))
            }
        };
        Some(Setter { manager: owner.manager, at: at.or(owner.at), by })
    }

    /// Says who set it and when, as a sentence without a subject: `resumed Sun 2026-11-29 09:12 by kubectl-edit, by hand`.
    pub fn told(&self, verb: &str, zone: &TimeZone) -> String {
        let at = self.at.map(|at| format!(" {}", minute(at, zone))).unwrap_or_default();
        let who = match &self.by {
            By::Job(name) => format!("CronJob {name}"),
            By::Flux => self.manager.clone(),
            By::Git => format!("{}, as Git says", self.manager),
            By::Hand => format!("{}, by hand", self.manager),
        };
        format!("{verb}{at} by {who}")
    }
}
