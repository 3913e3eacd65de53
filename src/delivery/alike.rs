//! Objects of one build that the values of variables give one name.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::delivery::mistyped::{MISTYPED, Mistyped};
use crate::render::{Object, RenderError};
use crate::repo::manifest::ObjectId;
use crate::repo::post_build::{live_id, puts_in, substituted};

/// Finds the positions of two objects of a build that get one id, each given by itself, its id as it is built, and the one
/// that it has in the cluster. Flux refuses such a build: `id matched 2 resources` (kustomize-controller, `build`, and
/// kustomize/api/resmap, `Replace`, which goes by version, kind, namespace and name).
pub(super) fn alike<'o>(
    objects: impl Iterator<Item = (&'o Value, &'o ObjectId, &'o ObjectId)> + Clone,
) -> Option<(usize, usize)> {
    // What kustomize builds has each id once.
    if objects.clone().all(|(_, id, live)| id == live) {
        return None;
    }
    let mut known = BTreeMap::new();
    objects.enumerate().find_map(|(position, (value, _, live))| {
        let namespace = if live.namespace == "default" { "" } else { &live.namespace };
        let version = value["apiVersion"].as_str().unwrap_or_default();
        let first = known.insert((version, &live.kind, namespace, &live.name), position)?;
        Some((first, position))
    })
}

/// Begins what is said of a build in which two objects get one id.
pub(crate) const GIVES: &str = "`postBuild` gives two of its objects one name,";

/// Says why a build fails in which two objects get one id.
pub(super) fn alike_reason(live: &ObjectId) -> String {
    format!("{GIVES} {live}")
}

/// Returns the first object of a build that Flux can't put values into, and why, so that the build fails
/// (kustomize-controller, `build`); or else the first one that Kubernetes refuses, so that nothing is applied.
pub(super) fn unfilled<'o>(post_build: &Value, objects: impl Iterator<Item = &'o Value>) -> Option<String> {
    let mut refused = None;
    for one in objects {
        let filled = match substituted(post_build, one) {
            Ok(filled) => filled,
            Err(failure) => {
                return Some(format!("`postBuild` can't fill in {}: {failure}", ObjectId::of(one)));
            }
        };
        refused = refused.or_else(|| {
            let why = Mistyped::of(filled.as_ref().unwrap_or(one))?;
            Some(format!("{MISTYPED} {}: {why}", ObjectId::of(one)))
        });
    }
    refused
}

/// Returns what Flux makes of a build: an error where values of variables can't be put in, or give two objects one id.
///
/// # Errors
///
/// When that is so.
pub(crate) fn told_apart(post_build: &Value, built: Vec<Object>) -> Result<Vec<Object>, RenderError> {
    if let Some(message) = unfilled(post_build, built.iter().map(|object| &*object.value)) {
        return Err(RenderError { message });
    }
    if !puts_in(post_build) {
        return Ok(built);
    }
    let id = |object: &Object| (ObjectId::of(&object.value), live_id(post_build, &object.value));
    let ids: Vec<(ObjectId, ObjectId)> = built.iter().map(id).collect();
    let all = built.iter().zip(&ids).map(|(object, (id, live))| (&*object.value, id, live));
    match alike(all) {
        Some((_, second)) => Err(RenderError { message: alike_reason(&ids[second].1) }),
        None => Ok(built),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_build_in_which_variables_give_one_name_twice_is_none() {
        let object = |version: &str, namespace: &str, name: &str| {
            let value = json!({ "apiVersion": version, "kind": "ConfigMap", "metadata": { "name": name, "namespace": namespace } });
            Object { value: Arc::new(value), origin: None }
        };
        let post_build = json!({ "substitute": { "APP": "web", "SPACE": "default" } });
        let told =
            |objects: &[Object]| told_apart(&post_build, objects.to_vec()).err().map(|error| error.message);
        let web = object("v1", "shop", "web");
        let reason = "`postBuild` gives two of its objects one name, ConfigMap shop/web";
        assert_eq!(told(&[object("v1", "shop", "${APP}"), web.clone()]).as_deref(), Some(reason));
        assert!(told(&[object("v1", "", "web"), object("v1", "${SPACE}", "web")]).is_some());
        for other in ["${APP}-two", "${OTHER}", "other"] {
            assert_eq!(told(&[object("v1", "shop", other), web.clone()]), None, "{other}");
        }
        assert_eq!(told(&[object("v1", "hall", "${APP}"), web.clone()]), None);
        assert_eq!(told(&[object("v2", "shop", "${APP}"), web.clone()]), None);
        assert!(told_apart(&json!(null), vec![object("v1", "shop", "${APP}"), web]).is_ok());
    }

    #[test]
    fn a_build_with_an_object_that_kubernetes_refuses_is_none() {
        let value = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "a": "${N}" } });
        let object = Object { value: Arc::new(value), origin: None };
        let told = |n: &str| {
            let post_build = json!({ "substitute": { "N": n } });
            told_apart(&post_build, vec![object.clone()]).err().map(|error| error.message)
        };
        assert_eq!(told("a"), None);
        assert_eq!(
            told("2").as_deref(),
            Some("Kubernetes refuses ConfigMap a: `data.a` is a number, not text")
        );
        assert_eq!(told("\"2\""), None);
    }

    #[test]
    fn a_build_of_which_an_object_cannot_be_filled_in_is_none() {
        let object = |text: &str| {
            let value = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "a": text } });
            Object { value: Arc::new(value), origin: None }
        };
        let post_build = json!({ "substitute": { "APP": "web" } });
        let told = |text: &str| told_apart(&post_build, vec![object(text)]).err().map(|error| error.message);
        assert_eq!(told("${APP}"), None);
        let reason = "`postBuild` can't fill in ConfigMap a: missing closing brace";
        assert_eq!(told("${APP").as_deref(), Some(reason));
    }
}
