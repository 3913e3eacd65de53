//! What every plan is made from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::classify::{Classified, ClassifyError, classify_all};
use crate::delivery::values::{Values, is_release};
use crate::delivery::{Apps, Artifact, Effect, Lacking, build, origins};
use crate::delivery::{EntryPoint, Model, Role, Sides, side};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::render::RenderError;
use crate::render::{Object, Renderer, Request};
use crate::repo::listing::has_list;
use crate::repo::manifest::ObjectId;
use crate::repo::{FluxKustomization, Snapshot};
use crate::spec::Spec;
use crate::text::did_you_mean;

/// The spec, the repository and a renderer.
///
/// A renderer is a function of the snapshot, so a plan remains one of spec and snapshot.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// What is wanted.
    pub spec: &'a Spec,
    /// What is there.
    pub snapshot: &'a Snapshot,
    /// What it means.
    pub model: &'a Model,
    /// What tells how it builds.
    pub renderer: &'a dyn Renderer,
}

/// A build with the type of each object.
#[derive(Clone, Debug)]
pub struct Typed {
    /// The objects in the order of the build.
    pub objects: Vec<Object>,
    /// Their types, in the same order.
    pub types: Vec<Classified>,
}

impl Typed {
    /// Gives the positions of the types that occur, in order.
    pub fn present(&self) -> Vec<usize> {
        let mut present: Vec<usize> = self.types.iter().map(|classified| classified.change_type).collect();
        present.sort_unstable();
        present.dedup();
        present
    }

    /// Gives the objects of one type.
    pub fn of(&self, change_type: usize) -> Vec<Object> {
        let pairs = self.objects.iter().zip(&self.types);
        pairs
            .filter(|(_, classified)| classified.change_type == change_type)
            .map(|(object, _)| object.clone())
            .collect()
    }

    /// Returns what the HelmReleases among these objects read.
    pub fn values(&self) -> Values {
        let mut values = Values::default();
        let releases = self.objects.iter().zip(&self.types).filter(|(object, _)| is_release(&object.value));
        releases.for_each(|(object, own)| values.add(&object.value, own.change_type));
        values
    }

    /// Gives the ids in order.
    pub fn ids(&self) -> impl Iterator<Item = ObjectId> {
        self.objects.iter().map(|object| ObjectId::of(&object.value))
    }
}

/// Why a folder could not be built and typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedError {
    /// It does not build.
    Render(String),
    /// It does not build, as its source does not fetch all that it needs.
    Unfetched {
        /// What it lacks, and why.
        message: String,
        /// What to do about it.
        remedy: String,
    },
    /// An object fits nowhere.
    Classify(ClassifyError),
}

impl TypedError {
    /// Returns why it does not build; `None` where it does.
    pub fn unbuilt(&self) -> Option<&str> {
        match self {
            TypedError::Render(message) | TypedError::Unfetched { message, .. } => Some(message),
            TypedError::Classify(_) => None,
        }
    }
}

impl<'a> Input<'a> {
    /// Understands another state of the repository.
    pub fn again(&self, snapshot: &Snapshot) -> Model {
        self.model.again(snapshot, self.renderer)
    }

    /// Builds a folder and gives each object its type; objects have origins only where those may decide.
    ///
    /// # Errors
    ///
    /// When the folder does not build or an object fits nowhere.
    pub fn typed(&self, snapshot: &Snapshot, folder: &RepoPath, app: &str) -> Result<Typed, TypedError> {
        let objects = self.objects(snapshot, self.request(snapshot, folder))?;
        let types = classify_all(self.spec, &objects, &|_| app.to_owned()).map_err(TypedError::Classify)?;
        Ok(Typed { objects, types })
    }

    /// Builds an entry point and gives each object its type; each belongs to the app that brings it.
    /// Objects have origins only where those may decide.
    ///
    /// # Errors
    ///
    /// As [`typed`](Input::typed).
    pub fn typed_entry(&self, snapshot: &Snapshot, entry: &EntryPoint) -> Result<Typed, TypedError> {
        let request = self.request(snapshot, &entry.path);
        // What a plan has made of the files is fetched as it is.
        let is_known = std::ptr::eq(snapshot, self.snapshot);
        let fetched = is_known.then(|| self.fetched(&entry.path)).flatten();
        let objects = self.objects(fetched.as_ref().unwrap_or(snapshot), request);
        let one = self.model.flux_at(&entry.path).next().filter(|_| is_known);
        let lacking = |one| {
            let artifact = self.model.partial_artifact(one);
            self.model.lacking_in(self.snapshot, artifact, &entry.path)
        };
        self.by_app(objects.map_err(|error| unfetched(error, one, lacking))?, entry)
    }

    /// Tells whether a Flux Kustomization of a cluster brings objects to an entry point that its folder alone does not
    /// build.
    pub fn adds_objects(&self, entry: &EntryPoint, cluster: &str) -> bool {
        self.model
            .flux_in(entry, cluster)
            .any(|flux| flux.spec("components").as_array().is_some_and(|components| !components.is_empty()))
    }

    /// As [`typed_entry`](Input::typed_entry), of the folder as the Flux Kustomizations of a cluster build it: their
    /// `components` bring objects of their own, and some do not build without.
    ///
    /// `None` where the cluster has none in Git, or two of them make objects of other types.
    ///
    /// # Errors
    ///
    /// As [`typed`](Input::typed).
    pub fn typed_as_applied(&self, entry: &EntryPoint, cluster: &str) -> Result<Option<Typed>, TypedError> {
        let mut found: Option<Typed> = None;
        let origins = self.request(self.snapshot, &entry.path).origins;
        for flux in self.model.flux_in(entry, cluster) {
            let build = build(self.model, &entry.path, &flux.effective["spec"]);
            let mut request = Request::of(entry.path.clone(), build.as_ref());
            request.origins = origins;
            let artifact = self.model.partial_artifact(flux);
            let files = self.model.delivered.files(self.snapshot, artifact);
            let lacking = |one| self.model.lacking(self.snapshot, one);
            let objects = self.objects(&files, request);
            let typed =
                self.by_app(objects.map_err(|error| unfetched(error, Some(flux), lacking))?, entry)?;
            if found.as_ref().is_some_and(|other| other.present() != typed.present()) {
                return Ok(None);
            }
            found.get_or_insert(typed);
        }
        Ok(found)
    }

    /// As [`typed_entry`](Input::typed_entry), of the files of an artifact and with the origin of each object that kustomize
    /// can tell.
    ///
    /// # Errors
    ///
    /// As [`typed`](Input::typed).
    pub fn located_entry(
        &self,
        entry: &EntryPoint,
        artifact: Option<&Artifact>,
    ) -> Result<Typed, TypedError> {
        let files = self.model.delivered.files(self.snapshot, artifact);
        let request = self.plain(&files, &entry.path).with_origins();
        self.by_app(self.objects(&files, request)?, entry)
    }

    /// Returns the files that the first Flux Kustomization over a folder sees, where its build sees a difference between
    /// these and all of the repository.
    pub fn fetched(&self, folder: &RepoPath) -> Option<Snapshot> {
        let artifact = self.model.flux_at(folder).next().and_then(|one| self.model.partial_artifact(one))?;
        Some(self.model.delivered.files(self.snapshot, Some(artifact)))
    }

    fn by_app(&self, objects: Vec<Object>, entry: &EntryPoint) -> Result<Typed, TypedError> {
        let apps = Apps::of(self.model, entry);
        let app_of = |object: &Object| apps.bringing(object).unwrap_or_default().to_owned();
        let types = classify_all(self.spec, &objects, &app_of).map_err(TypedError::Classify)?;
        Ok(Typed { objects, types })
    }

    fn objects(&self, snapshot: &Snapshot, request: Request) -> Result<Vec<Object>, TypedError> {
        match self.renderer.render(snapshot, &[request]).pop() {
            Some(Ok(objects)) => Ok(objects),
            Some(Err(error)) => Err(TypedError::Render(error.message)),
            None => Err(TypedError::Render("the renderer gave no answer".into())),
        }
    }

    /// Asks for a folder as kustomize alone builds it, or as Flux lists it where it is an entry point without a
    /// kustomization.
    ///
    /// `files` are those that its source fetches, which may leave the kustomization out.
    fn plain(&self, files: &Snapshot, folder: &RepoPath) -> Request {
        let is_listed_by_flux = !has_list(files, folder)
            && self
                .model
                .entry(folder)
                .is_some_and(|entry| !entry.flux.is_empty() || self.model.is_synced(folder));
        Request::of(folder.clone(), is_listed_by_flux.then_some(&Value::Null))
    }

    /// Asks for a build by which objects can be given their types.
    fn request(&self, snapshot: &Snapshot, folder: &RepoPath) -> Request {
        let fetched = std::ptr::eq(snapshot, self.snapshot).then(|| self.fetched(folder)).flatten();
        let request = self.plain(fetched.as_ref().unwrap_or(snapshot), folder);
        // The model tells of its own snapshot, and what a plan has made of it may hold anything.
        let is_known = std::ptr::eq(snapshot, self.snapshot);
        if is_known && !origins::matter(self.spec, snapshot, &self.model.graph, folder) {
            request
        } else {
            request.with_origins()
        }
    }

    /// Builds ahead the folders that [`typed`](Input::typed) and [`typed_entry`](Input::typed_entry)
    /// will ask for, side by side.
    pub fn prepare<'p>(&self, folders: impl IntoIterator<Item = &'p RepoPath>) {
        let distinct: BTreeSet<&RepoPath> = folders.into_iter().collect();
        let requests: Vec<Request> =
            distinct.into_iter().map(|folder| self.request(self.snapshot, folder)).collect();
        self.renderer.prepare(self.snapshot, &requests);
    }

    /// Gives the sides that an entry point has or would have in a cluster, by the positions of their types: of all types
    /// to which the layout gives one.
    pub fn sides_in(&self, entry: &RepoPath, cluster: &str) -> BTreeMap<usize, RepoPath> {
        let sides = self.spec.types.iter().map(|one| side(self.spec, entry, cluster, &one.name));
        sides.enumerate().filter_map(|(position, side)| Some((position, side?))).collect()
    }

    /// As [`sides_in`](Input::sides_in), those that stand.
    pub fn standing_sides(&self, entry: &RepoPath, cluster: &str) -> BTreeMap<usize, RepoPath> {
        let mut sides = self.sides_in(entry, cluster);
        sides.retain(|_, side| self.model.graph.has(side));
        sides
    }

    /// Gives the sides of every entry point, as [`Sides::of`] does: once for all of them, as it takes time.
    pub fn sides(&self) -> Sides {
        Sides::of(self.spec, self.model)
    }

    /// Gives the entry points of which a Flux Kustomization applies a side already.
    pub fn live<'s>(&self, sides: &'s Sides) -> BTreeSet<&'s RepoPath> {
        let of_side = |path: &RepoPath| sides.get(path).map(|(whole, _)| whole);
        self.model.applied_folders().filter_map(of_side).collect()
    }

    /// Gives the entry points of apps in the clusters of the spec, but for sides: what can be divided.
    pub fn wholes<'s>(&self, sides: &'s Sides) -> impl Iterator<Item = &'a EntryPoint> + use<'a, 's> {
        let input = *self;
        self.model.all_entries().iter().filter(move |entry| input.is_whole(entry, sides))
    }

    /// Tells whether an entry point is one of [`wholes`](Input::wholes).
    pub fn is_whole(&self, entry: &EntryPoint, sides: &Sides) -> bool {
        entry.role == Role::Apps && self.knows_cluster(entry) && !sides.contains_key(&entry.path)
    }

    /// Gives the sides that are entry points themselves, each with the entry point that was divided and its type.
    pub fn entries_of_sides<'s>(
        &self,
        sides: &'s Sides,
    ) -> impl Iterator<Item = (&'a EntryPoint, &'s (RepoPath, usize))> + use<'a, 's> {
        let model = self.model;
        sides.iter().filter_map(|(side, of)| Some((model.entry(side)?, of)))
    }

    /// Gives the Flux Kustomization of a cluster with a namespace and a name; the namespace is that of the spec where
    /// Git does not say it.
    pub fn flux_called(&self, cluster: &str, namespace: &str, name: &str) -> Option<&'a FluxKustomization> {
        self.model.flux_named(cluster, name).find(|one| self.namespace(one) == namespace)
    }

    /// Gives the namespace of a Flux Kustomization: its own, or that of the spec.
    pub fn namespace(&self, one: &'a FluxKustomization) -> &'a str {
        self.spec.flux.namespace_of(&one.namespace)
    }

    /// Gives the Flux Kustomizations of its cluster whose builds take in a Flux Kustomization; where there
    /// are none, those of any: a hub applies what goes by `kubeConfig` to another cluster.
    pub fn parents(&self, one: &FluxKustomization) -> Vec<&'a FluxKustomization> {
        self.model.parents(one)
    }

    /// Tells whether a Flux Kustomization in Git applies a folder by itself: a side that is live.
    pub fn is_applied(&self, folder: &RepoPath) -> bool {
        self.model.flux_at(folder).next().is_some()
    }

    /// Says why an entry point of one type alone is left as it is.
    pub fn undivided(&self, entry: &EntryPoint, change_type: usize) -> String {
        let name = &self.spec.types[change_type].name.value;
        let gated = self.held_whole(entry, change_type);
        format!("all of its objects have type {name}{gated}")
    }

    /// Says why an entry point is left as it is of which all but Namespaces have one type.
    pub fn unparted(&self, entry: &EntryPoint, change_type: usize) -> String {
        let name = &self.spec.types[change_type].name.value;
        let gated = self.held_whole(entry, change_type);
        format!("all of its objects but Namespaces have type {name}{gated}")
    }

    fn held_whole(&self, entry: &EntryPoint, change_type: usize) -> &'static str {
        if self.spec.types[change_type].is_real_time() {
            return "";
        }
        if entry.clusters().all(|cluster| self.model.is_suspended(&entry.path, cluster)) {
            return ": Git suspends its Flux Kustomization";
        }
        let closings = &self.model.closings;
        let free = |cluster: &&str| {
            let mut own = self.model.flux_in(entry, cluster).map(|one| GateTarget::of(self, one)).peekable();
            own.peek().is_some() && own.all(|target| closings.running(cluster, &target).is_none())
        };
        let free: Vec<&str> = entry.clusters().filter(free).collect();
        let resumed = |cluster: &&str| {
            let mut own = self.model.flux_in(entry, cluster).map(|one| GateTarget::of(self, one));
            own.any(|target| closings.is_resumed(cluster, &target))
        };
        if free.iter().any(resumed) {
            ". `suspend: false` in Git resumes its Flux Kustomization, so no window closes it"
        } else if free.iter().any(|cluster| self.spec.ungated.contains_key(*cluster)) {
            ". No gate suspends its Flux Kustomization: `hasGate: false`"
        } else if free.iter().any(|cluster| !self.spec.gate_enabled(cluster)) {
            ". No gate suspends its Flux Kustomization: the gate is off (`gate.enabled: false`)"
        } else if !free.is_empty() {
            ". No gate suspends its Flux Kustomization: `gitops-windows sync` says why"
        } else if entry.clusters().any(|cluster| self.model.flux_in(entry, cluster).next().is_some()) {
            ". A gate suspends its whole Flux Kustomization"
        } else {
            ""
        }
    }

    /// Makes sure that the spec has all of these clusters.
    ///
    /// # Errors
    ///
    /// What was probably meant, for each that it lacks.
    pub fn known_clusters(&self, names: &[String]) -> Result<(), Error> {
        let clusters = || self.spec.clusters.keys().map(String::as_str);
        let unknown = names.iter().filter(|name| !clusters().any(|known| known == *name));
        let diagnostics: Vec<Diagnostic> = unknown
            .map(|name| {
                let help = did_you_mean(name, clusters()).unwrap_or_else(|| {
                    format!("the clusters are: {}", clusters().collect::<Vec<_>>().join(", "))
                });
                Diagnostic::error(format!("the spec has no cluster `{name}`"))
                    .at(Place::file(self.spec.path.clone()))
                    .help(help)
            })
            .collect();
        if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Usage, diagnostics }) }
    }

    /// Tells whether the spec speaks of a cluster.
    pub fn knows_cluster(&self, entry: &EntryPoint) -> bool {
        entry.clusters().any(|cluster| self.spec.clusters.contains_key(cluster))
    }
}

/// Says of a build that fails what its source does not fetch, where that is why: what the build lacks here, such as a remote
/// base, it lacks all the same.
fn unfetched<'m>(
    error: TypedError,
    one: Option<&'m FluxKustomization>,
    lacking: impl Fn(&'m FluxKustomization) -> Vec<Lacking>,
) -> TypedError {
    let message = match error {
        TypedError::Render(message) if !(RenderError { message: message.clone() }).is_of_here() => message,
        error => return error,
    };
    let fails = |one| lacking(one).into_iter().find(|lacking| lacking.effect == Effect::Fails);
    match one.and_then(|one| Some((one, fails(one)?))) {
        Some((one, lacking)) => {
            let (message, remedy) = (lacking.never_seen_by(&one.name), lacking.why.remedy());
            TypedError::Unfetched { message, remedy }
        }
        None => TypedError::Render(message),
    }
}
