//! Edits of text: what every part of the plan writes with.

mod builder;
pub(crate) mod documents;
pub(crate) mod generated;
pub(crate) mod parts;
pub(crate) mod prepare;
pub(crate) mod resources;

pub use builder::Builder;
