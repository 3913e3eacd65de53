//! Why an object is of its type, who applies it, and what holds it back there.

mod applying;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::delivery::classify::{Classified, Context, Reason, TYPE_ANNOTATION, classify};
use crate::delivery::fleet::reached_by;
use crate::delivery::{Apps, Child, Doubt, Input, Readers, app_names, children, whole_app};
use crate::delivery::{EntryPoint, Role, Sides};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::explain::applying::Appliers;
use crate::path::RepoPath;
use crate::plan::gate::Lone;
use crate::plan::split::Kept;
use crate::render::{Object, Origin};
use crate::repo::FluxKustomization;
use crate::repo::manifest::{ObjectId, manifests, objects};
use crate::text::json_schema::{self, answers, list, nullable, object, truth};
use crate::text::{did_you_mean, did_you_mean_path, one_of};

pub use text::text;

/// One object of a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The object, as what applies it builds it.
    pub id: ObjectId,
    /// Its id in the cluster, as far as Git tells what `postBuild` puts into it.
    pub live: ObjectId,
    /// The name of its type.
    pub change_type: String,
    /// Whether it waits for windows of that type; what bootstraps a cluster does for none.
    pub has_window: bool,
    /// Why it has that type, in words.
    pub reason: String,
    /// The file that declares it.
    pub origin: RepoPath,
    /// Who builds it.
    pub consumers: Vec<Consumer>,
}

/// Who builds an object, and what holds it back there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Consumer {
    /// The cluster.
    pub cluster: String,
    /// The entry point.
    pub path: RepoPath,
    /// The app; empty where it is no app's.
    pub app: String,
    /// Namespace and name of the Flux Kustomization that applies it; `None` where Git does not say one.
    pub kustomization: Option<(String, String)>,
    /// What holds that back: a job of a gate, a held source, or `spec.suspend` in Git; `None` where nothing does, whatever the
    /// type.
    pub held_by: Option<String>,
    /// Why it is open whether the cluster has that.
    pub doubt: Option<Doubt>,
}

impl Consumer {
    fn to_json(&self) -> Value {
        let kustomization = self.kustomization.as_ref();
        json!({
            "cluster": self.cluster,
            "entryPoint": self.path.to_string(),
            "app": self.app,
            "kustomization": kustomization.map(|(namespace, name)| json!({ "namespace": namespace, "name": name })),
            "heldBy": self.held_by,
            "doubt": self.doubt.as_ref().map(ToString::to_string),
        })
    }
}

impl Explained {
    /// Returns it as JSON.
    pub fn to_json(&self) -> Value {
        let consumers: Vec<Value> = self.consumers.iter().map(Consumer::to_json).collect();
        json!({
            "object": self.id.to_string(),
            "live": (self.live != self.id).then(|| self.live.to_string()),
            "kind": self.id.kind,
            "namespace": self.id.namespace,
            "name": self.id.name,
            "type": self.change_type,
            "window": self.has_window,
            "reason": self.reason,
            "origin": self.origin.to_string(),
            "consumers": consumers,
        })
    }
}

/// A file that brings no object of its own to a build that reads it: a patch, a list, what a generator puts in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The file.
    pub file: RepoPath,
    /// Who reads it, of no app.
    pub readers: Vec<Consumer>,
}

impl Read {
    /// Returns it as JSON.
    pub fn to_json(&self) -> Value {
        let readers: Vec<Value> = self.readers.iter().map(Consumer::to_json).collect();
        json!({ "file": self.file.to_string(), "consumers": readers })
    }
}

/// Returns the JSON Schema (draft 2020-12) of what `explain --format json` prints.
pub fn schema() -> Value {
    let name = || nullable(object(vec![("namespace", json_schema::text()), ("name", json_schema::text())]));
    let consumers = || {
        list(object(vec![
            ("cluster", json_schema::text()),
            ("entryPoint", json_schema::text()),
            ("app", json_schema::text()),
            ("kustomization", name()),
            ("heldBy", nullable(json_schema::text())),
            ("doubt", nullable(json_schema::text())),
        ]))
    };
    let explained = object(vec![
        ("object", json_schema::text()),
        ("live", nullable(json_schema::text())),
        ("kind", json_schema::text()),
        ("namespace", nullable(json_schema::text())),
        ("name", json_schema::text()),
        ("type", json_schema::text()),
        ("window", truth()),
        ("reason", json_schema::text()),
        ("origin", json_schema::text()),
        ("consumers", consumers()),
    ]);
    let read = object(vec![("file", json_schema::text()), ("consumers", consumers())]);
    answers("explain", object(vec![("objects", list(explained)), ("files", list(read))]))
}

/// What is to be said of a file or folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The objects, by file.
    pub objects: Vec<Explained>,
    /// What is read and brings no object.
    pub files: Vec<Read>,
    /// The entry points that read it and do not build: their objects are told as they stand in their files.
    pub failed: Vec<RepoPath>,
}

/// Explains every object that a file or a folder declares or an entry point there builds, and names the builds that read
/// its other files.
///
/// Objects are told as each entry point builds them. What no entry point builds is told as it
/// stands in its file.
///
/// # Errors
///
/// When nothing stands at the path.
pub fn explain(input: &Input<'_>, path: &RepoPath) -> Result<Explanation, Error> {
    if input.snapshot.entry(path).is_none() && !input.snapshot.is_dir(path) {
        let folders = input.model.graph.folders().map(RepoPath::as_str);
        let files = input.snapshot.entries().map(|(file, _)| file.as_str());
        let named = names(input);
        let name = Some(path.as_str()).filter(|word| !word.contains('/'));
        let near = name.and_then(|word| did_you_mean(word, named.iter().map(String::as_str)));
        let near = near.or_else(|| did_you_mean_path(path.as_str(), folders.chain(files)));
        let message = match name {
            Some(name) => format!("`{name}` is no app, no Flux Kustomization and no path of the repository"),
            None => format!("nothing stands at {path}"),
        };
        return Err(Error::new(
            ErrorKind::Usage,
            Diagnostic::error(message).help(near.unwrap_or_else(|| {
                match name {
                    _ if is_of_kind(path) => {
                        "name the file or folder of the object, or its app or Flux Kustomization by name"
                            .to_owned()
                    }
                    Some(_) if !named.is_empty() => {
                        format!("{}; or name a file or folder", one_of(named.iter().map(String::as_str)))
                    }
                    _ => "name a path, an app or a Flux Kustomization".to_owned(),
                }
            })),
        ));
    }
    Ok(explained(input, Asked::At(path))?.unwrap_or_default())
}

/// Returns the names of apps and Flux Kustomizations.
fn names(input: &Input<'_>) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = app_names(input.model).into_iter().collect();
    let sides = input.sides();
    let wholes = input.entries_of_sides(&sides).map(|(_, (whole, _))| input.model.name_of_folder(whole));
    names.extend(wholes.map(str::to_owned));
    for entry in input.model.all_entries() {
        names.insert(input.model.name_of(entry).to_owned());
        let list = input.model.graph.get(&entry.path);
        let apps = list.map(|list| children(input.model, entry, list).0).unwrap_or_default();
        names.extend(apps.iter().filter_map(|child| whole_app(input.spec, &child.folder, &entry.cluster)));
    }
    names.extend(input.model.all_written().into_iter().map(|flux| flux.name.clone()));
    names
}

/// Returns whether it is an object rather than a path, as `Deployment/web`.
fn is_of_kind(path: &RepoPath) -> bool {
    let mut segments = path.segments();
    let is_kind = |kind: &str| kind.starts_with(|c: char| c.is_ascii_uppercase());
    segments.next().is_some_and(is_kind) && segments.count() == 1
}

/// As [`explain`], of every object that an app brings, or a Flux Kustomization of that name, or of `NAMESPACE/NAME`; `None`
/// where nothing is called so.
///
/// # Errors
///
/// As [`explain`].
pub fn explain_app(input: &Input<'_>, name: &str) -> Result<Option<Explanation>, Error> {
    explained(input, Asked::App(name))
}

/// What is asked for.
#[derive(Clone, Copy)]
enum Asked<'a> {
    /// What stands at a path, or an entry point there builds.
    At(&'a RepoPath),
    /// What an app brings.
    App(&'a str),
}

/// Returns the apps of an entry point that a name means; the empty one where it means the entry point with all that it
/// builds.
fn named_in(input: &Input<'_>, sides: &Sides, entry: &EntryPoint, name: &str) -> BTreeSet<String> {
    let is_it = |flux: &FluxKustomization| match name.split_once('/') {
        Some((space, name)) => flux.name == name && input.spec.flux.namespace_of(&flux.namespace) == space,
        None => flux.name == name,
    };
    let is_side =
        || sides.get(&entry.path).is_some_and(|(whole, _)| input.model.name_of_folder(whole) == name);
    if input.model.name_of(entry) == name || input.model.flux_of(entry).any(is_it) || is_side() {
        return BTreeSet::from([String::new()]);
    }
    let Some(list) = input.model.graph.get(&entry.path) else { return BTreeSet::new() };
    let all = children(input.model, entry, list).0.into_iter();
    let is_part = |child: &Child| {
        whole_app(input.spec, &child.folder, &entry.cluster).is_some_and(|whole| whole == name)
    };
    all.filter(|child| child.is_named(name) || is_part(child)).map(|child| child.app).collect()
}

/// Explains what is asked for; `None` where it is an app that no entry point has.
fn explained(input: &Input<'_>, question: Asked<'_>) -> Result<Option<Explanation>, Error> {
    let sides = input.sides();
    let live = input.live(&sides);
    let named = |entry: &EntryPoint| match question {
        Asked::App(name) => named_in(input, &sides, entry, name),
        Asked::At(_) => BTreeSet::new(),
    };
    // A build that reads nothing of what is asked for brings nothing of it either.
    let readers = Readers::of(input.model);
    let (reached, reading) = match question {
        Asked::At(path) => (reached_by(input.model, input.snapshot, path), reading(input, &readers, path)),
        Asked::App(_) => (BTreeSet::new(), BTreeSet::new()),
    };
    let may_be = |entry: &EntryPoint| match question {
        Asked::At(path) => {
            reached.contains(&entry.path)
                || reading.contains(&entry.path)
                || entry.path.is_within(path)
                || input.model.flux_of(entry).any(|flux| brings(flux, path))
        }
        Asked::App(_) => !named(entry).is_empty(),
    };
    let lone = Lone::among(input, &sides, may_be);
    // An entry point is explained with all that it builds, wherever that stands.
    let is_asked = |entry: &EntryPoint, object: &Object, apps: &Apps| {
        let is_named = || {
            let named = named(entry);
            named.contains("") || apps.bringing(object).is_some_and(|app| named.contains(app))
        };
        object.origin.as_ref().is_some_and(|origin: &Origin| match question {
            Asked::At(path) => entry.path.is_within(path) || origin.path.is_within(path),
            Asked::App(_) => is_named(),
        })
    };
    let mut asked = Vec::new();
    let mut failed = BTreeSet::new();
    let mut is_known = false;
    for entry in input.model.all_entries() {
        // The entry point from before a split builds the same objects as its sides: who applies them is told.
        let is_applied = !entry.flux.is_empty() || entry.through.is_some();
        let is_side = sides.get(&entry.path).is_some_and(|(whole, _)| input.model.entry(whole).is_some());
        let is_doubled = !is_applied && (is_side || live.contains(&entry.path));
        if is_doubled || !may_be(entry) {
            continue;
        }
        is_known = true;
        // Whoever applies it may see other files.
        for artifact in input.model.artifacts_over(entry) {
            let Ok(typed) = input.located_entry(entry, artifact) else {
                failed.insert(entry.path.clone());
                continue;
            };
            let (typed, apps) = (lone.settle(&entry.path, typed), Apps::of(input.model, entry));
            let brings = || match question {
                Asked::At(path) => input.model.flux_of(entry).any(|flux| brings(flux, path)),
                Asked::App(_) => false,
            };
            if typed.objects.iter().any(|object| is_asked(entry, object, &apps)) || brings() {
                asked.push((entry, artifact, typed, apps));
            }
        }
    }
    let wanted: BTreeSet<&RepoPath> = asked.iter().map(|(entry, ..)| &entry.path).collect();
    let appliers = Appliers::of(input, |entry| wanted.contains(&entry.path));
    let has_window = |name: &str| {
        let named = input.spec.types.iter().find(|one| one.name.value == name);
        named.is_some_and(|one| !one.is_real_time())
    };
    // What a root builds with an entry point in it is told with that.
    let mut inner: BTreeMap<&RepoPath, BTreeSet<ObjectId>> = BTreeMap::new();
    for (entry, _, typed, _) in &asked {
        if let Some(root) = entry.through.as_ref().filter(|root| **root != entry.path) {
            inner.entry(root).or_default().extend(typed.ids());
        }
    }
    let is_inner = |entry: &EntryPoint, object: &Object| {
        let ids = inner.get(&entry.path).filter(|_| entry.role == Role::Bootstrap);
        ids.is_some_and(|ids| ids.contains(&ObjectId::of(&object.value)))
    };
    // One line for each object with one origin and one type, whoever builds it.
    let mut found: BTreeMap<Key, Vec<Consumer>> = BTreeMap::new();
    for (entry, artifact, typed, apps) in &asked {
        for applying in appliers.of_entry(entry).into_iter().filter(|one| one.artifact == *artifact) {
            for (object, classified) in typed.objects.iter().zip(&typed.types) {
                let is_told = || is_asked(entry, object, apps) && !is_inner(entry, object);
                let Some(origin) = object.origin.as_ref().filter(|_| is_told()) else { continue };
                let app = apps.bringing(object).unwrap_or_default().to_owned();
                let (change_type, reason) = match entry.role {
                    Role::Bootstrap => undivided(input),
                    _ => words(input, classified),
                };
                let (id, live) = applying.ids(object);
                let has_window = entry.role != Role::Bootstrap && has_window(&change_type);
                let key = (origin.path.clone(), id, live, change_type, reason, has_window);
                found.entry(key).or_default().push(Consumer { app, ..applying.consumer.clone() });
            }
            for one in applying.added(&typed.objects).filter(|one| is_asked(entry, &one.object, apps)) {
                let Some(origin) = &one.object.origin else { continue };
                let classified = classified(input, &one.object.value, &origin.path)?;
                let (change_type, reason) = words(input, &classified);
                let (id, live) = ((*one.id).clone(), (*one.live).clone());
                let has_window = has_window(&change_type);
                let key = (origin.path.clone(), id, live, change_type, reason, has_window);
                found.entry(key).or_default().push(applying.consumer.clone());
            }
        }
    }
    let of = |((origin, id, live, change_type, reason, has_window), consumers): (Key, Vec<Consumer>)| {
        Explained { id, live, has_window, change_type, reason, origin, consumers }
    };
    let mut explained: Vec<Explained> = found.into_iter().map(of).collect();
    let Asked::At(path) = question else {
        let failed = failed.into_iter().collect();
        return Ok(is_known.then_some(Explanation { failed, objects: explained, files: Vec::new() }));
    };
    let mut files = Vec::new();
    for file in unbuilt(input, path, &explained) {
        let kept = Kept::of(input, &sides, &file);
        let reading = readers.reading(&file).filter(|reader| !reader.is_unsaid(input.model));
        let reading = reading.filter(|reader| kept.by(&reader.path));
        let reading: BTreeSet<Consumer> = reading.map(|reader| appliers.reading(reader)).collect();
        let (unbuilt, built): (Vec<_>, Vec<_>) =
            reading.into_iter().partition(|reader| failed.contains(&reader.path));
        if built.is_empty() {
            explained.extend(as_written(input, &file, &unbuilt)?);
        } else {
            files.push(Read { file, readers: built });
        }
    }
    failed.retain(|folder| reading.contains(folder));
    Ok(Some(Explanation { failed: failed.into_iter().collect(), objects: explained, files }))
}

/// Returns the folders of builds that read something at a path.
fn reading<'r>(input: &Input<'_>, readers: &'r Readers<'_>, path: &RepoPath) -> BTreeSet<&'r RepoPath> {
    let below = input.snapshot.below(path).map(|(file, _)| file);
    let asked = input.snapshot.entry(path).map(|_| path).into_iter().chain(below);
    asked.flat_map(|file| readers.reading(file)).map(|reader| &reader.path).collect()
}

/// Returns whether `spec.components` of a Flux Kustomization take in something at a path.
fn brings(flux: &FluxKustomization, path: &RepoPath) -> bool {
    flux.components().any(|component| component.is_within(path) || path.is_within(&component))
}

/// Finds the type of an object by its file, as whoever brings it brings no app.
fn classified(input: &Input<'_>, object: &Value, file: &RepoPath) -> Result<Classified, Error> {
    let relative = file.relative_to(&input.spec.folder());
    classify(input.spec, object, Context { path: Some(&relative), ..Context::default() }).map_err(|error| {
        Error::invalid(Diagnostic::error(error.message).at(Place::file(file.clone())).help(error.help))
    })
}

/// What tells objects apart: the file, the ids, the type, why it is that and whether its windows count.
type Key = (RepoPath, ObjectId, ObjectId, String, String, bool);

/// Returns the files below a path that no entry point takes an object from; lists, and what is no YAML, only where they
/// are asked for by name.
fn unbuilt(input: &Input<'_>, path: &RepoPath, explained: &[Explained]) -> Vec<RepoPath> {
    let below = input.snapshot.below(path).map(|(file, _)| file);
    let own = input.snapshot.entry(path).map(|_| path);
    let built = |file: &RepoPath| explained.iter().any(|explained| explained.origin == *file);
    let is_list = |file: &RepoPath| {
        let list = file.parent().and_then(|folder| input.model.graph.get(&folder));
        list.is_some_and(|list| list.file == *file)
    };
    let below = below.filter(|file| crate::repo::flux::is_yaml(file) && !is_list(file));
    own.into_iter().chain(below).filter(|file| !built(file) && **file != input.spec.path).cloned().collect()
}

fn as_written(input: &Input<'_>, file: &RepoPath, consumers: &[Consumer]) -> Result<Vec<Explained>, Error> {
    let documents = input.snapshot.file(file).and_then(manifests).unwrap_or_default();
    let mut found = Vec::new();
    for object in documents.iter().flat_map(|document| objects(&document.value)) {
        // A patch or a values file is no object that anybody applies, nor is a list of kustomize's, which has no name.
        let is_said = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        if ![&object["kind"], &object["apiVersion"], &object["metadata"]["name"]].into_iter().all(is_said) {
            continue;
        }
        let classified = classified(input, object, file)?;
        let (change_type, reason) = words(input, &classified);
        let id = ObjectId::of(object);
        found.push(Explained {
            live: id.clone(),
            id,
            has_window: !input.spec.types[classified.change_type].is_real_time(),
            change_type,
            reason,
            origin: file.clone(),
            consumers: consumers.to_vec(),
        });
    }
    Ok(found)
}

/// Says what the objects of a folder are that bootstraps a cluster: no type divides it.
fn undivided(input: &Input<'_>) -> (String, String) {
    let types = &input.spec.types;
    let real_time = types.iter().find(|one| one.is_real_time()).or(types.first());
    let name = real_time.map(|one| one.name.value.clone()).unwrap_or_default();
    (name, "its folder bootstraps the cluster, and is never divided".to_owned())
}

fn words(input: &Input<'_>, classified: &Classified) -> (String, String) {
    let reason = match &classified.reason {
        Reason::Annotation => format!("its annotation {TYPE_ANNOTATION}"),
        Reason::Rule(position) => {
            let is_values = input.spec.rules.get(*position).is_some_and(|rule| rule.matcher.is_values);
            let why = if is_values { ": values go with their HelmRelease" } else { "" };
            format!("rule {} of the spec{why}", position + 1)
        }
        Reason::Namespace => "Namespaces belong to the first type, since everything needs them".to_owned(),
        Reason::Whole => "a Namespace alone does not divide its entry point".to_owned(),
        Reason::Gate => "it is part of a gate, which must not hold itself back".to_owned(),
        Reason::Consumer(id) => {
            format!("its name holds a hash of its content: it lands with {id}, its reader")
        }
    };
    (input.spec.types[classified.change_type].name.value.clone(), reason)
}

#[cfg(test)]
mod tests;
