//! The CronJob pair: commands, permissions and manifests.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::error::Error;
use crate::plan::gate::{ClusterGate, ClusterWindow, GateTarget, Slot};
use crate::plan::shell_line;
use crate::repo::command::Action;
use crate::spec::{Runner, Spec};
use crate::template::Templates;

/// The name of the container, by which a cluster's patch finds it.
const CONTAINER: &str = "gate";

/// Gives the command of a job.
///
/// `kubectl patch` fails loudly when an object is missing or forbidden. The field manager is
/// `flux`, since kustomize-controller takes back what plain `kubectl` managers set. `flux suspend`
/// exits 0 even when it failed, so its script asks afterwards.
///
/// One command acts in one namespace. Of several each is run, whatever becomes of the others, and the job
/// fails where one has failed.
pub fn command(spec: &Spec, action: Action, targets: &BTreeSet<GateTarget>) -> Vec<String> {
    let mut namespaces: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for target in targets {
        namespaces.entry(&target.namespace).or_default().insert(&target.name);
    }
    if namespaces.len() < 2 {
        let (namespace, names) = namespaces.pop_first().unwrap_or((&spec.flux.namespace, BTreeSet::new()));
        return in_one_namespace(spec, action, namespace, &names);
    }
    let mut script = "failed=0\n".to_owned();
    for (namespace, names) in &namespaces {
        let line = shell_line(&in_one_namespace(spec, action, namespace, names));
        script += &format!("{line} || failed=1\n");
    }
    script += "exit \"$failed\"";
    in_shell(script)
}

fn in_shell(script: String) -> Vec<String> {
    vec!["/bin/sh".to_owned(), "-c".to_owned(), script]
}

fn in_one_namespace(spec: &Spec, action: Action, namespace: &str, names: &BTreeSet<&str>) -> Vec<String> {
    let names = names.iter().map(|name| (*name).to_owned());
    let suspend = action == Action::Close;
    match spec.gate.runner {
        Runner::Kubectl => ["kubectl", "patch", "kustomizations.kustomize.toolkit.fluxcd.io"]
            .into_iter()
            .map(str::to_owned)
            .chain(names)
            .chain([
                format!("--namespace={namespace}"),
                "--type=merge".to_owned(),
                "--field-manager=flux".to_owned(),
                format!(r#"--patch={{"spec":{{"suspend":{suspend}}}}}"#),
            ])
            .collect(),
        Runner::Flux => {
            let names = names.collect::<Vec<_>>().join(" ");
            let verb = if suspend { "suspend" } else { "resume --wait=false" };
            let wanted = if suspend { "=" } else { "!=" };
            let script = format!(
                "set -eu\n\
                 flux {verb} kustomization {names} --namespace={namespace}\n\
                 for name in {names}; do\n  \
                 state=$(kubectl get kustomizations.kustomize.toolkit.fluxcd.io \"$name\" \
                 --namespace={namespace} --output=jsonpath={{.spec.suspend}})\n  \
                 [ \"$state\" {wanted} true ]\n\
                 done"
            );
            in_shell(script)
        }
    }
}

/// Gives the verbs that the commands need on the Flux Kustomizations.
pub fn verbs(spec: &Spec) -> Vec<&'static str> {
    match spec.gate.runner {
        Runner::Kubectl => vec!["get", "patch"],
        Runner::Flux => vec!["get", "list", "patch"],
    }
}

#[derive(Serialize)]
struct Job<'a> {
    job: &'a str,
    namespace: &'a str,
    service_account: &'a str,
    container: &'a str,
    image: &'a str,
    command: Vec<String>,
}

/// Writes the base of a job: suspended, with a schedule that only holds the place.
pub fn job(
    templates: &Templates,
    spec: &Spec,
    slot: &Slot,
    action: Action,
    targets: &BTreeSet<GateTarget>,
) -> Result<String, Error> {
    let job = match action {
        Action::Open => &slot.open_job,
        Action::Close => &slot.close_job,
    };
    templates.render(
        "job.yaml",
        Job {
            job,
            namespace: &spec.gate.namespace,
            service_account: &spec.gate.service_account,
            container: CONTAINER,
            image: &spec.gate.image,
            command: command(spec, action, targets),
        },
    )
}

#[derive(Serialize)]
struct Patch<'a> {
    job: &'a str,
    namespace: &'a str,
    container: &'a str,
    schedule: &'a str,
    time_zone: Option<&'a str>,
    suspend: bool,
    starting_deadline: Option<u32>,
    active_deadline: Option<u32>,
    command: Option<Vec<String>>,
}

/// Writes a cluster's patch of a job.
///
/// `targets` are given where the cluster's differ from the base's.
pub fn patch(
    templates: &Templates,
    spec: &Spec,
    gate: &ClusterGate,
    slot: &Slot,
    window: &ClusterWindow,
    action: Action,
    targets: Option<&BTreeSet<GateTarget>>,
) -> Result<String, Error> {
    let (job, schedule, deadline) = match action {
        Action::Open => (&slot.open_job, window.pair.open.as_str(), window.deadlines.open),
        Action::Close => (&slot.close_job, window.pair.close.as_str(), window.deadlines.close),
    };
    templates.render(
        "patch.yaml",
        Patch {
            job,
            namespace: &spec.gate.namespace,
            container: CONTAINER,
            schedule,
            time_zone: window.time_zone.as_deref(),
            suspend: !gate.switched_on.contains(&slot.change_type),
            starting_deadline: deadline.map(|deadline| deadline.starting),
            active_deadline: deadline.map(|deadline| deadline.active),
            command: targets.map(|targets| command(spec, action, targets)),
        },
    )
}
