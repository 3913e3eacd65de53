//! The files that a source fetches, with what Flux reads a cluster by.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::delivery::bootstrap::{bootstrapped, unjudged};
use crate::delivery::jitter::is_controller;
use crate::delivery::source::SourceId;
use crate::delivery::variables::is_wanted;
use crate::mechanism;
use crate::mechanism::{OPERATOR, is_provider};
use crate::path::{RepoPath, below};
use crate::render::{Object, Request};
use crate::repo::flux::{
    EXTENSIONS, GROUP, SOURCES, WrittenSource, WrittenSources, is_flux_kustomization, is_yaml,
};
use crate::repo::manifest::{Manifest, ObjectId, kept_manifests};
use crate::repo::{Entry, File, Graph, Kustomization, Reference, Snapshot, generated_children};
use crate::yaml::Node;

/// An object that a build brings, with the file that it comes from where that is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Built {
    pub value: Arc<Value>,
    pub file: Option<RepoPath>,
}

impl From<Object> for Built {
    fn from(object: Object) -> Built {
        Built { value: object.value, file: object.origin.map(|origin| origin.path) }
    }
}

/// Returns whether what a cluster gets depends on an object: Flux Kustomizations, the sources that they read,
/// what these are made by, the controllers themselves, and what of these `names` brings values to variables.
fn is_of_interest(value: &Value, names: &BTreeSet<String>) -> bool {
    let group = value["apiVersion"].as_str().unwrap_or_default().split('/').next().unwrap_or_default();
    match value["kind"].as_str() {
        Some("Kustomization") => is_flux_kustomization(value),
        Some("GitRepository" | "OCIRepository") => group == SOURCES,
        Some("FluxInstance") => group == OPERATOR,
        Some("ArtifactGenerator") => group == EXTENSIONS,
        Some("Deployment") => is_controller(value),
        _ => is_provider(value) || is_wanted(names, value),
    }
}

/// As many names are not looked for one by one in a text.
const MANY: usize = 64;

/// Fields of a kustomization that change nothing in the objects that [`is_of_interest`] means, but for their labels and
/// annotations.
pub(super) const HARMLESS: [&str; 14] = [
    "apiversion",
    "kind",
    "metadata",
    "resources",
    "bases",
    "namespace",
    "configmapgenerator",
    "secretgenerator",
    "generatoroptions",
    "labels",
    "commonlabels",
    "commonannotations",
    "images",
    "sortoptions",
];

/// Fields of a Flux Kustomization that may change them.
pub(super) const CHANGING: [&str; 4] = ["namePrefix", "nameSuffix", "components", "patches"];

/// The files of one artifact.
#[derive(Debug)]
pub(super) struct View {
    pub snapshot: Snapshot,
    pub graph: Graph,
    /// The files that may hold objects of interest, each with these; `None` where it can't be read as YAML.
    files: BTreeMap<RepoPath, Option<Vec<Arc<Value>>>>,
    /// The folders whose builds take one of these in.
    folders: BTreeSet<RepoPath>,
    /// All of these with the folders in which they lie.
    around: BTreeSet<RepoPath>,
    /// The folders whose lists generate values of variables.
    generating: BTreeSet<RepoPath>,
    /// The names that a `substituteFrom` may have.
    names: Arc<BTreeSet<String>>,
    /// The lists that take in what can't be read or is missing, and the files that can't, once somebody asks.
    unreadable: OnceLock<BTreeSet<RepoPath>>,
    /// Its files with what `flux bootstrap` is yet to write, once somebody asks.
    bootstrapped: OnceLock<Snapshot>,
}

impl View {
    pub(super) fn new(snapshot: Snapshot, graph: Graph, names: Arc<BTreeSet<String>>) -> View {
        let files = snapshot.entries().filter(|(path, _)| is_yaml(path));
        let files: BTreeMap<RepoPath, Option<Vec<Arc<Value>>>> = files
            .filter_map(|(path, entry)| match entry {
                Entry::File(file) => Some((path.clone(), of_interest(file, &names)?)),
                _ => None,
            })
            .collect();
        let mut queue: Vec<RepoPath> = files.keys().cloned().collect();
        // A link to a file stands for it.
        queue.extend(graph.links().filter(|link| files.contains_key(&graph.real(link))).cloned());
        let generates = |list: &&Kustomization| generated(list).any(|name| names.contains(name));
        let generating: BTreeSet<RepoPath> =
            graph.iter().filter(generates).map(|list| list.folder.clone()).collect();
        // What a list that can't be read builds on may be all below it, whatever its lines show.
        let is_broken =
            |folder: &&RepoPath| graph.broken(folder).is_some() && below(&files, folder).next().is_some();
        let broken: BTreeSet<RepoPath> = graph.folders().filter(is_broken).cloned().collect();
        let own = &generating | &broken;
        queue.extend(own.iter().cloned());
        let folders = with_referrers(&graph, own, queue);
        let around = files.keys().chain(&folders).flat_map(RepoPath::ancestors).collect();
        let (unreadable, bootstrapped) = (OnceLock::new(), OnceLock::new());
        View { snapshot, graph, files, folders, around, generating, names, unreadable, bootstrapped }
    }

    /// Returns its files with what `flux bootstrap` is yet to write into the repository; `written` is what it has written
    /// before.
    pub(super) fn bootstrapped(&self, repository: &Snapshot, written: &BTreeSet<RepoPath>) -> &Snapshot {
        self.bootstrapped.get_or_init(|| bootstrapped(&self.snapshot, &self.graph, repository, written))
    }

    /// Returns why the build of a folder of its bootstrapped `files` fails: Flux may well make one of which a patch does not fit what
    /// stands for the controllers.
    pub(super) fn unjudged(&self, folder: &RepoPath, files: &Snapshot, message: String) -> String {
        let is_new = |path: &RepoPath| self.snapshot.entry(path).is_none() && files.entry(path).is_some();
        unjudged(&self.graph, &self.graph.real(folder), is_new, message)
    }

    /// Returns whether the build of a folder by a Flux Kustomization with this `spec` may bring an object of interest.
    pub(super) fn may_bring(&self, folder: &RepoPath, spec: &Value) -> bool {
        let folder = self.graph.real(folder);
        let components = spec["components"].as_array().into_iter().flatten();
        let mut components = components.filter_map(|path| folder.join(path.as_str()?).ok());
        if self.folders.contains(&folder) || components.any(|path| self.folders.contains(&path)) {
            return true;
        }
        !self.graph.has(&folder) && self.around.contains(&folder)
    }

    /// Returns whether the files show that the build of a folder may fail, whatever it brings: it is not there, or takes in a list
    /// that can't be used or names a file that is none, or a file that is no YAML. What else keeps one from being built only a build shows.
    pub(super) fn may_fail(&self, folder: &RepoPath) -> bool {
        let folder = self.graph.real(folder);
        match self.graph.has(&folder) {
            true => self.unreadable().contains(&folder),
            false => {
                !folder.is_top() && !self.snapshot.is_dir(&folder)
                    || self.unreadable().iter().any(|one| one.is_within(&folder))
                    || self.loose(&folder).any(is_no_resource)
            }
        }
    }

    /// Returns what YAML lies below a folder without a list between, as Flux lists it (fluxcd/pkg/kustomize, `scanManifests`).
    fn loose<'v>(&'v self, folder: &'v RepoPath) -> impl Iterator<Item = &'v Entry> {
        let files = self.snapshot.below(folder).filter(|(file, _)| is_yaml(file));
        files.filter(|(file, _)| is_loose(&self.graph, folder, file)).map(|(_, entry)| entry)
    }

    fn unreadable(&self) -> &BTreeSet<RepoPath> {
        self.unreadable.get_or_init(|| self.find_unreadable())
    }

    fn find_unreadable(&self) -> BTreeSet<RepoPath> {
        let files = self.snapshot.entries().filter(|(path, _)| is_yaml(path));
        let no_yaml = files.filter(|(_, entry)| matches!(entry, Entry::File(file) if !file.is_yaml()));
        let broken = self.graph.folders().filter(|folder| self.graph.broken(folder).is_some());
        let is_none = |path: &RepoPath| {
            let path = self.graph.real(path);
            self.snapshot.entry(&path).is_none() && !self.snapshot.is_dir(&path)
        };
        let lacks = |list: &&Kustomization| list.references().iter().filter_map(Reference::path).any(is_none);
        let lacking = self.graph.iter().filter(lacks).map(|list| &list.folder);
        let own = no_yaml.map(|(path, _)| path).chain(broken).chain(lacking);
        let own: BTreeSet<RepoPath> = own.cloned().collect();
        let queue = own.iter().cloned().collect();
        with_referrers(&self.graph, own, queue)
    }

    /// Returns whether a `substituteFrom` may mean an object.
    pub(super) fn is_variable(&self, value: &Value) -> bool {
        is_wanted(&self.names, value)
    }

    /// Returns the files that speak of Flux and can't be read as YAML.
    pub(super) fn unread(&self) -> impl Iterator<Item = &RepoPath> {
        self.files.iter().filter(|(_, objects)| objects.is_none()).map(|(file, _)| file)
    }

    /// Adds to sources by name the held ones that objects in files make: the file and the `spec` of each.
    pub(super) fn with_held_sources(&self, mut sources: WrittenSources) -> WrittenSources {
        for (file, values) in &self.files {
            for (namespace, name, spec) in
                values.iter().flatten().filter_map(|value| mechanism::source_of(value))
            {
                let key = ("GitRepository".to_owned(), name.to_owned());
                sources.entry(key).or_default().push(WrittenSource {
                    file: file.clone(),
                    namespace: namespace.to_owned(),
                    spec,
                });
            }
        }
        sources
    }

    /// Returns whether a source stands in a file below a folder.
    pub(super) fn holds_source(&self, folder: &RepoPath, id: &SourceId) -> bool {
        let mut values = below(&self.files, folder).filter_map(|(_, values)| values.as_ref()).flatten();
        values.any(|value| id.is(&SourceId::of_object(value)))
    }

    /// Returns the request by which kustomize builds a folder for a Flux Kustomization with this `spec`.
    pub(super) fn request(folder: &RepoPath, spec: &Value) -> Request {
        Request::flux(folder.clone(), spec).with_origins()
    }

    /// Returns the objects of interest that a build brings, where kustomize would only put files together: `None` where
    /// it does more, or refuses.
    pub(super) fn listed(&self, folder: &RepoPath, spec: &Value) -> Option<Vec<Built>> {
        let is_set = |field: &str| spec[field].as_array().is_none_or(|list| !list.is_empty());
        if CHANGING.iter().filter(|field| !spec[**field].is_null()).any(|field| is_set(field)) {
            return None;
        }
        let mut listing = Listing { view: self, is_exact: true, seen: BTreeSet::new(), found: Vec::new() };
        let namespace = spec["targetNamespace"].as_str().filter(|namespace| !namespace.is_empty());
        listing.top(&self.graph.real(folder), namespace)?;
        let mut ids = BTreeSet::new();
        listing.found.iter().all(|one| ids.insert(ObjectId::of(&one.value))).then_some(listing.found)
    }

    /// As [`listed`](View::listed), whatever else the build does and whether it succeeds: what the files say.
    pub(super) fn written(&self, folder: &RepoPath, spec: &Value) -> Vec<Built> {
        let mut listing = Listing { view: self, is_exact: false, seen: BTreeSet::new(), found: Vec::new() };
        let folder = self.graph.real(folder);
        let namespace = spec["targetNamespace"].as_str().filter(|namespace| !namespace.is_empty());
        _ = listing.top(&folder, namespace);
        for component in spec["components"].as_array().into_iter().flatten() {
            let component = component.as_str().and_then(|path| folder.join(path).ok());
            _ = component.and_then(|component| listing.folder(&component, namespace));
        }
        listing.found
    }
}

/// Returns whether no folder between one and a file in it has a list.
fn is_loose(graph: &Graph, folder: &RepoPath, file: &RepoPath) -> bool {
    let mut between = file.parents().take_while(|above| above.is_within(folder) && above != folder);
    file.is_within(folder) && between.all(|above| !graph.has(&above))
}

/// Returns whether Flux, which lists a file, fails on it.
fn is_no_resource(entry: &Entry) -> bool {
    matches!(entry, Entry::File(file) if !file.is_resources())
}

/// Adds the folders whose lists refer to some files or folders, and those that refer to these in turn.
fn with_referrers(
    graph: &Graph,
    mut found: BTreeSet<RepoPath>,
    mut queue: Vec<RepoPath>,
) -> BTreeSet<RepoPath> {
    while let Some(next) = queue.pop() {
        let above = graph.referrers(&next).filter(|folder| found.insert((*folder).clone()));
        queue.extend(above.cloned());
    }
    found
}

/// Returns the objects of interest of a file: `Some(None)` where it speaks of such and can't be read as YAML, `None`
/// where it has none.
pub(super) fn of_interest(file: &File, names: &BTreeSet<String>) -> Option<Option<Vec<Arc<Value>>>> {
    let has = |word: &str| file.mentions(word);
    // Most files hold none of these words; jobs of gates hold them in their commands.
    let is_of_flux = has("fluxcd.")
        && (has(GROUP)
            || has(OPERATOR)
            || has(EXTENSIONS)
            || (has(SOURCES) && (has("GitRepository") || has("OCIRepository"))));
    let is_variable =
        || (has("ConfigMap") || has("Secret")) && (names.len() > MANY || names.iter().any(|name| has(name)));
    if !is_of_flux && !is_variable() {
        return None;
    }
    let Some(documents) = kept_manifests(file) else { return is_of_flux.then_some(None) };
    let objects = documents.iter().flat_map(Manifest::shared_objects);
    let found: Vec<Arc<Value>> = objects.filter(|value| is_of_interest(value, names)).collect();
    (!found.is_empty()).then_some(Some(found))
}

/// Returns the names that the generators of a list give to ConfigMaps and Secrets.
fn generated(list: &Kustomization) -> impl Iterator<Item = &str> {
    let fields = ["configMapGenerator", "secretGenerator"].into_iter().filter_map(|field| list.field(field));
    fields.flat_map(Node::items).filter_map(|item| item.get("name")?.as_str())
}

/// Walks over the files of a build.
struct Listing<'v> {
    view: &'v View,
    is_exact: bool,
    seen: BTreeSet<RepoPath>,
    found: Vec<Built>,
}

impl Listing<'_> {
    fn top(&mut self, folder: &RepoPath, namespace: Option<&str>) -> Option<()> {
        match self.view.graph.has(folder) {
            true => self.folder(folder, namespace),
            false => self.below(folder, namespace),
        }
    }

    /// Takes in all below a folder, as if it had no list.
    fn below(&mut self, folder: &RepoPath, namespace: Option<&str>) -> Option<()> {
        let graph = &self.view.graph;
        // Flux lists by itself what lies below (fluxcd/pkg/kustomize, `scanManifests`).
        let lists = generated_children(graph, folder);
        for list in &lists {
            self.folder(list, namespace)?;
        }
        let mut links = graph.links().filter(|link| link.is_within(folder) && is_yaml(link));
        if self.is_exact && links.next().is_some() {
            return None;
        }
        if self.is_exact && self.view.loose(folder).any(is_no_resource) {
            return None;
        }
        for (file, _) in below(&self.view.files, folder).filter(|(file, _)| is_loose(graph, folder, file)) {
            self.file(file, namespace)?;
        }
        Some(())
    }

    fn folder(&mut self, folder: &RepoPath, namespace: Option<&str>) -> Option<()> {
        let graph = &self.view.graph;
        if !self.seen.insert(folder.clone()) {
            // The second time is an error to kustomize, or a cycle.
            return (!self.is_exact).then_some(());
        }
        // What it does, it does to its own objects, unless it fails.
        if self.is_exact && !self.view.folders.contains(folder) {
            return (!self.view.unreadable().contains(folder)).then_some(());
        }
        let Some(list) = graph.get(folder) else {
            self.wanting()?;
            return self.salvaged(folder, namespace);
        };
        let is_harmless = |key: &str| HARMLESS.contains(&key.to_lowercase().as_str());
        let generates = self.view.generating.contains(folder);
        if self.is_exact && (generates || list.is_component() || !list.keys().all(is_harmless)) {
            return None;
        }
        let own = list.field("namespace").and_then(|node| node.as_str()).filter(|own| !own.is_empty());
        let namespace = namespace.or(own);
        let fields = ["resources", "bases", "components"];
        for reference in list.references().iter().filter(|one| fields.contains(&one.field)) {
            let Some(path) = reference.path() else {
                self.wanting()?;
                continue;
            };
            self.part(&graph.real(path), namespace)?;
        }
        Some(())
    }

    /// Takes in what a list that can't be used builds on, as far as its lines show that.
    fn salvaged(&mut self, folder: &RepoPath, namespace: Option<&str>) -> Option<()> {
        let mut parts = self.view.graph.builds_on(folder).peekable();
        if parts.peek().is_none() {
            return self.below(folder, namespace);
        }
        for part in parts {
            self.part(part, namespace)?;
        }
        Some(())
    }

    fn part(&mut self, path: &RepoPath, namespace: Option<&str>) -> Option<()> {
        if self.view.graph.has(path) {
            self.folder(path, namespace)
        } else if self.view.snapshot.file(path).is_some() {
            self.file(path, namespace)
        } else {
            self.wanting()
        }
    }

    /// Stops where kustomize would have to say what comes of it.
    fn wanting(&self) -> Option<()> {
        (!self.is_exact).then_some(())
    }

    fn file(&mut self, path: &RepoPath, namespace: Option<&str>) -> Option<()> {
        let Some(objects) = self.view.files.get(path) else {
            // One that holds nothing of interest may still break the build.
            let is_broken = || self.view.snapshot.file(path).is_some_and(|file| !file.is_resources());
            return if self.is_exact && is_broken() { None } else { Some(()) };
        };
        let Some(objects) = objects else { return self.wanting() };
        for value in objects {
            let annotations = value["metadata"]["annotations"].as_object();
            let speaks_to_kustomize = |key: &String| key.starts_with("config.kubernetes.io/");
            if self.is_exact && annotations.is_some_and(|all| all.keys().any(speaks_to_kustomize)) {
                return None;
            }
            let mut value = Arc::clone(value);
            if let Some(namespace) = namespace.filter(|own| value["metadata"]["namespace"] != **own)
                && let Some(metadata) = Arc::make_mut(&mut value)["metadata"].as_object_mut()
            {
                metadata.insert("namespace".to_owned(), Value::from(namespace));
            }
            self.found.push(Built { value, file: Some(path.clone()) });
        }
        Some(())
    }
}
