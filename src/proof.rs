//! The proof: every entry point renders the same before and after, object by object.

pub mod difference;
mod renames;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use renames::without_awaited;
pub(crate) use renames::without_names;
pub use renames::{FluxName, Renamed, Renames};

use crate::mechanism;
use crate::path::RepoPath;
use crate::render::{Object, RenderError, Renderer, Request};
use crate::repo::manifest::ObjectId;
use crate::repo::{Snapshot, flux, secret};

/// One thing that must be true of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obligation {
    /// The entry point as it was.
    pub before: RepoPath,
    /// Folders that were applied together with it, where objects may go from one to another.
    pub beside: Vec<RepoPath>,
    /// The folders that together must give the same objects, each object once.
    pub after: Vec<RepoPath>,
    /// Whether the plan may add Flux Kustomizations and change how they prune; everything else of
    /// them must stay.
    pub flux_may_change: bool,
    /// Folders whose objects are not compared: the gate that an entry point carries changes with
    /// the spec.
    pub free: Vec<RepoPath>,
    /// What of a Flux Kustomization's `spec` takes part in the build, where anything does.
    pub build: Option<Value>,
    /// Flux Kustomizations that come or go, which Alerts and Receivers may name or not.
    pub renamed: Renamed,
    /// By namespace and name the Flux Kustomizations that may begin to read a source, by its name.
    pub readers: Readers,
}

/// Flux Kustomizations by namespace and name, each with the name of the held source that a gate has for it.
pub type Readers = BTreeMap<(String, String), String>;

impl Obligation {
    /// Demands that a folder goes on rendering the same.
    pub fn same(path: RepoPath) -> Obligation {
        Obligation {
            after: vec![path.clone()],
            before: path,
            beside: Vec::new(),
            flux_may_change: false,
            free: Vec::new(),
            build: None,
            renamed: Renamed::default(),
            readers: Readers::new(),
        }
    }

    fn request(&self) -> Request {
        Request::of(self.before.clone(), self.build.as_ref())
    }

    /// The builds before.
    fn old(&self) -> impl Iterator<Item = Request> + '_ {
        std::iter::once(self.request()).chain(self.beside.iter().map(|path| self.request_of(path)))
    }

    /// Returns the builds that stand for the old one.
    pub fn requests(&self) -> Vec<Request> {
        self.after.iter().map(|path| self.request_of(path)).collect()
    }

    /// The build of another folder by the same fields. A component's path is relative to the folder
    /// that is built, so it is told anew for each.
    fn request_of(&self, path: &RepoPath) -> Request {
        let flux = self.build.as_ref().map(|build| crate::delivery::rebuilt(build, &self.before, path));
        Request::of(path.clone(), flux.as_ref())
    }
}

/// How a render differs from what it must be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mismatch {
    /// An object is gone.
    Lost {
        /// The object.
        id: ObjectId,
    },
    /// An object is there that was not.
    Added {
        /// The object.
        id: ObjectId,
        /// The folder that renders it.
        folder: RepoPath,
    },
    /// Several folders render the object.
    Doubled {
        /// The object.
        id: ObjectId,
        /// The folders.
        folders: Vec<RepoPath>,
    },
    /// A field differs.
    Changed {
        /// The object.
        id: ObjectId,
        /// The field as a path, for example `spec.template.spec.volumes[0].configMap.name`.
        field: String,
        /// Its value before, as JSON; empty where it was missing, `*** (before)` where it is a Secret's.
        before: String,
        /// Its value after, as JSON; empty where it is missing, `*** (after)` where it is a Secret's.
        after: String,
    },
    /// A folder does not build.
    Unbuildable {
        /// The folder.
        folder: RepoPath,
        /// What the renderer says.
        message: String,
    },
}

impl Mismatch {
    /// Gives the object that differs; `None` where a folder does not build.
    pub fn id(&self) -> Option<&ObjectId> {
        match self {
            Mismatch::Lost { id }
            | Mismatch::Added { id, .. }
            | Mismatch::Doubled { id, .. }
            | Mismatch::Changed { id, .. } => Some(id),
            Mismatch::Unbuildable { .. } => None,
        }
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Mismatch::Lost { id } => write!(f, "{id} would be lost"),
            Mismatch::Added { id, folder } => write!(f, "{id} would be added by {folder}"),
            Mismatch::Doubled { id, folders } => {
                let folders: Vec<String> = folders.iter().map(ToString::to_string).collect();
                write!(f, "{id} would be applied by {}", folders.join(" and by "))
            }
            Mismatch::Changed { id, field, before, after } => {
                let shown = |text: &str| if text.is_empty() { "nothing".to_owned() } else { text.to_owned() };
                write!(f, "{id} would change: {field} from {} to {}", shown(before), shown(after))
            }
            Mismatch::Unbuildable { folder, message } => write!(f, "{folder} would not build: {message}"),
        }
    }
}

/// What one obligation came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The obligation.
    pub obligation: Obligation,
    /// Objects rendered before; 0 where the entry point did not build.
    pub objects: usize,
    /// Nothing, or every way in which the result differs.
    pub mismatches: Vec<Mismatch>,
}

/// The name of the Provider and the Alert beside a gate.
pub(crate) const ALERTS: &str = "reconciliation-windows";

/// Tells whether an object in the folder of a gate is part of it, and may change with it; of alerts
/// only those that the tool names, since a gate that people wrote may hold others.
pub(crate) fn is_of_gate(id: &ObjectId) -> bool {
    let is_alert = id.group == flux::NOTIFICATION_GROUP
        && ["Provider", "Alert"].contains(&id.kind.as_str())
        && id.name == ALERTS;
    is_alert || mechanism::is_kind(&id.kind)
}

/// Renders what the obligations speak of and compares.
///
/// An entry point that does not build before is held to nothing but this: it must not build after
/// with objects of its own, so its verdict is empty when it still does not build.
pub fn prove(
    before: &Snapshot,
    after: &Snapshot,
    obligations: &[Obligation],
    renderer: &dyn Renderer,
) -> Vec<Verdict> {
    let frees = || obligations.iter().flat_map(|one| &one.free).cloned().map(Request::folder);
    let old =
        rendered(before, obligations.iter().flat_map(Obligation::old).chain(frees()).collect(), renderer);
    let new =
        rendered(after, obligations.iter().flat_map(Obligation::requests).chain(frees()).collect(), renderer);
    obligations
        .iter()
        .map(|obligation| {
            let gates = obligation.free.iter().cloned().map(Request::folder);
            let free: BTreeSet<ObjectId> = gates
                .flat_map(|request| [old.get(&request), new.get(&request)])
                .filter_map(|result| result?.as_ref().ok())
                .flatten()
                .map(|object| ObjectId::of(&object.value))
                .filter(is_of_gate)
                .collect();
            let parts: Vec<(&RepoPath, Result<Vec<Object>, RenderError>)> = obligation
                .after
                .iter()
                .zip(obligation.requests())
                .filter_map(|(path, request)| {
                    let result = new.get(&request)?.as_ref();
                    Some((path, result.map(|objects| held(obligation, &free, objects)).map_err(Clone::clone)))
                })
                .collect();
            let parts: Vec<_> = parts.iter().map(|(path, result)| (*path, result)).collect();
            let before: Option<Vec<&Vec<Object>>> =
                obligation.old().map(|request| old.get(&request)?.as_ref().ok()).collect();
            let (objects, mut mismatches) = match before.map(|several| several.into_iter().flatten()) {
                Some(objects) => {
                    let objects: Vec<Object> = objects.cloned().collect();
                    (objects.len(), compare(&held(obligation, &free, &objects), &parts))
                }
                None => (0, appeared(&parts)),
            };
            if obligation.flux_may_change {
                mismatches.retain(|mismatch| !is_succession(mismatch, &obligation.renamed));
            }
            Verdict { obligation: obligation.clone(), objects, mismatches }
        })
        .collect()
}

/// Gives the first difference that [`prove`] finds, for where one is enough to refuse.
pub fn first_mismatch(
    before: &Snapshot,
    after: &Snapshot,
    obligations: &[Obligation],
    renderer: &dyn Renderer,
) -> Option<Mismatch> {
    let verdicts = prove(before, after, obligations, renderer);
    verdicts.into_iter().flat_map(|verdict| verdict.mismatches).next()
}

/// Tells whether a difference is only that Flux Kustomizations come, or that those that `renamed` takes
/// away go.
fn is_succession(mismatch: &Mismatch, renamed: &Renamed) -> bool {
    match mismatch {
        Mismatch::Added { id, .. } => id.group == flux::GROUP,
        Mismatch::Lost { id } => id.group == flux::GROUP && renamed.goes(&id.namespace, &id.name),
        _ => false,
    }
}

/// Gives the objects as an obligation holds the plan to them.
fn held(obligation: &Obligation, free: &BTreeSet<ObjectId>, objects: &[Object]) -> Vec<Object> {
    let objects = objects.iter().filter(|object| !free.contains(&ObjectId::of(&object.value)));
    let pruning =
        |object: &Object| if obligation.flux_may_change { without_pruning(object) } else { object.clone() };
    let objects = objects.map(|object| reading(object, &obligation.readers));
    let names = |object| without_awaited(without_names(object, &obligation.renamed), &obligation.renamed);
    objects.map(|object| pruning(&object)).map(names).collect()
}

/// Renders each request once.
fn rendered(
    snapshot: &Snapshot,
    requests: Vec<Request>,
    renderer: &dyn Renderer,
) -> HashMap<Request, Result<Vec<Object>, RenderError>> {
    let mut seen = HashSet::new();
    let requests: Vec<Request> =
        requests.into_iter().filter(|request| seen.insert(request.clone())).collect();
    let results = renderer.render(snapshot, &requests);
    requests.into_iter().zip(results).collect()
}

fn appeared(parts: &[(&RepoPath, &Result<Vec<Object>, RenderError>)]) -> Vec<Mismatch> {
    let objects = parts.iter().filter_map(|(path, result)| Some((*path, result.as_ref().ok()?)));
    objects
        .flat_map(|(path, objects)| {
            objects
                .iter()
                .map(|object| Mismatch::Added { id: ObjectId::of(&object.value), folder: path.clone() })
        })
        .collect()
}

/// Lets one of `readers` read its held source already, and keep its objects; `suspend: false` says nothing.
pub fn reading(object: &Object, readers: &Readers) -> Object {
    let mut object = object.clone();
    let ObjectId { group, namespace, name, .. } = ObjectId::of(&object.value);
    let is_it = |(own, _): &(&(String, String), &String)| {
        own.1 == name && (own.0 == namespace || namespace.is_empty())
    };
    if let Some((_, source)) = readers.iter().find(is_it).filter(|_| group == flux::GROUP) {
        let spec = &mut Arc::make_mut(&mut object.value)["spec"];
        spec["sourceRef"]["name"] = source.as_str().into();
        if let Some(spec) = spec.as_object_mut() {
            spec.retain(|key, value| key != "deletionPolicy" && (key != "suspend" || *value != false));
        }
    }
    object
}

/// Takes away what a plan may change of a Flux Kustomization.
fn without_pruning(object: &Object) -> Object {
    let mut object = object.clone();
    if ObjectId::of(&object.value).group == flux::GROUP {
        let value = Arc::make_mut(&mut object.value);
        value["apiVersion"] = Value::String(flux::API_VERSION.to_owned());
        if let Some(spec) = value["spec"].as_object_mut() {
            spec.remove("prune");
            spec.remove("deletionPolicy");
        }
    }
    object
}

/// Compares a list of objects with the union of several builds.
pub fn compare(before: &[Object], parts: &[(&RepoPath, &Result<Vec<Object>, RenderError>)]) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    let mut found: BTreeMap<ObjectId, Vec<(&RepoPath, &Value)>> = BTreeMap::new();
    for (path, result) in parts {
        match result {
            Ok(objects) => {
                for object in objects {
                    found.entry(ObjectId::of(&object.value)).or_default().push((path, &object.value));
                }
            }
            Err(error) => mismatches
                .push(Mismatch::Unbuildable { folder: (*path).clone(), message: error.message.clone() }),
        }
    }
    if !mismatches.is_empty() {
        return mismatches;
    }
    for object in before {
        let id = ObjectId::of(&object.value);
        match found.remove(&id).as_deref() {
            None => mismatches.push(Mismatch::Lost { id }),
            Some([(_, value)]) => differences(&id, "", Some(&object.value), Some(value), &mut mismatches),
            Some(several) => mismatches.push(Mismatch::Doubled {
                id,
                folders: several.iter().map(|(path, _)| (*path).clone()).collect(),
            }),
        }
    }
    for (id, places) in found {
        for (path, _) in places {
            mismatches.push(Mismatch::Added { id: id.clone(), folder: path.clone() });
        }
    }
    mismatches
}

/// Walks two values side by side; the order of keys means nothing, that of items everything.
pub(crate) fn differences(
    id: &ObjectId,
    field: &str,
    a: Option<&Value>,
    b: Option<&Value>,
    found: &mut Vec<Mismatch>,
) {
    match (a, b) {
        (Some(a), Some(b)) if a == b => {}
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let field = if field.is_empty() { key.clone() } else { format!("{field}.{key}") };
                differences(id, &field, a.get(key), b.get(key), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for index in 0..a.len().max(b.len()) {
                differences(id, &format!("{field}[{index}]"), a.get(index), b.get(index), found);
            }
        }
        (a, b) => {
            let is_hidden = secret::is_value(id, field);
            let text = |value: Option<&Value>, side| match value {
                Some(_) if is_hidden => format!("*** ({side})"),
                value => value.map(ToString::to_string).unwrap_or_default(),
            };
            found.push(Mismatch::Changed {
                id: id.clone(),
                field: field.to_owned(),
                before: text(a, "before"),
                after: text(b, "after"),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(name: &str, data: Value) -> Object {
        Object {
            value: Arc::new(
                json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": data }),
            ),
            origin: None,
        }
    }

    fn folder(name: &str) -> RepoPath {
        RepoPath::parse(name).unwrap()
    }

    #[test]
    fn values_of_secrets_are_not_told() {
        let secret = |data: Value| {
            let value =
                json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "a" }, "data": data });
            Object { value: Arc::new(value), origin: None }
        };
        let after = Ok(vec![secret(json!({ "k": "c2Vjb25k", "new": "bmV3" }))]);
        let found = compare(&[secret(json!({ "k": "Zmlyc3Q=" }))], &[(&folder("rt"), &after)]);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "Secret a would change: data.k from *** (before) to *** (after)",
                "Secret a would change: data.new from nothing to *** (after)",
            ]
        );
    }

    #[test]
    fn invariant_5_a_disjoint_union_is_equal() {
        let before = [object("a", json!({})), object("b", json!({}))];
        let (rt, rw) = (Ok(vec![object("b", json!({}))]), Ok(vec![object("a", json!({}))]));
        assert_eq!(compare(&before, &[(&folder("rt"), &rt), (&folder("rw"), &rw)]), []);
    }

    #[test]
    fn every_kind_of_mismatch_names_its_object() {
        let before =
            [object("a", json!({})), object("b", json!({})), object("c", json!({ "k": ["x", "y"] }))];
        let rt = Ok(vec![object("a", json!({})), object("c", json!({ "k": ["x", "z"] }))]);
        let rw = Ok(vec![object("a", json!({})), object("d", json!({}))]);
        let texts: Vec<String> = compare(&before, &[(&folder("rt"), &rt), (&folder("rw"), &rw)])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            texts,
            [
                "ConfigMap a would be applied by rt and by rw",
                "ConfigMap b would be lost",
                "ConfigMap c would change: data.k[1] from \"y\" to \"z\"",
                "ConfigMap d would be added by rw",
            ]
        );
    }
}
