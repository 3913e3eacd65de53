//! The CronJobs that open and close, as the clusters get them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::delivery::{Applied, ClusterKey, Delivery, Sources, names};
use crate::diagnostic::Place;
use crate::mechanism::{self, Action, Reading, Unclear, pod_of, read};
use crate::yaml::Node;

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
    /// The place of the command that does it.
    pub place: Place,
    /// What its commands do.
    pub reading: Reading,
}

/// A CronJob with a command that suspends or resumes Flux Kustomizations which its words do not tell.
#[derive(Clone, Debug)]
pub struct UnclearJob {
    /// The cluster that runs it.
    pub cluster: ClusterKey,
    /// `metadata.name`.
    pub name: String,
    /// What is not understood.
    pub unclear: Unclear,
    /// The place of the command.
    pub place: Place,
}

impl GateJob {
    /// Returns the spec of its pods.
    pub fn pod(&self) -> &Value {
        pod_of(&self.value)
    }

    /// Returns whether it turns a Flux Kustomization, by its name or with all others; an empty namespace is any.
    pub fn turns(&self, namespace: &str, name: &str) -> bool {
        self.targets.iter().any(|(space, of)| names((space, of), (namespace, name)))
    }

    /// Returns its containers.
    pub fn containers(&self) -> impl Iterator<Item = &Value> {
        self.pod()["containers"].as_array().into_iter().flatten()
    }

    /// Returns all words of a container's command line, joined by spaces.
    pub fn line(container: &Value) -> String {
        let words = |key: &str| {
            let list = container[key].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        [words("command"), words("args")].concat().join(" ")
    }
}

/// Finds the jobs in what the clusters get. One whose commands go both ways is none.
///
/// What a job does that is not understood stands in the second list.
pub fn gate_jobs(deliveries: &[Delivery], sources: &Sources<'_>) -> (Vec<GateJob>, Vec<UnclearJob>) {
    let mut jobs = Vec::new();
    let mut unclear = Vec::new();
    for (position, delivery) in deliveries.iter().enumerate() {
        for applied in delivery.objects.iter().filter(|applied| applied.is("batch", "CronJob")) {
            let reading = read(applied.value(), None);
            let Some(container) = reading.container else { continue };
            let place = command_place(applied, sources, container);
            unclear.extend(reading.unclear.iter().map(|unclear| UnclearJob {
                cluster: delivery.cluster.clone(),
                name: applied.id.name.clone(),
                unclear: unclear.clone(),
                place: place.clone(),
            }));
            let Some(action) = reading.action() else { continue };
            jobs.push(GateJob {
                cluster: delivery.cluster.clone(),
                delivery: position,
                namespace: applied.id.namespace.clone(),
                name: applied.id.name.clone(),
                action,
                targets: reading
                    .turns
                    .iter()
                    .map(|turn| (turn.namespace.clone(), turn.name.clone()))
                    .collect(),
                suspended: mechanism::is_off(applied.value()),
                place,
                value: applied.value().clone(),
                reading,
            });
        }
    }
    (jobs, unclear)
}

const CONTAINERS: [&str; 6] = ["spec", "jobTemplate", "spec", "template", "spec", "containers"];

/// Points at the words that suspend or resume: the script in a list of words, else the list.
fn command_place(applied: &Applied, sources: &Sources<'_>, container: usize) -> Place {
    let find = |object: &Node| {
        let found = object.get_path(&CONTAINERS)?.items().get(container)?.clone();
        let of = |key: &str| found.get(key).map(|list| (list.clone(), list.items().to_vec()));
        let lists: Vec<(Node, Vec<Node>)> = ["args", "command"].into_iter().filter_map(of).collect();
        let tells = |word: &&Node| {
            let text = word.as_str().unwrap_or_default();
            text.contains(char::is_whitespace)
                && ["suspend", "resume"].iter().any(|verb| text.contains(verb))
                && !text.trim_start().starts_with(['{', '['])
                && !text.starts_with("--")
        };
        let script = lists.iter().flat_map(|(_, words)| words).find(|word| tells(word)).cloned();
        script.or_else(|| lists.last().map(|(list, _)| list.clone())).or(Some(found))
    };
    sources.place_of(applied, find).unwrap_or_else(|| sources.place(applied, &CONTAINERS))
}
