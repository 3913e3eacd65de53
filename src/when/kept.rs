//! Which sides keep what a file holds: a projection reads everything and drops what is of another type.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::delivery::Apps;
use crate::delivery::Model;
use crate::delivery::classify::classify_all;
use crate::delivery::fleet::{Part, Side};
use crate::path::RepoPath;
use crate::plan::edit::generated::is_generated;
use crate::render::{Object, Origin};
use crate::repo::Snapshot;
use crate::repo::manifest::{manifests, objects};
use crate::spec::Spec;

/// The objects of one file, by the side that builds it.
pub struct Kept<'a> {
    /// The objects; `None` where the path is no file of objects alone, so that every side counts.
    objects: Option<Vec<Object>>,
    /// By the folder of a side that takes the file from projections alone, the positions of its types.
    types: BTreeMap<&'a RepoPath, BTreeSet<usize>>,
}

impl<'a> Kept<'a> {
    /// Finds out which types a file's objects have on the sides that project it.
    ///
    /// Rules and annotations decide, as they do in the projection, so nothing has to be built.
    pub fn of(spec: &Spec, model: &'a Model, snapshot: &Snapshot, path: &RepoPath) -> Kept<'a> {
        let mut kept = Kept { objects: declared(model, snapshot, path), types: BTreeMap::new() };
        let Some(objects) = &kept.objects else { return kept };
        // Whether a HelmRelease reads it stands in other files.
        let may_be_read =
            |object: &Object| matches!(object.value["kind"].as_str(), Some("ConfigMap" | "Secret"));
        if spec.rules.iter().any(|rule| rule.matcher.is_values) && objects.iter().any(may_be_read) {
            return kept;
        }
        for entry in model.all_entries() {
            if !is_projected(model, snapshot, &entry.path, path) {
                continue;
            }
            let apps = Apps::of(model, entry);
            let app_of = |object: &Object| apps.bringing(object).unwrap_or_default().to_owned();
            if let Ok(types) = classify_all(spec, objects, &app_of) {
                kept.types.insert(&entry.path, types.iter().map(|one| one.change_type).collect());
            }
        }
        kept
    }

    /// Tells whether a side that reads the file may keep something of it.
    pub fn by(&self, side: &Side) -> bool {
        let (Part::Type(position), Some(folder)) = (side.part, &side.folder) else { return true };
        self.types.get(folder).is_none_or(|types| types.contains(&position))
    }
}

/// Gives the objects of a file that kustomizations list as a resource and for nothing else.
fn declared(model: &Model, snapshot: &Snapshot, path: &RepoPath) -> Option<Vec<Object>> {
    let documents = manifests(snapshot.file(path)?)?;
    let is_other = |folder: &RepoPath| {
        let references = model.graph.get(folder).map(|list| list.references()).unwrap_or_default();
        let own =
            |target: &crate::repo::Target| matches!(target, crate::repo::Target::Path(own) if own == path);
        references.iter().any(|one| own(&one.target) && !matches!(one.field, "resources" | "bases"))
    };
    if model.graph.get(&path.parent()?).is_some_and(|list| list.file == *path)
        || model.graph.referrers(path).any(is_other)
    {
        return None;
    }
    let values = documents.iter().flat_map(|document| objects(&document.value));
    let origin = || Some(Origin { path: path.clone(), generator: None });
    let found: Vec<Object> =
        values.map(|value| Object { value: Arc::new(value.clone()), origin: origin() }).collect();
    (!found.is_empty()).then_some(found)
}

/// Tells whether every way from an entry point to a file leads through a projection.
fn is_projected(model: &Model, snapshot: &Snapshot, entry: &RepoPath, path: &RepoPath) -> bool {
    let is_projection = |folder: &RepoPath| {
        model.graph.get(folder).and_then(|list| snapshot.file(&list.file)).is_some_and(is_generated)
    };
    let mut seen = BTreeSet::new();
    let mut queue = vec![path.clone()];
    let mut projected = false;
    while let Some(next) = queue.pop() {
        if !seen.insert(next.clone()) {
            continue;
        }
        if is_projection(&next) {
            projected |= model.graph.above(&next).contains(entry);
        } else if next == *entry {
            return false;
        } else {
            queue.extend(model.graph.referrers(&next).cloned());
        }
    }
    projected
}
