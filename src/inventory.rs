//! What each Flux Kustomization in Git applies, and what a commit would delete in a cluster.
//!
//! kustomize-controller keeps an inventory of what a Kustomization applied. At the next
//! reconciliation it deletes what left it, if `spec.prune` is true then; when the Kustomization
//! itself goes, its finalizer deletes all of it, by the `deletionPolicy` and `prune` that the
//! cluster knew last (kustomize-controller, `prune` and `finalize`). Whether another Kustomization
//! takes an object over in the same commit does not help: which of the two reconciles first is
//! chance. So what a commit may delete can be read off two states of the repository.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::diagnostic::Place;
use crate::plan;
use crate::proof::{self, Mismatch};
use crate::render::{Object, Renderer, Request};
use crate::repo::flux::artifact_path;
use crate::repo::manifest::ObjectId;
use crate::repo::{FluxKustomization, Model, RepoPath, Snapshot, flux};

/// What keeps an object from being deleted, as a label or an annotation of the object in the
/// cluster (kustomize-controller, `deleteObjects`).
const KEEPS: [(&str, &str); 3] = [
    ("kustomize.toolkit.fluxcd.io/prune", "disabled"),
    ("kustomize.toolkit.fluxcd.io/reconcile", "disabled"),
    ("kustomize.toolkit.fluxcd.io/ssa", "ignore"),
];

/// A Flux Kustomization in Git with what it applies.
#[derive(Clone, Debug)]
pub struct Inventory {
    /// The cluster.
    pub cluster: String,
    /// The namespace that it gets in its cluster; empty where Git does not say it.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// The folder that it builds; `None` where that is no folder of this repository.
    pub path: Option<RepoPath>,
    /// `spec.prune`, as the build that applies it makes it where that is in Git.
    pub prune: bool,
    /// `spec.deletionPolicy`, likewise; empty where it is not set, which means `MirrorPrune`.
    pub deletion_policy: String,
    /// Where it stands.
    pub place: Place,
    /// `spec.postBuild` and `spec.kubeConfig`: what makes other objects of the same build, or brings them to
    /// another cluster.
    pub beyond: [Value; 2],
    /// The objects, or why the folder does not build; then nothing is applied and nothing pruned.
    pub objects: Result<Vec<Object>, String>,
}

impl Inventory {
    /// Gives the inventory of a Flux Kustomization in a cluster.
    pub fn find<'i>(
        inventories: &'i [Inventory],
        cluster: &str,
        flux: &FluxKustomization,
    ) -> Option<&'i Inventory> {
        let named = || inventories.iter().filter(|one| one.cluster == cluster && one.name == flux.name);
        let exact = named().find(|one| one.namespace == flux.namespace);
        // What Git does not say may be that of the other; of several, whatever would delete counts.
        let other = || named().filter(|one| one.namespace.is_empty() || flux.namespace.is_empty());
        exact.or_else(|| other().max_by_key(|one| (one.prune, danger(&one.deletion_policy))))
    }

    fn key(&self) -> (&str, &str, &str) {
        (&self.cluster, &self.namespace, &self.name)
    }

    /// Tells whether this is the same Flux Kustomization, in another state of the repository.
    pub(crate) fn is_same(&self, other: &Inventory) -> bool {
        self.key() == other.key()
    }

    /// Tells whether it may delete what it applies no more, now that it is `now`, or gone.
    ///
    /// One that stays may reconcile before or after whoever applies it has given it another `prune`.
    pub(crate) fn deletes(&self, now: Option<&Inventory>) -> bool {
        now.map_or_else(|| self.deletes_when_it_goes(), |now| self.prune || now.prune)
    }

    /// Tells whether all of its objects go with it.
    fn deletes_when_it_goes(&self) -> bool {
        match self.deletion_policy.as_str() {
            "Orphan" => false,
            "Delete" | "WaitForTermination" => true,
            _ => self.prune,
        }
    }
}

/// Builds what every Flux Kustomization of a snapshot applies, in the order of files.
pub fn inventories(model: &Model, snapshot: &Snapshot, renderer: &dyn Renderer) -> Vec<Inventory> {
    inventories_of(model, snapshot, renderer, &|_| true)
}

/// As [`inventories`], with the objects of those Flux Kustomizations only that are wanted.
pub fn inventories_of(
    model: &Model,
    snapshot: &Snapshot,
    renderer: &dyn Renderer,
    is_wanted: &dyn Fn(&FluxKustomization) -> bool,
) -> Vec<Inventory> {
    let wanted: Vec<bool> = model.flux.iter().map(|one| one.path.is_some() && is_wanted(one)).collect();
    let requests: Vec<Request> = model
        .flux
        .iter()
        .map(|kustomization| {
            let path = kustomization.path.clone().unwrap_or_default();
            let flux = plan::build(model, &path, &kustomization.value["spec"]);
            Request { path, origins: false, flux }
        })
        .collect();
    let mut distinct: Vec<Request> = Vec::new();
    for (wanted, request) in wanted.iter().zip(&requests) {
        if *wanted && !distinct.contains(request) {
            distinct.push(request.clone());
        }
    }
    let results = renderer.render(snapshot, &distinct);
    inventories_from(model, &|index| {
        let kustomization = &model.flux[index];
        let built = distinct.iter().position(|other| *other == requests[index]).filter(|_| wanted[index]);
        let objects = match built.and_then(|position| results.get(position)) {
            Some(Ok(objects)) => Ok(objects.clone()),
            Some(Err(error)) => Err(error.message.clone()),
            None if kustomization.path.is_some() => Err("it was not asked".to_owned()),
            None => Err("it builds no folder of this repository".to_owned()),
        };
        (model.cluster_of(kustomization), objects)
    })
}

/// As [`inventories`], of what has been built already: `built` gives the cluster and the objects, or why
/// there are none, of the Flux Kustomization at a position of [`Model::flux`].
pub fn inventories_from(
    model: &Model,
    built: &dyn Fn(usize) -> (String, Result<Vec<Object>, String>),
) -> Vec<Inventory> {
    let mut found: Vec<Inventory> = model
        .flux
        .iter()
        .enumerate()
        .map(|(index, kustomization)| {
            let (cluster, objects) = built(index);
            Inventory {
                cluster,
                namespace: kustomization.namespace.clone(),
                name: kustomization.name.clone(),
                path: kustomization.path.clone(),
                prune: prunes(kustomization.spec("prune")),
                deletion_policy: kustomization.spec("deletionPolicy").as_str().unwrap_or_default().to_owned(),
                place: kustomization.place("prune"),
                beyond: ["postBuild", "kubeConfig"].map(|field| kustomization.spec(field).clone()),
                objects,
            }
        })
        .collect();
    settle(&mut found);
    found
}

/// Tells whether a `spec.prune` deletes; a variable may.
pub fn prunes(value: &Value) -> bool {
    matches!(value, Value::Bool(true) | Value::String(_))
}

/// Ranks a `spec.deletionPolicy` by what it may delete.
fn danger(policy: &str) -> usize {
    match policy {
        "Orphan" => 0,
        "" | "MirrorPrune" => 1,
        _ => 2,
    }
}

/// Takes what Flux Kustomizations become on their way: whatever applies them may patch them, as parents
/// do that give all of their children one `deletionPolicy`.
fn settle(inventories: &mut [Inventory]) {
    let mut applied: BTreeMap<(String, String), Vec<(String, Value)>> = BTreeMap::new();
    for inventory in inventories.iter() {
        for object in inventory.objects.iter().flatten() {
            let id = ObjectId::of(&object.value);
            if id.group == flux::GROUP {
                let of = (inventory.cluster.clone(), id.name);
                applied.entry(of).or_default().push((id.namespace, object.value["spec"].clone()));
            }
        }
    }
    for inventory in inventories {
        let key = (inventory.cluster.clone(), inventory.name.clone());
        // A hub applies what goes by `kubeConfig` to another cluster.
        let elsewhere = || applied.iter().filter(|((_, name), _)| *name == inventory.name);
        let several: Vec<&(String, Value)> = match applied.get(&key) {
            Some(own) => own.iter().collect(),
            None => elsewhere().flat_map(|(_, several)| several).collect(),
        };
        let Some(path) = &inventory.path else { continue };
        let is_it = |(namespace, spec): &(String, Value)| {
            let same_path = artifact_path(spec["path"].as_str().unwrap_or_default());
            (inventory.namespace.is_empty() || inventory.namespace == *namespace)
                && same_path.as_ref() == Some(path)
        };
        let specs: Vec<&Value> = several.into_iter().filter(|one| is_it(one)).map(|(_, spec)| spec).collect();
        // Of several, whatever would delete counts.
        let policy = |spec: &&Value| spec["deletionPolicy"].as_str().unwrap_or_default().to_owned();
        if let Some(worst) = specs.iter().map(policy).max_by_key(|policy| danger(policy)) {
            inventory.prune = specs.iter().any(|spec| prunes(&spec["prune"]));
            inventory.deletion_policy = worst;
        }
    }
}

/// An object that a commit may delete in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The cluster.
    pub cluster: String,
    /// The Flux Kustomization that deletes it.
    pub kustomization: String,
    /// Whether that goes itself, and takes its objects with it.
    pub goes: bool,
    /// The object.
    pub id: ObjectId,
    /// The Flux Kustomization that would apply it from then on, where there is one.
    pub next: Option<String>,
    /// Where the one that deletes stands.
    pub place: Place,
}

impl std::fmt::Display for Deletion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (cluster, id, by) = (&self.cluster, &self.id, &self.kustomization);
        write!(f, "{id} in {cluster}: Flux Kustomization {by} ")?;
        f.write_str(if self.goes { "goes and deletes it" } else { "loses it and prunes it" })?;
        match &self.next {
            Some(next) => write!(f, ", before or after {next} has applied it"),
            None => Ok(()),
        }
    }
}

/// Gives every object that a cluster may delete when it goes from one state to the other at once.
///
/// Objects that are annotated with `kustomize.toolkit.fluxcd.io/prune: disabled` stay. What a
/// Kustomization applies that does not build is not known: nothing is said about it.
pub fn deletions(before: &[Inventory], after: &[Inventory]) -> Vec<Deletion> {
    let mut found = Vec::new();
    for old in before {
        let new = after.iter().find(|new| new.is_same(old));
        if !old.deletes(new) {
            continue;
        }
        let Ok(objects) = &old.objects else { continue };
        let kept: BTreeSet<ObjectId> = match new.map(|new| &new.objects) {
            Some(Ok(objects)) => ids(objects),
            // A build that fails applies and prunes nothing.
            Some(Err(_)) => continue,
            None => BTreeSet::new(),
        };
        for object in objects.iter().filter(|object| !is_kept(&object.value)) {
            let id = ObjectId::of(&object.value);
            // A Flux Kustomization that goes is judged by what its own finalizer does, where that is known.
            let is_judged = id.group == flux::GROUP
                && before.iter().any(|own| {
                    // A hub applies what goes by `kubeConfig` to another cluster.
                    let path = || artifact_path(object.value["spec"]["path"].as_str().unwrap_or_default());
                    let is_it = own.name == id.name && (own.cluster == old.cluster || own.path == path());
                    is_it && (own.objects.is_ok() || !own.deletes_when_it_goes())
                });
            if kept.contains(&id) || is_judged {
                continue;
            }
            let applies = |other: &&Inventory| {
                other.cluster == old.cluster
                    && other.objects.as_ref().is_ok_and(|objects| ids(objects).contains(&id))
            };
            found.push(Deletion {
                cluster: old.cluster.clone(),
                kustomization: old.name.clone(),
                goes: new.is_none(),
                next: after.iter().find(applies).map(|next| next.name.clone()),
                place: old.place.clone(),
                id,
            });
        }
    }
    found
}

/// Tells whether an object says that it is never pruned.
pub(crate) fn is_kept(object: &Value) -> bool {
    let metadata = &object["metadata"];
    KEEPS.iter().any(|(key, value)| ["labels", "annotations"].iter().any(|of| metadata[of][key] == *value))
}

fn ids(objects: &[Object]) -> BTreeSet<ObjectId> {
    objects.iter().map(|object| ObjectId::of(&object.value)).collect()
}

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
            let was = before.iter().find(|old| old.key() == unbuilt.key());
            if let (Err(message), true) = (&unbuilt.objects, was.is_none_or(|was| was.objects.is_ok())) {
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
                proof::differences(id, "", values.first().map(|(_, old)| *old), Some(value), &mut fields);
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

/// Gives what becomes of an object after its build: where it goes, and what fills in its variables.
fn beyond(inventory: &Inventory, object: &Value) -> String {
    let [post_build, kube_config] = &inventory.beyond;
    let has_variable = !post_build.is_null() && object.to_string().contains("${");
    let said = [kube_config, post_build].into_iter().zip([true, has_variable]);
    said.filter(|(value, counts)| *counts && !value.is_null()).map(|(value, _)| value.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(kind: &str, name: &str) -> Object {
        Object {
            value: json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": name } }),
            origin: None,
        }
    }

    fn inventory(name: &str, prune: bool, policy: &str, objects: &[&str]) -> Inventory {
        Inventory {
            cluster: "edge".to_owned(),
            namespace: "flux-system".to_owned(),
            name: name.to_owned(),
            path: RepoPath::parse(&format!("apps/{name}")).ok(),
            prune,
            deletion_policy: policy.to_owned(),
            place: Place::file(RepoPath::parse("flux.yaml").unwrap()),
            beyond: [Value::Null, Value::Null],
            objects: Ok(objects.iter().map(|name| object("ConfigMap", name)).collect()),
        }
    }

    fn texts(before: &[Inventory], after: &[Inventory]) -> Vec<String> {
        deletions(before, after).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn one_commit_that_replaces_a_kustomization_deletes_all_of_it() {
        let before = [inventory("apps", true, "", &["a", "b"])];
        let after = [inventory("apps-rt", true, "", &["a"]), inventory("apps-rw", true, "", &["b"])];
        assert_eq!(
            texts(&before, &after),
            [
                "ConfigMap a in edge: Flux Kustomization apps goes and deletes it, before or after apps-rt has applied it",
                "ConfigMap b in edge: Flux Kustomization apps goes and deletes it, before or after apps-rw has applied it",
            ]
        );
        assert_eq!(differences(&before, &after, &BTreeSet::new()), []);
    }

    #[test]
    fn each_of_the_three_steps_deletes_nothing() {
        let steps = [
            vec![inventory("apps", true, "", &["a", "b"])],
            vec![inventory("apps", false, "Orphan", &["a", "b"])],
            vec![inventory("apps-rt", false, "", &["a"]), inventory("apps-rw", false, "", &["b"])],
            vec![inventory("apps-rt", true, "", &["a"]), inventory("apps-rw", true, "", &["b"])],
        ];
        for step in steps.windows(2) {
            assert_eq!(texts(&step[0], &step[1]), <[String; 0]>::default());
            assert_eq!(differences(&step[0], &step[1], &BTreeSet::new()), []);
        }
        // With other values it is another object, or it is in another cluster.
        for (field, text) in [(0, "${tenant}"), (1, "a")] {
            let mut two = [inventory("a", true, "", &[text]), inventory("b", true, "", &[text])];
            for (one, name) in two.iter_mut().zip(["a", "b"]) {
                one.beyond[field] = json!({ "name": name });
            }
            let lost = differences(&two, &two[..1], &BTreeSet::new());
            assert!(matches!(&lost[..], [(_, Mismatch::Lost { .. })]), "{lost:?}");
        }
        // Without the first or the second step something goes.
        assert_eq!(deletions(&steps[0], &steps[2]).len(), 2);
        let skipped = [inventory("apps", true, "", &["b"]), inventory("apps-rt", true, "", &["a"])];
        assert_eq!(deletions(&steps[1], &skipped).len(), 1);
    }

    #[test]
    fn what_goes_is_decided_by_the_policy_and_what_stays_by_the_object() {
        for (prune, policy, goes) in [
            (true, "", 1),
            (false, "", 0),
            (true, "Orphan", 0),
            (false, "Delete", 1),
            (false, "WaitForTermination", 1),
        ] {
            assert_eq!(
                deletions(&[inventory("apps", prune, policy, &["a"])], &[]).len(),
                goes,
                "{prune} {policy}"
            );
        }
        for (old, new, loses) in [(false, false, 0), (true, false, 1), (false, true, 1), (true, true, 1)] {
            let before = [inventory("apps", old, "", &["a", "b"])];
            let found = deletions(&before, &[inventory("apps", new, "", &["a"])]);
            assert_eq!(found.len(), loses, "{old} {new}");
        }
        let mut kept = inventory("apps", true, "", &["a"]);
        kept.objects.as_mut().unwrap()[0].value["metadata"]["annotations"] =
            json!({ "kustomize.toolkit.fluxcd.io/prune": "disabled" });
        assert_eq!(deletions(&[kept], &[]), []);
    }

    #[test]
    fn a_build_that_fails_prunes_nothing_and_is_a_difference() {
        let before = [inventory("apps", true, "", &["a"])];
        let mut after = inventory("apps", true, "", &[]);
        after.objects = Err("no such file".to_owned());
        assert_eq!(deletions(&before, std::slice::from_ref(&after)), []);
        let found = differences(&before, &[after], &BTreeSet::new());
        assert!(matches!(found[0].1, Mismatch::Unbuildable { .. }), "{found:?}");
    }
}
