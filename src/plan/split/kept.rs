//! Which sides keep what a file brings: a projection reads everything and drops what is of another type.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::delivery::classify::classify_all;
use crate::delivery::{Apps, EntryPoint, Input, Sides};
use crate::path::RepoPath;
use crate::plan::edit::generated::is_generated;
use crate::render::{Object, Origin};
use crate::repo::Target;
use crate::repo::manifest::{manifests, objects};

/// The sides that take a file from projections alone, and whether they keep something of it.
#[derive(Debug, Default)]
pub struct Kept {
    sides: BTreeMap<RepoPath, bool>,
}

impl Kept {
    /// Finds out which sides keep something of a file.
    ///
    /// Where rules and annotations alone decide about its objects, nothing is built; else each of these sides is. Of what
    /// shapes the objects of other files, as a patch does, every side may keep something.
    pub fn of(input: &Input<'_>, sides: &Sides, path: &RepoPath) -> Kept {
        let Some(brought) = Brought::of(input, path) else { return Kept::default() };
        let projected = input
            .entries_of_sides(sides)
            .filter(|(side, _)| is_projected(input, &side.path, path))
            .map(|(side, (_, position))| (side.path.clone(), brought.is_kept(input, side, *position)));
        let sides: BTreeMap<RepoPath, bool> = projected.collect();
        // What the builds do not show may be anywhere.
        if sides.values().any(|is_kept| *is_kept) { Kept { sides } } else { Kept::default() }
    }

    /// Returns whether a side that reads the file may keep something of it.
    pub fn by(&self, side: &RepoPath) -> bool {
        self.sides.get(side).copied().unwrap_or(true)
    }
}

/// What a file brings to the builds that take it in.
enum Brought {
    /// These objects, whose types do not depend on other files.
    Objects(Vec<Object>),
    /// What a build tells to come of it.
    Built {
        /// The file, where it is listed as a resource.
        file: Option<RepoPath>,
        /// What generators make of it: the file of their list, the kind, and what is in the name.
        made: BTreeSet<(RepoPath, &'static str, String)>,
    },
}

impl Brought {
    /// Finds what a file brings; `None` where it is no file, is a list, or shapes what other files bring.
    fn of(input: &Input<'_>, path: &RepoPath) -> Option<Brought> {
        let graph = &input.model.graph;
        let file = input.snapshot.file(path)?;
        if graph.get(&path.parent()?).is_some_and(|list| list.file == *path) {
            return None;
        }
        let (mut is_listed, mut made) = (false, BTreeSet::new());
        for list in graph.referrers(path).map(|folder| graph.get(folder)) {
            let list = list?;
            let target = Target::Path(path.clone());
            let mut own = list.references().iter().filter(|one| one.target == target).peekable();
            own.peek()?;
            for reference in own {
                match reference.field {
                    "resources" | "bases" => is_listed = true,
                    "configMapGenerator" | "secretGenerator" => {
                        let all = list.made_of(path)?.into_iter();
                        made.extend(all.map(|(kind, name)| (list.file.clone(), kind, name.to_owned())));
                    }
                    _ => return None,
                }
            }
        }
        let documents = if is_listed { manifests(file)? } else { Vec::new() };
        let origin = || Some(Origin { path: path.clone(), generator: None });
        let values = documents.iter().flat_map(|document| objects(&document.value));
        let found: Vec<Object> =
            values.map(|value| Object { value: Arc::new(value.clone()), origin: origin() }).collect();
        // Whether a HelmRelease reads it stands in other files.
        let may_be_read =
            |object: &Object| matches!(object.value["kind"].as_str(), Some("ConfigMap" | "Secret"));
        let by_values = input.spec.rules.iter().any(|rule| rule.matcher.is_values);
        if made.is_empty() && !found.is_empty() && !(by_values && found.iter().any(may_be_read)) {
            return Some(Brought::Objects(found));
        }
        let file = is_listed.then(|| path.clone());
        (file.is_some() || !made.is_empty()).then_some(Brought::Built { file, made })
    }

    fn is_kept(&self, input: &Input<'_>, side: &EntryPoint, position: usize) -> bool {
        match self {
            Brought::Objects(objects) => {
                let apps = Apps::of(input.model, side);
                let app_of = |object: &Object| apps.bringing(object).unwrap_or_default().to_owned();
                let types = classify_all(input.spec, objects, &app_of);
                types.map_or(true, |types| types.iter().any(|one| one.change_type == position))
            }
            Brought::Built { .. } => input.model.artifacts_over(side).into_iter().any(|artifact| {
                let typed = input.located_entry(side, artifact);
                typed.map_or(true, |typed| typed.objects.iter().any(|object| self.is_from(object)))
            }),
        }
    }

    /// Returns whether an object of a build comes of the file.
    fn is_from(&self, object: &Object) -> bool {
        let (Brought::Built { file, made }, Some(origin)) = (self, &object.origin) else { return true };
        if origin.generator.is_none() {
            return file.as_ref() == Some(&origin.path);
        }
        let (kind, name) = (&object.value["kind"], object.value["metadata"]["name"].as_str());
        made.iter().any(|(list, own_kind, own_name)| {
            *list == origin.path && kind == own_kind && name.is_some_and(|name| name.contains(own_name))
        })
    }
}

/// Returns whether every way from an entry point to a file leads through a projection.
fn is_projected(input: &Input<'_>, entry: &RepoPath, path: &RepoPath) -> bool {
    let graph = &input.model.graph;
    let is_projection = |folder: &RepoPath| {
        graph.get(folder).and_then(|list| input.snapshot.file(&list.file)).is_some_and(is_generated)
    };
    let mut seen = BTreeSet::new();
    let mut queue = vec![path.clone()];
    let mut projected = false;
    while let Some(next) = queue.pop() {
        if !seen.insert(next.clone()) {
            continue;
        }
        if is_projection(&next) {
            projected |= graph.above(&next).contains(entry);
        } else if next == *entry {
            return false;
        } else {
            queue.extend(graph.referrers(&next).cloned());
        }
    }
    projected
}
