//! What Git does not say of a Flux Kustomization: a variable stands there, or a value that clusters refuse.

use serde_json::Value;

use crate::delivery::Input;
use crate::delivery::classify::wildcard;
use crate::path::RepoPath;
use crate::plan::edit::prepare::{is_remembering, refused, without_policy};
use crate::plan::migrate::moving::Move;
use crate::plan::problem::Problem;
use crate::repo::FluxKustomization;
use crate::repo::flux::{artifact_path, holds_variable};
use crate::repo::post_build::pattern;

/// What helps where a variable stands.
const WRITTEN_OUT: &str = "write the cluster's value, in a file for each cluster where several share this one\nwait until the cluster has applied that\ngo on";

/// Stops where it is not known which Flux Kustomization of the cluster stands in a file, or what it does
/// there. What is finished is left alone.
///
/// A variable in `prune` or `deletionPolicy` is no such thing: the first step writes over it, and the
/// last one gives it back.
pub fn check(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    let stop =
        one.all().find_map(|flux| variable(flux).or_else(|| refused(flux)).or_else(|| unheld(input, flux)));
    let stop = stop.or_else(|| veiled(input, one))?;
    let overlaps = one.rest.as_ref().is_some_and(|rest| rest.overlaps);
    let is_finished = !overlaps && !one.new.values().any(Vec::is_empty) && !one.all().any(is_remembering);
    (!is_finished).then_some(stop)
}

/// Stops at a variable in what a Flux Kustomization is known by, or goes by.
pub(crate) fn variable(flux: &FluxKustomization) -> Option<Problem> {
    let (metadata, source) = (&flux.value["metadata"], flux.said("sourceRef"));
    // A list may give another one.
    let namespace = Value::from(flux.namespace.as_str());
    let fields = [
        ("metadata.name", "metadata", &metadata["name"]),
        ("metadata.namespace", "metadata", &namespace),
        // What applies it may say what a variable there stands for.
        ("spec.path", "path", flux.spec("path")),
        ("spec.sourceRef.kind", "sourceRef", &source["kind"]),
        ("spec.sourceRef.name", "sourceRef", &source["name"]),
        ("spec.sourceRef.namespace", "sourceRef", &source["namespace"]),
        ("spec.suspend", "suspend", flux.said("suspend")),
    ];
    let (field, key, _) = fields.into_iter().find(|(_, _, value)| holds_variable(value))?;
    Some(Problem::lasting(
        format!(
            "Flux Kustomization {} in {} has a variable in `{field}`. Git does not show the cluster's value",
            flux.name, flux.file
        ),
        WRITTEN_OUT,
        flux.place(key),
    ))
}

/// Stops where the gate is to hold a source, and the Flux there has no policy by which objects stay.
pub(crate) fn unheld(input: &Input<'_>, flux: &FluxKustomization) -> Option<Problem> {
    input.spec.gate.mechanism.holds_sources().then(|| without_policy(flux)).flatten()
}

/// Stops where nothing in Git names an entry point, and a path with a variable may be that of it.
fn veiled(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    if one.all().next().is_some() {
        return None;
    }
    let mut paths = [&one.whole].into_iter().chain(one.sides.values());
    let flux = paths.find_map(|path| may_apply(input, &one.cluster, path))?;
    Some(Problem::lasting(
        format!(
            "Flux Kustomization {} in {} has a variable in `spec.path` and may apply it",
            flux.name, flux.file
        ),
        WRITTEN_OUT,
        flux.place("path"),
    ))
}

/// Returns a Flux Kustomization whose path has a variable and may be this folder of a cluster.
pub fn may_apply<'a>(input: &Input<'a>, cluster: &str, folder: &RepoPath) -> Option<&'a FluxKustomization> {
    let veiled = input.model.unplaced().filter(|flux| holds_variable(flux.spec("path")));
    let mut meant = veiled.filter(|flux| {
        let path = flux.spec("path").as_str().and_then(artifact_path);
        let Some(pattern) = path.map(|path| pattern(path.as_str())) else { return false };
        let own = &flux.cluster;
        (own == cluster || !input.spec.clusters.contains_key(own)) && wildcard(&pattern, folder.as_str())
    });
    meant.next()
}
