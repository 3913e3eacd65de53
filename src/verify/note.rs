//! What a step changes on purpose, so that it is told and no fault.

use crate::delivery::Kind;
use crate::text::words_of;

words_of! {
    /// What became of an object that only decides who applies the others, and when.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Note {
        /// A Flux Kustomization is gone, and these apply its objects.
        Succeeded(Vec<String>) = "succeeded",
        /// A Flux Kustomization is new, and applies objects of these.
        Successor(Vec<String>) = "successor",
        /// A field of it differs, by which no object does: (path, before, after), values as JSON.
        Adjusted(String, String, String) = "adjusted",
        /// It belongs to a gate.
        Gate(Kind) = "gate",
    }
}

impl Note {
    /// Says it, of one object or of `many`.
    pub fn told(&self, many: bool) -> String {
        let (is, its) = if many { ("are", "their") } else { ("is", "its") };
        match self {
            Note::Succeeded(names) if names.is_empty() => format!("{is} gone with {its} objects"),
            Note::Succeeded(names) => format!("{is} gone: {its} objects belong to {}", names.join(", ")),
            Note::Successor(names) if names.is_empty() => format!("{is} new"),
            Note::Successor(names) => format!("{is} new, with objects of {}", names.join(", ")),
            Note::Adjusted(field, before, after) => {
                format!("changed: {field} from {} to {}", shown(before), shown(after))
            }
            Note::Gate(kind) => format!("{} with the gate", kind.as_str()),
        }
    }
}

/// Returns a value as JSON for people.
pub(super) fn shown(value: &str) -> &str {
    if value.is_empty() { "nothing" } else { value }
}
