//! What clusters get differently after a commit.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::inventory::Inventory;
use crate::path::RepoPath;
use crate::proof::{self, Mismatch};
use crate::repo::flux;
use crate::repo::manifest::ObjectId;

/// Compares what each cluster gets from all of its Flux Kustomizations together.
///
/// Every object must be there after as before, as often as before or less, with the same content.
/// Flux Kustomizations themselves are left out: they are what moves objects. So are the `free` ones.
pub fn differences(
    before: &[Inventory],
    after: &[Inventory],
    free: &BTreeSet<ObjectId>,
) -> Vec<(String, Mismatch)> {
    let mut found = Vec::new();
    let clusters: BTreeSet<&str> =
        before.iter().chain(after).map(|inventory| inventory.cluster.as_str()).collect();
    for cluster in clusters {
        let (old, new) = (applied(before, cluster, free), applied(after, cluster, free));
        let mut add = |mismatch| found.push((cluster.to_owned(), mismatch));
        for unbuilt in
            after.iter().filter(|inventory| inventory.cluster == cluster && inventory.path.is_some())
        {
            if let Err(message) = &unbuilt.objects
                && unbuilt.among(before).is_none_or(|was| was.objects.is_ok())
            {
                let folder = unbuilt.path.clone().unwrap_or_default();
                add(Mismatch::Unbuildable { folder, message: message.clone() });
            }
        }
        for (key @ (_, id), values) in &old {
            let Some(now) = new.get(key) else {
                add(Mismatch::Lost { id: id.clone() });
                continue;
            };
            if now.len() > values.len() {
                add(Mismatch::Doubled {
                    id: id.clone(),
                    folders: now.iter().map(|(path, _)| (*path).clone()).collect(),
                });
            }
            for (_, value) in now.iter().filter(|(_, value)| !values.iter().any(|(_, old)| old == value)) {
                let mut fields = Vec::new();
                if let Some((_, old)) = values.first() {
                    proof::differences(id, old, value, &mut fields);
                }
                fields.into_iter().for_each(&mut add);
            }
        }
        for ((_, id), now) in new.iter().filter(|(key, _)| !old.contains_key(key)) {
            let folder = now.first().map(|(path, _)| (*path).clone()).unwrap_or_default();
            add(Mismatch::Added { id: id.clone(), folder });
        }
    }
    found
}

/// By id, and by what tells objects of one id apart, where each is built and what is in it.
type Applied<'a> = BTreeMap<(String, ObjectId), Vec<(&'a RepoPath, &'a Value)>>;

fn applied<'a>(inventories: &'a [Inventory], cluster: &str, free: &BTreeSet<ObjectId>) -> Applied<'a> {
    let mut applied = Applied::new();
    for inventory in inventories.iter().filter(|inventory| inventory.cluster == cluster) {
        let (Some(path), Ok(objects)) = (&inventory.path, &inventory.objects) else { continue };
        for object in objects {
            let id = ObjectId::of(&object.value);
            if id.group != flux::GROUP && !free.contains(&id) {
                let apart = beyond(inventory, &object.value);
                applied.entry((apart, id)).or_default().push((path, &object.value));
            }
        }
    }
    applied
}

/// Returns what becomes of an object after its build: where it goes, and what fills in its variables.
fn beyond(inventory: &Inventory, object: &Value) -> String {
    let [post_build, kube_config] = &inventory.beyond;
    let has_variable = !post_build.is_null() && object.to_string().contains("${");
    let said = [kube_config, post_build].into_iter().zip([true, has_variable]);
    said.filter(|(value, counts)| *counts && !value.is_null()).map(|(value, _)| value.to_string()).collect()
}
