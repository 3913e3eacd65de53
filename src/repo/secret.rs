//! What nobody but the cluster may see.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use crate::repo::manifest::ObjectId;
use crate::repo::selector::fits;

/// The annotation in which `kubectl apply` keeps a copy of the whole object.
pub const COPY: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields of an object that hold no value: all others of a Secret may, or of what SOPS encrypted.
pub const OPEN: [&str; 5] = ["apiVersion", "immutable", "kind", "metadata", "type"];

/// Returns whether a field of an object, as a path such as `data.password`, holds values of a Secret, or may: a misspelt `Data`
/// does.
///
/// That it is there may be told, and that it changes.
pub fn is_value(id: &ObjectId, field: &str) -> bool {
    let of = |key: &str| {
        field.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    id.group.is_empty() && id.kind == "Secret" && (!OPEN.into_iter().any(of) || field.contains(COPY))
}

/// Returns whether SOPS encrypted values of an object: it keeps what it needs to read them again in a field `sops`
/// (kustomize-controller, `isSOPSEncryptedResource`).
pub fn is_encrypted(object: &Value) -> bool {
    object.get("sops").is_some_and(|sops| !sops.is_null())
}

/// Returns whether SOPS has encrypted a value.
pub fn is_cipher(text: &str) -> bool {
    text.starts_with("ENC[AES256_GCM,")
}

/// Returns whether a text, which may be a manifest or a patch in a field, holds values of a Secret.
pub fn holds_values(text: &str) -> bool {
    KIND.is_match(text) && DATA.is_match(text)
}

/// Returns whether an object of JSON is a Secret with values, or a patch that may be of one by its `target`: both stand in
/// fields of other objects too. A target without a kind may be of any.
pub fn is_of_secret(fields: &Map<String, Value>) -> bool {
    let has = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    let is_patch = || {
        let target = fields.get("target").filter(|target| target.is_object());
        let kind = |target: &Value| target["kind"].as_str().is_none_or(|kind| fits(kind, "Secret"));
        let text = fields.get("patch").and_then(Value::as_str);
        text.is_none_or(changes_values) && target.is_some_and(kind)
    };
    fields.get("kind").is_some_and(|kind| kind == "Secret") && (has("data") || has("stringData"))
        || has("patch") && is_patch()
}

/// Returns whether the text of a patch changes what would be values of a Secret.
pub fn changes_values(patch: &str) -> bool {
    DATA.is_match(patch)
}

/// Returns whether a value, or one in it, is of a Secret.
pub fn nests_secret(value: &Value) -> bool {
    match value {
        Value::Object(fields) => is_of_secret(fields) || fields.values().any(nests_secret),
        Value::Array(items) => items.iter().any(nests_secret),
        _ => false,
    }
}

/// The names of the fields below which values of a Secret that stands in another object may be.
pub const NESTED: [&str; 3] = ["data", "stringData", "patch"];

/// The kind, as YAML or JSON has it.
static KIND: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\bkind["']?\s*:\s*["']?Secret\b"#));

/// A key under which a Secret has values, or the way to it in a JSON patch.
static DATA: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(^|[\s{,"'])(data|stringData)["']?\s*:|/(data|stringData)\b"#));

fn pattern(text: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "each is a constant, which a test compiles")]
    Regex::new(text).expect("it is a pattern")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn manifests_and_patches_in_texts_hold_values() {
        for text in [
            "apiVersion: v1\nkind: Secret\nmetadata: { name: a }\nstringData: { b: c }\n",
            "{\"kind\": \"Secret\", \"data\": {\"a\": \"b\"}}",
            "---\nkind: 'Secret'\ndata:\n  a: b\n",
        ] {
            assert!(holds_values(text), "{text}");
        }
        for text in [
            "existingSecret: a\nmetadata: {}\n",
            "valuesFrom: [{ kind: Secret, name: a }]\n",
            "data: { a: b }\n",
            "kind: SecretStore\ndata: {}\n",
        ] {
            assert!(!holds_values(text), "{text}");
        }
        let patch = |text: &str, target: &Value| json!({ "patches": [{ "patch": text, "target": target }] });
        let add = "- { op: add, path: /stringData/a, value: b }";
        for kind in [json!("Secret"), json!("Sec.*|ConfigMap"), json!(""), Value::Null, json!("(")] {
            let target = json!({ "kind": kind, "name": "a" });
            assert!(nests_secret(&patch(add, &target)) && nests_secret(&patch("- path: /data", &target)));
        }
        assert!(!nests_secret(&patch(add, &json!({ "kind": "ConfigMap" }))));
        assert!(!nests_secret(&patch("- path: /metadata/labels/a", &json!({ "name": "a" }))));
        assert!(!nests_secret(&json!({ "valuesFrom": [{ "kind": "Secret", "name": "a" }] })));
    }

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
