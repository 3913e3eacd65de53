//! What is to be built.

use serde_json::{Map, Value};

use crate::path::RepoPath;

/// One build that is wanted.
///
/// Equal builds are equal requests: of a Flux Kustomization only what its build depends on is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The folder to build, as `kustomize build --load-restrictor LoadRestrictionsNone` would.
    pub path: RepoPath,
    /// Whether origins are wanted.
    pub origins: bool,
    flux: Option<Value>,
}

impl Request {
    /// Asks for a folder as kustomize alone builds it, without origins: a base, a component, or what a list takes in.
    ///
    /// kustomize refuses a list that holds nothing, and one with a field that it does not know.
    pub fn base(path: RepoPath) -> Request {
        Request { path, origins: false, flux: None }
    }

    /// Asks for a folder as [`flux`](Request::flux) does for a Flux Kustomization without any field: what an entry point,
    /// a side or a root delivers.
    pub fn delivered(path: RepoPath) -> Request {
        Request::flux(path, &Value::Null)
    }

    /// Asks for a folder as kustomize-controller builds it for a Flux Kustomization with this `spec`;
    /// `postBuild` stays text.
    ///
    /// The controller reads the folder's own list anew and leaves out what it does not know, or makes one
    /// (fluxcd/pkg/kustomize, `Generator.GenerateManifest`). All lists below are read by kustomize.
    pub fn flux(path: RepoPath, spec: &Value) -> Request {
        Request { path, origins: false, flux: Some(Value::Object(build_fields(spec))) }
    }

    /// Asks for origins too.
    #[must_use]
    pub fn with_origins(self) -> Request {
        Request { origins: true, ..self }
    }

    /// Asks for no origins.
    pub(super) fn without_origins(&self) -> Request {
        Request { origins: false, ..self.clone() }
    }

    /// Returns the fields of the Flux Kustomization that builds the folder; `None` where kustomize
    /// alone does.
    pub fn fields(&self) -> Option<&Value> {
        self.flux.as_ref()
    }

    /// Returns the request that has the same objects wherever the renderer says so: kustomize alone
    /// for a Flux Kustomization without fields, and the other way round; `None` where there are fields.
    pub(super) fn twin(&self) -> Option<Request> {
        match &self.flux {
            None => Some(Request { flux: Some(Value::Object(Map::new())), ..self.clone() }),
            Some(Value::Object(fields)) if fields.is_empty() => Some(Request { flux: None, ..self.clone() }),
            Some(_) => None,
        }
    }
}

/// The fields of `spec` that kustomize-controller puts into the kustomization before it builds
/// (fluxcd/pkg/kustomize, `Generator.WriteFile`), or sets on the objects afterwards
/// (`commonMetadata`); `renderer/flux.go` reads the same.
const FIELDS: [&str; 9] = [
    "targetNamespace",
    "namePrefix",
    "nameSuffix",
    "commonMetadata",
    "components",
    "ignoreMissingComponents",
    "patches",
    "images",
    "buildMetadata",
];

/// Returns the fields of a Flux Kustomization's `spec` that its build depends on, without those that
/// say nothing: null, false, and empty lists and maps. An empty text says something.
pub fn build_fields(spec: &Value) -> Map<String, Value> {
    let says = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    let fields = FIELDS.into_iter().filter_map(|field| Some((field.to_owned(), spec.get(field)?.clone())));
    fields.filter(|(_, value)| says(value)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flux(spec: &Value) -> Request {
        Request::flux(RepoPath::parse("apps").unwrap(), spec)
    }

    #[test]
    fn what_the_build_does_not_depend_on_makes_no_other_request() {
        let one = json!({
            "interval": "10m", "path": "./apps", "prune": true, "targetNamespace": "web",
            "dependsOn": [{"name": "infra"}], "postBuild": {"substitute": {"a": "b"}},
            "sourceRef": {"kind": "GitRepository", "name": "flux-system"},
        });
        let other = json!({
            "interval": "1h", "wait": true, "targetNamespace": "web", "patches": [], "images": null,
            "commonMetadata": {}, "ignoreMissingComponents": false,
        });
        assert_eq!(flux(&one), flux(&other));
        assert_ne!(flux(&one), flux(&json!({"targetNamespace": "api"})));
        assert_ne!(flux(&one), flux(&json!({"targetNamespace": "web", "namePrefix": ""})));
    }

    #[test]
    fn only_a_build_without_fields_has_a_twin() {
        let alone = Request::base(RepoPath::parse("apps").unwrap());
        assert_eq!(flux(&json!({"interval": "1h"})).twin(), Some(alone.clone()));
        assert_eq!(alone.twin(), Some(Request::delivered(RepoPath::parse("apps").unwrap())));
        assert_eq!(flux(&json!({"namePrefix": "a-"})).twin(), None);
    }
}
