//! The view of the Flux Kustomizations that stand in Git.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::repo::manifest::{kept_manifests, objects};
use crate::repo::{Entry, FluxApi, OtherRevision, Snapshot};
use crate::yaml::Node;

/// The API group of Flux Kustomizations.
pub const GROUP: &str = "kustomize.toolkit.fluxcd.io";

/// The API group of sources.
pub const SOURCES: &str = "source.toolkit.fluxcd.io";

/// The API group of ArtifactGenerators.
pub const EXTENSIONS: &str = "source.extensions.fluxcd.io";

/// The API version that generated files use; `v1beta2` went with Flux 2.8.
pub const API_VERSION: &str = "kustomize.toolkit.fluxcd.io/v1";

/// The API group of Alerts and Receivers.
pub const NOTIFICATION_GROUP: &str = "notification.toolkit.fluxcd.io";

/// What `spec.deletionPolicy` may be.
const POLICIES: [&str; 4] = ["MirrorPrune", "Delete", "WaitForTermination", "Orphan"];

/// Returns the list of `spec` in which an object names the Flux objects that it watches or wakes, where
/// it is of a kind that has one (notification-controller, `api/v1beta3/alert_types.go` and
/// `api/v1/receiver_types.go`).
pub fn watches(value: &Value) -> Option<&'static str> {
    let group = value["apiVersion"].as_str()?.split_once('/')?.0;
    match value["kind"].as_str()? {
        "Alert" if group == NOTIFICATION_GROUP => Some("eventSources"),
        "Receiver" if group == NOTIFICATION_GROUP => Some("resources"),
        _ => None,
    }
}

/// Returns the Flux Kustomization that an item of such a list speaks of.
pub fn names_kustomization(item: &Value) -> Option<&str> {
    let version = item["apiVersion"].as_str();
    let is_it = item["kind"] == "Kustomization" && version.is_none_or(|version| version.starts_with(GROUP));
    item["name"].as_str().filter(|_| is_it)
}

/// A Flux Kustomization in a file.
#[derive(Clone, Debug)]
pub struct FluxKustomization {
    /// The file.
    pub file: RepoPath,
    /// The file's text.
    pub text: Arc<str>,
    /// Which document of the file, empty ones counted.
    pub document: usize,
    /// Whether the document is the object itself, so that it can be edited; an item of a list is not.
    pub is_document: bool,
    /// The document's root.
    pub root: Arc<Node>,
    /// The object, as it is written.
    pub value: Arc<Value>,
    /// The object as its cluster gets it: whatever applies it may patch it.
    pub effective: Arc<Value>,
    /// Its `spec.postBuild` with the values that Git tells of `substituteFrom`, which then has the rest of it.
    pub post_build: Value,
    /// Whether `effective` comes out of builds that succeed, here or in an older state; otherwise it is what is written.
    pub is_certain: bool,
    /// `metadata.name`, as its cluster gets it.
    pub name: String,
    /// The namespace that it gets in its cluster: from what applies it, else `metadata.namespace`; empty
    /// where Git does not say it.
    pub namespace: String,
    /// `spec.path` as a path of this repository; `None` where the source is not known to be this
    /// repository or the path leaves it.
    pub path: Option<RepoPath>,
    /// Where the artifact begins that `path` is a part of.
    pub top: RepoPath,
    /// Why what an ArtifactGenerator makes can't be mapped back to folders of this repository, where that is so.
    pub unmapped: Option<Unmapped>,
    /// Why it builds another revision of this repository, where it does; the model finds it out.
    pub other: Option<OtherRevision>,
    /// The cluster that gets it; empty as long as the model has not found it out.
    pub cluster: String,
    /// The secrets of `kubeConfig` on the way to it, where it lies in another cluster than that of its root; empty for
    /// that of the root, and as long as the model has not found it out.
    pub remote: String,
    /// The folder that holds that of its cluster; the model finds it out.
    pub(crate) home: String,
    /// The cluster that reads it, by the name that its root gives it; the spec may say that another one owns what it applies.
    pub(crate) read_in: String,
    /// Whether another one applies it and the build of its own folder leaves its file out; the model finds it out.
    pub(crate) is_brought: bool,
    /// The APIs of the clusters that get it from its file, each with its cluster: none of one of which Git does not say it, and
    /// as long as the model has not found it out. What is written into the file reaches all of them.
    pub apis: Vec<(String, Arc<FluxApi>)>,
}

/// Returns those that are written differently: of what several clusters apply from one file, the first.
pub fn each_written<'a>(all: impl IntoIterator<Item = &'a FluxKustomization>) -> Vec<&'a FluxKustomization> {
    let mut seen = BTreeSet::new();
    all.into_iter().filter(|one| seen.insert(one.identity())).collect()
}

/// Why the paths of an artifact are none of this repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmapped {
    /// The end of a sentence about the artifact.
    pub reason: String,
    /// Where the generator says so.
    pub place: Option<Place>,
}

impl FluxKustomization {
    /// Returns whether both are one object of one file, which several clusters apply.
    pub fn is_written_as(&self, other: &FluxKustomization) -> bool {
        self.identity() == other.identity()
    }

    /// Returns what tells it from every other one in the files: files of equal bytes share what was read of them.
    fn identity(&self) -> (*const Value, usize, &RepoPath) {
        (Arc::as_ptr(&self.value), self.document, &self.file)
    }

    /// Returns a folder as `spec.path` names it: from where the artifact begins.
    pub fn spelt(&self, folder: &RepoPath) -> String {
        folder.relative_to(&self.top)
    }

    /// Returns the folder that a `spec.path` names which is read in the same artifact.
    pub fn folder_of(&self, path: &str) -> Option<RepoPath> {
        self.top.join(artifact_path(path)?.as_str()).ok()
    }

    /// Returns a field of `spec`, as the cluster gets it.
    pub fn spec(&self, key: &str) -> &Value {
        &self.effective["spec"][key]
    }

    /// Returns the folders of `spec.components`, which its build takes in.
    pub fn components(&self) -> impl Iterator<Item = RepoPath> {
        let all = self.spec("components").as_array().into_iter().flatten();
        all.filter_map(|component| self.path.as_ref()?.join(component.as_str()?).ok())
    }

    /// Returns a field of `spec` as it is written: what an edit of the file begins with.
    pub fn said(&self, key: &str) -> &Value {
        &self.value["spec"][key]
    }

    /// Returns whether Git suspends it, so that nothing but a change in Git brings it back for good.
    pub fn is_suspended(&self) -> bool {
        *self.spec("suspend") == true
    }

    /// Returns the API of its own cluster, where Git says it.
    pub fn api(&self) -> Option<&FluxApi> {
        self.apis.iter().find(|(cluster, _)| *cluster == self.cluster).map(|(_, api)| api.as_ref())
    }

    /// Returns whether all clusters that get it have a field of `spec`, as far as Git says, in the version that generated files use.
    pub fn takes(&self, field: &str) -> bool {
        self.without(field).is_none()
    }

    /// Returns the first cluster that gets it and has no such field of `spec`, with its API.
    pub fn without(&self, field: &str) -> Option<(&str, &FluxApi)> {
        let mut all = self.apis.iter().map(|(cluster, api)| (cluster.as_str(), api.as_ref()));
        all.find(|(_, api)| !api.has(API_VERSION, field))
    }

    /// Returns whether it builds the folder that holds its own file, as what `flux bootstrap` writes does. One whose file
    /// only lies beside what it builds, as `apps/web/ks.yaml` of `apps/web`, does not.
    pub fn applies_itself(&self) -> bool {
        !self.is_brought && self.path.as_ref().is_some_and(|path| self.file.is_within(path))
    }

    /// Returns whether it names a source, which the API demands: without one it is a patch of another, or gets its
    /// source from whatever applies it.
    pub fn has_source(&self) -> bool {
        self.value["spec"].get("sourceRef").is_some()
    }

    /// Returns the kind of the source, `GitRepository` where none is written.
    pub fn source_kind(&self) -> &str {
        self.spec("sourceRef")["kind"].as_str().unwrap_or("GitRepository")
    }

    /// Returns the name of the source.
    pub fn source_name(&self) -> &str {
        self.spec("sourceRef")["name"].as_str().unwrap_or_default()
    }

    /// Returns the names of the Kustomizations that this one waits for.
    pub fn depends_on(&self) -> Vec<&str> {
        let list = self.spec("dependsOn").as_array();
        list.into_iter().flatten().filter_map(|item| item["name"].as_str()).collect()
    }

    /// Returns the namespace and the name of those that this one waits for; an item without a namespace
    /// means its own, which is empty where Git does not say it.
    pub fn waits_for(&self) -> Vec<(&str, &str)> {
        self.waits_for_ready().map(|(namespace, name, _)| (namespace, name)).collect()
    }

    /// As [`waits_for`](FluxKustomization::waits_for), each with whether a `readyExpr` tells that it is ready.
    pub fn waits_for_ready(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        let list = self.spec("dependsOn").as_array();
        list.into_iter().flatten().filter_map(|item| {
            let text = |key: &str| item[key].as_str().filter(|text| !text.is_empty());
            let namespace = text("namespace").unwrap_or(&self.namespace);
            Some((namespace, item["name"].as_str()?, text("readyExpr").is_some()))
        })
    }

    /// Points at a field of `spec`, or at the object where the field is missing.
    pub fn place(&self, key: &str) -> Place {
        let object = self.node();
        let spec = object.get("spec");
        let node = spec.and_then(|spec| spec.get(key)).unwrap_or(object);
        let span: Range<usize> = node.span.clone();
        Place::span(self.file.clone(), self.text.clone(), span)
    }

    /// Returns the place of the item of `dependsOn` at this position, at its name where it has one.
    pub fn place_of_dependency(&self, index: usize) -> Place {
        match self.written("dependsOn").and_then(|list| list.items().get(index)) {
            Some(item) => {
                let span = item.get("name").unwrap_or(item).span.clone();
                Place::span(self.file.clone(), self.text.clone(), span)
            }
            None => self.place("dependsOn"),
        }
    }

    /// Returns a field of `spec` as it is written.
    pub fn written(&self, key: &str) -> Option<&Node> {
        self.node().get("spec")?.get(key)
    }

    /// Returns the object as it is written: the document, or the item of a list in it.
    fn node(&self) -> &Node {
        let mut lists: Vec<&Node> = vec![&self.root];
        while let Some(list) = lists.pop().filter(|_| !self.is_document) {
            let items = list.get("items").map(Node::items).unwrap_or_default();
            if let Some(item) = items.iter().find(|item| item.to_json() == *self.value) {
                return item;
            }
            lists.extend(items);
        }
        &self.root
    }
}

/// Returns the field of a Flux Kustomization's `spec` whose value the API server refuses, with what it takes
/// (`kustomization_types.go`, which the schema of the custom resource is made of).
///
/// A variable is none of these: what it stands for, Git does not say.
pub fn refused_value(spec: &Value) -> Option<(&'static str, &'static str)> {
    let is_said = |field: &&str| !spec[*field].is_null() && !holds_variable(&spec[*field]);
    let flag = ["prune", "suspend"].into_iter().filter(is_said).find(|field| !spec[*field].is_boolean());
    let policy = Some("deletionPolicy")
        .filter(is_said)
        .filter(|field| !spec[*field].as_str().is_some_and(|policy| POLICIES.contains(&policy)));
    flag.map(|field| (field, "`true` or `false`"))
        .or(policy.map(|field| (field, "`MirrorPrune`, `Delete`, `WaitForTermination` or `Orphan`")))
}

/// Returns whether a value is a text with a variable that `postBuild` of whatever applies it fills in.
pub fn holds_variable(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains("${"))
}

/// Returns the variables in a text, from `${` to the next `}` or to the end: what `$${` begins is text (`drone/envsubst`).
pub fn variables(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("${").map(|(start, _)| start);
    starts.filter(|start| !text[..*start].ends_with('$')).map(|start| {
        let rest = &text[start..];
        &rest[..rest.find('}').map_or(rest.len(), |end| end + 1)]
    })
}

/// Finds every Flux Kustomization that stands in a file, in the order of files and documents; those without a source
/// too, which are patches or get theirs from whatever applies them.
///
/// Files that mention the API group and can't be parsed are reported: a Kustomization in them
/// would be overlooked. Templates of other tools are the usual reason.
pub fn flux_kustomizations(snapshot: &Snapshot) -> (Vec<FluxKustomization>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let mut remarks = Vec::new();
    for (path, entry) in snapshot.entries() {
        let Entry::File(file) = entry else { continue };
        if !is_yaml(path) || !file.mentions(GROUP) {
            continue;
        }
        let Some(documents) = kept_manifests(file) else {
            remarks.push(
                Diagnostic::warning(format!(
                    "{path} mentions {GROUP} and is not valid YAML. A Flux Kustomization in it is not seen"
                ))
                .at(Place::file(path.clone()))
                .help("mend the file, or ignore this if it is a template of another tool"),
            );
            continue;
        };
        let text = file.shared_text().unwrap_or_default();
        for manifest in documents {
            for value in manifest.shared_objects() {
                if !is_flux_kustomization(&value) {
                    continue;
                }
                let text_of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let mut kustomization = FluxKustomization {
                    file: path.clone(),
                    text: text.clone(),
                    document: manifest.index,
                    is_document: Arc::ptr_eq(&value, &manifest.value),
                    root: manifest.root.clone(),
                    name: text_of(&value["metadata"]["name"]),
                    namespace: text_of(&value["metadata"]["namespace"]),
                    path: None,
                    top: RepoPath::top(),
                    unmapped: None,
                    other: None,
                    cluster: String::new(),
                    remote: String::new(),
                    home: String::new(),
                    read_in: String::new(),
                    is_brought: false,
                    apis: Vec::new(),
                    effective: Arc::clone(&value),
                    post_build: value["spec"]["postBuild"].clone(),
                    value,
                    is_certain: false,
                };
                kustomization.path = repository_path(&kustomization);
                found.push(kustomization);
            }
        }
    }
    (found, remarks)
}

/// Sources that stand in files, by kind and name.
pub type WrittenSources = BTreeMap<(String, String), Vec<WrittenSource>>;

/// A source that stands in a file.
#[derive(Clone, Debug)]
pub struct WrittenSource {
    /// The file.
    pub file: RepoPath,
    /// The namespace; empty where the file does not say it.
    pub namespace: String,
    /// Its `spec`.
    pub spec: Value,
}

/// Returns the GitRepositories and OCIRepositories that stand in files.
pub fn written_sources(snapshot: &Snapshot) -> WrittenSources {
    let mut found = WrittenSources::new();
    for (path, entry) in snapshot.entries() {
        let Entry::File(file) = entry else { continue };
        if !is_yaml(path) || !file.mentions("source.toolkit.fluxcd.io") {
            continue;
        }
        for manifest in kept_manifests(file).into_iter().flatten() {
            for value in objects(&manifest.value) {
                if let Some(name) = value["metadata"]["name"].as_str()
                    && let Some(kind @ ("GitRepository" | "OCIRepository")) = value["kind"].as_str()
                    && value["spec"]["url"].is_string()
                {
                    let key = (kind.to_owned(), name.to_owned());
                    let namespace = value["metadata"]["namespace"].as_str();
                    let namespace = namespace.filter(|text| !text.contains("${")).unwrap_or_default();
                    found.entry(key).or_default().push(WrittenSource {
                        file: path.clone(),
                        namespace: namespace.to_owned(),
                        spec: value["spec"].clone(),
                    });
                }
            }
        }
    }
    found
}

/// Returns `spec.path` as a path of this repository.
///
/// Flux resolves it against the root of the source's artifact; only for a GitRepository is that
/// the top of a repository (Flux `kustomization_types.go`, `Path`). A missing path is the root.
fn repository_path(kustomization: &FluxKustomization) -> Option<RepoPath> {
    if kustomization.source_kind() != "GitRepository" {
        return None;
    }
    artifact_path(kustomization.spec("path").as_str().unwrap_or_default())
}

/// Reads a `spec.path` without regard to links; `None` for characters that no path of a repository has.
///
/// Flux joins it to the top of the artifact with securejoin, which keeps an absolute path and `..` inside, so
/// `/clusters` and `../clusters` mean `./clusters`.
pub fn artifact_path(text: &str) -> Option<RepoPath> {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match part {
            ".." => _ = parts.pop(),
            name => parts.push(name),
        }
    }
    RepoPath::parse(&parts.join("/")).ok()
}

/// Returns whether an object is a Flux Kustomization, of whichever version.
pub fn is_flux_kustomization(value: &Value) -> bool {
    value["kind"] == "Kustomization"
        && value["apiVersion"].as_str().is_some_and(|version| version.split('/').next() == Some(GROUP))
}

/// Returns whether a file's name says YAML, in the way that kustomize-controller scans folders.
pub fn is_yaml(path: &RepoPath) -> bool {
    path.name().is_some_and(|name| name.ends_with(".yaml") || name.ends_with(".yml"))
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn variables_of_a_text_are_told_with_what_works_on_them() {
        let found: Vec<&str> = variables("a ${x}/${y:=1} $${e} $v ${z:-${in}} ${end").collect();
        assert_eq!(found, ["${x}", "${y:=1}", "${z:-${in}", "${in}", "${end"]);
    }
}
