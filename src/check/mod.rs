//! Findings: what works today and will surprise somebody, or can't work at all.
mod code;
mod duration;
mod json;
mod schedules;

pub use code::{CODES, Code, code_of_lint};
pub use json::json;
pub use schedules::{SpecLintOptions, spec_lints, spec_lints_with};
