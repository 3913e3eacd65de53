//! What nobody but the cluster may see.

use crate::repo::manifest::ObjectId;

/// The annotation in which `kubectl apply` keeps a copy of the whole object.
pub const COPY: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Tells whether a field of an object, as a path such as `data.password`, holds values of a Secret.
///
/// That it is there may be told, and that it changes.
pub fn is_value(id: &ObjectId, field: &str) -> bool {
    let of = |key: &str| {
        field.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    id.group.is_empty()
        && id.kind == "Secret"
        && (["data", "stringData"].into_iter().any(of) || field.contains(COPY))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_secrets_are_told_apart_from_what_may_be_seen() {
        let id = |version: &str, kind: &str| {
            ObjectId::of(&json!({ "apiVersion": version, "kind": kind, "metadata": { "name": "a" } }))
        };
        let secret = id("v1", "Secret");
        let copy = format!("metadata.annotations.{COPY}");
        for field in ["data", "data.password", "data[\"a.b\"]", "stringData.a", copy.as_str()] {
            assert!(is_value(&secret, field), "{field}");
        }
        for field in ["type", "metadata.name", "database", "immutable"] {
            assert!(!is_value(&secret, field), "{field}");
        }
        assert!(!is_value(&id("v1", "ConfigMap"), "data.a"));
        assert!(!is_value(&id("example.com/v1", "Secret"), "data.a"));
    }
}
