//! One of two trees: what each of its clusters gets, and from whom.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::delivery::Sides;
use crate::delivery::{Applier, Input, Reached, World, appliers, build_all};
use crate::path::RepoPath;
use crate::proof::is_of_gate;
use crate::render::{Object, RenderError, Request};
use crate::repo::built;
use crate::repo::manifest::ObjectId;
use crate::repo::post_build::{live_id, substitute};
use crate::verify::adjusted::Owned;

/// A cluster, or another one to which it applies objects.
type Target = (String, String);

/// An object and where it is.
pub(super) type Key = (Target, ObjectId);

/// One tree.
pub(super) struct Tree<'a> {
    pub input: Input<'a>,
    sides: Sides,
    /// What is built.
    appliers: Vec<Applier<'a>>,
    /// The Flux Kustomizations: the cluster, and what tells it from others there.
    known: BTreeSet<(String, [String; 3])>,
    /// The positions of those that Git keeps from applying anything.
    idle: BTreeSet<usize>,
    /// By object the positions of the Flux Kustomizations that make it.
    pub applied: BTreeMap<Key, Vec<usize>>,
    /// How many objects a cluster gets of an entry point.
    pub counts: BTreeMap<(RepoPath, String), usize>,
    /// What does not build.
    pub broken: Vec<(String, RepoPath, RenderError)>,
    /// The objects of gates, by the folders in which these stand.
    gates: BTreeMap<RepoPath, BTreeSet<ObjectId>>,
}

impl<'a> Tree<'a> {
    /// Builds all that clusters get; `named` gives the names that clusters have in the end.
    pub fn new(input: &Input<'a>, named: impl Fn(&str) -> String) -> Tree<'a> {
        let sides = input.sides();
        let mut tree = Tree {
            input: *input,
            sides,
            appliers: appliers(input.model),
            known: BTreeSet::new(),
            idle: BTreeSet::new(),
            applied: BTreeMap::new(),
            counts: BTreeMap::new(),
            broken: Vec::new(),
            gates: BTreeMap::new(),
        };
        let world = World { snapshot: input.snapshot, model: input.model };
        tree.appliers.retain(|one| !one.is_unsaid(input.model));
        let all = tree.appliers.clone();
        let results = build_all(world, &all.iter().collect::<Vec<_>>(), input.renderer);
        for (position, (applier, result)) in all.iter().zip(results).enumerate() {
            let cluster = named(applier.cluster);
            tree.known.insert((cluster.clone(), key_of(applier)));
            if applier.kustomization.is_some_and(Reached::is_suspended) {
                tree.idle.insert(position);
            }
            match result {
                Ok(objects) => {
                    let key = (tree.whole(&applier.path), cluster.clone());
                    *tree.counts.entry(key).or_default() += objects.len();
                    if applier.kustomization.is_none() {
                        continue;
                    }
                    for object in &objects {
                        let id = live_id(applier.post_build(), &object.value);
                        let key = ((cluster.clone(), applier.target()), id);
                        tree.applied.entry(key).or_default().push(position);
                    }
                }
                // What nobody in Git applies may be no folder that builds.
                Err(error) if applier.kustomization.is_some() => {
                    tree.broken.push((cluster, applier.path.clone(), error));
                }
                Err(_) => {}
            }
        }
        tree
    }

    /// Returns the folders that make an object, one of each Flux Kustomization.
    pub fn folders(&self, positions: &[usize]) -> Vec<RepoPath> {
        positions.iter().filter_map(|position| Some(self.appliers.get(*position)?.path.clone())).collect()
    }

    /// Returns whether a cluster gets an object: what Git suspends applies nothing.
    pub fn applies(&self, key: &Key) -> bool {
        !self.active(key).is_empty()
    }

    fn active(&self, key: &Key) -> Vec<usize> {
        let all = self.applied.get(key).into_iter().flatten();
        all.filter(|position| !self.idle.contains(position)).copied().collect()
    }

    /// Notes which Flux Kustomizations are new since another tree and kept out by what would apply them. One that the
    /// cluster has runs on.
    pub fn find_kept_out(&mut self, older: &Tree<'_>) {
        for (position, applier) in self.appliers.iter().enumerate() {
            let is_new = || !older.known.contains(&(applier.cluster.to_owned(), key_of(applier)));
            let cluster = || self.input.model.delivered.named(applier.cluster);
            let is_kept_out = |one| cluster().is_some_and(|cluster| cluster.is_kept_out(one));
            if applier.kustomization.is_some_and(is_kept_out) && is_new() {
                self.idle.insert(position);
            }
        }
    }

    /// Returns whether Git names nobody who applies what is built, or keeps that one from it.
    pub fn is_idle(&self, applier: &Applier<'_>) -> bool {
        let is_it = |position: &usize| {
            let one = self.appliers.get(*position);
            one.is_some_and(|one| one.cluster == applier.cluster && one.key() == applier.key())
        };
        applier.kustomization.is_none() || self.idle.iter().any(is_it)
    }

    /// Returns a Flux Kustomization of a cluster, by the secrets of `kubeConfig` on the way and its id.
    pub fn reached(&self, cluster: &str, remote: &str, id: &ObjectId) -> Option<Owned<'a>> {
        let cluster = self.input.model.delivered.named(cluster)?;
        Some((cluster, cluster.reached(remote, (&id.namespace, &id.name))?))
    }

    /// Returns some objects as clusters get them, each from all that apply it.
    pub fn objects(&self, keys: &BTreeSet<Key>) -> BTreeMap<Key, Vec<Object>> {
        let mut wanted: BTreeMap<usize, BTreeMap<&ObjectId, &Key>> = BTreeMap::new();
        for key in keys {
            for position in self.active(key) {
                wanted.entry(position).or_default().insert(&key.1, key);
            }
        }
        let of = |position: &usize| self.appliers.get(*position);
        let builds: Vec<(&Applier<'_>, &BTreeMap<&ObjectId, &Key>)> =
            wanted.iter().filter_map(|(position, keys)| Some((of(position)?, keys))).collect();
        let world = World { snapshot: self.input.snapshot, model: self.input.model };
        let all: Vec<&Applier<'_>> = builds.iter().map(|(applier, _)| *applier).collect();
        let results = build_all(world, &all, self.input.renderer);
        let mut found: BTreeMap<Key, Vec<Object>> = BTreeMap::new();
        for ((applier, keys), objects) in builds.into_iter().zip(results) {
            for mut object in objects.into_iter().flatten() {
                let id = live_id(applier.post_build(), &object.value);
                let Some(key) = keys.get(&id) else { continue };
                substitute(applier.post_build(), Arc::make_mut(&mut object.value));
                found.entry((*key).clone()).or_default().push(object);
            }
        }
        found
    }

    /// Notes the objects of gates that stand in some folders.
    pub fn find_gates(&mut self, folders: &BTreeSet<RepoPath>) {
        let standing = folders.iter().filter(|folder| self.input.snapshot.is_dir(folder));
        let standing: Vec<&RepoPath> = standing.collect();
        let requests: Vec<Request> =
            standing.iter().map(|folder| Request::delivered((*folder).clone())).collect();
        let results = self.input.renderer.render(self.input.snapshot, &requests);
        for (folder, objects) in standing.into_iter().zip(results) {
            let ids = objects.into_iter().flatten().map(|object| ObjectId::of(&object.value));
            self.gates.insert(folder.clone(), ids.filter(is_of_gate).collect());
        }
    }

    /// Returns whether an object belongs to a gate that a build takes in: another cluster may have one of that name.
    pub fn is_of_gate(&self, applier: &Applier<'_>, id: &ObjectId) -> bool {
        let mut folders =
            self.gates.iter().filter(|(_, ids)| ids.contains(id)).map(|(folder, _)| folder).peekable();
        if folders.peek().is_none() {
            return false;
        }
        let taken_in = built(&self.input.model.graph, &applier.path);
        folders.any(|folder| applier.path == *folder || taken_in.contains(folder))
    }

    /// Returns the folders of gates, standing or not, also of clusters that want none any more.
    pub fn gate_folders(&self) -> Vec<RepoPath> {
        let Input { spec, model, .. } = self.input;
        let named = spec.all_clusters().map(|cluster| cluster.name.value.as_str());
        let all = named.chain(model.closings.clusters());
        all.filter_map(|cluster| spec.gate_folder(cluster).ok()).collect()
    }

    /// Returns the entry point of which a folder is a side here, or the folder itself.
    pub fn whole(&self, folder: &RepoPath) -> RepoPath {
        self.sides.get(folder).map_or(folder, |(whole, _)| whole).clone()
    }

    /// Returns the name of the type whose side a folder is.
    pub fn type_of(&self, folder: &RepoPath) -> Option<&'a str> {
        let (_, position) = self.sides.get(folder)?;
        Some(&self.input.spec.types.get(*position)?.name.value)
    }
}

fn key_of(applier: &Applier<'_>) -> [String; 3] {
    let (remote, namespace, name) = applier.key();
    [remote, namespace, name].map(str::to_owned)
}
