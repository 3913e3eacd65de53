//! Patches of `spec.suspend`.

use serde_json::Value;

use crate::yaml::read_documents;

/// A patch that `kubectl patch` makes of `spec.suspend`.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspendPatch {
    /// What `--type` says; `None` where it is not given, which kubectl takes for `strategic`.
    pub kind: Option<String>,
    /// The patch as JSON.
    pub patch: Value,
}

/// Reads a patch as kubectl does, which takes YAML as well as JSON.
pub(super) fn parsed(text: &str) -> Option<Value> {
    let value = serde_json::from_str::<Value>(text).ok().or_else(|| {
        let documents = read_documents(text).ok()?;
        Some(documents.first()?.root.to_json())
    });
    value.filter(|value| value.is_object() || value.is_array())
}

/// Returns what a patch makes of `spec.suspend`; `None` where it leaves it alone, or sets what is no truth value.
pub(super) fn suspend_of(patch: &Value) -> Option<bool> {
    match patch {
        Value::Array(operations) => operations
            .iter()
            .find(|operation| operation["path"] == "/spec/suspend" && operation["op"] != "test")
            .map(|operation| operation["value"].as_bool().unwrap_or(false)),
        patch => match &patch["spec"]["suspend"] {
            Value::Bool(value) => Some(*value),
            Value::Null if patch["spec"].get("suspend").is_some() => Some(false),
            _ => None,
        },
    }
}
