//! What a cluster keeps of an older state: what fails or is suspended applies nothing, so what it applied before stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::delivery::about::owned;
use crate::delivery::clusters::Bringer;
use crate::delivery::inventory::{prunes, stays_without};
use crate::delivery::metadata::{is_kept, is_only_created, is_passed_over};
use crate::delivery::source::SourceId;
use crate::delivery::variables::Kept;
use crate::delivery::view::Built;
use crate::delivery::{Cluster, Model, Reached, Root};
use crate::path::RepoPath;
use crate::repo::manifest::ObjectId;

/// What Flux Kustomizations of an older state applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Former {
    left: BTreeMap<By, Left>,
    roots: Vec<FormerRoot>,
}

/// The folder of the root, and the secrets of `kubeConfig` on the way, the namespace and the name of a Flux Kustomization.
type By = (RepoPath, [String; 3]);

/// What one of them applied, of that by which a cluster is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Left {
    /// The Flux Kustomizations that no other one applied too.
    pub kustomizations: BTreeMap<ObjectId, Built>,
    /// The sources and the generators.
    pub others: Vec<Built>,
    /// The objects with values of variables.
    pub values: BTreeMap<ObjectId, Kept>,
}

impl Left {
    /// Replaces what a later build brings by what it brought before, where its own settings keep Flux from changing that.
    pub fn keep_passed_over(&self, objects: &mut [Built]) {
        for one in objects.iter_mut().filter(|one| is_passed_over(&one.value) || is_only_created(&one.value))
        {
            let id = ObjectId::of(&one.value);
            let mut others = self.others.iter();
            let had =
                self.kustomizations.get(&id).or_else(|| others.find(|had| ObjectId::of(&had.value) == id));
            if let Some(had) = had {
                one.clone_from(had);
            }
        }
    }
}

/// The root of a cluster of which Git says what applies it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FormerRoot {
    /// It, with the spec that the cluster has.
    pub root: Root,
    /// Whether its own build brings it.
    pub is_own: bool,
}

impl FormerRoot {
    /// Returns whether it deletes itself once its own build brings it no more: that asks for `spec.prune` alone
    /// (kustomize-controller, `prune`).
    pub fn prunes_itself(&self) -> bool {
        let own = |value: &Arc<Value>| {
            !is_kept(value) && prunes(&value["spec"]["prune"]) && value["spec"]["suspend"] != true
        };
        self.is_own && self.root.kustomization.as_ref().is_some_and(own)
    }

    /// Returns whether it leaves all that it applied as it goes (kustomize-controller, `finalizerShouldDeleteResources`).
    pub fn leaves_all(&self) -> bool {
        self.root.kustomization.as_ref().is_some_and(|own| stays_without(&own["spec"]))
    }
}

impl Former {
    /// Gathers what the clusters of a model have.
    pub(super) fn of(model: &Model) -> Former {
        let mut found: BTreeMap<By, Left> = BTreeMap::new();
        let mut roots = Vec::new();
        let files = model.all_flux().iter().map(|flux| (Arc::as_ptr(&flux.effective), &flux.file));
        let files: BTreeMap<_, &RepoPath> = files.collect();
        for cluster in &model.delivered.all {
            let is_sure = |one: &&Reached| one.is_certain && one.error.is_none() && !one.is_suspended();
            let by =
                |at: usize| cluster.kustomizations.get(at).filter(is_sure).and_then(|one| key(cluster, one));
            // What has none leaves what nobody knows; an empty one leaves nothing more than others do.
            for by in (0..cluster.kustomizations.len()).filter_map(by) {
                found.entry(by).or_default();
            }
            for one in cluster.kustomizations.iter().filter(|one| one.is_certain) {
                let mut bringers = one.bringers.iter().filter_map(|by| by.kustomization());
                let Some(by) = bringers.next().filter(|_| bringers.next().is_none()).and_then(&by) else {
                    continue;
                };
                let own = &mut found.entry(by).or_default().kustomizations;
                let file = files.get(&Arc::as_ptr(&one.value)).map(|file| (*file).clone());
                own.insert(ObjectId::of(&one.value), Built { value: one.value.clone(), file });
            }
            for (position, one) in &cluster.brought {
                if let Some(by) = by(*position) {
                    found.entry(by).or_default().others.push(one.clone());
                }
            }
            for (position, id, kept) in cluster.kept_values() {
                if let Some(by) = by(position) {
                    found.entry(by).or_default().values.insert(id, kept);
                }
            }
            roots.extend(cluster.roots.iter().filter_map(|root| former_root(cluster, root)));
        }
        Former { left: found, roots }
    }

    /// Returns the roots of which Git says what applies them, and that nothing else in Git brings.
    pub(super) fn roots(&self) -> &[FormerRoot] {
        &self.roots
    }

    /// Returns the sources that a root has brought, and that it deletes once it brings them no more.
    pub(super) fn sources_of(&self, root: &Root) -> impl Iterator<Item = SourceId> {
        let by = root.key().map(|(namespace, name)| (root.folder.clone(), owned(("", namespace, name))));
        let brought = by.and_then(|by| self.left.get(&by)).into_iter().flat_map(|left| &left.others);
        brought.filter(|one| !is_kept(&one.value)).map(|one| SourceId::of_object(&one.value))
    }

    /// Returns what a Flux Kustomization of a later state applied, where it applies nothing any more: it does not build, or Git
    /// suspends it. `root` is the folder of the root from which it comes.
    ///
    /// What only applies itself is suspended once it has applied the commit that says so.
    pub(super) fn left_by(&self, root: &RepoPath, one: &Reached) -> Option<&Left> {
        let is_suspended = || one.is_suspended() && one.bringers.first() != Some(&Bringer::People);
        let is_idle = one.is_certain && (one.fails() || is_suspended());
        self.applied_by(root, one).filter(|_| is_idle)
    }

    /// Returns what a Flux Kustomization of a later state applied.
    pub(super) fn applied_by(&self, root: &RepoPath, one: &Reached) -> Option<&Left> {
        let by = || (root.clone(), owned(one.key()));
        (!self.left.is_empty()).then(|| self.left.get(&by())).flatten()
    }
}

fn key(cluster: &Cluster, one: &Reached) -> Option<By> {
    Some((cluster.roots.get(one.root)?.folder.clone(), owned(one.key())))
}

/// Returns a root with what the cluster has of it; `None` where Git does not say what applies it, or something else brings it.
fn former_root(cluster: &Cluster, root: &Root) -> Option<FormerRoot> {
    let one = cluster.reached("", root.key()?)?;
    let position = cluster.position(one)?;
    let mut bringers = one.bringers.iter().filter_map(|by| by.kustomization());
    if bringers.any(|by| by != position) {
        return None;
    }
    let source = one.source();
    let known = cluster.sources.iter().find(|(id, _)| id.is(&source));
    let root = Root {
        folder: one.path.clone()?,
        kustomization: Some(one.value.clone()),
        written: None,
        source: Some(known.cloned().unwrap_or((source, Value::Null))),
        ..root.clone()
    };
    Some(FormerRoot { root, is_own: one.bringers.contains(&Bringer::Kustomization(position)) })
}

#[cfg(test)]
#[path = "former_tests.rs"]
mod tests;
