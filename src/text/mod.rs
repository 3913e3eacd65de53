//! Texts without a domain: nearest names, lines that fit, checksums, parts of schemas.

mod escape;
mod fold;
pub(crate) mod json_schema;
mod length;
mod ranges;
mod sha256;
mod some;
mod suggest;
mod table;

pub(crate) use escape::escape;
pub(crate) use fold::fold;
pub(crate) use length::{count, length};
pub(crate) use ranges::ranges;
pub(crate) use sha256::sha256;
pub(crate) use some::some;
pub use suggest::{did_you_mean, nearest};
pub(crate) use table::table;
