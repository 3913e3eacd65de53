//! One of two trees: what each of its clusters gets, and from whom.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Sides;
use crate::delivery::{Applier, Input, World, appliers, build_all};
use crate::path::RepoPath;
use crate::plan::gate;
use crate::proof::is_of_gate;
use crate::render::{RenderError, Request};
use crate::repo::manifest::ObjectId;
use crate::repo::post_build::live_id;

/// A cluster, or another one to which it applies objects.
type Target = (String, String);

/// One tree.
pub(super) struct Tree<'a> {
    pub input: Input<'a>,
    sides: Sides,
    /// By object the folders that make it, one of each Flux Kustomization.
    pub applied: BTreeMap<(Target, ObjectId), Vec<RepoPath>>,
    /// How many objects a cluster gets of an entry point.
    pub counts: BTreeMap<(RepoPath, String), usize>,
    /// What does not build.
    pub broken: Vec<(String, RepoPath, RenderError)>,
    /// The objects of gates.
    pub gates: BTreeSet<ObjectId>,
}

impl<'a> Tree<'a> {
    /// Builds all that clusters get; `named` gives the names that clusters have in the end.
    pub fn new(input: &Input<'a>, named: impl Fn(&str) -> String) -> Tree<'a> {
        let sides = input.sides();
        let mut tree = Tree {
            input: *input,
            sides,
            applied: BTreeMap::new(),
            counts: BTreeMap::new(),
            broken: Vec::new(),
            gates: BTreeSet::new(),
        };
        let world = World { snapshot: input.snapshot, model: input.model };
        let all: Vec<Applier<'_>> =
            appliers(input.model).into_iter().filter(|one| !one.is_unsaid(input.model)).collect();
        let results = build_all(world, &all.iter().collect::<Vec<_>>(), input.renderer);
        for (applier, result) in all.iter().zip(results) {
            let cluster = named(applier.cluster);
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
                        tree.applied.entry(key).or_default().push(applier.path.clone());
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

    /// Notes the objects of gates that stand in some folders.
    pub fn find_gates(&mut self, folders: &BTreeSet<RepoPath>) {
        let standing = folders.iter().filter(|folder| self.input.snapshot.is_dir(folder));
        let requests: Vec<Request> = standing.cloned().map(Request::folder).collect();
        let results = self.input.renderer.render(self.input.snapshot, &requests);
        let ids = results.into_iter().flatten().flatten().map(|object| ObjectId::of(&object.value));
        self.gates = ids.filter(is_of_gate).collect();
    }

    /// Returns the folders of gates, standing or not.
    pub fn gate_folders(&self) -> Vec<RepoPath> {
        gate::cluster_folders(&self.input).unwrap_or_default()
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
