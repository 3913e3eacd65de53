//! What was found of windows already.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::Lint;

/// The most windows that are remembered: a fleet in which each cluster has its own.
const MOST: usize = 10_000;

static KNOWN: LazyLock<Mutex<BTreeMap<String, Vec<Lint>>>> = LazyLock::new(Mutex::default);

/// Returns what is known under a key that says all that decides about it, or else what is found now.
///
/// Two threads may find the same at once: neither waits for the other.
pub(super) fn or_found(key: String, find: impl FnOnce() -> Vec<Lint>) -> Vec<Lint> {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(lints) = known().get(&key) {
        return lints.clone();
    }
    let found = find();
    let mut known = known();
    if known.len() >= MOST {
        known.clear();
    }
    known.insert(key, found.clone());
    found
}
