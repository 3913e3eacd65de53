//! What every plan is made from.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Artifact, Comparison, EntryPoint, Model, Pair, Role, Sides, World, parent, side};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::render::Renderer;
use crate::repo::{FluxKustomization, Snapshot};
use crate::spec::Spec;
use crate::spec::windows::unknown_cluster;

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

/// Another state of the repository: it is read once, and not before somebody asks.
pub struct Later<'a> {
    input: &'a Input<'a>,
    snapshot: &'a Snapshot,
    model: OnceCell<Model>,
}

impl Later<'_> {
    /// Returns the files of an artifact; without one, all of them.
    pub fn files(&self, artifact: Option<&Artifact>) -> Snapshot {
        if artifact.is_none() {
            return self.snapshot.clone();
        }
        self.model().delivered.files(self.snapshot, artifact)
    }

    /// Returns whether every cluster gets the same as by the files that are there now.
    pub fn changes_nothing(&self) -> bool {
        let now = World { snapshot: self.input.snapshot, model: self.input.model };
        let later = World { snapshot: self.snapshot, model: self.model() };
        let comparison = Comparison::new(now, later, self.input.renderer);
        comparison.changes.is_empty() && comparison.pairs.iter().all(Pair::is_known)
    }

    /// Returns it with the spec and the renderer of today.
    pub fn input(&self) -> Input<'_> {
        Input { snapshot: self.snapshot, model: self.model(), ..*self.input }
    }

    fn model(&self) -> &Model {
        self.model.get_or_init(|| self.input.again(self.snapshot))
    }
}

impl<'a> Input<'a> {
    /// Understands another state of the repository.
    pub fn again(&self, snapshot: &Snapshot) -> Model {
        self.model.again(snapshot, self.renderer)
    }

    /// Returns another state of the repository, of which artifacts can be asked.
    pub fn later<'s>(&'s self, snapshot: &'s Snapshot) -> Later<'s> {
        Later { input: self, snapshot, model: OnceCell::new() }
    }

    /// Returns the sides that an entry point has or would have in a cluster, by the positions of their types: of all types
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

    /// Returns the sides of every entry point, as [`Sides::of`] does: once for all of them, as it takes time.
    pub fn sides(&self) -> Sides {
        Sides::of(self.spec, self.model)
    }

    /// Returns the entry points of which a Flux Kustomization applies a side already.
    pub fn live<'s>(&self, sides: &'s Sides) -> BTreeSet<&'s RepoPath> {
        let of_side = |path: &RepoPath| sides.get(path).map(|(whole, _)| whole);
        self.model.applied_folders().filter_map(of_side).collect()
    }

    /// Returns the entry points of apps in the clusters of the spec, but for sides: what can be divided.
    pub fn wholes<'s>(&self, sides: &'s Sides) -> impl Iterator<Item = &'a EntryPoint> + use<'a, 's> {
        let input = *self;
        self.model.all_entries().iter().filter(move |entry| input.is_whole(entry, sides))
    }

    /// Returns whether an entry point is one of [`wholes`](Input::wholes).
    pub fn is_whole(&self, entry: &EntryPoint, sides: &Sides) -> bool {
        entry.role == Role::Apps && self.knows_cluster(entry) && !sides.contains_key(&entry.path)
    }

    /// Returns the sides that are entry points themselves, each with the entry point that was divided and its type.
    pub fn entries_of_sides<'s>(
        &self,
        sides: &'s Sides,
    ) -> impl Iterator<Item = (&'a EntryPoint, &'s (RepoPath, usize))> + use<'a, 's> {
        let model = self.model;
        sides.iter().filter_map(|(side, of)| Some((model.entry(side)?, of)))
    }

    /// Returns the Flux Kustomization of a cluster with a namespace and a name; the namespace is that of the spec where
    /// Git does not say it.
    pub fn flux_called(&self, cluster: &str, namespace: &str, name: &str) -> Option<&'a FluxKustomization> {
        self.model.flux_named(cluster, name).find(|one| self.namespace(one) == namespace)
    }

    /// Returns the namespace of a Flux Kustomization: its own, or that of the spec.
    pub fn namespace(&self, one: &'a FluxKustomization) -> &'a str {
        self.spec.flux.namespace_of(&one.namespace)
    }

    /// Returns the Flux Kustomizations of its cluster whose builds take in a Flux Kustomization; where there
    /// are none, those of any: a hub applies what goes by `kubeConfig` to another cluster.
    pub fn parents(&self, one: &FluxKustomization) -> Vec<&'a FluxKustomization> {
        self.model.parents(one)
    }

    /// Returns whether rules can let a Flux Kustomization wait for a window: what another repository holds has no type, and what
    /// only applies others lands at once.
    pub fn takes_window(&self, one: &FluxKustomization) -> bool {
        let is_of_apps =
            |entry: &EntryPoint| entry.role == Role::Apps && !self.is_parent(entry, &one.cluster);
        one.path.as_ref().is_some_and(|path| self.model.entry(path).is_none_or(is_of_apps))
    }

    /// Returns whether what a cluster builds of an entry point only applies others. One that does not build is none.
    fn is_parent(&self, entry: &EntryPoint, cluster: &str) -> bool {
        let typed = match self.adds_objects(entry, cluster) {
            true => self.typed_as_applied(entry, cluster).ok().flatten(),
            false => self.typed_entry(self.snapshot, entry).ok(),
        };
        typed.is_some_and(|typed| parent::reason(self.model, &typed.objects).is_some())
    }

    /// Returns whether a Flux Kustomization in Git applies a folder by itself: a side that is live.
    pub fn is_applied(&self, folder: &RepoPath) -> bool {
        self.model.flux_at(folder).next().is_some()
    }

    /// Makes sure that the spec has all of these clusters.
    ///
    /// # Errors
    ///
    /// What was probably meant, for each that it lacks.
    pub fn known_clusters(&self, names: &[String]) -> Result<(), Error> {
        let unknown = names.iter().filter(|name| !self.spec.clusters.contains_key(*name));
        let diagnostics: Vec<Diagnostic> =
            unknown.flat_map(|name| unknown_cluster(self.spec, name).diagnostics).collect();
        if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Usage, diagnostics }) }
    }

    /// Returns whether the spec speaks of a cluster.
    pub fn knows_cluster(&self, entry: &EntryPoint) -> bool {
        entry.clusters().any(|cluster| self.spec.clusters.contains_key(cluster))
    }
}
