//! The proof: every entry point renders the same before and after, object by object.

pub mod difference;
mod mismatch;
mod renames;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use mismatch::appeared;
pub(crate) use mismatch::differences;
pub use mismatch::{Mismatch, compare};
use renames::without_awaited;
pub(crate) use renames::without_names;
pub use renames::{FluxName, Renamed, Renames};

use crate::mechanism;
use crate::path::RepoPath;
use crate::render::{Object, RenderError, Renderer, Request};
use crate::repo::manifest::ObjectId;
use crate::repo::{Snapshot, flux};

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
    /// What of a Flux Kustomization's `spec` takes part in the build; null where nothing does.
    pub build: Value,
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
            build: Value::Null,
            renamed: Renamed::default(),
            readers: Readers::new(),
        }
    }

    fn request(&self) -> Request {
        Request::flux(self.before.clone(), &self.build)
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
        Request::flux(path.clone(), &crate::delivery::rebuilt(&self.build, &self.before, path))
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

/// Returns whether an object in the folder of a gate is part of it, and may change with it; of alerts
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
    let frees = || obligations.iter().flat_map(|one| &one.free).cloned().map(Request::delivered);
    let old =
        rendered(before, obligations.iter().flat_map(Obligation::old).chain(frees()).collect(), renderer);
    let new =
        rendered(after, obligations.iter().flat_map(Obligation::requests).chain(frees()).collect(), renderer);
    obligations
        .iter()
        .map(|obligation| {
            let gates = obligation.free.iter().cloned().map(Request::delivered);
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

/// Returns the first difference that [`prove`] finds, for where one is enough to refuse.
pub fn first_mismatch(
    before: &Snapshot,
    after: &Snapshot,
    obligations: &[Obligation],
    renderer: &dyn Renderer,
) -> Option<Mismatch> {
    let verdicts = prove(before, after, obligations, renderer);
    verdicts.into_iter().flat_map(|verdict| verdict.mismatches).next()
}

/// Returns whether a difference is only that Flux Kustomizations come, or that those that `renamed` takes
/// away go.
fn is_succession(mismatch: &Mismatch, renamed: &Renamed) -> bool {
    match mismatch {
        Mismatch::Added { id, .. } => id.group == flux::GROUP,
        Mismatch::Lost { id } => id.group == flux::GROUP && renamed.goes(&id.namespace, &id.name),
        _ => false,
    }
}

/// Returns the objects as an obligation holds the plan to them.
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
