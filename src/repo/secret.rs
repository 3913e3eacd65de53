//! What nobody but the cluster may see.

use serde_json::Value;

use crate::repo::manifest::ObjectId;

/// The annotation in which `kubectl apply` keeps a copy of the whole object.
pub const COPY: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields of an object that hold no value: all others of a Secret may, or of what SOPS encrypted.
pub const OPEN: [&str; 5] = ["apiVersion", "immutable", "kind", "metadata", "type"];

/// Tells whether a field of an object, as a path such as `data.password`, holds values of a Secret, or may: a misspelt `Data`
/// does.
///
/// That it is there may be told, and that it changes.
pub fn is_value(id: &ObjectId, field: &str) -> bool {
    let of = |key: &str| {
        field.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    id.group.is_empty() && id.kind == "Secret" && (!OPEN.into_iter().any(of) || field.contains(COPY))
}

/// Tells whether SOPS encrypted values of an object: it keeps what it needs to read them again in a field `sops`
/// (kustomize-controller, `isSOPSEncryptedResource`).
pub fn is_encrypted(object: &Value) -> bool {
    object.get("sops").is_some_and(|sops| !sops.is_null())
}

/// Tells whether SOPS has encrypted a value.
pub fn is_cipher(text: &str) -> bool {
    text.starts_with("ENC[AES256_GCM,")
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
        for field in
            ["data", "data.password", "data[\"a.b\"]", "stringData.a", "Data.a", "stringdata", copy.as_str()]
        {
            assert!(is_value(&secret, field), "{field}");
        }
        for field in ["type", "metadata.name", "metadata.labels[\"a/b\"]", "immutable"] {
            assert!(!is_value(&secret, field), "{field}");
        }
        assert!(!is_value(&id("v1", "ConfigMap"), "data.a"));
        assert!(!is_value(&id("example.com/v1", "Secret"), "data.a"));
    }
}
