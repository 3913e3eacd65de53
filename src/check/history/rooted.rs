//! Folders that the spec says to be roots of clusters: nothing in Git applies them, and no entry point stands for them.

use std::collections::{BTreeMap, BTreeSet};

use super::Told;
use super::deleted::{is_renewed, lost_outside, moved_outside};
use super::step::Step;
use crate::check::subject::Subject;
use crate::delivery::classify::is_hashed;
use crate::delivery::inventory::is_kept;
use crate::delivery::{Applier, Artifacts, Cluster, ClusterKey, Delivery, Model, Reason, World, build_all};
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::render::Object;
use crate::repo::flux::GROUP;
use crate::repo::manifest::ObjectId;

/// Such folders of a cluster that build, with what they bring.
type Built<'m> = BTreeMap<&'m RepoPath, Vec<(ObjectId, Object)>>;

/// Who applies each object: a Flux Kustomization by namespace and name, what is outside of Git by its folder.
type Owners<'s> = BTreeMap<&'s ObjectId, BTreeSet<(&'s str, &'s str)>>;

/// A cluster with such folders of which the build may differ.
struct Rooted<'m> {
    clusters: [&'m Cluster; 2],
    changed: Vec<&'m RepoPath>,
}

/// Finds objects that leave such a folder: whatever applies it deletes them, if it prunes.
pub(super) fn rooted(step: &Step<'_>) -> Vec<Told> {
    let subjects = [step.before, step.after];
    let all = changed(step);
    let [was, is] = [0, 1].map(|side| {
        let clusters: Vec<&Cluster> = all.iter().map(|one| one.clusters[side]).collect();
        built(subjects[side], &clusters)
    });
    let deliveries =
        if all.is_empty() { Default::default() } else { subjects.map(|subject| subject.clusters()) };
    let mut found = Vec::new();
    for (one, built) in all.iter().zip(was.iter().zip(&is).map(<[&Built<'_>; 2]>::from)) {
        let own = [0, 1].map(|side| {
            let name = &one.clusters[side].name;
            let all =
                deliveries[side].iter().filter(move |(key, _)| key.name == *name && key.remote.is_empty());
            all.flat_map(|(_, all)| all).copied().collect::<Vec<&Delivery>>()
        });
        let owners = [0, 1].map(|side| owners(built[side], &own[side]));
        for folder in &one.changed {
            found.extend(leaving(one.clusters[1], folder, built, &own[1], &owners));
        }
    }
    found
}

/// Finds the clusters with folders that stay and of which the build may differ.
fn changed<'s>(step: &Step<'s>) -> Vec<Rooted<'s>> {
    let [before, after] = [step.before, step.after].map(world);
    let mut artifacts = Artifacts::new(before, after);
    let mut found = Vec::new();
    for old in &before.model.delivered.all {
        let Some(now) = after.model.cluster_now(step.names(), &old.name) else { continue };
        let is = said(after.model, now);
        let mut changed = said(before.model, old);
        changed.retain(|folder| {
            is.contains(folder) && artifacts.may_differ(&applier(old, folder), &applier(now, folder))
        });
        if !changed.is_empty() {
            found.push(Rooted { clusters: [old, now], changed });
        }
    }
    found
}

fn world<'s>(subject: &Subject<'s>) -> World<'s> {
    World { snapshot: subject.snapshot, model: subject.model }
}

/// Returns the folders of which the spec alone says that a cluster gets them.
fn said<'m>(model: &Model, cluster: &'m Cluster) -> Vec<&'m RepoPath> {
    let roots = cluster.roots.iter();
    let said = roots.filter(|root| root.reason == Reason::Spec && root.kustomization.is_none());
    said.map(|root| &root.folder).filter(|folder| model.entry(folder).is_none()).collect()
}

fn applier<'m>(cluster: &'m Cluster, folder: &RepoPath) -> Applier<'m> {
    Applier { cluster: &cluster.name, path: folder.clone(), kustomization: None }
}

/// Builds such folders of clusters.
fn built<'m>(subject: &Subject<'m>, clusters: &[&'m Cluster]) -> Vec<Built<'m>> {
    let all = clusters.iter().enumerate().flat_map(|(position, cluster)| {
        said(subject.model, cluster)
            .into_iter()
            .map(move |folder| (position, folder, applier(cluster, folder)))
    });
    let all: Vec<(usize, &RepoPath, Applier<'_>)> = all.collect();
    let appliers: Vec<&Applier<'_>> = all.iter().map(|(.., applier)| applier).collect();
    let mut found: Vec<Built<'_>> = clusters.iter().map(|_| Built::new()).collect();
    for ((position, folder, _), outcome) in
        all.iter().zip(build_all(world(subject), &appliers, subject.renderer))
    {
        let Ok(objects) = outcome else { continue };
        let objects = objects.into_iter().map(|object| (ObjectId::of(&object.value), object)).collect();
        found[*position].insert(folder, objects);
    }
    found
}

fn owners<'s>(built: &'s Built<'_>, deliveries: &[&'s Delivery]) -> Owners<'s> {
    let mut found = Owners::new();
    for (folder, objects) in built {
        for (id, _) in objects {
            found.entry(id).or_default().insert(("", folder.as_str()));
        }
    }
    for delivery in deliveries {
        let owner = match delivery.applied_by {
            Some(_) => (delivery.namespace.as_str(), delivery.name.as_str()),
            None => ("", delivery.path.as_str()),
        };
        for applied in &delivery.objects {
            found.entry(&applied.live).or_default().insert(owner);
        }
    }
    found
}

/// Tells of a folder what leaves it, for good or for another owner.
fn leaving(
    now: &Cluster,
    folder: &RepoPath,
    built: [&Built<'_>; 2],
    deliveries: &[&Delivery],
    [had, has]: &[Owners<'_>; 2],
) -> Vec<Told> {
    let (Some(objects), true) = (built[0].get(folder), built[1].contains_key(folder)) else {
        return Vec::new();
    };
    let hashed = |id: &&ObjectId| {
        let mut roots = built[1].values().flatten();
        let mut objects = deliveries.iter().flat_map(|delivery| &delivery.objects);
        roots.any(|(other, object)| is_renewed(id, other) && is_hashed(object))
            || objects.any(|applied| is_renewed(id, &applied.live) && is_hashed(&applied.object))
    };
    let goes = |(id, object): &&(ObjectId, Object)| {
        // A Flux Kustomization that leaves Git is told by itself.
        let is_told = is_kept(&object.value) || id.group == GROUP;
        let stays = had.get(id).zip(has.get(id)).is_some_and(|(had, has)| !had.is_disjoint(has));
        !(is_told || stays || is_hashed(object) && hashed(&id))
    };
    let ids = objects.iter().filter(goes).map(|(id, _)| id);
    let (moved, lost): (BTreeSet<&ObjectId>, BTreeSet<&ObjectId>) = ids.partition(|id| has.contains_key(id));
    let to: BTreeSet<&str> =
        moved.iter().filter_map(|id| has.get(id)).flatten().map(|(_, name)| *name).collect();
    let to = to.into_iter().collect::<Vec<_>>().join(" and ");
    let place = Place::file(folder.clone());
    let key = ClusterKey { home: now.home(), name: now.name.clone(), remote: String::new() };
    let told = [
        (!lost.is_empty()).then(|| lost_outside(folder, &lost, place.clone())),
        (!moved.is_empty()).then(|| moved_outside(folder, &moved, &to, place)),
    ];
    told.into_iter().flatten().map(|finding| Told::of(&key, finding)).collect()
}
