//! What stays open although somebody closes everything: no gate suspends it, so no table stops it.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Input, Model, resumes};
use crate::diagnostic::{Diagnostic, Place};
use crate::mechanism::{ClusterGate, GateTarget, Unheld, WhyUnheld, shell_line, shown};
use crate::plan::gate::gates_apart;

/// What no gate of a cluster suspends for one reason, in one namespace.
type Group<'g> = BTreeSet<&'g GateTarget>;

/// Returns by cluster what no gate suspends although objects of it have one of some types, and a person can suspend; none of a
/// cluster of which that can't be known.
pub(super) fn unheld(input: &Input<'_>, types: &BTreeSet<usize>) -> BTreeMap<String, BTreeSet<GateTarget>> {
    let Ok(Some((gates, _))) = gates_apart(input) else { return BTreeMap::new() };
    let of = |gate: &ClusterGate| {
        let all = open(input.model, gate, types);
        let all = all
            .filter(|(target, unheld)| by_hand(input, input.model, gate, target, unheld) == ByHand::Suspend);
        (gate.cluster.clone(), all.map(|(target, _)| target.clone()).collect())
    };
    gates.clusters.iter().map(of).filter(|(_, all): &(_, BTreeSet<_>)| !all.is_empty()).collect()
}

/// Returns by cluster what no gate suspends although objects of it have a window, or may have one.
pub fn unsuspended(input: &Input<'_>) -> BTreeMap<String, BTreeSet<GateTarget>> {
    let Ok(Some((gates, _))) = gates_apart(input) else { return BTreeMap::new() };
    let types = input.spec.gated_positions().collect();
    let of = |gate: &ClusterGate| {
        let all = open(input.model, gate, &types).map(|(target, _)| target.clone());
        (gate.cluster.clone(), all.collect())
    };
    gates.clusters.iter().map(of).collect()
}

/// Says of a cluster what stays open of some types, and what closes it; nothing where a gate closes all.
pub(super) fn remarks(
    input: &Input<'_>,
    model: &Model,
    gate: &ClusterGate,
    types: &BTreeSet<usize>,
) -> Vec<Diagnostic> {
    let mut groups: BTreeMap<(&str, &str, ByHand, &str), Group<'_>> = BTreeMap::new();
    for (target, unheld) in open(model, gate, types) {
        let (why, lasting) = match unheld.why {
            WhyUnheld::NeededBy(_) => (
                "needed by something earlier",
                "then what depends on it waits too; `gitops-windows sync --dry-run` says how a gate can hold it",
            ),
            WhyUnheld::Unsplit => {
                ("not split yet", "`gitops-windows split` and `migrate` bring what has a window under a gate")
            }
            WhyUnheld::NotHandedOver => (
                "split, but not handed over yet",
                "`gitops-windows migrate` brings what has a window under a gate",
            ),
            WhyUnheld::Unreachable => {
                ("no gate suspends it", "`gitops-windows sync --dry-run` says why, and what to change")
            }
        };
        let by_hand = by_hand(input, model, gate, target, unheld);
        groups.entry((why, lasting, by_hand, &target.namespace)).or_default().insert(target);
    }
    let told = |((why, lasting, by_hand, namespace), group): ((&str, &str, ByHand, &str), Group<'_>)| {
        let names = shown(group.iter().copied(), input.spec);
        let (plural, stay) = if group.len() > 1 { ("s", "stay") } else { ("", "stays") };
        let text =
            format!("Flux Kustomization{plural} {names} of cluster {} {stay} open: {why}", gate.cluster);
        let once = match by_hand {
            ByHand::Suspend => {
                let command = suspending(group.iter().map(|target| target.name.as_str()), namespace);
                format!("`{command}` closes at once, until people resume it")
            }
            ByHand::Resumed => "remove `suspend: false` from Git: it resumes what people suspend".to_owned(),
            ByHand::Unnamed => {
                "find its name by `flux get kustomizations --all-namespaces`, and suspend that".to_owned()
            }
        };
        let place = Place::file(input.spec.path.clone());
        Diagnostic::warning(text).at(place).help(format!("{once}\n{lasting}"))
    };
    groups.into_iter().map(told).collect()
}

/// Returns the command by which people suspend Flux Kustomizations of a namespace.
pub(super) fn suspending<'n>(names: impl Iterator<Item = &'n str>, namespace: &'n str) -> String {
    let words = ["flux", "suspend", "kustomization"].into_iter().chain(names);
    shell_line(&words.chain(["--namespace", namespace]).map(str::to_owned).collect::<Vec<_>>())
}

/// What people can do at once about what no gate suspends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ByHand {
    /// Suspend it.
    Suspend,
    /// Nothing that lasts: Git resumes it.
    Resumed,
    /// Only the cluster knows what it is called.
    Unnamed,
}

fn by_hand(
    input: &Input<'_>,
    model: &Model,
    gate: &ClusterGate,
    target: &GateTarget,
    unheld: &Unheld,
) -> ByHand {
    let all = model.delivered.named(&gate.cluster).into_iter().flat_map(|own| &own.kustomizations);
    let namespace = |own: &str| input.spec.flux.namespace_of(own) == target.namespace;
    let mut own = all.filter(|one| one.name() == target.name && namespace(one.namespace()));
    match unheld.why {
        WhyUnheld::Unreachable => ByHand::Unnamed,
        _ if own.any(|one| resumes(model, &gate.cluster, one)) => ByHand::Resumed,
        _ => ByHand::Suspend,
    }
}

/// Returns what no gate suspends of some types, and no other job either.
fn open<'g>(
    model: &'g Model,
    gate: &'g ClusterGate,
    types: &'g BTreeSet<usize>,
) -> impl Iterator<Item = (&'g GateTarget, &'g Unheld)> {
    let is_open = |(target, unheld): &(&GateTarget, &Unheld)| {
        !unheld.types.is_disjoint(types) && model.closings.running(&gate.cluster, target).is_none()
    };
    gate.unheld.iter().filter(is_open)
}
