//! What a cluster keeps of an older state: what fails or is suspended applies nothing, so what it applied before stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::delivery::about::owned;
use crate::delivery::clusters::Bringer;
use crate::delivery::variables::Kept;
use crate::delivery::{Cluster, Model, Reached};
use crate::path::RepoPath;
use crate::repo::manifest::ObjectId;

/// What Flux Kustomizations of an older state applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Former(BTreeMap<By, Left>);

/// The folder of the root, and the secrets of `kubeConfig` on the way, the namespace and the name of a Flux Kustomization.
type By = (RepoPath, [String; 3]);

/// What one of them applied, of that by which a cluster is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Left {
    /// The Flux Kustomizations that no other one applied too.
    kustomizations: BTreeMap<ObjectId, Arc<Value>>,
    /// The objects with values of variables.
    pub values: BTreeMap<ObjectId, Kept>,
}

impl Former {
    /// Gathers what the clusters of a model have.
    pub(super) fn of(model: &Model) -> Former {
        let mut found: BTreeMap<By, Left> = BTreeMap::new();
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
                own.insert(ObjectId::of(&one.value), one.value.clone());
            }
            for (position, id, kept) in cluster.kept_values() {
                if let Some(by) = by(position) {
                    found.entry(by).or_default().values.insert(id, kept);
                }
            }
        }
        Former(found)
    }

    /// Returns what a Flux Kustomization of a later state applied, where it applies nothing any more: it does not build, or Git
    /// suspends it. `root` is the folder of the root from which it comes.
    ///
    /// What only applies itself is suspended once it has applied the commit that says so.
    pub(super) fn left_by(&self, root: &RepoPath, one: &Reached) -> Option<&Left> {
        let is_suspended = || one.is_suspended() && one.bringers.first() != Some(&Bringer::People);
        let is_idle = one.is_certain && (one.fails() || is_suspended());
        let by = || (root.clone(), owned(one.key()));
        (is_idle && !self.0.is_empty()).then(|| self.0.get(&by())).flatten()
    }
}

impl Left {
    /// Returns a Flux Kustomization as it was applied.
    pub(super) fn kustomization(&self, id: &ObjectId) -> Option<&Arc<Value>> {
        self.kustomizations.get(id)
    }
}

fn key(cluster: &Cluster, one: &Reached) -> Option<By> {
    Some((cluster.roots.get(one.root)?.folder.clone(), owned(one.key())))
}
