//! Builds with the type of each object.

use std::collections::BTreeSet;

use crate::delivery::classify::{Classified, ClassifyError, classify_all};
use crate::delivery::values::{Values, is_release};
use crate::delivery::{Apps, Artifact, Effect, EntryPoint, Input, Lacking, origins};
use crate::path::RepoPath;
use crate::render::{Object, Request, is_of_here};
use crate::repo::listing::has_list;
use crate::repo::manifest::ObjectId;
use crate::repo::{FluxKustomization, Snapshot};

/// A build with the type of each object.
#[derive(Clone, Debug)]
pub struct Typed {
    /// The objects in the order of the build.
    pub objects: Vec<Object>,
    /// Their types, in the same order.
    pub types: Vec<Classified>,
}

impl Typed {
    /// Returns the positions of the types that occur, in order.
    pub fn present(&self) -> Vec<usize> {
        let mut present: Vec<usize> = self.types.iter().map(|classified| classified.change_type).collect();
        present.sort_unstable();
        present.dedup();
        present
    }

    /// Returns the objects of one type.
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

    /// Returns the ids in order.
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

    /// Returns whether it does not build for Flux either.
    pub fn fails(&self) -> bool {
        self.unbuilt().is_some_and(|message| !is_of_here(message))
    }
}

impl Input<'_> {
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

    /// Returns whether a Flux Kustomization of a cluster brings objects to an entry point that its folder alone does not
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
            let mut request = Request::flux(entry.path.clone(), &flux.effective["spec"]);
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

    /// Asks for an entry point as Flux builds it without any field, and for another folder as kustomize alone does: lists
    /// take it in.
    ///
    /// `files` are those that its source fetches, which may leave the kustomization out. Where nobody in Git applies a
    /// folder without one, it is no entry point that Flux would list.
    fn plain(&self, files: &Snapshot, folder: &RepoPath) -> Request {
        let is_applied = |entry: &EntryPoint| !entry.flux.is_empty() || self.model.is_synced(folder);
        let is_delivered = |entry: &EntryPoint| has_list(files, folder) || is_applied(entry);
        match self.model.entry(folder).is_some_and(is_delivered) {
            true => Request::delivered(folder.clone()),
            false => Request::base(folder.clone()),
        }
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
}

/// Says of a build that fails what its source does not fetch, where that is why: what the build lacks here, such as a remote
/// base, it lacks all the same.
fn unfetched<'m>(
    error: TypedError,
    one: Option<&'m FluxKustomization>,
    lacking: impl Fn(&'m FluxKustomization) -> Vec<Lacking>,
) -> TypedError {
    let message = match error {
        TypedError::Render(message) if !is_of_here(&message) => message,
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
