//! What the `target` of a patch selects.

use regex::Regex;

/// Returns whether a field of a `target` selects a text: it is a pattern over the whole of it, and an empty one selects all
/// (kustomize, `types.SelectorRegex`). One that can't be read fails the build, so that nothing is left out by it.
pub fn fits(pattern: &str, text: &str) -> bool {
    pattern.is_empty()
        || Regex::new(&format!("^(?:{pattern})$")).map_or(true, |pattern| pattern.is_match(text))
}
