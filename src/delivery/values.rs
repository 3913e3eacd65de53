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

/// Tells whether an object is a HelmRelease.
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

    /// Tells whether a HelmRelease of this type reads an object; a file may leave the namespace out.
    pub fn has(&self, object: &Value, change_type: Option<usize>) -> bool {
        let id = ObjectId::of(object);
        let is_named = |named: &Named| {
            named.kind == id.kind
                && named.name == id.name
                && (named.namespace == id.namespace || id.namespace.is_empty())
        };
        let fits = |(named, own): &(Named, usize)| Some(*own) == change_type && is_named(named);
        id.group.is_empty() && self.all.iter().any(fits)
    }
}
