//! `split` and `join`: divides entry points by change type, plainly or by projection, and puts them together again.

mod admission;
mod ahead;
mod at_once;
mod child;
mod draft;
mod driver;
mod entry;
mod folder;
mod join;
mod kept;
pub(crate) mod later;
pub(crate) mod layout;
pub(crate) mod left_list;
pub(crate) mod newcomer;
mod obligations;
mod parent;
mod projection;
mod promise;
pub(crate) mod refresh;
#[cfg(test)]
mod refusal_tests;
#[cfg(test)]
mod release_tests;
pub(crate) mod relocation;
mod restore;
mod run;
mod selection;
mod side;
mod step;
mod stuck;
pub(crate) mod transfer;
mod twice;
mod undone;
mod unmet;
mod whole;

pub use at_once::at_once;
pub use driver::split;
use entry::EntrySplit;
pub use join::{gates_differ, join};
pub use kept::Kept;
pub use newcomer::needs_base;
use parent::divisible;
pub use selection::Selection;
pub use undone::{Undone, undone};
