//! Where Flux begins to read a cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::delivery::bootstrap::bootstrapped;
use crate::delivery::classify::wildcard;
use crate::delivery::jitter::Jitters;
use crate::delivery::naming::prefix;
use crate::delivery::secure_join::secure_join;
use crate::delivery::source::SourceId;
use crate::path::RepoPath;
use crate::render::{Object, Renderer, Request};
use crate::repo::field::CHANGING;
use crate::repo::flux::{artifact_path, holds_variable, is_flux_kustomization};
use crate::repo::post_build::{Strict, pattern, substitute};
use crate::repo::{FluxKustomization, Graph, Kustomization, Snapshot};

/// A folder that is applied to a cluster before anything else.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// The folder.
    pub folder: RepoPath,
    /// Roots of one such folder are roots of one cluster, unless the spec says otherwise.
    pub(super) group: RepoPath,
    /// The top of the artifact that it is a part of: the top of the repository, but for artifacts that are made of one
    /// of its folders.
    pub artifact: RepoPath,
    /// The Flux Kustomization that applies it, as it is written or as FluxInstance makes it; `None` where Git does not
    /// say it.
    pub kustomization: Option<Arc<Value>>,
    /// The position of that one among those that stand in files.
    pub(super) written: Option<usize>,
    /// The file in which the Flux Kustomization, or the FluxInstance that makes it, stands.
    pub file: Option<RepoPath>,
    /// The source, where Git says it, with what it is known to be.
    pub source: Option<(SourceId, Value)>,
    /// The version of Flux that a FluxInstance asks for.
    pub(super) version: Option<String>,
    /// By how much the controllers that a FluxInstance makes stretch intervals, as far as it says that.
    pub(super) jitters: Jitters,
    /// The ServiceAccount that a FluxInstance lets what names none be applied as.
    pub(super) default_account: Option<String>,
    /// How strictly the controller that a FluxInstance makes reads `postBuild`, as far as it says that.
    pub(super) strict: Option<Strict>,
    /// Why it is one.
    pub reason: Reason,
    /// Whether it prunes itself, and leaves all that it applied: it applies one commit more.
    pub(super) is_last: bool,
    /// The folder that an older state applies in its place, where that is another one.
    pub(super) was: Option<RepoPath>,
}

impl Root {
    /// Makes a root of the folder of a Flux Kustomization, at this position among those that stand in files.
    pub(super) fn of(written: usize, one: &FluxKustomization, folder: RepoPath, reason: Reason) -> Root {
        let namespace = one.value["metadata"]["namespace"].as_str().unwrap_or_default();
        Root {
            kustomization: Some(one.value.clone()),
            written: Some(written),
            file: Some(one.file.clone()),
            source: Some((SourceId::of(&one.value["spec"], namespace), Value::Null)),
            ..Root::folder(&folder, reason)
        }
    }

    /// Makes a root of a folder that no Flux Kustomization in Git applies.
    pub(super) fn folder(folder: &RepoPath, reason: Reason) -> Root {
        Root {
            folder: folder.clone(),
            group: prefix(folder),
            artifact: RepoPath::top(),
            kustomization: None,
            written: None,
            file: None,
            source: None,
            version: None,
            jitters: Jitters::default(),
            default_account: None,
            strict: None,
            reason,
            is_last: false,
            was: None,
        }
    }
}

impl Root {
    /// Returns whether an object is the Flux Kustomization that applies it.
    pub fn is_applied_by(&self, object: &Value) -> bool {
        self.kustomization.as_ref().is_some_and(|own| own["metadata"] == object["metadata"])
    }

    /// Takes back what a file says of it that nobody applies: the cluster goes on with the former spec.
    pub(super) fn keep(&mut self, former: &Root) {
        if self.folder == former.folder {
            (self.kustomization, self.source) = (former.kustomization.clone(), former.source.clone());
        } else {
            *self = former.clone();
        }
    }

    /// Returns what stays the same where another folder is applied: the file, the namespace and the name; `None` where Git
    /// does not say what applies it, or says it of several clusters in one file.
    pub(super) fn identity(&self) -> Option<(&RepoPath, &str, &str)> {
        let file = self.file.as_ref()?;
        if self.reason == Reason::AppliesItself && !file.is_within(&self.folder) {
            return None;
        }
        let (namespace, name) = self.key()?;
        Some((file, namespace, name))
    }

    /// Returns the namespace and the name of the Flux Kustomization that applies it; `None` where Git does not say that.
    pub(super) fn key(&self) -> Option<(&str, &str)> {
        let metadata = &self.kustomization.as_ref()?["metadata"];
        let text = |field: &str| metadata[field].as_str().unwrap_or_default();
        Some((text("namespace"), text("name")))
    }
}

/// Why a folder is the root of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The spec says so.
    Spec,
    /// A Flux Kustomization in it applies it, as `flux bootstrap` makes it.
    AppliesItself,
    /// The `sync` of a FluxInstance names it.
    FluxInstance,
    /// Nothing says so: Flux Kustomizations stand in it that no other build brings.
    Proposed,
}

/// Finds the Flux Kustomizations that apply the folder in which they stand, and those to which a patch of that folder
/// gives their path, as where one base serves many clusters.
///
/// What a cluster's root brings may apply its own folder too: whoever knows more roots drops it then.
///
/// Where its path has variables, its own `postBuild` fills them in, as it is among what it builds itself; then it may
/// stand in a base that several clusters share. Where only a patch in the folder's own list brings that `postBuild`, or the
/// path itself, or the folder takes its file in from elsewhere, the folder is built.
pub(super) fn applying_themselves(
    snapshot: &Snapshot,
    graph: &Graph,
    flux: &[FluxKustomization],
    pushed: Option<&(SourceId, RepoPath)>,
    renderer: &dyn Renderer,
) -> Vec<(usize, Root)> {
    let top = |one: &FluxKustomization| {
        let id = SourceId::of(&one.value["spec"], &one.namespace);
        pushed.filter(|(own, _)| own.is(&id)).map_or_else(RepoPath::top, |(_, top)| top.clone())
    };
    let folder = |one: &FluxKustomization, spec: &Value| {
        if holds_variable(&spec["path"]) || !spec["kubeConfig"].is_null() {
            return None;
        }
        let folder = secure_join(&top(one), spec["path"].as_str().unwrap_or_default())?;
        // That an artifact has the very folder in which this stands tells that it is made of this repository.
        let is_here = match one.source_kind() {
            "GitRepository" => true,
            "OCIRepository" => !folder.is_top() && snapshot.is_dir(&folder),
            _ => false,
        };
        is_here.then_some(folder)
    };
    let is_whole = |one: &FluxKustomization| one.has_source() && !graph.is_patch(&one.file);
    let root = |(position, one): (usize, &FluxKustomization)| {
        let value = filled(&one.value);
        let folder = folder(one, &value["spec"])?;
        let is_own = one.file.is_within(&folder)
            || value != one.value && graph.taken_in_by(&one.file).contains(&folder);
        let root = Root::of(position, one, folder, Reason::AppliesItself);
        is_own.then_some((position, Root { kustomization: Some(value), artifact: top(one), ..root }))
    };
    let patched = |patch: &FluxKustomization| {
        let folder = folder(patch, &filled(&patch.value)["spec"]);
        let folder = folder.filter(|folder| !folder.is_top() && !patch.spec("path").is_null())?;
        let reach = graph.reach(&folder);
        if !graph.referrers(&patch.file).any(|list| reach.contains(list)) {
            return None;
        }
        let is_it = |one: &FluxKustomization| {
            one.name == patch.name && is_whole(one) && graph.builders(&one.file).contains(&folder)
        };
        let (position, one) = flux.iter().enumerate().find(|(_, one)| is_it(one))?;
        let mut value = (*one.value).clone();
        merge(&mut value, &patch.value);
        let one = FluxKustomization { value: filled(&Arc::new(value)), ..one.clone() };
        let root = Root::of(position, &one, folder, Reason::AppliesItself);
        Some((position, Root { artifact: top(&one), ..root }))
    };
    // The folders that may be the one that a variable in its path stands for.
    let candidates = |one: &FluxKustomization| {
        let path = one.value["spec"]["path"].as_str().unwrap_or_default();
        let named = artifact_path(path).and_then(|path| top(one).join(path.as_str()).ok());
        let Some(pattern) = named.map(|path| pattern(path.as_str())) else { return Vec::new() };
        let may_be = |folder: &RepoPath| graph.has(folder) && wildcard(&pattern, folder.as_str());
        graph.taken_in_by(&one.file).into_iter().filter(may_be).collect()
    };
    let applies = |one: &FluxKustomization, own: &RepoPath, object: &Object| {
        let is_of_file = object.origin.as_ref().is_some_and(|origin| origin.path == one.file);
        // A file may hold several; what has the name of another one is that.
        let name = object.value["metadata"]["name"].as_str().unwrap_or_default();
        let is_another =
            || name != one.name && flux.iter().any(|other| other.file == one.file && other.name == name);
        if !is_of_file || !is_flux_kustomization(&object.value) || is_another() {
            return None;
        }
        let one = FluxKustomization { value: filled(&object.value), ..one.clone() };
        folder(&one, &one.value["spec"]).filter(|folder| folder == own).map(|_| one)
    };
    let whole = flux.iter().enumerate().filter(|(_, one)| is_whole(one));
    let mut found: Vec<(usize, Root)> = whole.filter_map(root).collect();
    for patch in flux.iter().filter(|one| graph.is_patch(&one.file)) {
        let new = patched(patch).filter(|(_, new)| !found.iter().any(|(_, old)| old.folder == new.folder));
        found.extend(new);
    }
    // Folders whose own list says where they are: a patch in it may give one that it takes in that path.
    let says_itself = |list: &&Kustomization| {
        let mut fields = CHANGING.iter().chain(&["patches", "vars", "components"]);
        let mut patches = || fields.any(|field| list.field(field).is_some());
        !list.folder.is_top() && list.text.contains(list.folder.as_str()) && patches()
    };
    let saying: BTreeSet<&RepoPath> = graph.iter().filter(says_itself).map(|list| &list.folder).collect();
    let named = |one: &FluxKustomization| match saying.is_empty() {
        true => Vec::new(),
        false => graph.taken_in_by(&one.file).into_iter().filter(|folder| saying.contains(folder)).collect(),
    };
    let whole = flux.iter().enumerate().filter(|(_, one)| is_whole(one));
    let taking_in = |one: &FluxKustomization| {
        let folder = folder(one, &one.value["spec"]).filter(|folder| graph.has(folder));
        folder.filter(|folder| graph.taken_in_by(&one.file).contains(folder))
    };
    let asked: Vec<(usize, &FluxKustomization, RepoPath)> = whole
        .flat_map(|(position, one)| {
            let of_variable = holds_variable(&filled(&one.value)["spec"]["path"]);
            let folders = if of_variable { candidates(one) } else { named(one) };
            let own = taking_in(one).filter(|own| !folders.contains(own));
            folders.into_iter().chain(own).map(move |own| (position, one, own))
        })
        .filter(|(.., own)| !found.iter().any(|(_, known)| known.folder == *own))
        .collect();
    let folders: BTreeSet<&RepoPath> = asked.iter().map(|(.., own)| own).collect();
    let requests: Vec<Request> =
        folders.iter().map(|own| Request::delivered((*own).clone()).with_origins()).collect();
    let render = |requests: &[Request]| {
        renderer.render(&bootstrapped(snapshot, graph, snapshot, &BTreeSet::new()), requests)
    };
    let results = if requests.is_empty() { Vec::new() } else { render(&requests) };
    let results: BTreeMap<&RepoPath, _> = folders.into_iter().zip(results).collect();
    for (position, one, own) in &asked {
        let Some(Ok(objects)) = results.get(own) else { continue };
        let Some(one) = objects.iter().find_map(|object| applies(one, own, object)) else { continue };
        if !found.iter().any(|(_, old)| old.folder == *own) {
            let root = Root::of(*position, &one, own.clone(), Reason::AppliesItself);
            found.push((*position, Root { artifact: top(&one), ..root }));
        }
    }
    found
}

/// Fills the variables of a Flux Kustomization's path in by its own `postBuild`.
fn filled(value: &Arc<Value>) -> Arc<Value> {
    let mut value = value.clone();
    if holds_variable(&value["spec"]["path"]) {
        let post_build = value["spec"]["postBuild"].clone();
        substitute(&post_build, Arc::make_mut(&mut value));
    }
    value
}

/// Merges a patch into an object, as kustomize does where no schema says how lists are merged.
fn merge(into: &mut Value, patch: &Value) {
    match (into, patch) {
        (Value::Object(fields), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(fields.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, patch) => into.clone_from(patch),
    }
}
