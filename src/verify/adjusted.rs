//! Which fields of a Flux Kustomization are no fault where they differ.

use serde_json::Value;

use crate::delivery::{Cluster, Reached};
use crate::render::ORIGIN;
use crate::verify::note::Note;

/// The fields that decide when its objects are applied and deleted.
const TIMED: [&str; 6] = [
    "apiVersion",
    "spec.prune",
    "spec.deletionPolicy",
    "spec.suspend",
    "spec.dependsOn",
    "spec.healthChecks",
];

/// The fields by which its objects are built: these tell what they come to, where both states of them are known.
const BUILDING: [&str; 10] = [
    SOURCE,
    POST_BUILD,
    "spec.path",
    "spec.patches",
    "spec.components",
    "spec.images",
    "spec.targetNamespace",
    "spec.namePrefix",
    "spec.nameSuffix",
    "spec.commonMetadata",
];

const SOURCE: &str = "spec.sourceRef";
const POST_BUILD: &str = "spec.postBuild";

/// A Flux Kustomization, and the cluster that gets it.
pub(super) type Owned<'a> = (&'a Cluster, &'a Reached);

/// Returns whether a field only decides when objects land, or the objects tell all that it comes to: they do where this
/// repository holds what is built, of the same revisions, and what is put into it.
pub(super) fn is_adjusted(field: &str, before: Option<Owned<'_>>, after: Option<Owned<'_>>) -> bool {
    let is = |known: &str| {
        field.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    if TIMED.iter().any(|known| is(known)) {
        return true;
    }
    let (Some((older, old)), Some((newer, new))) = (before, after) else { return false };
    BUILDING.iter().any(|known| is(known))
        && old.path.is_some()
        && new.path.is_some()
        && (!is(SOURCE) || newer.has_same_revisions(&new.source(), older, &old.source()))
        && (!is(POST_BUILD) || is_alike_unknown(old, new))
}

/// Returns whether what only the cluster knows of the values is the same: then it hides no difference.
fn is_alike_unknown(old: &Reached, new: &Reached) -> bool {
    let unknown = |one: &'_ Reached| -> Vec<_> {
        one.post_build["substituteFrom"].as_array().cloned().unwrap_or_default()
    };
    let rest = unknown(old);
    let strategy = |one: &Reached| one.post_build["substituteStrategy"].clone();
    rest == unknown(new) && (rest.is_empty() || strategy(old) == strategy(new))
}

/// Says that kustomize names another file as the origin of an object: that is an annotation in the cluster, and says nothing
/// of the object.
pub(super) fn origin(before: &Value, after: &Value) -> Option<Note> {
    let [was, is] = [before, after].map(|object| &object["metadata"]["annotations"][ORIGIN]);
    let text = |value: &Value| if value.is_null() { String::new() } else { value.to_string() };
    (was != is).then(|| Note::Adjusted(format!("metadata.annotations.{ORIGIN}"), text(was), text(is)))
}
