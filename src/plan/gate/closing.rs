//! What the jobs that stand in Git close, read from what their folders build.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::delivery::EntryPoint;
use crate::delivery::{Input, builds};
use crate::error::Error;
use crate::plan::Command;
use crate::plan::gate::{GateTarget, folder_of};
use crate::render::{Object, Request};
use crate::repo::command::{Action, turns};

/// What the gates close as they stand in Git, by the clusters whose gate's folder stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closings(BTreeMap<String, BTreeSet<GateTarget>>);

impl Closings {
    /// Reads the gates of all clusters.
    ///
    /// A job that is suspended closes nothing, and neither does one that does not build.
    ///
    /// # Errors
    ///
    /// When the layout gives no folder.
    pub fn of(input: &Input<'_>) -> Result<Closings, Error> {
        let (mut clusters, mut requests) = (Vec::new(), Vec::new());
        for cluster in input.spec.clusters.keys() {
            if let Some(folder) = folder_of(input, cluster)? {
                clusters.push(cluster.clone());
                requests.push(Request::folder(folder));
            }
        }
        let results = input.renderer.render(input.snapshot, &requests);
        let closed = results.into_iter().map(|result| closed(result.into_iter().flatten()).collect());
        Ok(Closings(clusters.into_iter().zip(closed).collect()))
    }

    /// Reads what all jobs close that a cluster gets, those too that people wrote beside its gate.
    ///
    /// A job that suspends and resumes in one run holds nothing back for long.
    pub fn of_all_jobs(input: &Input<'_>, cluster: &str) -> Closings {
        let has_job = |entry: &&EntryPoint| {
            let mut files = input.model.closing_jobs.iter();
            entry.is_of(cluster) && files.any(|file| input.model.graph.takes_in(&entry.path, file))
        };
        let entries = input.model.entry_points.iter().filter(has_job);
        let requests = entries.flat_map(|entry| {
            let builds = builds(input.model, entry).into_iter();
            builds.map(|flux| Request::of(entry.path.clone(), flux.as_ref()))
        });
        // A gate that nothing in Git applies is applied by hand.
        let own = folder_of(input, cluster).ok().flatten().map(Request::folder);
        let requests: Vec<Request> = requests.chain(own).collect();
        let results = input.renderer.render(input.snapshot, &requests);
        let closed = results.into_iter().flat_map(|result| closed(result.into_iter().flatten()));
        Closings(BTreeMap::from([(cluster.to_owned(), closed.collect())]))
    }

    /// Tells whether the folder of a cluster's gate stands.
    pub fn has_gate(&self, cluster: &str) -> bool {
        self.0.contains_key(cluster)
    }

    /// Tells whether a job closes a Flux Kustomization, by its name or with all others of its namespace.
    pub fn holds(&self, cluster: &str, target: &GateTarget) -> bool {
        let all = GateTarget { name: "*".to_owned(), ..target.clone() };
        self.0.get(cluster).is_some_and(|targets| targets.contains(target) || targets.contains(&all))
    }
}

/// Gives what the CronJobs among objects close.
fn closed(objects: impl Iterator<Item = Object>) -> impl Iterator<Item = GateTarget> {
    let jobs = objects.map(|object| Arc::unwrap_or_clone(object.value));
    let run = jobs.filter(|job| job["kind"] == "CronJob" && job["spec"]["suspend"] != true);
    let turned =
        run.map(|job| turns(&job)).filter(|turns| turns.iter().all(|turn| turn.action == Action::Close));
    turned.flatten().map(GateTarget::from)
}

/// Gives the commands that resume what jobs close so far and close no more in `next`, where a gate stands
/// still: no job opens it either, so what the last closing suspended would stay so.
///
/// # Errors
///
/// As [`Closings::of`].
pub fn released(input: &Input<'_>, next: &Input<'_>) -> Result<Vec<Command>, Error> {
    let (now, then) = (Closings::of(input)?, Closings::of(next)?);
    let released = |cluster: &String| {
        let own = next.model.flux.iter().filter(|flux| flux.cluster == *cluster);
        let released = own
            .map(|flux| GateTarget::of(next, flux))
            .filter(|target| now.holds(cluster, target) && !then.holds(cluster, target));
        released.map(|target| Command::resume(&target.name, &target.namespace, cluster)).collect::<Vec<_>>()
    };
    let stands = |cluster: &&String| then.has_gate(cluster);
    Ok(input.spec.clusters.keys().filter(stands).flat_map(released).collect())
}
