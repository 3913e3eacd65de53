//! Mechanisms: how a gate opens and closes in a cluster.
//!
//! A mechanism is one implementation of [`Mechanism`]: which files make a gate, what its objects do to Flux
//! Kustomizations, what people run by hand, and which windows it refuses. It works on values alone, so that both of
//! its halves, writing and reading, stand in one place. Nobody else knows how Flux Kustomizations are held back.
//!
//! A new one is a file here, its name in [`MechanismName`] and a line in [`of`].

mod act;
mod cron_job;
mod flux_operator;
mod follow;
mod gate;
mod held;
mod left;
mod source_kind;
mod standing;
mod suspend;
mod table;

use std::collections::BTreeSet;

use serde_json::Value;

pub use act::{Action, Reading, Turn, Unclear};
pub use cron_job::{LONGEST_JOB_NAME, pod_of};
pub(crate) use cron_job::{command_line, shell_line};
pub use flux_operator::{GROUP as OPERATOR, RESOURCE as PROVIDERS, is_provider, source_of};
pub use follow::held_name;
pub use gate::{
    ClusterGate, Files, GateTarget, Gates, HeldSource, Job, Jobs, Schedule, Unheld, WhyUnheld, Window,
    Writing, add, join, shown,
};
pub use left::{Field, Left, Observed, State};
pub use source_kind::{HeldId, SourceKind, is_held};
pub use standing::{Standing, StandingSource};
pub use suspend::{Parameter, SuspendPatch};
pub use table::{Table, Tabled, lines as table_lines};

use crate::error::Error;
use crate::spec::{MechanismName, Spec};

/// What CronJobs with a table leave to people where a pair suspended something before them.
pub const RESUME_OWN: &str =
    "CronJobs with a table resume only Flux Kustomizations that they suspended themselves";

/// The annotation by which people stop what a job would open, for when Git is down; its value says why.
const STOP: &str = "gitops-windows/stop";

/// Returns the words of a command that annotates objects as `flux`, since kustomize-controller takes away what managers
/// named `kubectl…` annotate.
fn annotate(resource: &str, namespace: &str, names: &[&str], annotation: &str) -> Vec<String> {
    let of = format!("--namespace={namespace}");
    let begin = ["kubectl", "annotate", resource].into_iter().chain(names.iter().copied());
    begin.chain([&*of, "--overwrite", "--field-manager=flux", annotation]).map(str::to_owned).collect()
}

/// How a gate is held closed.
pub trait Mechanism: Sync {
    /// Returns the CronJobs of the gates, with what each cluster makes of them.
    ///
    /// # Errors
    ///
    /// When a window can't be said by it, a name is too long, or two names are the same.
    fn jobs(&self, spec: &Spec) -> Result<Jobs, Error>;

    /// Returns the position of the type that a CronJob of a name turns; `None` for one that is none of a gate of a spec.
    fn type_of(&self, spec: &Spec, job: &str) -> Option<usize>;

    /// Adds the files that all clusters share.
    ///
    /// # Errors
    ///
    /// When a template fails, or the layout has no place for a file.
    fn base(&self, writing: &Writing<'_>, wanted: &mut Files) -> Result<(), Error>;

    /// Adds the files of one cluster, whose gate lists the files of its `alerts` too.
    ///
    /// # Errors
    ///
    /// As [`base`](Mechanism::base).
    fn cluster(
        &self,
        writing: &Writing<'_>,
        cluster: &ClusterGate,
        alerts: &[&str],
        wanted: &mut Files,
    ) -> Result<(), Error>;

    /// Returns the name and the text of a cluster's patch of a job, by its position; `None` where the cluster has no
    /// use for the job.
    ///
    /// # Errors
    ///
    /// When a template fails.
    fn patch(&self, _: &Writing<'_>, _: &ClusterGate, _: usize) -> Result<Option<(String, String)>, Error> {
        Ok(None)
    }

    /// Says where the built objects of a cluster's gate do, or may do, something else than the spec says.
    fn problem(
        &self,
        spec: &Spec,
        gates: &Gates,
        cluster: &ClusterGate,
        objects: &[&Value],
    ) -> Option<String>;

    /// Reads what a CronJob does to Flux Kustomizations; a list may have given it a `namespace`.
    fn read(&self, job: &Value, namespace: Option<&str>) -> Reading;

    /// Returns the words of the commands by which people let go on what a gate held that is gone, of one namespace.
    fn release(&self, namespace: &str, names: &[String]) -> Vec<Vec<String>> {
        let command = |name: &String| {
            let words = ["flux", "reconcile", "kustomization", name.as_str(), "--namespace", namespace];
            words.map(str::to_owned).into()
        };
        names.iter().map(command).collect()
    }

    /// Returns the words of the command that deletes what is left of a held source whose gate is gone; none where nothing
    /// is.
    fn forget(&self, _: &Spec, _: &HeldId) -> Vec<String> {
        Vec::new()
    }

    /// Returns the words of the one command that lets in what waits: `needed` are the targets, and what they depend on and
    /// is held back too.
    ///
    /// What it sets is set as `flux`, since kustomize-controller takes back what managers named `kubectl…` set.
    fn open_now(&self, standing: &Standing, needed: &BTreeSet<GateTarget>) -> Vec<String>;

    /// Says how long what [`open_now`](Mechanism::open_now) lets in goes on.
    fn opened_until(&self, _: &Standing) -> &'static str {
        "this one commit, and later ones wait for the window"
    }

    /// Returns the words of the one command that closes at once, and keeps closed without a commit. `reason` is told to
    /// whoever looks.
    fn stop_now(&self, standing: &Standing, reason: &str) -> Vec<String>;

    /// Says how long what [`stop_now`](Mechanism::stop_now) closes stays so.
    fn stopped_until(&self, standing: &Standing) -> &'static str;

    /// Returns the words of the command that ends what [`stop_now`](Mechanism::stop_now) began; none where it ends by itself.
    fn go_on(&self, standing: &Standing) -> Vec<String>;

    /// Reads from the objects of a cluster how a gate has left a Flux Kustomization there.
    fn left<'v>(&self, observed: &Observed<'v>) -> Left<'v>;

    /// Returns whether a gate that does not run keeps out what is new: what gets in then was let in by hand.
    fn fails_closed(&self) -> bool {
        true
    }

    /// Returns the kinds of the objects that make a gate.
    fn kinds(&self) -> &'static [&'static str];
}

/// Returns the mechanism of a name.
pub fn of(name: MechanismName) -> &'static dyn Mechanism {
    match name {
        MechanismName::Suspend => &suspend::Suspend,
        MechanismName::Follow => &follow::Follow,
        MechanismName::FluxOperator => &flux_operator::FluxOperator,
    }
}

fn all() -> impl Iterator<Item = (MechanismName, &'static dyn Mechanism)> {
    MechanismName::ALL.into_iter().map(|name| (name, of(name)))
}

/// The kinds of the objects that may open or close something at times of their own.
pub const JOBS: [&str; 2] = ["CronJob", flux_operator::PROVIDER];

/// Returns whether an object may open or close something at times of its own.
pub fn is_job(object: &Value) -> bool {
    object["kind"] == "CronJob" || is_provider(object)
}

/// Returns whether what may open or close does not run as it stands: a CronJob that is suspended, or a provider that Flux
/// Operator is kept from.
pub fn is_off(job: &Value) -> bool {
    job["spec"]["suspend"] == true || is_provider(job) && flux_operator::disabled(job).is_some()
}

/// Reads what a CronJob, or what else [is like one](is_job), does to Flux Kustomizations, by whatever mechanism; a list may
/// have given it a `namespace`.
pub fn read(job: &Value, namespace: Option<&str>) -> Reading {
    let obeys_stop = pod_of(job)["containers"].as_array().into_iter().flatten().any(|container| {
        let words = ["command", "args"].into_iter().flat_map(|key| container[key].as_array()).flatten();
        words.filter_map(Value::as_str).any(|word| word.contains(STOP))
    });
    let found = all().map(|(name, mechanism)| {
        let own = mechanism.read(job, namespace);
        let every = if own.table.is_some() { cron_job::every(job).unwrap_or(own.every) } else { 0 };
        Reading { mechanism: name, obeys_stop: obeys_stop || own.obeys_stop, every, ..own }
    });
    found.into_iter().find(|reading| !reading.is_empty()).unwrap_or_default()
}

/// Reads which Flux Kustomizations a CronJob turns.
pub fn turns(job: &Value) -> Vec<Turn> {
    read(job, None).turns
}

/// Returns whether some mechanism makes a gate of objects of a kind.
pub fn is_kind(kind: &str) -> bool {
    all().any(|(_, mechanism)| mechanism.kinds().contains(&kind))
}
