//! Entry points that a Namespace alone does not divide.
//!
//! By the default rules a Namespace belongs to the first type, since everything needs it. Where nothing else
//! of an entry point does, a side for it would gain nothing: the entry point stays whole, and a gate holds
//! it back with its Namespace. A rule that says more than `kind: Namespace`, or an annotation, asks for it
//! all the same.
//!
//! A Namespace that waits must be one that nothing needs earlier: on a fresh cluster the API server refuses
//! what is in it, and a gated Flux Kustomization that waits for the refused one never comes to create it.
//! And what something earlier waits for can't be held back where a gate stops dependants, so only its sides can be.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::EntryPoint;
use crate::delivery::classify::{Classified, Reason};
use crate::delivery::{Input, Sides, Typed};
use crate::path::RepoPath;
use crate::plan::gate::landing::{Landing, Uses, is_namespace, waiting};
use crate::plan::gate::{self, Carriers};
use crate::render::Object;
use crate::repo::flux;

/// The entry points that stay whole, each with the position of the type of all but its Namespaces.
#[derive(Clone, Debug, Default)]
pub struct Lone {
    wholes: BTreeMap<RepoPath, usize>,
}

impl Lone {
    /// Finds them. Builds only what could be one, and the rest of its clusters where there is any.
    pub fn of(input: &Input<'_>, sides: &Sides) -> Lone {
        Lone::among(input, sides, |_| true)
    }

    /// As [`of`](Lone::of), and finds of others than the `wanted` only what decides about these: builds no more than that.
    pub fn among(input: &Input<'_>, sides: &Sides, wanted: impl Fn(&EntryPoint) -> bool) -> Lone {
        let carriers = gate::carriers(input).unwrap_or_default();
        let divided: BTreeSet<&RepoPath> = sides.divided(&input.model.graph).collect();
        let may_be = |entry: &&EntryPoint| {
            entry.through.is_none()
                && !divided.contains(&entry.path)
                && !carriers.contains_key(&entry.path)
                && !entry.clusters().any(|cluster| input.adds_objects(entry, cluster))
        };
        let entries: Vec<&EntryPoint> = input.wholes(sides).filter(may_be).collect();
        let own = || entries.iter().copied().filter(|entry| wanted(entry));
        let mut found = Lone::default();
        found.add(input, own());
        if !found.wholes.is_empty() {
            let first = own().filter(|entry| found.wholes.contains_key(&entry.path));
            let around = around(&entries, first);
            found.add(input, entries.iter().copied().filter(|entry| is_in(entry, &around)));
        }
        let clusters = entries.iter().filter(|entry| found.wholes.contains_key(&entry.path));
        let clusters: BTreeSet<&str> = clusters.flat_map(|entry| entry.clusters()).collect();
        for cluster in clusters {
            found.leave_needed(input, sides, cluster, &carriers);
        }
        found
    }

    /// Adds those that may stay whole.
    fn add<'e>(&mut self, input: &Input<'_>, entries: impl Iterator<Item = &'e EntryPoint>) {
        let entries: Vec<&EntryPoint> = entries.collect();
        input.prepare(entries.iter().map(|entry| &entry.path));
        for entry in entries {
            let typed = input.typed_entry(input.snapshot, entry);
            if let Some(rest) = typed.ok().and_then(|typed| alone(input, &typed)) {
                self.wholes.insert(entry.path.clone(), rest);
            }
        }
    }

    /// Returns whether one with these objects stays whole, unless something earlier needs it.
    pub fn may_be(input: &Input<'_>, typed: &Typed) -> bool {
        alone(input, typed).is_some()
    }

    /// Returns the position of the type with which an entry point stays whole, if it does.
    pub fn rest(&self, path: &RepoPath) -> Option<usize> {
        self.wholes.get(path).copied()
    }

    /// Returns the Namespaces of an entry point that stays whole the type of its other objects.
    #[must_use]
    pub fn settle(&self, path: &RepoPath, mut typed: Typed) -> Typed {
        if let Some(rest) = self.rest(path) {
            for classified in typed.types.iter_mut().filter(|classified| classified.change_type != rest) {
                *classified = Classified { change_type: rest, reason: Reason::Whole };
            }
        }
        typed
    }

    /// Takes those out of which something earlier needs a Namespace, or for which it waits.
    fn leave_needed(&mut self, input: &Input<'_>, sides: &Sides, cluster: &str, carriers: &Carriers) {
        let mut all: Vec<Landing<'_>> = input
            .model
            .entries_of(cluster)
            .map(|entry| Landing::of(input, sides, self, cluster, entry))
            .collect();
        // What applies another source's objects is held back by nothing.
        let others = input.model.flux_of_cluster(cluster).filter(|flux| flux.path.is_none());
        all.extend(others.map(Landing::foreign));
        let mut waiting = waiting(input, &all);
        if !input.spec.gate.mechanism.stops_dependants() {
            let carries = |one: &Landing<'_>| one.path.is_some_and(|path| carriers.contains_key(path));
            keep_upstream(&mut waiting, (0..all.len()).filter(|index| carries(&all[*index])).collect());
        }
        loop {
            let mut changed = false;
            for index in 0..all.len() {
                let earliest = waiting[index].iter().map(|other| all[*other].first).min();
                let earliest = earliest.unwrap_or(usize::MAX);
                if earliest < all[index].first {
                    all[index].land_by(earliest);
                    changed = true;
                }
            }
            let uses = Uses::of(&all);
            let is_needed = |one: &&Landing<'_>| {
                one.rest.is_some_and(|rest| one.first < rest || one.is_needed(&uses, rest))
            };
            match all.iter().find(is_needed).and_then(|one| one.path.cloned()) {
                Some(path) => {
                    self.wholes.remove(&path);
                    for one in all.iter_mut().filter(|one| one.path == Some(&path)) {
                        (one.rest, one.first) = (None, 0);
                    }
                }
                None if !changed => return,
                None => {}
            }
        }
    }
}

/// Returns the clusters of some entry points, and all that share one of `entries` with these.
fn around<'e>(entries: &[&'e EntryPoint], first: impl Iterator<Item = &'e EntryPoint>) -> BTreeSet<&'e str> {
    let mut around: BTreeSet<&str> = first.flat_map(EntryPoint::clusters).collect();
    loop {
        let known = around.len();
        let sharing: Vec<&EntryPoint> =
            entries.iter().copied().filter(|entry| is_in(entry, &around)).collect();
        around.extend(sharing.into_iter().flat_map(EntryPoint::clusters));
        if around.len() == known {
            return around;
        }
    }
}

fn is_in(entry: &EntryPoint, clusters: &BTreeSet<&str>) -> bool {
    entry.clusters().any(|cluster| clusters.contains(cluster))
}

/// Leaves of what waits for others what `needed` waits for, directly or through others: what reads a held source stops
/// nothing else, and in a new cluster a gate and what it waits for would wait for each other.
fn keep_upstream(waiting: &mut [BTreeSet<usize>], mut needed: BTreeSet<usize>) {
    loop {
        let known = needed.len();
        needed.extend(
            (0..waiting.len()).filter(|index| !waiting[*index].is_disjoint(&needed)).collect::<Vec<_>>(),
        );
        if needed.len() == known {
            break;
        }
    }
    waiting.iter_mut().for_each(|one| one.retain(|other| needed.contains(other)));
}

/// Returns the type of all objects but Namespaces, where these are of the first by the default rule alone and
/// all others have one later type.
fn alone(input: &Input<'_>, typed: &Typed) -> Option<usize> {
    let [first, rest] = typed.present()[..] else { return None };
    // Windows belong to what those apply that are applied by it.
    if typed.ids().any(|id| id.group == flux::GROUP) {
        return None;
    }
    let is_lone = |(object, classified): (&Object, &Classified)| {
        let is_default = match &classified.reason {
            Reason::Namespace => true,
            Reason::Rule(position) => input.spec.is_default(&input.spec.rules[*position]),
            _ => false,
        };
        is_namespace(object) && is_default
    };
    let mut early = typed.objects.iter().zip(&typed.types).filter(|(_, one)| one.change_type == first);
    early.all(is_lone).then_some(rest)
}

#[cfg(test)]
mod tests;
