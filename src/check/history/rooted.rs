//! Folders that the spec says to be roots of clusters: nothing in Git applies them, and no entry point stands for them.

use std::collections::{BTreeMap, BTreeSet};

use super::Told;
use super::deleted::{lost_outside, moved_outside};
use super::step::Step;
use crate::check::subject::Subject;
use crate::delivery::inventory::is_kept;
use crate::delivery::{Applier, Cluster, ClusterKey, Delivery, Reason, Root, World, build_all};
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::render::Object;
use crate::repo::flux::GROUP;
use crate::repo::manifest::ObjectId;

/// Finds objects that leave such a folder: whatever applies it deletes them, if it prunes.
pub(super) fn rooted(step: &Step<'_>) -> Vec<Told> {
    let (before, after) = (step.before.model, step.after.model);
    let mut found = Vec::new();
    for old in &before.delivered.all {
        let Some(now) = after.cluster_now(step.names(), &old.name) else { continue };
        for root in old.roots.iter().filter(|root| is_said(root)) {
            let stays = now.roots.iter().any(|other| other.folder == root.folder && is_said(other));
            if stays && before.entry(&root.folder).is_none() && after.entry(&root.folder).is_none() {
                found.extend(leaving(step, [old, now], &root.folder));
            }
        }
    }
    found
}

/// Tells whether the spec alone says that a cluster gets a folder.
fn is_said(root: &Root) -> bool {
    root.reason == Reason::Spec && root.kustomization.is_none()
}

fn leaving(step: &Step<'_>, [old, now]: [&Cluster; 2], folder: &RepoPath) -> Vec<Told> {
    let built = |subject: &Subject<'_>, cluster: &Cluster| {
        let applier = Applier { cluster: &cluster.name, path: folder.clone(), kustomization: None };
        let world = World { snapshot: subject.snapshot, model: subject.model };
        build_all(world, &[&applier], subject.renderer).pop()?.ok()
    };
    let (Some(had), Some(has)) = (built(step.before, old), built(step.after, now)) else { return Vec::new() };
    let has: BTreeSet<ObjectId> = has.iter().map(|object| ObjectId::of(&object.value)).collect();
    let deliveries = step.after.deliveries.iter().filter(|one| one.cluster.name == now.name);
    let mut owners: BTreeMap<&ObjectId, &Delivery> = BTreeMap::new();
    for delivery in deliveries.filter(|one| one.cluster.remote.is_empty()) {
        owners.extend(delivery.objects.iter().map(|applied| (&*applied.live, delivery)));
    }
    // A Flux Kustomization that leaves Git is told by itself.
    let goes = |object: &&Object| !is_kept(&object.value);
    let ids = had.iter().filter(goes).map(|object| ObjectId::of(&object.value));
    let ids: Vec<ObjectId> = ids.filter(|id| id.group != GROUP && !has.contains(id)).collect();
    let (moved, lost): (BTreeSet<&ObjectId>, BTreeSet<&ObjectId>) =
        ids.iter().partition(|id| owners.contains_key(id));
    let to: BTreeSet<&str> = moved.iter().filter_map(|id| Some(owners.get(*id)?.name.as_str())).collect();
    let to = to.into_iter().collect::<Vec<_>>().join(" and ");
    let place = Place::file(folder.clone());
    let key = ClusterKey { home: now.home(), name: now.name.clone(), remote: String::new() };
    let told = [
        (!lost.is_empty()).then(|| lost_outside(folder, &lost, place.clone())),
        (!moved.is_empty()).then(|| moved_outside(folder, &moved, &to, place)),
    ];
    told.into_iter().flatten().map(|finding| Told::of(&key, finding)).collect()
}
