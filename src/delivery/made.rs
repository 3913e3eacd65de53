//! The Flux Kustomizations that FluxInstances make: they stand in no file.

use crate::delivery::instance::{is_instance, lets_go};
use crate::delivery::{Clusters, Delivery, EntryPoint, Model};
use crate::repo::manifest::{kept_manifests, objects};
use crate::repo::{FluxKustomization, Snapshot};

/// Returns them in the order of clusters, each as if it stood where its FluxInstance does.
pub(super) fn made(clusters: &Clusters, snapshot: &Snapshot) -> Vec<FluxKustomization> {
    let mut found = Vec::new();
    for cluster in &clusters.all {
        for one in cluster.kustomizations.iter().filter(|one| one.written.is_none() && one.remote.is_empty())
        {
            let Some(root) = cluster.root_of(one).filter(|root| root.is_applied_by(&one.value)) else {
                continue;
            };
            let Some(path) = &root.file else { continue };
            let Some(file) = snapshot.file(path) else { continue };
            let mut manifests = kept_manifests(file).into_iter().flatten();
            let Some(manifest) = manifests.find(|one| objects(&one.value).into_iter().any(is_instance))
            else {
                continue;
            };
            found.push(FluxKustomization {
                file: path.clone(),
                text: file.shared_text().unwrap_or_default(),
                document: manifest.index,
                is_document: true,
                root: manifest.root.clone(),
                name: one.name().to_owned(),
                namespace: one.namespace().to_owned(),
                path: one.path.clone(),
                top: one.artifact.top.clone(),
                unmapped: None,
                other: None,
                cluster: cluster.name.clone(),
                remote: String::new(),
                home: cluster.home(),
                read_in: cluster.name.clone(),
                is_brought: false,
                apis: cluster.api.iter().map(|api| (cluster.name.clone(), api.clone())).collect(),
                value: one.value.clone(),
                effective: one.value.clone(),
                post_build: one.post_build.clone(),
                is_certain: one.is_certain,
            });
        }
    }
    found
}

/// Returns whether the FluxInstance of a Flux Kustomization that it makes no more stays, so that it deletes that: in its file or
/// in what the cluster gets from then on. One that goes itself deletes nothing of what Flux applied
/// (`FluxInstanceReconciler.uninstall`).
pub(crate) fn is_collected<'d>(
    made: &FluxKustomization,
    later: &Snapshot,
    mut brought: impl Iterator<Item = &'d Delivery>,
) -> bool {
    let mut written = later.file(&made.file).into_iter().flat_map(kept_manifests).flatten();
    written.any(|one| objects(&one.value).into_iter().any(|value| lets_go(value, made)))
        || brought.any(|one| one.objects.iter().any(|applied| lets_go(applied.value(), made)))
}

impl Model {
    /// Returns every Flux Kustomization that applies something: those that stand in files, at their positions, and
    /// after them those that FluxInstances make.
    pub fn all_kustomizations(&self) -> impl Iterator<Item = &FluxKustomization> {
        self.flux.iter().chain(&self.made)
    }

    /// Returns the Flux Kustomization at a position among [all](Model::all_kustomizations).
    pub fn kustomization(&self, position: usize) -> &FluxKustomization {
        let made = position.checked_sub(self.flux.len());
        made.map_or_else(|| &self.flux[position], |position| &self.made[position])
    }

    /// Returns whether a FluxInstance makes the one at a position.
    pub fn is_made(&self, position: usize) -> bool {
        position >= self.flux.len()
    }

    /// Returns the Flux Kustomization that makes a delivery; `None` where Git does not say it.
    pub fn applying(&self, delivery: &Delivery) -> Option<&FluxKustomization> {
        delivery.applied_by.map(|position| self.kustomization(position))
    }

    /// Returns the positions of those that apply an entry point; `None` for one that Git does not say.
    pub(super) fn positions_of(&self, entry: &EntryPoint) -> Vec<Option<usize>> {
        let mut found = entry.flux.clone();
        if found.is_empty() {
            let is_it = |(_, one): &(usize, &FluxKustomization)| one.path.as_ref() == Some(&entry.path);
            let own = self.made.iter().enumerate().filter(is_it);
            found.extend(own.map(|(position, _)| self.flux.len() + position));
        }
        if found.is_empty() { vec![None] } else { found.into_iter().map(Some).collect() }
    }
}
