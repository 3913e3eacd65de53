//! YAML: reading with byte spans, verified byte-exact edits, cutting documents, and quoting.
//!
//! Nothing here re-serialises a file. [`read_documents`] tells which bytes stand for which value;
//! [`Editor`] splices text at those spans, reads the result again and compares both the value and
//! the untouched bytes; [`cut_documents`] keeps whole documents as they are written; [`quote`]
//! writes one scalar so that every reader agrees on it.

mod block;
mod edit;
mod emit;
mod lines;
mod node;
mod quote;
mod read;
mod resolve;
mod scalar;
mod split;

pub use edit::{EditError, Editor, Key};
pub use emit::emit;
pub(crate) use emit::{Shape, Style, is_escaped, style};
pub(crate) use lines::{line_break_near, line_end, line_start};
pub use node::{Document, DuplicateKey, Node, NodeKind, ScalarStyle};
pub use quote::{double_quote, flow_text, quote};
pub use read::{ReadError, read_documents};
pub use resolve::Schema;
pub(crate) use resolve::{is_infinite, plain_value};
pub use scalar::ScalarText;
pub use split::cut_documents;
