//! What of a Flux Kustomization takes part in the build of its folder.

use serde_json::{Value, json};

use crate::delivery::{EntryPoint, Model};
use crate::path::RepoPath;
use crate::render::{Request, build_fields};
use crate::repo::FluxKustomization;

/// Returns the way in which a Flux Kustomization builds its folder.
pub fn build(one: &FluxKustomization) -> Value {
    Value::Object(build_fields(&one.effective["spec"]))
}

/// Returns the build of a Flux Kustomization; `None` where it builds no folder of this repository.
pub fn request(one: &FluxKustomization) -> Option<Request> {
    Some(Request::flux(one.path.clone()?, &one.effective["spec"]))
}

/// Returns `spec.postBuild` and `spec.kubeConfig`: what makes other objects of the same build, or brings them to
/// another cluster.
pub fn beyond(one: &FluxKustomization) -> [Value; 2] {
    ["postBuild", "kubeConfig"].map(|field| one.spec(field).clone())
}

/// Returns the ways in which a cluster builds an entry point: one for each Flux Kustomization that
/// differs from the others. Where Git names none, one without any field is taken.
pub fn builds(model: &Model, entry: &EntryPoint) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for build in model.flux_of(entry).map(build) {
        if !found.contains(&build) {
            found.push(build);
        }
    }
    if found.is_empty() {
        found.push(Value::Object(build_fields(&Value::Null)));
    }
    found
}

/// Returns a build for another folder: components are named by paths relative to the folder.
pub fn rebuilt(build: &Value, from: &RepoPath, to: &RepoPath) -> Value {
    let mut build = build.clone();
    let components = build.get_mut("components").and_then(Value::as_array_mut);
    for component in components.into_iter().flatten() {
        if let Some(path) = component.as_str().and_then(|text| from.join(text).ok()) {
            *component = json!(path.relative_to(to));
        }
    }
    build
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_found_from_a_deeper_folder() {
        let path = |text| RepoPath::parse(text).unwrap();
        let build = json!({ "components": ["../../c"], "targetNamespace": "n" });
        assert_eq!(
            rebuilt(&build, &path("apps/prod"), &path("apps/prod/prod-rt")),
            json!({ "components": ["../../../c"], "targetNamespace": "n" })
        );
    }
}
