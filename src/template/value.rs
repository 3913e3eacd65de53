//! Values as JSON.

use minijinja::value::ValueKind;
use minijinja::{ErrorKind, Value};

/// Returns what a template writes as JSON; refuses what no manifest could hold.
pub(super) fn to_json(value: &Value) -> Result<serde_json::Value, minijinja::Error> {
    let refused = |what: String| minijinja::Error::new(ErrorKind::InvalidOperation, what);
    if value.is_undefined() {
        return Err(minijinja::Error::from(ErrorKind::UndefinedError));
    }
    if !matches!(
        value.kind(),
        ValueKind::None
            | ValueKind::Bool
            | ValueKind::Number
            | ValueKind::String
            | ValueKind::Seq
            | ValueKind::Map
            | ValueKind::Iterable
    ) {
        return Err(refused(format!("a value of kind {} can't be written", value.kind())));
    }
    serde_json::to_value(value).map_err(|error| refused(error.to_string()))
}

/// Writes JSON that is YAML too: invisible characters as escapes, those beyond the basic plane as
/// themselves, since YAML knows no surrogate pairs.
pub(super) fn write_json(value: &serde_json::Value, out: &mut String) {
    match value {
        serde_json::Value::String(text) => {
            out.push('"');
            for c in text.chars() {
                match c {
                    '"' => out.push_str("\\\""),
                    '\\' => out.push_str("\\\\"),
                    ' '..='~' => out.push(c),
                    _ if u32::from(c) > 0xffff => out.push(c),
                    _ => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                }
            }
            out.push('"');
        }
        serde_json::Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_json(item, out);
            }
            out.push(']');
        }
        serde_json::Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_json(&serde_json::Value::String(key.clone()), out);
                out.push_str(": ");
                write_json(value, out);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}
