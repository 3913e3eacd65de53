//! What must be true of a step before anybody is shown it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::delivery::inventory::Inventory;
use crate::delivery::{Input, Model};
use crate::path::RepoPath;
use crate::plan::gate;
use crate::plan::migrate::moving::{Move, heir_name};
use crate::plan::migrate::rewritten::Rewritten;
use crate::proof::difference::differences;
use crate::proof::{Readers, Renames, compare, is_of_gate, reading, without_names};
use crate::render::{Object, Request};
use crate::repo::manifest::ObjectId;
use crate::repo::{FluxKustomization, Snapshot, flux};

/// One thing that is wrong with a step.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The cluster that would not get the same.
    pub cluster: String,
    /// The Flux Kustomization of which it was found, where it was found of one.
    pub kustomization: Option<String>,
    /// What is wrong.
    pub text: String,
}

/// Returns the moves that have to wait since something is wrong, each with the reason.
///
/// What was found of one Flux Kustomization stops the moves that it takes part in or waits for; anything
/// else, or what nobody takes part in, stops all that move in the cluster.
pub fn blamed<'m, 'a>(
    input: &Input<'_>,
    wrong: &'m [Wrong],
    active: &[&'m Move<'a>],
) -> Vec<(&'m Move<'a>, &'m str)> {
    let mut found: Vec<(&Move<'_>, &str)> = Vec::new();
    for one in wrong {
        let mine = || active.iter().copied().filter(|other| other.cluster == one.cluster && other.moves());
        let involved = || mine().filter(|other| is_involved(input, one, other));
        let all: Vec<&Move<'_>> =
            if involved().next().is_some() { involved().collect() } else { mine().collect() };
        for other in all {
            if !found.iter().any(|(known, _)| std::ptr::eq(*known, other)) {
                found.push((other, one.text.as_str()));
            }
        }
    }
    found
}

/// Returns whether a move replaces, makes or is waited for by the Flux Kustomization that is wrong.
fn is_involved(input: &Input<'_>, wrong: &Wrong, one: &Move<'_>) -> bool {
    let Some(name) = &wrong.kustomization else { return false };
    let old = || one.old.iter().map(|old| old.name.as_str());
    let mut own = one.all().map(|own| own.name.as_str());
    let mut heirs =
        old().flat_map(|old| one.sides.keys().map(move |position| heir_name(input, old, *position)));
    let waits =
        |flux: &FluxKustomization| flux.depends_on().into_iter().any(|wanted| old().any(|old| old == wanted));
    own.any(|own| own == name)
        || heirs.any(|heir| heir == *name)
        || input.model.flux_named(&one.cluster, name).any(waits)
}

/// Returns what is wrong with a step, by cluster: objects that a cluster would get otherwise than
/// before, and Flux Kustomizations that would not come out of their builds as they were written.
pub fn wrong(
    input: &Input<'_>,
    after: &Snapshot,
    inventories: (&[Inventory], &[Inventory]),
    rewritten: &[Rewritten],
    renamed: &Renames,
    readers: &BTreeMap<String, Readers>,
) -> Vec<Wrong> {
    let (old, new) = (nameless(inventories.0, renamed), nameless(inventories.1, renamed));
    let (old, new): (&[Inventory], &[Inventory]) = (&old, &new);
    let free = gate_objects(input, after);
    let mut found: Vec<Wrong> = differences(old, new, &free)
        .into_iter()
        .map(|(cluster, mismatch)| Wrong { cluster, kustomization: None, text: mismatch.to_string() })
        .collect();
    let applied_in: Vec<BTreeSet<String>> = rewritten.iter().map(|one| one.applied_in(input)).collect();
    for before in old {
        let Ok(objects) = &before.objects else { continue };
        let applied: Vec<&Object> = objects.iter().filter(|object| is_flux(object)).collect();
        if applied.is_empty() {
            continue;
        }
        let Some(Inventory { objects: Ok(objects), .. }) = before.among(new) else { continue };
        let mut now: Vec<Object> = objects.iter().filter(|object| is_flux(object)).cloned().collect();
        let of_cluster: Vec<&Rewritten> = rewritten
            .iter()
            .zip(&applied_in)
            .filter(|(_, of)| of.contains(&before.cluster))
            .map(|(one, _)| one)
            .collect();
        let (mut expected, mut left) = (Vec::new(), BTreeSet::new());
        for object in applied {
            match carried(&object.value, &of_cluster, &mut left) {
                Ok(values) => expected
                    .extend(values.into_iter().map(|value| Object { value: value.into(), origin: None })),
                Err(field) => {
                    let id = ObjectId::of(&object.value);
                    found.push(Wrong {
                        cluster: before.cluster.clone(),
                        text: format!(
                            "{id} is changed on its way into the cluster: another kustomization sets its {field}"
                        ),
                        kustomization: Some(id.name),
                    });
                }
            }
        }
        for object in &mut now {
            let id = ObjectId::of(&object.value);
            if let Some(spec) = Arc::make_mut(&mut object.value)["spec"].as_object_mut() {
                LEFT_TO_PARENTS.iter().filter(|key| left.contains(&(id.clone(), **key))).for_each(|key| {
                    spec.remove(*key);
                });
            }
        }
        if let Some(readers) = readers.get(&before.cluster) {
            expected.iter_mut().chain(&mut now).for_each(|object| *object = reading(object, readers));
        }
        let folder = before.path.clone().unwrap_or_else(RepoPath::top);
        let wrong = compare(&expected, &[(&folder, &Ok(now))]);
        found.extend(wrong.into_iter().map(|mismatch| Wrong {
            cluster: before.cluster.clone(),
            kustomization: mismatch.id().map(|id| id.name.clone()),
            text: mismatch.to_string(),
        }));
    }
    found
}

/// Returns those that depend on what stood before and is gone after.
pub fn left_waiting(before: &Model, after: &Model) -> Vec<Wrong> {
    let wrong = |(waiter, gone): (&FluxKustomization, &str)| Wrong {
        cluster: waiter.cluster.clone(),
        kustomization: Some(waiter.name.clone()),
        text: format!("{} depends on {gone}, which goes", waiter.name),
    };
    before.left_waiting(after).into_iter().map(wrong).collect()
}

/// Returns inventories whose Alerts and Receivers name nothing that comes or goes.
fn nameless<'a>(inventories: &'a [Inventory], renames: &Renames) -> Cow<'a, [Inventory]> {
    if renames.is_empty() {
        return Cow::Borrowed(inventories);
    }
    let mut found = inventories.to_vec();
    for one in &mut found {
        let renamed = renames.of([one.cluster.as_str()]);
        if let Ok(objects) = &mut one.objects {
            *objects = std::mem::take(objects).into_iter().map(|one| without_names(one, &renamed)).collect();
        }
    }
    Cow::Owned(found)
}

fn is_flux(object: &Object) -> bool {
    ObjectId::of(&object.value).group == flux::GROUP
}

/// What a parent may set for all of its children: a step that gives such a field back, or leaves it out
/// of a successor, leaves it to the parent. That an old one keeps its objects is asked by itself.
const LEFT_TO_PARENTS: [&str; 2] = ["deletionPolicy", "prune"];

/// Returns what must come of a rendered Flux Kustomization, when its document was rewritten, without what is
/// left to its parents.
///
/// # Errors
///
/// The field that a rewrite changes, where something else had changed it on the way already.
fn carried(
    rendered: &Value,
    rewritten: &[&Rewritten],
    left: &mut BTreeSet<(ObjectId, &'static str)>,
) -> Result<Vec<Value>, String> {
    let is_it = |one: &Rewritten| {
        one.before["metadata"]["name"] == rendered["metadata"]["name"]
            && one.before["spec"]["path"] == rendered["spec"]["path"]
            && (one.namespace.is_empty() || one.namespace == rendered["metadata"]["namespace"])
    };
    // One may be rewritten twice: first by its own step, then since it waits for another.
    let Some(first) = rewritten.iter().position(|one| is_it(one)) else {
        return Ok(vec![rendered.clone()]);
    };
    let Rewritten { before, after, .. } = rewritten[first];
    let mut found = Vec::new();
    for document in after {
        let mut value = rendered.clone();
        if document["metadata"]["name"] != before["metadata"]["name"] {
            value["metadata"]["name"] = document["metadata"]["name"].clone();
        }
        let keys = [&document["spec"], &before["spec"]];
        let keys: BTreeSet<&String> =
            keys.iter().filter_map(|spec| spec.as_object()).flat_map(|spec| spec.keys()).collect();
        for key in keys {
            let (was, is) = (before["spec"].get(key), document["spec"].get(key));
            if was == is {
                continue;
            }
            let Some(added) = added(was, rendered["spec"].get(key)) else {
                return Err(format!("`spec.{key}`"));
            };
            if let Some(key) = LEFT_TO_PARENTS.iter().find(|other| *other == key) {
                left.insert((ObjectId::of(&value), key));
            }
            if let Some(spec) = value["spec"].as_object_mut() {
                match is.filter(|_| !LEFT_TO_PARENTS.contains(&key.as_str())) {
                    Some(Value::Array(is)) => {
                        spec.insert(key.clone(), is.iter().chain(added).cloned().collect())
                    }
                    Some(is) => spec.insert(key.clone(), is.clone()),
                    None => spec.remove(key),
                };
            }
        }
        found.extend(carried(&value, &rewritten[first + 1..], left)?);
    }
    Ok(found)
}

/// Returns what a build appends to a list of a file, nothing where it leaves a field as it is; `None` where it makes something
/// else of that.
fn added<'v>(was: Option<&'v Value>, rendered: Option<&'v Value>) -> Option<&'v [Value]> {
    match (was, rendered) {
        (Some(Value::Array(was)), Some(Value::Array(all))) => all.strip_prefix(was.as_slice()),
        _ => (was == rendered).then_some(&[]),
    }
}

/// Returns the objects of gates: they change with what they hold back.
pub fn gate_objects(input: &Input<'_>, after: &Snapshot) -> BTreeSet<ObjectId> {
    // A gate may have a Flux Kustomization of its own, and its first one does not stand yet.
    let folders = gate::cluster_folders(input).unwrap_or_default();
    let results = [input.snapshot, after].into_iter().flat_map(|snapshot| {
        let standing = folders.iter().filter(|folder| snapshot.is_dir(folder));
        let requests: Vec<Request> = standing.cloned().map(Request::delivered).collect();
        input.renderer.render(snapshot, &requests)
    });
    results
        .filter_map(Result::ok)
        .flatten()
        .map(|object| ObjectId::of(&object.value))
        .filter(is_of_gate)
        .collect()
}

#[cfg(test)]
mod tests;
