//! What waits for a kind that comes later than an object of it.

use std::collections::BTreeMap;

use crate::check::{DEFINITIONS, serves};
use crate::delivery::{Applier, Change, Comparison, Pair, Reached};
use crate::pr::arrival::{after, retry_of};
use crate::pr::clock::Clock;
use crate::pr::landing::Landing;
use crate::repo::manifest::ObjectId;

/// By position of a pair, the first stage of which nothing is applied until the cluster has a kind, and when it lands then.
pub(super) struct Kinds(BTreeMap<usize, (u8, Landing)>);

/// A new version of a kind: its CustomResourceDefinition, by the position of its pair.
struct Defined<'c> {
    pair: usize,
    change: &'c Change,
}

impl Kinds {
    /// Finds the Flux Kustomizations that fail as they hold an object of which another one brings the kind later.
    ///
    /// `landings` says when each pair lands.
    pub(super) fn of(clock: &Clock<'_>, comparison: &Comparison<'_>, landings: &[Landing]) -> Kinds {
        let definitions: Vec<Defined<'_>> = comparison.changes.iter().filter_map(defined).collect();
        let mut found: BTreeMap<usize, (u8, Landing)> = BTreeMap::new();
        for change in comparison.changes.iter().filter(|_| !definitions.is_empty()) {
            let Some((pair, object)) = &change.after else { continue };
            let kind = |value: &serde_json::Value| [value["apiVersion"].clone(), value["kind"].clone()];
            // What the cluster has of a kind tells that it has the kind.
            if change.before.as_ref().is_some_and(|(_, old)| kind(&old.value) == kind(&object.value)) {
                continue;
            }
            let is_it = |defined: &&Defined<'_>| {
                let definition = defined.change.after.as_ref().map(|(_, definition)| &definition.value);
                is_one_place(comparison, *pair, defined.pair)
                    && definition.is_some_and(|definition| serves(definition, &object.value))
            };
            let defined = definitions.iter().find(is_it).filter(|defined| defined.pair != *pair);
            let Some((defined, (own, later))) = defined
                .and_then(|defined| Some((defined, landings.get(*pair).zip(landings.get(defined.pair))?)))
            else {
                continue;
            };
            let is_later = own.earliest.is_some_and(|own| later.earliest.is_none_or(|other| other > own));
            let Some(one) = comparison.pairs.get(*pair).filter(|_| is_later) else { continue };
            let (stage, lands) = (stage(&change.live), again(clock, one, &defined.change.live, later));
            let entry = match found.remove(pair) {
                Some((first, other)) => (first.min(stage), other.and(lands)),
                None => (stage, lands),
            };
            found.insert(*pair, entry);
        }
        Kinds(found)
    }

    /// Returns when a change lands, of which the pair would land at one time.
    pub(super) fn lands(&self, change: &Change, lands: Landing) -> Landing {
        // What goes is pruned once all is applied.
        let waits = |first: u8| change.after.is_none() || stage(&change.live) >= first;
        match self.0.get(&change.pair()).filter(|(first, _)| waits(*first)) {
            Some((_, later)) => lands.and(later.clone()),
            None => lands,
        }
    }
}

/// Returns a CustomResourceDefinition that serves more than before.
fn defined(change: &Change) -> Option<Defined<'_>> {
    let is_it = change.live.kind == "CustomResourceDefinition" && change.live.group == DEFINITIONS;
    let (pair, new) = change.after.as_ref().filter(|_| is_it)?;
    let versions = |object: &crate::render::Object| object.value["spec"]["versions"].clone();
    let is_same = change.before.as_ref().is_some_and(|(_, old)| versions(old) == versions(new));
    (!is_same).then_some(Defined { pair: *pair, change })
}

/// Tells whether two pairs are applied to one cluster.
fn is_one_place(comparison: &Comparison<'_>, one: usize, other: usize) -> bool {
    let place = |pair: usize| {
        let pair: &Pair<'_> = comparison.pairs.get(pair)?;
        Some((pair.cluster.as_str(), pair.latest().map(Applier::target)))
    };
    place(one) == place(other)
}

/// Returns when a Flux Kustomization applies what it has once a kind is there: it fails until then, and tries again.
fn again(clock: &Clock<'_>, pair: &Pair<'_>, definition: &ObjectId, lands: &Landing) -> Landing {
    let own = pair.after.as_ref();
    let name = own.and_then(|own| own.kustomization).map_or("its folder", Reached::name);
    let spec = own.map(Applier::spec);
    let tries = spec.and_then(|spec| {
        let late = clock.after.cluster(&pair.cluster)?.applied_after(spec)?;
        Some(retry_of(spec)?.saturating_add(late))
    });
    let latest = lands.latest.zip(tries).and_then(|(at, by)| after(at, by));
    let why = format!("{name} applies nothing until {} {} lands", definition.kind, definition.name);
    Landing { latest, outruns: false, ..lands.clone() }.besides(&why)
}

/// Returns the stage in which an object is applied: all of one are tried before any of it is applied, and before the next
/// begins (fluxcd/pkg/ssa, `ApplyAllStaged`).
fn stage(id: &ObjectId) -> u8 {
    match id.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" | "ClusterRole" => 0,
        kind if kind.ends_with("Class") => 1,
        _ => 2,
    }
}
