//! `split` and `join`: divides entry points by change type, plainly or by projection, and puts them together again.

mod ahead;
mod child;
mod divide;
mod entry;
mod folder;
mod join;
pub(crate) mod later;
pub(crate) mod layout;
pub(crate) mod newcomer;
mod obligations;
mod parent;
mod projection;
mod promise;
pub(crate) mod refresh;
pub(crate) mod relocation;
mod restore;
mod settle;
mod side;
mod step;
pub(crate) mod transfer;
mod whole;

pub use divide::Selection;
use entry::EntrySplit;
pub use join::join;
pub use later::needs_base;
pub use settle::split;
