//! Which of a Flux Kustomization's fields belong to what one side applies.

use serde_json::Value;

use crate::render::Object;
use crate::repo::manifest::ObjectId;
use crate::repo::secret;

/// What every value that SOPS encrypted begins with.
const ENCRYPTED: &str = "ENC[AES256_GCM,";

/// Returns whether an object holds anything encrypted: as a manifest, or generated from an encrypted
/// file, which kustomize has then encoded once more (kustomize-controller, `DecryptSources`).
pub fn is_encrypted(object: &Object) -> bool {
    let value = &object.value;
    secret::is_encrypted(value)
        || any_text(value, &|text| {
            text.contains(ENCRYPTED) || decoded(text).is_some_and(|text| text.contains(ENCRYPTED))
        })
}

fn any_text(value: &Value, holds: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => holds(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, holds)),
        Value::Object(fields) => fields.values().any(|field| any_text(field, holds)),
        _ => false,
    }
}

/// Decodes base64; `None` where a text is none.
fn decoded(text: &str) -> Option<String> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0_u32);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap_or_default());
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns whether a health check speaks of one of these objects.
pub fn is_checked(check: &Value, objects: &[Object]) -> bool {
    let text = |field: &str| check[field].as_str().unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    objects.iter().map(|object| ObjectId::of(&object.value)).any(|id| {
        let same_group = group == id.group || text("apiVersion").is_empty();
        let same_namespace =
            text("namespace").is_empty() || id.namespace.is_empty() || text("namespace") == id.namespace;
        id.kind == text("kind") && id.name == text("name") && same_group && same_namespace
    })
}

/// Returns whether an expression speaks of a kind that is among these objects.
pub fn is_of_kind(expression: &Value, objects: &[Object]) -> bool {
    let text = |field: &str| expression[field].as_str().unwrap_or_default();
    objects.iter().any(|object| {
        object.value["kind"] == text("kind") && object.value["apiVersion"] == text("apiVersion")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Object {
        Object { value: value.into(), origin: None }
    }

    #[test]
    fn encrypted_is_what_sops_wrote() {
        let secret =
            json!({ "kind": "Secret", "data": { "a": "ENC[AES256_GCM,data:x]" }, "sops": { "mac": "y" } });
        assert!(is_encrypted(&object(secret)));
        // `password=ENC[AES256_GCM,data:x]`, as a generator makes it of an encrypted file.
        let generated =
            json!({ "kind": "Secret", "data": { "a": "cGFzc3dvcmQ9RU5DW0FFUzI1Nl9HQ00sZGF0YTp4XQ==" } });
        assert!(is_encrypted(&object(generated)));
        assert!(!is_encrypted(&object(json!({ "kind": "Secret", "data": { "a": "aGVsbG8=" } }))));
        assert!(!is_encrypted(&object(json!({ "kind": "ConfigMap", "data": { "sops": "how to use it" } }))));
    }

    #[test]
    fn a_health_check_belongs_to_its_object() {
        let objects = [object(
            json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web", "namespace": "web" } }),
        )];
        let check = |namespace: &str| json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": namespace });
        assert!(is_checked(&check("web"), &objects));
        assert!(!is_checked(&check("other"), &objects));
    }
}
