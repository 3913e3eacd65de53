//! Parts of JSON Schemas.

use serde_json::{Map, Value, json};

/// Returns the schema of an object that has all of these fields.
pub(crate) fn object(fields: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = json!(required);
    let properties: Map<String, Value> =
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// Returns the schema of what may be missing.
pub(crate) fn nullable(kind: Value) -> Value {
    json!({ "anyOf": [kind, { "type": "null" }] })
}

/// Returns the schema of a list.
pub(crate) fn list(item: Value) -> Value {
    json!({ "type": "array", "items": item })
}

/// Returns the schema of one of some words.
pub(crate) fn one_of(words: &[&str]) -> Value {
    json!({ "enum": words })
}
