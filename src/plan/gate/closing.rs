//! What the jobs that stand in Git close, read from what their folders build.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Error;
use crate::plan::gate::{GateTarget, folder_of};
use crate::plan::{Command, Input};
use crate::render::Request;
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
        let closed = results.into_iter().map(|result| {
            let jobs = result.into_iter().flatten().map(|object| object.value);
            let run = jobs.filter(|job| job["kind"] == "CronJob" && job["spec"]["suspend"] != true);
            let turned = run.flat_map(|job| turns(&job));
            turned.filter(|turn| turn.action == Action::Close).map(GateTarget::from).collect()
        });
        Ok(Closings(clusters.into_iter().zip(closed).collect()))
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

/// Tells whether a job of a cluster that is not its gate's suspends a Flux Kustomization: people wrote it.
pub fn is_suspended_beside(input: &Input<'_>, cluster: &str, target: &GateTarget) -> bool {
    let gate = folder_of(input, cluster).ok().flatten();
    let is_it = |(namespace, name): &(String, String)| {
        (namespace.is_empty() || *namespace == target.namespace) && (*name == target.name || name == "*")
    };
    let jobs = input.model.suspensions.iter().filter(|one| one.targets.iter().any(is_it));
    jobs.filter(|one| !gate.as_ref().is_some_and(|gate| input.takes_in(gate, &one.file))).any(|one| {
        let mut entries = input.model.entry_points.iter().filter(|entry| entry.is_of(cluster));
        entries.any(|entry| input.takes_in(&entry.path, &one.file))
    })
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
        let own = next.model.flux.iter().filter(|flux| next.model.cluster_of(flux) == *cluster);
        let released = own
            .map(|flux| GateTarget::of(next, flux))
            .filter(|target| now.holds(cluster, target) && !then.holds(cluster, target));
        released.map(|target| Command::resume(&target, cluster)).collect::<Vec<_>>()
    };
    let stands = |cluster: &&String| then.has_gate(cluster);
    Ok(input.spec.clusters.keys().filter(stands).flat_map(released).collect())
}
