//! Objects that many builds have alike.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// The values of all objects that were built, each once.
///
/// Most of what a thousand clusters get is equal, and nearly all of what one gets before and after a change: a
/// Deployment takes ten kilobytes as a value, and half of one as the text by which it is known here.
#[derive(Clone, Debug, Default)]
pub(super) struct Values(Arc<Mutex<HashMap<Box<str>, Arc<Value>>>>);

impl Values {
    /// Reads a JSON text, or gives the value that was read of the same text before.
    ///
    /// # Errors
    ///
    /// When the text is no JSON, or is nested too deeply.
    pub(super) fn read(&self, text: &str) -> Result<Arc<Value>, serde_json::Error> {
        let values = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = values().get(text) {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(serde_json::from_str(text)?);
        Ok(Arc::clone(values().entry(text.into()).or_insert(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_one_value() {
        let values = Values::default();
        let (one, same) = (values.read("{\"a\":1}").unwrap(), values.read("{\"a\":1}").unwrap());
        assert!(Arc::ptr_eq(&one, &same));
        assert_eq!(*one, serde_json::json!({"a": 1}));
        assert_ne!(one, values.read("{\"a\":2}").unwrap());
        assert!(values.read("{").is_err());
        assert!(values.read(&"[".repeat(1000)).is_err());
    }
}
