//! Texts without a domain: nearest names, lines that fit, checksums, parts of schemas, enums with words.

mod escape;
mod fold;
pub(crate) mod json_schema;
mod length;
mod pointed;
mod ranges;
mod sha256;
mod some;
mod suggest;
mod table;
mod words;

pub(crate) use escape::escape;
pub(crate) use fold::fold;
pub(crate) use length::{count, length};
pub(crate) use pointed::pointed;
pub(crate) use ranges::ranges;
pub(crate) use sha256::sha256;
pub(crate) use some::some;
pub use suggest::{did_you_mean, did_you_mean_length, did_you_mean_path, is_alike, nearest, one_of};
pub(crate) use table::table;
pub(crate) use words::{words, words_of};
