//! The values that ConfigMaps in Git bring to the variables of Flux Kustomizations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::delivery::metadata::{is_kept, is_merged, is_only_created, is_passed_over};
use crate::delivery::view::Built;
use crate::delivery::walk::{Step, Walk};
use crate::delivery::{Cluster, Reached};
use crate::path::RepoPath;
use crate::repo::manifest::ObjectId;
use crate::repo::post_build::substitute;
use crate::repo::{Entry, Snapshot};

/// Words with which the lines of a `substituteFrom` begin.
const ITEM: [&str; 5] = ["kind", "name", "optional", "value", "op"];

/// Returns the names that a `substituteFrom` may have. Patches are texts inside of texts, so files are read line by line.
pub(super) fn wanted(snapshot: &Snapshot) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, entry) in snapshot.entries() {
        let Entry::File(file) = entry else { continue };
        let text = file.text().filter(|_| file.mentions("substituteFrom")).unwrap_or_default();
        for list in text.split("substituteFrom").skip(1) {
            let mut lines = list.lines();
            found.extend(lines.next().into_iter().flat_map(names));
            found.extend(lines.take_while(|line| is_of_item(line)).flat_map(names));
        }
    }
    found
}

fn is_of_item(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '-', '{', '[', ']', '}', ',', '"', '\'']);
    line.is_empty() || line.starts_with('#') || ITEM.iter().any(|word| line.starts_with(word))
}

/// Returns the values of `name` in a line.
fn names(line: &str) -> impl Iterator<Item = String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let value = move |rest: &str| {
        let rest = rest.trim_start_matches(['"', '\'']).trim_start().strip_prefix(':')?;
        let name = rest.trim_start_matches([' ', '"', '\'']);
        let end = name.find(|c: char| !is_of_name(c)).unwrap_or(name.len());
        Some(name[..end].to_owned()).filter(|name| !name.is_empty())
    };
    line.split("name").skip(1).filter_map(value)
}

/// Returns whether a `substituteFrom` may mean an object.
pub(super) fn is_wanted(names: &BTreeSet<String>, value: &Value) -> bool {
    value["apiVersion"] == "v1"
        && (value["kind"] == "ConfigMap" || value["kind"] == "Secret")
        && value["metadata"]["name"].as_str().is_some_and(|name| names.contains(name))
}

/// What the builds of a cluster bring of such objects: by the secrets of `kubeConfig` on the way, the kind, the namespace
/// and the name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Variables(BTreeMap<(String, ObjectId), Told>);

/// An object from which a Flux Kustomization takes values that differ.
#[derive(Clone, Debug)]
pub struct Brought<'c> {
    /// Its id.
    pub id: ObjectId,
    /// The Flux Kustomization that brings it, or that brought what goes; `None` where that is a root of which Git does not
    /// say more.
    pub by: Option<&'c Reached>,
    /// Whether its change is looked at once.
    pub is_watched: bool,
    /// Whether it goes.
    pub is_gone: bool,
    /// Whether its own settings keep Flux from deleting it.
    pub is_kept: bool,
    /// Whether it was not there, so that what takes values from it fails until it comes (fluxcd/pkg/kustomize,
    /// `LoadVariables`).
    pub is_missed: bool,
}

impl Cluster {
    /// Returns the objects from which a Flux Kustomization takes values by `substituteFrom` that are others in an older state
    /// of the cluster, where it was `former`. What goes gives its values until it is deleted.
    ///
    /// Only a change of one with the label is looked at once (kustomize-controller, `requestsForConfigDependency` and
    /// `--watch-configs-label-selector`).
    pub fn brought_otherwise<'c>(
        &'c self,
        one: &Reached,
        older: Option<&'c Cluster>,
        former: Option<&Reached>,
    ) -> Vec<Brought<'c>> {
        let known: BTreeSet<_> = former.into_iter().flat_map(items).map(|(key, _)| key).collect();
        let found = items(one).filter_map(|(key, is_optional)| {
            let was = older.and_then(|older| older.variables.get(&key));
            let is = self.variables.get(&key);
            let is_gone = is.is_none();
            // Without what it needs it fails, so that nothing comes of that.
            let is_lost = !is_optional && self.variables.is_gone(&key);
            if was == is || is_lost || is_gone && !known.contains(&key) {
                return None;
            }
            let is_missed = was.is_none() && !is_optional;
            let cluster = if is_gone { older? } else { self };
            let &Bringing { by, is_watched, is_kept, .. } = cluster.bringing.get(&key)?;
            let by = by.and_then(|by| cluster.kustomizations.get(by));
            Some(Brought { id: key.1, by, is_watched, is_gone, is_kept, is_missed })
        });
        found.collect()
    }

    /// Returns the Flux Kustomizations that take values from an object that Flux deletes, each with that. Until then they go on
    /// with its values; from then on they fail (fluxcd/pkg/kustomize, `LoadVariables`).
    pub fn losing_values(&self) -> impl Iterator<Item = (&Reached, ObjectId)> {
        let alive = self.kustomizations.iter().filter(|one| one.error.is_none() && !one.is_suspended());
        let lost = |((remote, id), is_optional): (_, bool)| {
            let key = (remote, id);
            (!is_optional && self.variables.is_gone(&key)).then_some(key.1)
        };
        alive.flat_map(move |one| items(one).filter_map(lost).map(move |id| (one, id)))
    }
}

/// Returns the objects from which a Flux Kustomization takes values, and whether it goes on without them.
fn items(one: &Reached) -> impl Iterator<Item = ((String, ObjectId), bool)> {
    let list = one.value["spec"]["postBuild"]["substituteFrom"].as_array().into_iter().flatten();
    list.map(|item| (Variables::key(item, &one.remote, one.namespace()), item["optional"] == true))
}

/// What brings an object with values of variables.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bringing {
    /// The folder that is built.
    pub folder: RepoPath,
    /// The position of the Flux Kustomization that builds it.
    pub by: Option<usize>,
    /// Whether the object has the label with which controllers watch it.
    pub is_watched: bool,
    /// Whether its own settings keep Flux from deleting it.
    pub is_kept: bool,
    /// Whether that applies nothing any more.
    pub is_left: bool,
}

/// An object with values of variables that stays in a cluster as it was applied before.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    told: Told,
    is_watched: bool,
    is_kept: bool,
}

impl Cluster {
    /// Returns the objects with values of variables, each with the position of the Flux Kustomization that brings it.
    pub(super) fn kept_values(&self) -> impl Iterator<Item = (usize, ObjectId, Kept)> {
        self.bringing.iter().filter_map(|(key, bringing)| {
            let &Bringing { by, is_watched, is_kept, .. } = bringing;
            let told = self.variables.0.get(key)?.clone();
            Some((by?, key.1.clone(), Kept { told, is_watched, is_kept }))
        })
    }
}

impl Walk<'_, '_> {
    /// Takes in the objects of a level that bring values to variables.
    pub(super) fn take_variables(&mut self, steps: &[Step], answers: &[(Vec<Built>, Option<String>)]) {
        let top = self.reader.top.clone();
        for (step, (objects, error)) in steps.iter().zip(answers) {
            let by = step.by.map(|by| &self.cluster.kustomizations[by]);
            if let Some(left) = self.left_of(step) {
                for (id, kept) in left.values.clone() {
                    let Kept { told, is_watched, is_kept } = kept;
                    self.take_variable(step, id, told, (is_watched, is_kept), true);
                }
                continue;
            }
            let is_applied = by.is_none_or(|by| by.is_certain && by.value["spec"]["suspend"] != true);
            for one in objects.iter().filter(|one| top.is_variable(&one.value)) {
                let mut value = (*one.value).clone();
                substitute(&step.post_build, &mut value);
                let told = if is_applied && error.is_none() { told(&value) } else { Told::Unclear };
                self.take_variable(
                    step,
                    ObjectId::of(&value),
                    told,
                    (is_watched(&value), is_kept(&value)),
                    false,
                );
            }
        }
    }

    /// Takes in the objects with values that Flux Kustomizations applied in an older state and delete now. One that takes values
    /// from its own object applies once more before it deletes that, so nothing is said of it.
    pub(super) fn take_gone(&mut self) {
        let mut gone = Vec::new();
        for one in self.cluster.kustomizations.iter().filter(|one| one.path.is_some()) {
            let deletes = one.value["spec"]["prune"] == true && !one.is_suspended();
            let Some(root) = self.cluster.roots.get(one.root).filter(|_| deletes) else { continue };
            if !one.is_certain || one.error.is_some() {
                continue;
            }
            let own: BTreeSet<_> = items(one).map(|(key, _)| key).collect();
            let values =
                self.reader.former.applied_by(&root.folder, one).into_iter().flat_map(|left| &left.values);
            let goes = values.filter(|(_, kept)| !kept.is_kept);
            let goes = goes.map(|(id, kept)| ((one.target(), id.clone()), kept.told.clone()));
            gone.extend(goes.filter(|(key, _)| !own.contains(key)));
        }
        for (key, told) in gone {
            self.found.0.entry(key).or_insert(Told::Gone(Box::new(told)));
        }
    }

    /// Takes one in. What applies nothing any more has only `left` it, so that any other one that brings it says what it is.
    fn take_variable(
        &mut self,
        step: &Step,
        id: ObjectId,
        told: Told,
        (is_watched, is_kept): (bool, bool),
        is_left: bool,
    ) {
        let key = (step.remote.clone(), id);
        let own = Bringing { folder: step.folder.clone(), by: step.by, is_watched, is_kept, is_left };
        match self.bringing.get(&key) {
            Some(other) if is_left && !other.is_left => return,
            Some(other) if other.is_left && !is_left => _ = self.bringing.remove(&key),
            _ => {}
        }
        match *self.bringing.entry(key.clone()).or_insert_with(|| own.clone()) == own {
            true => self.found.take(key, told),
            false => self.found.contest(key, &told),
        }
    }
}

/// Returns whether an object has the label with which controllers watch it.
pub(super) fn is_watched(value: &Value) -> bool {
    value["metadata"]["labels"]["reconcile.fluxcd.io/watch"] == "Enabled"
}

/// What Git says of one.
#[derive(Clone, Debug, PartialEq)]
enum Told {
    /// All that it holds; a value that Git does not say is `None`, as those of a Secret.
    Data(BTreeMap<String, Option<String>>),
    /// As [`Data`](Told::Data), and there may be further names.
    Part(BTreeMap<String, Option<String>>),
    /// The cluster may have another one.
    Unclear,
    /// It was there and held this, and Flux deletes it.
    Gone(Box<Told>),
}

impl Told {
    /// Returns what is known where the cluster has one or the other.
    fn and(&self, other: &Told) -> Told {
        let (Some(own), Some(others)) = (self.data(), other.data()) else { return Told::Unclear };
        let names: BTreeSet<&String> = own.keys().chain(others.keys()).collect();
        let value = |name: &String| own.get(name).filter(|value| others.get(name) == Some(*value));
        let data = names.into_iter().map(|name| (name.clone(), value(name).cloned().flatten())).collect();
        match (self, other) {
            (Told::Data(_), Told::Data(_)) => Told::Data(data),
            _ => Told::Part(data),
        }
    }

    fn data(&self) -> Option<&BTreeMap<String, Option<String>>> {
        match self {
            Told::Data(data) | Told::Part(data) => Some(data),
            Told::Unclear | Told::Gone(_) => None,
        }
    }
}

impl Variables {
    /// Takes in what Git says of an object that a build brings.
    fn take(&mut self, key: (String, ObjectId), told: Told) {
        self.0.insert(key, told);
    }

    /// Takes in what a further build makes of an object: the cluster has what either applied last, so what both say is known.
    fn contest(&mut self, key: (String, ObjectId), told: &Told) {
        let both = self.0.get(&key).map_or(Told::Unclear, |other| other.and(told));
        self.0.insert(key, both);
    }

    /// Returns what Git says of an object that the cluster has.
    fn get(&self, key: &(String, ObjectId)) -> Option<&Told> {
        self.0.get(key).filter(|_| !self.is_gone(key))
    }

    /// Returns whether Flux deletes an object.
    fn is_gone(&self, key: &(String, ObjectId)) -> bool {
        matches!(self.0.get(key), Some(Told::Gone(_)))
    }

    /// Returns a `spec.postBuild` with the values that are known: those of `substituteFrom` in its order, of which the last
    /// one counts, and then `substitute` (fluxcd/pkg/kustomize, `LoadVariables` and `SubstituteVariables`).
    ///
    /// What is not known may bring any name, so what stands before it is not known either. It stays in `substituteFrom`. What is
    /// deleted counts for nothing where it is optional. Else the former values count: a build without them fails, so that no
    /// other ones ever land ([`Cluster::losing_values`]).
    pub(super) fn known(&self, post_build: &Value, remote: &str, namespace: &str) -> Value {
        let from = post_build["substituteFrom"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut values: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        let mut rest = Vec::new();
        for item in from {
            let told = match self.told(item, remote, namespace) {
                Some(Told::Gone(_)) if item["optional"] == true => continue,
                Some(Told::Gone(former)) => Some(&**former),
                told => told,
            };
            match told {
                Some(Told::Data(data)) => {
                    values.extend(data.iter().map(|(name, value)| (name.as_str(), value.as_deref())));
                    rest.extend(Some(item).filter(|_| data.values().any(Option::is_none)));
                }
                Some(Told::Part(data)) => {
                    values = data.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
                    rest.push(item);
                }
                Some(Told::Unclear | Told::Gone(_)) | None => {
                    values.clear();
                    rest.push(item);
                }
            }
        }
        if rest.len() == from.len() && values.is_empty() {
            return post_build.clone();
        }
        let values = values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
        let mut all: Map<String, Value> = values.collect();
        all.extend(post_build["substitute"].as_object().cloned().unwrap_or_default());
        let mut known = post_build.clone();
        known["substitute"] = Value::Object(all);
        known["substituteFrom"] = json!(rest);
        known
    }

    fn told(&self, item: &Value, remote: &str, namespace: &str) -> Option<&Told> {
        self.0.get(&Variables::key(item, remote, namespace))
    }

    fn key(item: &Value, remote: &str, namespace: &str) -> (String, ObjectId) {
        let text = |field: &str| item[field].as_str().unwrap_or_default().to_owned();
        let id = ObjectId {
            group: String::new(),
            kind: text("kind"),
            namespace: namespace.to_owned(),
            name: text("name"),
        };
        (remote.to_owned(), id)
    }
}

fn told(value: &Value) -> Told {
    // The cluster may have something else than Git.
    if is_passed_over(value) || is_only_created(value) {
        return Told::Unclear;
    }
    let is_secret = value["kind"] == "Secret";
    let fields = if is_secret { &["data", "stringData"][..] } else { &["data"] };
    let data = fields.iter().filter_map(|field| value[field].as_object()).flatten();
    // A variable in it is filled in by what applies it, as far as Git says that.
    let known =
        |value: &Value| value.as_str().filter(|text| !is_secret && !text.contains("${")).map(str::to_owned);
    let data = data.map(|(name, value)| (name.clone(), known(value))).collect();
    if is_merged(value) { Told::Part(data) } else { Told::Data(data) }
}

#[cfg(test)]
#[path = "variables_tests.rs"]
mod tests;
