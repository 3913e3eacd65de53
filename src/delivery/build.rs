//! What of a Flux Kustomization takes part in the build of its folder.

use serde_json::{Value, json};

use crate::delivery::{EntryPoint, Model};
use crate::path::RepoPath;
use crate::render::{Request, build_fields};
use crate::repo::FluxKustomization;
use crate::repo::listing::is_generated;

/// Gives the way in which a Flux Kustomization with this `spec` builds a folder; `None` is what
/// kustomize alone makes of it.
pub fn build(model: &Model, folder: &RepoPath, spec: &Value) -> Option<Value> {
    let fields = build_fields(spec);
    // What was written down is built the same way, so that it may go again.
    let generated = is_generated(&model.graph, folder);
    (generated || !fields.is_empty()).then_some(Value::Object(fields))
}

/// Gives the build of a Flux Kustomization; `None` where it builds no folder of this repository.
pub fn request(model: &Model, one: &FluxKustomization) -> Option<Request> {
    let path = one.path.clone()?;
    let flux = build(model, &path, &one.effective["spec"]);
    Some(Request::of(path, flux.as_ref()))
}

/// Gives `spec.postBuild` and `spec.kubeConfig`: what makes other objects of the same build, or brings them to
/// another cluster.
pub fn beyond(one: &FluxKustomization) -> [Value; 2] {
    ["postBuild", "kubeConfig"].map(|field| one.spec(field).clone())
}

/// Gives the ways in which a cluster builds an entry point: one for each Flux Kustomization that
/// differs from the others. `None` is what kustomize alone makes of the folder.
pub fn builds(model: &Model, entry: &EntryPoint) -> Vec<Option<Value>> {
    let mut found: Vec<Option<Value>> = Vec::new();
    for kustomization in model.flux_of(entry) {
        let build = build(model, &entry.path, &kustomization.effective["spec"]);
        if !found.contains(&build) {
            found.push(build);
        }
    }
    if found.is_empty() {
        found.push(build(model, &entry.path, &Value::Null));
    }
    found
}

/// Gives a build for another folder: components are named by paths relative to the folder.
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
