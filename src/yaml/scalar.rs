//! A value that an edit writes.

use serde_json::Value;

use super::quote::{double_quote, quote};

/// A scalar to write; text is quoted where that is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScalarText {
    /// Text, whatever it holds.
    String(String),
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
}

impl ScalarText {
    /// Returns the YAML, safe in block and flow style.
    pub fn to_yaml(&self) -> String {
        match self {
            ScalarText::String(text) => quote(text),
            ScalarText::Bool(value) => value.to_string(),
            ScalarText::Int(value) => value.to_string(),
        }
    }

    /// Returns the value that a reader finds.
    pub fn to_json(&self) -> Value {
        match self {
            ScalarText::String(text) => Value::String(text.clone()),
            ScalarText::Bool(value) => Value::Bool(*value),
            ScalarText::Int(value) => Value::from(*value),
        }
    }

    /// Returns the YAML in the quotes that the scalar it replaces has, where they can hold it.
    pub(crate) fn to_yaml_like(&self, old: &str) -> String {
        match self {
            ScalarText::String(text) if old.starts_with('"') => double_quote(text),
            ScalarText::String(text)
                if old.starts_with('\'') && text.chars().all(|c| matches!(c, ' '..='~')) =>
            {
                format!("'{}'", text.replace('\'', "''"))
            }
            _ => self.to_yaml(),
        }
    }
}

impl From<&str> for ScalarText {
    fn from(text: &str) -> ScalarText {
        ScalarText::String(text.to_owned())
    }
}

impl From<String> for ScalarText {
    fn from(text: String) -> ScalarText {
        ScalarText::String(text)
    }
}

impl From<bool> for ScalarText {
    fn from(value: bool) -> ScalarText {
        ScalarText::Bool(value)
    }
}

impl From<i64> for ScalarText {
    fn from(value: i64) -> ScalarText {
        ScalarText::Int(value)
    }
}
