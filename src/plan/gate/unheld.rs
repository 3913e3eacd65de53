//! What stays open although somebody closes everything: no gate suspends it, so no table stops it.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Input, Model};
use crate::diagnostic::{Diagnostic, Place};
use crate::mechanism::{ClusterGate, GateTarget, Unheld, WhyUnheld, shown};
use crate::plan::gate::gates_apart;

/// What no gate of a cluster suspends for one reason, in one namespace.
type Group<'g> = BTreeSet<&'g GateTarget>;

/// Returns by cluster what no gate suspends although objects of it have one of some types; none of a cluster of which that
/// can't be known.
pub(super) fn unheld(input: &Input<'_>, types: &BTreeSet<usize>) -> BTreeMap<String, BTreeSet<GateTarget>> {
    let Ok(Some((gates, _))) = gates_apart(input) else { return BTreeMap::new() };
    let of = |gate: &ClusterGate| {
        let all = open(input.model, gate, types).map(|(target, _)| target.clone());
        (gate.cluster.clone(), all.collect())
    };
    gates.clusters.iter().map(of).filter(|(_, all): &(_, BTreeSet<_>)| !all.is_empty()).collect()
}

/// Says of a cluster what stays open of some types, and what closes it; nothing where a gate closes all.
pub(super) fn remarks(
    input: &Input<'_>,
    model: &Model,
    gate: &ClusterGate,
    types: &BTreeSet<usize>,
) -> Vec<Diagnostic> {
    let mut groups: BTreeMap<(&str, &str, &str), Group<'_>> = BTreeMap::new();
    for (target, unheld) in open(model, gate, types) {
        let (why, lasting) = match unheld.why {
            WhyUnheld::NeededBy(_) => (
                "no gate suspends what something earlier depends on",
                "then what depends on it waits too; `gitops-windows sync --dry-run` says how a gate can hold it",
            ),
            WhyUnheld::Unsplit => (
                "no gate suspends what is not split",
                "`gitops-windows split` and `migrate` bring what has a window under a gate",
            ),
            WhyUnheld::Unreachable => {
                ("no gate suspends it", "`gitops-windows sync --dry-run` says why, and what to change")
            }
        };
        groups.entry((why, lasting, &target.namespace)).or_default().insert(target);
    }
    let told = |((why, lasting, namespace), group): ((&str, &str, &str), Group<'_>)| {
        let names = shown(group.iter().copied(), input.spec);
        let (plural, stay) = if group.len() > 1 { ("s", "stay") } else { ("", "stays") };
        let text =
            format!("Flux Kustomization{plural} {names} of cluster {} {stay} open: {why}", gate.cluster);
        let all: Vec<&str> = group.iter().map(|target| target.name.as_str()).collect();
        let once = format!(
            "`flux suspend kustomization {} --namespace {namespace}` closes at once, until people resume it",
            all.join(" ")
        );
        let place = Place::file(input.spec.path.clone());
        Diagnostic::warning(text).at(place).help(format!("{once}\n{lasting}"))
    };
    groups.into_iter().map(told).collect()
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
