//! What HelmReleases take their values from.
//!
//! helm-controller reads `spec.valuesFrom` in the release's own namespace whenever it reconciles, also while the Flux
//! Kustomization that applied the release is suspended: values that land earlier upgrade the release.

use serde_json::Value;

use crate::repo::manifest::ObjectId;

/// The API group of HelmReleases.
pub const HELM: &str = "helm.toolkit.fluxcd.io";

/// The objects that the HelmReleases of a build read, each with the type of its reader.
#[derive(Clone, Debug, Default)]
pub struct Values {
    all: Vec<(Named, usize)>,
}

/// An object as `valuesFrom` names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// `ConfigMap` or `Secret`.
    pub kind: String,
    /// The namespace of the release.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Named {
    /// Returns whether an object is it.
    pub fn is(&self, id: &ObjectId) -> bool {
        self.namespace == id.namespace && self.is_called(id)
    }

    /// As [`is`](Named::is), in whatever namespace.
    fn is_called(&self, id: &ObjectId) -> bool {
        id.group.is_empty() && self.kind == id.kind && self.name == id.name
    }
}

/// Returns whether an object is a HelmRelease.
pub fn is_release(object: &Value) -> bool {
    let id = ObjectId::of(object);
    id.kind == "HelmRelease" && id.group == HELM
}

/// Returns what a HelmRelease reads by `spec.valuesFrom`.
pub fn read_by(release: &Value) -> impl Iterator<Item = Named> {
    let namespace = release["metadata"]["namespace"].as_str().unwrap_or_default();
    let list = release["spec"]["valuesFrom"].as_array().into_iter().flatten();
    list.filter_map(move |item| {
        let (kind, name) = (item["kind"].as_str()?.to_owned(), item["name"].as_str()?.to_owned());
        Some(Named { kind, namespace: namespace.to_owned(), name })
    })
}

impl Values {
    /// Adds what a HelmRelease of a type reads.
    pub fn add(&mut self, release: &Value, change_type: usize) {
        self.all.extend(read_by(release).map(|named| (named, change_type)));
    }

    /// Returns whether a HelmRelease of this type reads an object; a file may leave the namespace out.
    pub fn has(&self, object: &Value, change_type: Option<usize>) -> bool {
        let id = ObjectId::of(object);
        let is_it = |named: &Named| named.is(&id) || id.namespace.is_empty() && named.is_called(&id);
        self.all.iter().any(|(named, own)| Some(*own) == change_type && is_it(named))
    }
}
