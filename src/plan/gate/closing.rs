//! What the jobs that stand in Git close, read from what their folder builds.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::plan::gate::folder_of;
use crate::plan::{Command, Input};
use crate::render::Request;
use crate::repo::command::{Action, turns};

/// What the gate of a cluster closes as it stands in Git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    names: BTreeSet<String>,
}

impl Closing {
    /// Reads the gate of a cluster; `None` where its folder does not stand.
    ///
    /// A job that is suspended closes nothing, and neither does one that does not build.
    ///
    /// # Errors
    ///
    /// When the layout gives no folder.
    pub fn of(input: &Input<'_>, cluster: &str) -> Result<Option<Closing>, Error> {
        let Some(folder) = folder_of(input, cluster)? else { return Ok(None) };
        let results = input.renderer.render(input.snapshot, &[Request::folder(folder)]);
        let objects = results.into_iter().flatten().flatten();
        let runs = objects
            .filter(|object| object.value["kind"] == "CronJob" && object.value["spec"]["suspend"] != true);
        let turned =
            runs.flat_map(|object| turns(&object.value["spec"]["jobTemplate"]["spec"]["template"]["spec"]));
        let closed = turned.filter(|turn| turn.action == Action::Close);
        Ok(Some(Closing { names: closed.map(|turn| turn.name).collect() }))
    }

    /// Tells whether it closes a Flux Kustomization, by its name or with all others.
    pub fn holds(&self, name: &str) -> bool {
        self.names.contains(name) || self.names.contains("*")
    }
}

/// Gives the commands that resume what jobs close so far and close no more in `next`: no job opens it
/// either, so what the last closing suspended would stay so.
///
/// # Errors
///
/// As [`Closing::of`].
pub fn released(input: &Input<'_>, next: &Input<'_>) -> Result<Vec<Command>, Error> {
    let namespace = &input.spec.flux.namespace;
    let mut found = Vec::new();
    for cluster in input.spec.clusters.keys() {
        let (Some(now), Some(then)) = (Closing::of(input, cluster)?, Closing::of(next, cluster)?) else {
            continue;
        };
        let is_released = |name: &str| now.holds(name) && !then.holds(name);
        let of_cluster = next.model.flux.iter().filter(|flux| next.model.cluster_of(flux) == *cluster);
        let released = of_cluster.filter(|flux| {
            is_released(&flux.name) && (flux.namespace.is_empty() || flux.namespace == *namespace)
        });
        found.extend(released.map(|flux| Command::resume(&flux.name, namespace, cluster)));
    }
    Ok(found)
}
