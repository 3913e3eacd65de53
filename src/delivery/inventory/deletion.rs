//! What a commit would delete in a cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter, Result as Written};
use std::rc::Rc;

use serde_json::Value;

use crate::delivery::inventory::Inventory;
use crate::delivery::metadata::is_kept;
use crate::diagnostic::Place;
use crate::render::Object;
use crate::repo::flux::{self, artifact_path};
use crate::repo::manifest::ObjectId;

/// An object that a commit may delete in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The cluster.
    pub cluster: String,
    /// The namespace of the Flux Kustomization that deletes it; empty where Git does not say it.
    pub namespace: String,
    /// The name of that.
    pub kustomization: String,
    /// Whether that goes itself, and takes its objects with it.
    pub goes: bool,
    /// The object, as the cluster knows it.
    pub id: ObjectId,
    /// The object, as it is built: with the variables of `postBuild` in its name.
    pub built: ObjectId,
    /// Namespace and name of the Flux Kustomization that would apply it from then on, where there is one.
    pub next: Option<(String, String)>,
    /// Where the one that deletes stands.
    pub place: Place,
}

impl Deletion {
    /// Returns whether the Flux Kustomization had the object in a state, or may have had it where it does not build there.
    pub fn is_of(&self, state: &[Inventory]) -> bool {
        let mut own = state.iter().filter(|one| {
            (&one.cluster, &one.namespace, &one.name) == (&self.cluster, &self.namespace, &self.kustomization)
        });
        own.any(|one| {
            let objects = one.objects.as_ref();
            objects.map_or(true, |all| all.iter().any(|object| ObjectId::of(&object.value) == self.built))
        })
    }
}

impl Display for Deletion {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        let (cluster, id, by) = (&self.cluster, &self.id, &self.kustomization);
        write!(f, "{id} in {cluster}: Flux Kustomization {by} ")?;
        f.write_str(if self.goes { "goes and deletes it" } else { "loses it and prunes it" })?;
        match &self.next {
            Some((_, next)) => write!(f, ", before or after {next} has applied it"),
            None => Ok(()),
        }
    }
}

/// Returns every object that a cluster may delete when it goes from one state to the other at once.
///
/// Objects that are annotated with `kustomize.toolkit.fluxcd.io/prune: disabled` stay. What a
/// Kustomization applies that does not build is not known: nothing is said about it. Neither is anything about
/// objects with a variable in their names whose value only the cluster knows, before or afterwards, while they are built.
pub fn deletions(before: &[Inventory], after: &[Inventory]) -> Vec<Deletion> {
    leaving(before, after, &|object| !is_kept(object))
}

/// As [`deletions`], of the objects that go to another Flux Kustomization and say themselves that they are never pruned: they
/// are deleted where the cluster does not have that yet.
pub fn moves_of_kept(before: &[Inventory], after: &[Inventory]) -> Vec<Deletion> {
    let mut found = leaving(before, after, &is_kept);
    found.retain(|one| one.next.is_some());
    found
}

fn leaving(before: &[Inventory], after: &[Inventory], is_meant: &dyn Fn(&Value) -> bool) -> Vec<Deletion> {
    let mut found = Vec::new();
    let after: Vec<(&Inventory, Ids)> = after.iter().map(|new| (new, Ids::of(new))).collect();
    let mut by_key: BTreeMap<_, Vec<&(&Inventory, Ids)>> = BTreeMap::new();
    after.iter().for_each(|new| by_key.entry(new.0.key()).or_default().push(new));
    for old in before {
        let mut named = by_key.get(&old.key()).into_iter().flatten();
        let new = old.among(named.clone().map(|(new, _)| *new));
        if !old.deletes(new) {
            continue;
        }
        let successor = new.and_then(|new| named.find(|(other, _)| std::ptr::eq(*other, new)));
        let Ok(objects) = &old.objects else { continue };
        // A build that fails applies and prunes nothing.
        if new.is_some_and(|new| new.objects.is_err()) {
            continue;
        }
        for object in objects.iter().filter(|object| is_meant(&object.value)) {
            let (id, built) = (old.live_id(object), ObjectId::of(&object.value));
            let next =
                after.iter().find(|(other, ids)| other.cluster == old.cluster && ids.live.contains(&id));
            // A Flux Kustomization that goes is judged by what its own finalizer does, where that is known. One that stays in
            // Git while nothing there applies it goes all the same.
            let is_judged = built.group == flux::GROUP
                && before.iter().any(|own| {
                    // A hub applies what goes by `kubeConfig` to another cluster.
                    let path = || artifact_path(object.value["spec"]["path"].as_str().unwrap_or_default());
                    let is_it = own.name == built.name && (own.cluster == old.cluster || own.path == path());
                    is_it
                        && (own.objects.is_ok() || !own.deletes_when_it_goes())
                        && (next.is_some() || !by_key.contains_key(&own.key()))
                });
            if successor.is_some_and(|(_, kept)| kept.keeps(&built, &id)) || is_judged {
                continue;
            }
            found.push(Deletion {
                cluster: old.cluster.clone(),
                namespace: old.namespace.clone(),
                kustomization: old.name.clone(),
                goes: new.is_none(),
                next: next.map(|(next, _)| (next.namespace.clone(), next.name.clone())),
                place: old.place.clone(),
                id,
                built,
            });
        }
    }
    found
}

/// The ids of what a Flux Kustomization applies.
struct Ids {
    /// As the cluster knows them.
    live: BTreeSet<Rc<ObjectId>>,
    /// By those of the build; mostly both are the same.
    by_built: BTreeMap<Rc<ObjectId>, Rc<ObjectId>>,
}

impl Ids {
    fn of(inventory: &Inventory) -> Ids {
        let ids = |object: &Object| {
            let (built, live) = (Rc::new(ObjectId::of(&object.value)), inventory.live_id(object));
            let live = if live == *built { Rc::clone(&built) } else { Rc::new(live) };
            (built, live)
        };
        let by_built: BTreeMap<_, _> = inventory.objects.iter().flatten().map(ids).collect();
        Ids { live: by_built.values().cloned().collect(), by_built }
    }

    /// Returns whether an object stays. One of the same build may have a name that only the cluster knows, before or
    /// from then on: whether that is another one can't be told.
    fn keeps(&self, built: &ObjectId, live: &ObjectId) -> bool {
        let same = self.by_built.get(built);
        self.live.contains(live) || same.is_some_and(|now| now.has_variable() || live.has_variable())
    }
}
