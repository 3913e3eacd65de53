//! What waits for the next opening: the difference between the commit that a cluster has applied and the newest one that it
//! has fetched.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Comparison, Kind, Scopes, World};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::render::Renderer;
use crate::repo::Merged;
use crate::repo::manifest::ObjectId;
use crate::status::{Cluster, Expected, Gated, Held};

/// What waits for an opening of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// The objects, in the order of Flux Kustomizations and ids.
    pub objects: Vec<Waiting>,
    /// The commits that may have changed them, as hash and subject, the newest first.
    pub commits: Vec<(String, String)>,
    /// Why it is not known of some Flux Kustomizations.
    pub unknown: Vec<String>,
}

/// An object that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The Flux Kustomization that builds it.
    pub by: GateTarget,
    /// Its id.
    pub id: ObjectId,
    /// What becomes of it.
    pub kind: Kind,
}

/// Returns the pairs of commits, the applied one and the newest, between which something may wait.
pub fn wanted(clusters: &[Cluster]) -> BTreeSet<(String, String)> {
    let held = clusters.iter().flat_map(|cluster| &cluster.gates).flat_map(|gated| &gated.held);
    let pair = |held: &Held| Some((held.applied.clone()?, held.newest.clone()?));
    held.filter_map(pair).filter(|(applied, newest)| applied != newest).collect()
}

/// Says why nothing is known of what waits between two commits.
pub fn unknown(clusters: &mut [Cluster], pair: &(String, String), why: &str) {
    for gated in concerned(clusters, pair).map(|(_, gated)| gated) {
        if !gated.waits.unknown.iter().any(|known| known == why) {
            gated.waits.unknown.push(why.to_owned());
        }
    }
}

/// Adds what waits between two commits, by the builds of both; `merged` are the commits between them.
pub fn waiting(
    expected: &Expected<'_>,
    clusters: &mut [Cluster],
    pair: &(String, String),
    (before, after): (World<'_>, World<'_>),
    merged: &[Merged],
    renderer: &dyn Renderer,
) {
    let comparison = Comparison::new(before, after, renderer);
    let changes = comparison.changes.iter();
    let scopes = Scopes::of(&[before.snapshot, after.snapshot], changes.clone().map(|change| &change.live));
    let mut by_pair: BTreeMap<usize, Vec<(ObjectId, Kind)>> = BTreeMap::new();
    for change in changes {
        let found = (scopes.placed(&change.live), change.kind());
        by_pair.entry(change.pair()).or_default().push(found);
    }
    for (cluster, gated) in concerned(clusters, pair) {
        let mut read: Option<BTreeSet<RepoPath>> = Some(BTreeSet::new());
        for (position, one) in comparison.pairs.iter().enumerate().filter(|(_, one)| one.cluster == cluster) {
            let Some(latest) = one.latest().and_then(|applier| applier.kustomization) else { continue };
            let by = expected.target(latest);
            let is_own = |held: &Held| held.target == by && is_between(held, pair);
            if !latest.remote.is_empty() || !gated.held.iter().any(is_own) {
                continue;
            }
            if !one.is_known() {
                gated.waits.unknown.push(format!("{} does not build", by.name));
                continue;
            }
            let Some(found) = by_pair.get(&position) else { continue };
            let objects =
                found.iter().map(|(id, kind)| Waiting { by: by.clone(), id: id.clone(), kind: *kind });
            gated.waits.objects.extend(objects);
            for (applier, world) in [(&one.before, before), (&one.after, after)] {
                let Some(applier) = applier else { continue };
                let own = applier.surroundings(&world.model.graph);
                read = read.zip(own).map(|(mut read, own)| {
                    read.extend(own);
                    read
                });
            }
        }
        if gated.waits.objects.is_empty() {
            continue;
        }
        let is_read = |path: &RepoPath| {
            read.as_ref().is_none_or(|read| path.ancestors().any(|above| read.contains(&above)))
        };
        for one in merged.iter().filter(|one| one.paths.iter().any(is_read)) {
            let told = (one.hash.clone(), one.subject.clone());
            if !gated.waits.commits.contains(&told) {
                gated.waits.commits.push(told);
            }
        }
    }
}

fn is_between(held: &Held, (applied, newest): &(String, String)) -> bool {
    held.applied.as_ref() == Some(applied) && held.newest.as_ref() == Some(newest)
}

/// Returns the gates that hold something back between two commits, each with the name of its cluster.
fn concerned<'c>(
    clusters: &'c mut [Cluster],
    pair: &'c (String, String),
) -> impl Iterator<Item = (String, &'c mut Gated)> {
    clusters.iter_mut().flat_map(move |cluster| {
        let name = cluster.name.clone();
        let own = cluster.gates.iter_mut();
        let own = own.filter(move |gated| gated.held.iter().any(|held| is_between(held, pair)));
        own.map(move |gated| (name.clone(), gated))
    })
}
