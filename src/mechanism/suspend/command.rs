//! The commands that suspend and resume.

use std::collections::BTreeSet;

use crate::mechanism::cron_job::{in_shell, shell_line};
use crate::mechanism::suspend::admission::{CLOSED, OPEN, Parameter};
use crate::mechanism::suspend::look;
use crate::mechanism::{Action, GateTarget, Job, Standing, command_line};
use crate::spec::{Runner, Spec};

/// Returns the command of a job.
///
/// `kubectl patch` fails loudly when an object is missing or forbidden. The field manager is
/// `flux`, since kustomize-controller takes back what plain `kubectl` managers set. `flux suspend`
/// exits 0 even when it failed, so its script asks afterwards.
pub fn command(spec: &Spec, job: &Job, targets: &BTreeSet<GateTarget>) -> Vec<String> {
    let action = job.action;
    if let Some(table) = &spec.gate.table {
        let parameter = Parameter::of(spec, &spec.types[job.change_type].name);
        return look::command(action, targets, parameter.as_ref(), table.every);
    }
    command_line(targets, &spec.flux.namespace, |namespace, names| {
        in_one_namespace(spec.gate.runner, action, namespace, names)
    })
}

/// Returns the command by which people resume some targets, which policies must be told of first.
pub fn resume(standing: &Standing, targets: &BTreeSet<GateTarget>) -> Vec<String> {
    let resume = command_line(targets, "", |namespace, names| {
        in_one_namespace(Runner::Kubectl, Action::Open, namespace, names)
    });
    let beside: BTreeSet<&Parameter> = standing.beside.difference(&standing.parameters).collect();
    if standing.parameters.is_empty() && beside.is_empty() {
        return resume;
    }
    let all = standing.parameters.iter().chain(beside.iter().copied());
    let open = all.map(|parameter| shell_line(&parameter.set(OPEN)));
    // The API server may hear of it a moment later.
    let waits = ["sleep 2".to_owned(), shell_line(&resume)];
    let script = open.chain(waits).collect::<Vec<_>>().join(" && ");
    if beside.is_empty() {
        return in_shell(script);
    }
    let ask: String = beside
        .iter()
        .enumerate()
        .map(|(position, parameter)| format!("was{position}=$({}) || exit 1; ", shell_line(&parameter.get())))
        .collect();
    let back: String = beside
        .iter()
        .enumerate()
        .map(|(position, parameter)| {
            let set = shell_line(&parameter.set(CLOSED));
            format!(r#"[ "$was{position}" = {OPEN} ] || {set} || code=1; "#)
        })
        .collect();
    // What is open of another type is as it was again, whatever becomes of the rest.
    in_shell(format!(
        r#"{ask}back() {{ code=$?; {back}exit "$code"; }}; trap back EXIT; trap "exit 1" HUP INT TERM; {script}"#
    ))
}

/// Returns the command by which people close at once.
pub fn stop(standing: &Standing, reason: &str) -> Vec<String> {
    command_line(&standing.targets, "", |namespace, names| match (standing.has_table, standing.obeys_stop) {
        (true, true) => look::stop(namespace, names, reason),
        (true, false) => look::suspend(namespace, names),
        (false, _) => in_one_namespace(Runner::Kubectl, Action::Close, namespace, names),
    })
}

/// Returns the command by which people end a stop; none for a pair of jobs, whose next opening ends it: resumed by hand,
/// what waits would land, in a window or not.
pub fn go_on(standing: &Standing) -> Vec<String> {
    if !standing.has_table {
        return Vec::new();
    }
    let go_on = if standing.obeys_stop { look::go_on } else { look::hand_back };
    command_line(&standing.targets, "", go_on)
}

fn in_one_namespace(runner: Runner, action: Action, namespace: &str, names: &BTreeSet<&str>) -> Vec<String> {
    let names = names.iter().map(|name| (*name).to_owned());
    let suspend = action == Action::Close;
    match runner {
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
