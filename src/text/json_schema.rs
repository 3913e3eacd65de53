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

/// Returns the schema of an object that has the first fields, and some of the others.
pub(crate) fn object_with(fields: Vec<(&str, Value)>, others: Vec<(&str, Value)>) -> Value {
    let mut found = object(fields);
    for (name, value) in others {
        found["properties"][name] = value;
    }
    found
}

/// Returns the schema of text.
pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}

/// Returns the schema of what is so or not.
pub(crate) fn truth() -> Value {
    json!({ "type": "boolean" })
}

/// Returns the schema of a number of things.
pub(crate) fn number() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

/// Makes a schema that of the answers of some commands.
pub(crate) fn answers(commands: &str, mut top: Value) -> Value {
    top["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    top["title"] = json!(format!("Answers of gitops-windows {commands}"));
    top
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
