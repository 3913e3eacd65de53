//! The commands that open and close a type in a cluster at once, for when Git is too slow or down.

use std::collections::BTreeSet;

use crate::delivery::Input;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{self, ClusterGate, GateTarget};
use crate::plan::Command;
use crate::plan::gate::gates;
use crate::spec::Spec;

/// Returns the command that lets in what waits for a type in a cluster, and all held Flux Kustomizations that this
/// depends on: one of them that stays suspended keeps it from the new commit
/// (kustomize-controller, `checkDependencies`: "revision is not up to date").
///
/// # Errors
///
/// When the spec has no such cluster, its gate holds nothing of the type back, or the gates can't be worked out.
pub fn open_now(input: &Input<'_>, cluster: &str, type_name: &str) -> Result<Command, Error> {
    let spec = input.spec;
    let (gate, position) = holding(input, cluster, type_name)?;
    let targets = with_dependencies(input, &gate, position);
    let words = mechanism::of(spec.gate.mechanism).open_now(spec, &gate, position, &targets);
    let purpose = format!("let in at once what waits for type {type_name}: {}", until(spec));
    Ok(Command { cluster: cluster.to_owned(), purpose, words })
}

/// Returns the command that closes a type in a cluster at once without Git, and the one that ends that, where it does not
/// end by itself.
///
/// # Errors
///
/// As [`open_now`]; also when the mechanism has none.
pub fn stop_now(
    input: &Input<'_>,
    cluster: &str,
    type_name: &str,
    reason: &str,
) -> Result<Vec<Command>, Error> {
    let spec = input.spec;
    let (gate, position) = holding(input, cluster, type_name)?;
    let mechanism = mechanism::of(spec.gate.mechanism);
    let command =
        |purpose: String, words: Vec<String>| Command { cluster: cluster.to_owned(), purpose, words };
    let purpose = format!("close type {type_name} at once: {}", mechanism.stopped_until(spec));
    let stop = command(purpose, mechanism.stop_now(spec, &gate, position, reason));
    if stop.words.is_empty() {
        let message = "this mechanism has no command that closes at once";
        let help = "`gitops-windows stop` adds a freeze to windows.yaml";
        return Err(Error::new(ErrorKind::Usage, Diagnostic::error(message).help(help)));
    }
    let go_on = command(format!("end that for type {type_name}"), mechanism.go_on(spec, &gate, position));
    Ok([stop, go_on].into_iter().filter(|command| !command.words.is_empty()).collect())
}

/// Returns the gate of a cluster and the position of a type that it holds back.
fn holding(input: &Input<'_>, cluster: &str, type_name: &str) -> Result<(ClusterGate, usize), Error> {
    let spec = input.spec;
    input.known_clusters(&[cluster.to_owned()])?;
    let position = spec.types.iter().position(|one| one.name.value == type_name);
    let gates = gates(input)?;
    let gate = gates.into_iter().flat_map(|gates| gates.clusters).find(|gate| gate.cluster == cluster);
    gate.zip(position).filter(|(gate, position)| gate.switched_on.contains(position)).ok_or_else(|| {
        let message = format!("the gate of cluster {cluster} holds nothing of type `{type_name}` back");
        let help = "`gitops-windows when` says what waits for which window, and why";
        let place = Place::file(spec.path.clone());
        Error::new(ErrorKind::Usage, Diagnostic::error(message).at(place).help(help))
    })
}

/// Says how long what a command lets in goes on.
fn until(spec: &Spec) -> &'static str {
    mechanism::of(spec.gate.mechanism).opened_until(spec)
}

/// Returns what a gate holds back of a type, with everything held in the cluster that this waits for.
fn with_dependencies(input: &Input<'_>, gate: &ClusterGate, position: usize) -> BTreeSet<GateTarget> {
    let held = gate.held();
    let mut found = gate.targets.get(&position).cloned().unwrap_or_default();
    let mut open: Vec<GateTarget> = found.iter().cloned().collect();
    while let Some(target) = open.pop() {
        let flux = input.flux_called(&gate.cluster, &target.namespace, &target.name);
        for (namespace, name) in flux.into_iter().flat_map(|flux| flux.waits_for()) {
            let namespace = input.spec.flux.namespace_of(namespace).to_owned();
            let next = GateTarget { namespace, name: name.to_owned() };
            if held.contains(&next) && found.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}
