//! Objects that many builds have alike.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde_json::Value;

/// The objects of all builds, each once.
///
/// Most of what a thousand clusters get is equal, and nearly all of what one gets before and after a change.
#[derive(Clone, Debug, Default)]
pub(super) struct Values(Arc<Mutex<HashMap<Arc<str>, Weak<Written>>>>);

/// An object as text, and as a value for as long as somebody has that: a Deployment takes ten kilobytes as a value, and
/// half of one as text.
#[derive(Debug)]
pub(super) struct Written {
    text: Arc<str>,
    value: Mutex<Weak<Value>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Values {
    /// Returns the object of a JSON text.
    pub(super) fn written(&self, text: &str) -> Arc<Written> {
        let mut all = locked(&self.0);
        if let Some(written) = all.get(text).and_then(Weak::upgrade) {
            return written;
        }
        let text: Arc<str> = Arc::from(text);
        let written = Arc::new(Written { text: text.clone(), value: Mutex::default() });
        all.insert(text, Arc::downgrade(&written));
        written
    }
}

impl Written {
    /// Returns the object as a value, the same one for all who have it at a time.
    ///
    /// # Errors
    ///
    /// When the text is no JSON, or is nested too deeply.
    pub(super) fn value(&self) -> Result<Arc<Value>, serde_json::Error> {
        let mut known = locked(&self.value);
        if let Some(value) = known.upgrade() {
            return Ok(value);
        }
        let value = Arc::new(serde_json::from_str(&self.text)?);
        *known = Arc::downgrade(&value);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_one_value() {
        let values = Values::default();
        let (one, same) = (values.written("{\"a\":1}"), values.written("{\"a\":1}"));
        assert!(Arc::ptr_eq(&one, &same));
        let value = one.value().unwrap();
        assert!(Arc::ptr_eq(&value, &same.value().unwrap()));
        assert_eq!(*value, serde_json::json!({"a": 1}));
        let weak = Arc::downgrade(&value);
        drop(value);
        assert!(weak.upgrade().is_none(), "nobody has it any more");
        assert_eq!(*one.value().unwrap(), serde_json::json!({"a": 1}));
        assert_ne!(one.value().unwrap(), values.written("{\"a\":2}").value().unwrap());
        assert!(values.written("{").value().is_err());
        assert!(values.written(&"[".repeat(1000)).value().is_err());
    }
}
