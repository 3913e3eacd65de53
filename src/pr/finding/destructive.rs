//! Changes that take more with them than the object.

use serde_json::Value;

use crate::delivery::Kind;
use crate::pr::finding::{Finding, Topic};
use crate::pr::landing::State;
use crate::pr::report::Line;
use crate::repo::manifest::ObjectId;

/// The kinds, with what goes with one of them.
const KINDS: [(&str, &str, &str); 7] = [
    ("", "Namespace", "everything in it goes too"),
    ("", "PersistentVolumeClaim", "its data goes too, unless the volume is retained"),
    ("", "PersistentVolume", "its data may go too"),
    ("apps", "StatefulSet", "its pods stop"),
    ("apiextensions.k8s.io", "CustomResourceDefinition", "every object of its kind goes too"),
    // flux-operator, `FluxInstanceReconciler.uninstall`.
    ("fluxcd.controlplane.io", "FluxInstance", "Flux is uninstalled with it"),
    // flux-operator, `ResourceSetReconciler.uninstall`.
    ("fluxcd.controlplane.io", "ResourceSet", "everything that it made goes too"),
];

/// By which a HelmRelease names its release (helm-controller, `action.ReleaseTargetChanged`).
const RELEASE: [&str; 4] =
    ["spec.releaseName", "spec.targetNamespace", "spec.storageNamespace", "spec.chart.spec.chart"];

/// Returns what goes with an object of a kind, where it is more than that.
pub(super) fn loss(id: &ObjectId) -> Option<&'static str> {
    let is_it = |(group, kind, _): &&(&str, &str, &str)| id.group == *group && id.kind == *kind;
    KINDS.iter().find(is_it).map(|(_, _, loss)| *loss)
}

/// Returns from when on a change is there, in brackets; nothing where Git does not say it.
pub(super) fn dated(line: &Line) -> String {
    line.lands.earliest.map(|from| format!(" (from {from})")).unwrap_or_default()
}

/// Finds an object whose deletion takes more with it, and a release that is made anew.
pub(super) fn destructive(line: &Line) -> Option<Finding> {
    if line.kind != Kind::Deleted {
        return reinstalled(line);
    }
    let loss = loss(&line.id)?;
    if line.lands.state == State::Never {
        return None;
    }
    Some(found(
        line,
        format!("{} deletes {}: {loss}", line.by.name(), line.id),
        "to keep it, annotate it `kustomize.toolkit.fluxcd.io/prune: disabled` and merge that first",
    ))
}

/// Finds a HelmRelease that names another release: the former one is uninstalled.
fn reinstalled(line: &Line) -> Option<Finding> {
    if (line.id.group.as_str(), line.id.kind.as_str()) != ("helm.toolkit.fluxcd.io", "HelmRelease") {
        return None;
    }
    // What is left out has the name or the namespace of the HelmRelease.
    let own = |path: &str| match path {
        "spec.releaseName" => Value::from(line.id.name.as_str()),
        "spec.targetNamespace" | "spec.storageNamespace" => Value::from(line.id.namespace.as_str()),
        _ => Value::Null,
    };
    let field = line.fields.iter().find(|field| {
        let value = |value: &Option<Value>| value.clone().unwrap_or_else(|| own(&field.path));
        RELEASE.contains(&field.path.as_str()) && value(&field.before) != value(&field.after)
    })?;
    Some(found(
        line,
        format!("{} of {} changes: its release is uninstalled and installed anew", field.path, line.id),
        "to keep the release, leave the field as it is",
    ))
}

fn found(line: &Line, message: String, help: &str) -> Finding {
    Finding {
        topic: Topic::Deletion,
        cluster: line.cluster.clone(),
        object: Some(line.id.clone()),
        message: message + &dated(line),
        from: line.lands.earliest,
        zone: line.lands.zone.clone(),
        help: help.to_owned(),
        ..Finding::default()
    }
}
