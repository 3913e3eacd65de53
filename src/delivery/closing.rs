//! What the jobs that stand in Git close, read from what their folders build.

use std::collections::BTreeMap;

use crate::delivery::{EntryPoint, Hold, Input, builds};
use crate::error::Error;
use crate::mechanism::{Action, GateTarget, read};
use crate::path::RepoPath;
use crate::render::{Object, Request};
use crate::repo::FluxKustomization;

/// What the gates close as they stand in Git, each with its CronJob, by the clusters whose gate's folder stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closings(BTreeMap<String, BTreeMap<GateTarget, String>>);

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
            if let Some(folder) = input.gate_of(cluster)? {
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
        let own = input.gate_of(cluster).ok().flatten().map(Request::folder);
        let requests: Vec<Request> = requests.chain(own).collect();
        let results = input.renderer.render(input.snapshot, &requests);
        let closed = results.into_iter().flat_map(|result| closed(result.into_iter().flatten()));
        Closings(BTreeMap::from([(cluster.to_owned(), closed.collect())]))
    }

    /// Tells whether the folder of a cluster's gate stands.
    pub fn has_gate(&self, cluster: &str) -> bool {
        self.0.contains_key(cluster)
    }

    /// Tells whether a gate of a cluster closes anything.
    pub fn closes_any(&self, cluster: &str) -> bool {
        self.0.get(cluster).is_some_and(|closed| !closed.is_empty())
    }

    /// Returns the CronJob that closes a Flux Kustomization, by its name or with all others of its namespace.
    pub fn hold(&self, cluster: &str, target: &GateTarget) -> Option<Hold> {
        let all = GateTarget { name: "*".to_owned(), ..target.clone() };
        let closed = self.0.get(cluster)?;
        closed.get(target).or_else(|| closed.get(&all)).cloned().map(Hold::Job)
    }
}

/// Returns what the CronJobs among objects close, each with the name of its job.
fn closed(objects: impl Iterator<Item = Object>) -> impl Iterator<Item = (GateTarget, String)> {
    let jobs = objects.map(|object| object.value);
    let run = jobs.filter(|job| job["kind"] == "CronJob" && job["spec"]["suspend"] != true);
    let read =
        run.map(|job| (job["metadata"]["name"].as_str().unwrap_or_default().to_owned(), read(&job, None)));
    let closing = read.filter(|(_, reading)| reading.action() == Some(Action::Close));
    closing.flat_map(|(name, reading)| {
        reading.turns.into_iter().map(move |turn| (GateTarget::from(turn), name.clone()))
    })
}

impl<'a> Input<'a> {
    /// Returns the folder of a cluster's gate, if the gate stands there.
    ///
    /// # Errors
    ///
    /// When the layout gives no folder.
    pub fn gate_of(&self, cluster: &str) -> Result<Option<RepoPath>, Error> {
        Ok(Some(self.spec.gate_folder(cluster)?).filter(|folder| self.model.graph.has(folder)))
    }

    /// Returns a Flux Kustomization that applies another, directly or through others, and that something keeps from
    /// doing so, with what that is: `spec.suspend` in Git, or a CronJob.
    pub fn held_above(&self, one: &FluxKustomization) -> Option<(&'a FluxKustomization, Hold)> {
        let mut seen: Vec<&FluxKustomization> = Vec::new();
        let mut queue = self.parents(one);
        let mut closings: BTreeMap<String, Closings> = BTreeMap::new();
        while let Some(next) = queue.pop() {
            if next.is_suspended() {
                return Some((next, Hold::Suspended));
            }
            let own = closings.entry(next.cluster.clone());
            let own = own.or_insert_with_key(|cluster| Closings::of_all_jobs(self, cluster));
            if let Some(hold) = own.hold(&next.cluster, &GateTarget::of(self, next)) {
                return Some((next, hold));
            }
            if !seen.iter().any(|known| std::ptr::eq(*known, next)) {
                seen.push(next);
                queue.extend(self.parents(next));
            }
        }
        None
    }
}
