//! The CronJobs that open and close, as the clusters get them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::check::delivery::Delivery;
use crate::check::sources::Sources;
use crate::check::subject::ClusterKey;
use crate::diagnostic::Place;
use crate::repo::command::{Action, turns};

/// A CronJob that suspends or resumes Flux Kustomizations.
#[derive(Clone, Debug)]
pub struct GateJob {
    /// The cluster that runs it.
    pub cluster: ClusterKey,
    /// The delivery that carries it, as a position.
    pub delivery: usize,
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// Whether it opens or closes.
    pub action: Action,
    /// What it resumes or suspends, as (namespace, name).
    pub targets: BTreeSet<(String, String)>,
    /// Whether the CronJob itself is suspended, so that it never runs.
    pub suspended: bool,
    /// The job as the cluster gets it.
    pub value: Value,
    /// The place of its containers.
    pub place: Place,
}

impl GateJob {
    /// Gives the spec of its pods.
    pub fn pod(&self) -> &Value {
        &self.value["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    }

    /// Gives its containers.
    pub fn containers(&self) -> impl Iterator<Item = &Value> {
        self.pod()["containers"].as_array().into_iter().flatten()
    }

    /// Gives all words of a container's command line, joined by spaces.
    pub fn line(container: &Value) -> String {
        let words = |key: &str| {
            let list = container[key].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        [words("command"), words("args")].concat().join(" ")
    }

    /// Tells what the job does, as a verb.
    pub fn verb(&self) -> &'static str {
        match self.action {
            Action::Open => "resumes",
            Action::Close => "suspends",
        }
    }
}

/// Finds the jobs in what the clusters get. One whose commands go both ways is none.
pub fn gate_jobs(deliveries: &[Delivery], sources: &Sources<'_>) -> Vec<GateJob> {
    let mut jobs = Vec::new();
    for (position, delivery) in deliveries.iter().enumerate() {
        for applied in delivery.objects.iter().filter(|applied| applied.is("batch", "CronJob")) {
            let pod = &applied.value()["spec"]["jobTemplate"]["spec"]["template"]["spec"];
            let found = turns(pod);
            let Some(action) = found.first().map(|turn| turn.action) else { continue };
            if found.iter().any(|turn| turn.action != action) {
                continue;
            }
            jobs.push(GateJob {
                cluster: delivery.cluster.clone(),
                delivery: position,
                namespace: applied.id.namespace.clone(),
                name: applied.id.name.clone(),
                action,
                targets: found.into_iter().map(|turn| (turn.namespace, turn.name)).collect(),
                suspended: applied.value()["spec"]["suspend"] == true,
                place: sources
                    .place(applied, &["spec", "jobTemplate", "spec", "template", "spec", "containers"]),
                value: applied.value().clone(),
            });
        }
    }
    jobs
}
