//! Renders before and after, independently of the plan, and compares.

use std::collections::BTreeMap;

use gitops_windows::delivery::Input;
use gitops_windows::delivery::{EntryPoint, Model};
use gitops_windows::path::RepoPath;
use gitops_windows::plan::EntryOutcome;
use gitops_windows::render::{Embedded, External, Renderer, Request};
use gitops_windows::repo::Snapshot;
use gitops_windows::repo::manifest::ObjectId;
use serde_json::{Value, json};

use crate::support::kustomizations;

type Objects = BTreeMap<ObjectId, Value>;

/// Compares trees with the one that was there first.
pub struct Judge<'a> {
    before: &'a Snapshot,
    model: &'a Model,
    outside: Option<&'a External>,
    embedded: &'a Embedded,
    /// What every folder with a kustomization built at first.
    folders: Vec<(RepoPath, Result<Objects, String>)>,
}

impl<'a> Judge<'a> {
    /// Looks at the first tree; another kustomize renders plain folders where one is given.
    pub fn new(
        before: &'a Snapshot,
        model: &'a Model,
        outside: Option<&'a External>,
        embedded: &'a Embedded,
    ) -> Judge<'a> {
        let mut judge = Judge { before, model, outside, embedded, folders: Vec::new() };
        let folders = kustomizations(before);
        let requests: Vec<Request> = folders.iter().cloned().map(Request::base).collect();
        judge.folders = folders.into_iter().zip(judge.render(before, &requests)).collect();
        judge
    }

    fn render(&self, snapshot: &Snapshot, requests: &[Request]) -> Vec<Result<Objects, String>> {
        let plain = requests.iter().all(|request| request.fields().is_none());
        let renderer: &dyn Renderer = match self.outside {
            Some(outside) if plain => outside,
            _ => self.embedded,
        };
        let results = renderer.render(snapshot, requests);
        results
            .into_iter()
            .map(|result| {
                let mut objects = Objects::new();
                for object in result.map_err(|error| error.message)? {
                    let id = ObjectId::of(&object.value);
                    if objects.insert(id.clone(), std::sync::Arc::unwrap_or_clone(object.value)).is_some() {
                        return Err(format!("{id} is built twice"));
                    }
                }
                Ok(objects)
            })
            .collect()
    }

    /// How clusters build an entry point, as seen from one of the folders that stand for it.
    fn requests(&self, entry: &EntryPoint, folder: &RepoPath) -> Vec<Request> {
        let generated = !self.model.graph.has(&entry.path);
        let mut requests: Vec<Request> = Vec::new();
        for flux in self.model.flux_of(entry) {
            let mut spec = flux.value["spec"].clone();
            for component in spec.get_mut("components").and_then(Value::as_array_mut).into_iter().flatten() {
                let path = entry.path.join(component.as_str().unwrap()).unwrap();
                *component = json!(path.relative_to(folder));
            }
            requests.push(Request::flux(folder.clone(), &spec));
        }
        if requests.is_empty() || !generated {
            requests.push(Request::base(folder.clone()));
        }
        requests
    }

    /// Every folder and every entry point must build what it built at first.
    pub fn same(&self, after: &Snapshot) -> Result<(), String> {
        let requests: Vec<Request> =
            self.folders.iter().map(|(folder, _)| Request::base(folder.clone())).collect();
        for ((folder, old), new) in self.folders.iter().zip(self.render(after, &requests)) {
            // What only another kustomization can use builds nothing by itself.
            let Ok(old) = old else { continue };
            let new = new.map_err(|error| format!("{folder}: {error}"))?;
            compare(&without_pruning(old.clone()), &without_pruning(new), folder)?;
        }
        for entry in self.model.all_entries() {
            let requests = self.requests(entry, &entry.path);
            let old = self.render(self.before, &requests);
            for (old, new) in old.into_iter().zip(self.render(after, &requests)) {
                let Ok(old) = old else { continue };
                let new = new.map_err(|error| format!("{}, as Flux builds it: {error}", entry.path))?;
                compare(&without_pruning(old), &without_pruning(new), &entry.path)?;
            }
        }
        Ok(())
    }

    /// The sides of a divided entry point must add up to it, each object once and on its side.
    pub fn divided(
        &self,
        input: &Input<'_>,
        after: &Snapshot,
        outcome: &EntryOutcome,
        whole: bool,
    ) -> Result<usize, String> {
        let Some(entry) = self.model.entry(&outcome.before) else {
            return Err(format!("{} was no entry point", outcome.before));
        };
        let ways = self.requests(entry, &entry.path).len();
        let types = self.types(input, entry)?;
        let mut count = 0;
        for way in 0..ways {
            let old = self.render(self.before, &[self.requests(entry, &entry.path).remove(way)]).remove(0);
            let old = without_pruning(old.map_err(|error| format!("{} was divided: {error}", entry.path))?);
            count = old.len();
            let mut union = Objects::new();
            for (name, side) in &outcome.after {
                let new = self.render(after, &[self.requests(entry, side).remove(way)]).remove(0);
                for (id, value) in without_pruning(new.map_err(|error| format!("{side}: {error}"))?) {
                    if old.get(&id) != Some(&value) {
                        return Err(format!("{side}: {id} is {value} instead of {:?}", old.get(&id)));
                    }
                    if let Some(rule) = types.get(&id).filter(|rule| *rule != name) {
                        return Err(format!("{id} is on the side of {name} and is {rule}"));
                    }
                    if union.insert(id.clone(), value).is_some() {
                        return Err(format!("{id} is on two sides of {}", entry.path));
                    }
                }
            }
            if whole {
                compare(&old, &union, &entry.path)?;
            }
        }
        Ok(count)
    }

    /// Returns the type of each object by the rules. What Flux's own fields rename has another name.
    fn types(&self, input: &Input<'_>, entry: &EntryPoint) -> Result<BTreeMap<ObjectId, String>, String> {
        if !self.model.graph.has(&entry.path) {
            return Ok(BTreeMap::new());
        }
        let typed = input.typed_entry(self.before, entry).map_err(|error| format!("{error:?}"))?;
        let name = |position: usize| input.spec.types[position].name.value.clone();
        let types = typed.ids().zip(&typed.types).map(|(id, found)| (id, name(found.change_type)));
        Ok(types.collect())
    }
}

/// Takes away what a split may change of Flux Kustomizations, and the annotation that the controller sets
/// where a kustomization lists no `resources`, as a divided one does.
fn without_pruning(mut objects: Objects) -> Objects {
    for value in objects.values_mut() {
        let Some(metadata) = value["metadata"].as_object_mut() else { continue };
        let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
        if annotations
            .is_some_and(|own| own.remove("config.kubernetes.io/origin").is_some() && own.is_empty())
        {
            metadata.remove("annotations");
        }
    }
    for value in objects.values_mut().filter(|value| value["kind"] == "Kustomization") {
        value["apiVersion"] = json!("kustomize.toolkit.fluxcd.io");
        let spec = value["spec"].as_object_mut().unwrap();
        spec.remove("prune");
        spec.remove("deletionPolicy");
    }
    objects
}

fn compare(old: &Objects, new: &Objects, what: &RepoPath) -> Result<(), String> {
    let names = |objects: &Objects| objects.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if old.keys().ne(new.keys()) {
        return Err(format!("{what}: {} instead of {}", names(new), names(old)));
    }
    match old.iter().find(|(id, value)| new.get(id) != Some(value)) {
        Some((id, value)) => Err(format!("{what}: {id} is {} instead of {value}", new[id])),
        None => Ok(()),
    }
}
