//! What a step leaves behind in a cluster: what leaves Git and stays there, and gates that nobody closes for a while, or that
//! close at once.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::inventory::Inventory;
use crate::delivery::{Input, Model};
use crate::diagnostic::Diagnostic;
use crate::mechanism::GateTarget;
use crate::plan::migrate::depends::Succession;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::note::Note;
use crate::plan::{Command, Stage};
use crate::repo::FluxKustomization;
use crate::text::some;

/// The most names that a message has.
const MOST_NAMES: usize = 6;

/// Tells of old Flux Kustomizations that leave Git and stay in the cluster, since what applies them prunes
/// nothing: there they would go on applying what no window holds back.
///
/// `inventories` hold what is there before the hand-over.
pub fn left_behind(input: &Input<'_>, one: &Move<'_>, inventories: &[Inventory]) -> Vec<Diagnostic> {
    if one.stage != Stage::Restructured || one.leaves_rest() {
        return Vec::new();
    }
    let keeps = |parent: &&FluxKustomization| {
        let cluster = parent.cluster.clone();
        Inventory::find(inventories, &cluster, parent).is_some_and(|inventory| !inventory.prune)
    };
    let left = |old: &&FluxKustomization| {
        let parents = input.parents(old);
        let keeper = parents.iter().copied().find(keeps).filter(|_| parents.iter().all(keeps))?;
        let (name, cluster) = (&old.name, &one.cluster);
        let namespace = input.namespace(old);
        Some(
            Diagnostic::warning(format!(
                "Flux Kustomization {name} leaves Git and stays in {cluster}: its parent {} does not prune. {name} goes on applying everything, also while the window is closed",
                keeper.name
            ))
            .at(keeper.place("prune"))
            .help(format!(
                "once its successors are ready: `{}`",
                Command::let_go(name, namespace, cluster, input.model.takes_policies(cluster)).shell()
            )),
        )
    };
    one.old.iter().copied().filter_map(|old| left(&old)).collect()
}

/// Tells of successors that no gate suspends before the last step, though one suspends what they replace: what waits lands
/// with the hand-over. Also returns the clusters in which it does.
///
/// `next` is the model after the step.
pub fn let_in(
    input: &Input<'_>,
    next: &Model,
    succession: &Succession,
) -> (Vec<Diagnostic>, BTreeSet<String>) {
    let mut open: BTreeMap<&str, (BTreeSet<String>, Option<&FluxKustomization>)> = BTreeMap::new();
    for ((cluster, namespace, name), (_, heirs)) in &succession.heirs {
        let target = |name: &str| GateTarget { namespace: namespace.clone(), name: name.to_owned() };
        if input.model.closings.running(cluster, &target(name)).is_none() {
            continue;
        }
        let gated = heirs.iter().filter(|(position, _)| !input.spec.types[*position].is_real_time());
        let is_open = |heir: &GateTarget| next.closings.running(cluster, heir).is_none();
        let names = gated.map(|(_, heir)| target(heir)).filter(is_open);
        let names: Vec<String> = names.map(|heir| heir.shown(input.spec)).collect();
        if !names.is_empty() {
            let (known, first) = open.entry(cluster).or_default();
            known.extend(names);
            *first = first.or_else(|| input.flux_called(cluster, namespace, name));
        }
    }
    let mut alike: BTreeMap<BTreeSet<String>, (Vec<&str>, Option<&FluxKustomization>)> = BTreeMap::new();
    for (cluster, (names, first)) in &open {
        let (clusters, place) = alike.entry(names.clone()).or_default();
        clusters.push(cluster);
        *place = place.or(*first);
    }
    let tell = |(names, (clusters, first)): (BTreeSet<String>, (Vec<&str>, Option<&FluxKustomization>))| {
        let names = some(&names.iter().collect::<Vec<_>>(), MOST_NAMES);
        let them = if clusters.len() == 1 { "cluster" } else { "clusters" };
        let text = format!(
            "before the last step, no gate suspends {names} of {them} {}. All that waits for the window lands with this step",
            some(&clusters, MOST_NAMES)
        );
        let told = Diagnostic::warning(text).help("let this reach the cluster while the window is open");
        first.map_or(told.clone(), |flux| told.at(flux.place("path")))
    };
    let told = alike.into_iter().map(tell).collect();
    (told, open.into_keys().map(str::to_owned).collect())
}

/// Tells of successors that a gate suspends from the hand-over on, and not what they replace: where the old one never prunes,
/// no last step follows that would tell.
///
/// `next` is the model after the step.
pub fn held_at_once(input: &Input<'_>, next: &Model, succession: &Succession) -> Vec<Note> {
    let mut found = Vec::new();
    for ((cluster, namespace, name), (_, heirs)) in &succession.heirs {
        let target = |name: &str| GateTarget { namespace: namespace.clone(), name: name.to_owned() };
        if input.model.closings.running(cluster, &target(name)).is_some() {
            continue;
        }
        let held = heirs.iter().map(|(_, heir)| target(heir));
        let held = held.filter(|heir| next.closings.running(cluster, heir).is_some());
        found.extend(held.map(|heir| Note::Change {
            clusters: vec![cluster.clone()],
            subject: format!("Flux Kustomization {}", heir.shown(input.spec)),
            fact: "waits for its window from this step on".to_owned(),
            why: Some(format!("{name} never prunes, so no further step is left to switch the gate on")),
            is_usual: false,
        }));
    }
    found
}
