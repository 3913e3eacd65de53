//! What waits for a kind that comes later than an object of it.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::check::{DEFINITIONS, serves};
use crate::delivery::{Applier, Change, Comparison, Need, Pair, Reached};
use crate::pr::arrival::{DEEPEST, after, retry_of};
use crate::pr::clock::Clock;
use crate::pr::landing::Landing;
use crate::pr::tree::applier_of;
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
        Kinds(Behind::new(clock, comparison, found).all())
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

/// Returns whether two pairs are applied to one cluster.
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

/// The cluster of a Flux Kustomization, with what tells it from the others there.
type Id<'c> = (&'c str, (&'c str, &'c str, &'c str));

/// Flux Kustomizations that fail without a kind, with those behind them.
struct Behind<'b> {
    clock: &'b Clock<'b>,
    comparison: &'b Comparison<'b>,
    failing: BTreeMap<usize, (u8, Landing)>,
    by_id: BTreeMap<Id<'b>, Vec<usize>>,
    /// What is known already, with why it is behind; `None` also of what is on the way.
    known: BTreeMap<usize, Option<(u8, Landing, Option<String>)>>,
}

impl<'b> Behind<'b> {
    fn new(
        clock: &'b Clock<'b>,
        comparison: &'b Comparison<'b>,
        failing: BTreeMap<usize, (u8, Landing)>,
    ) -> Behind<'b> {
        let mut by_id: BTreeMap<Id<'b>, Vec<usize>> = BTreeMap::new();
        for (position, pair) in comparison.pairs.iter().enumerate().filter(|_| !failing.is_empty()) {
            if let Some(one) = &pair.after {
                by_id.entry((one.cluster, one.key())).or_default().push(position);
            }
        }
        Behind { clock, comparison, failing, by_id, known: BTreeMap::new() }
    }

    /// Returns all of them, as [`Kinds`] has them.
    fn all(mut self) -> BTreeMap<usize, (u8, Landing)> {
        if !self.failing.is_empty() {
            (0..self.comparison.pairs.len()).for_each(|pair| _ = self.of(pair, DEEPEST));
        }
        let told = |(stage, lands, why): (u8, Landing, Option<String>)| match why {
            Some(why) => (stage, lands.besides(&why)),
            None => (stage, lands),
        };
        self.known.into_iter().filter_map(|(pair, found)| Some((pair, told(found?)))).collect()
    }

    fn of(&mut self, pair: usize, left: usize) -> Option<(u8, Landing, Option<String>)> {
        if let Some(known) = self.known.get(&pair) {
            return known.clone();
        }
        self.known.insert(pair, None);
        let mut found = self.failing.get(&pair).cloned().map(|(stage, lands)| (stage, lands, None));
        for (other, lag, why) in self.needed(pair) {
            let before = left.checked_sub(1).and_then(|left| self.of(other, left));
            let Some((_, lands, _)) = before else { continue };
            let lands = self.then(pair, lands, lag);
            // It has come to nothing of its own before.
            found = Some(match found {
                Some((_, own, first)) => (0, own.and(lands), first.or(Some(why))),
                None => (0, lands, Some(why)),
            });
        }
        self.known.insert(pair, found.clone());
        found
    }

    /// Returns the pairs of what a Flux Kustomization waits for, each with how long it takes from then on and why it counts:
    /// what it depends on, and what brings a new one.
    fn needed(&self, pair: usize) -> Vec<(usize, Option<Duration>, String)> {
        let tree = &self.clock.after;
        let own = self.comparison.pairs.get(pair).and_then(|pair| pair.after.as_ref());
        let own = own.and_then(|own| Some((own, own.kustomization?, tree.cluster(own.cluster)?)));
        let Some((applier, one, cluster)) = own else { return Vec::new() };
        let mut found = Vec::new();
        let mut add = |other: &Applier<'_>, lag: Option<Duration>, why: String| {
            let pairs = self.by_id.get(&(other.cluster, other.key())).into_iter().flatten();
            found.extend(pairs.filter(|other| **other != pair).map(|other| (*other, lag, why.clone())));
        };
        for needed in cluster.dependencies(one) {
            let Some(other) = needed.other.and_then(|other| applier_of(cluster, other)) else { continue };
            let waits = match needed.need {
                Need::Revision => true,
                Need::Ready => tree.is_new(&other),
                Need::Expression => false,
            };
            if waits {
                add(&other, needed.lag(), format!("it depends on {}", needed.name));
            }
        }
        if let Some(parent) = tree.above(applier).filter(|_| tree.is_new(applier)) {
            let by = parent.kustomization.map(Reached::name).unwrap_or_default();
            add(&parent, Some(Duration::ZERO), format!("{by} brings {}", one.name()));
        }
        found
    }

    /// Returns when a Flux Kustomization lands that can only begin so long after another landing.
    fn then(&self, pair: usize, lands: Landing, lag: Option<Duration>) -> Landing {
        let own = self.comparison.pairs.get(pair).and_then(|pair| pair.after.as_ref());
        let late = own.and_then(|own| self.clock.after.cluster(own.cluster)?.applied_after(own.spec()));
        let within = lag.zip(late).map(|(lag, late)| lag.saturating_add(late));
        Landing { latest: lands.latest.zip(within).and_then(|(at, by)| after(at, by)), ..lands }
    }
}
