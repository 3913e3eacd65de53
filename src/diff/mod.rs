//! The plan as text: for people, for pull requests, for programs and for `git apply`.
//!
//! | form | content |
//! |---|---|
//! | [`unified`] | for a terminal: control characters made visible, optionally coloured |
//! | [`brief`](brief()) | as that, with what changes alike shown once |
//! | [`patch`] | for `git apply`: exact bytes |
//! | [`markdown`] | for a pull request's comment: a table and a cut diff, never too long |
//! | [`json()`] | for programs: versioned, one entry a file |
//!
//! All of them speak of the same [`FileChange`]s, in the order of paths.

mod brief;
mod clean;
mod file;
mod hunk;
mod json;
mod markdown;
mod patch;
mod rewrite;
mod unified;

pub use clean::clean;
pub use file::{FileChange, Kind, file_changes};
pub(crate) use hunk::{CONTEXT, hunks};
pub use json::{json, schema};
pub(crate) use markdown::fence;
pub use markdown::{LIMIT, markdown};
pub use patch::patch;
pub use unified::{brief, unified};
