//! What must be true before an entry point of a cluster takes a step: each precondition is a small function
//! that says what is in the way.
//!
//! What Git alone decides ([`state`]) is asked whenever it is read where an entry point stands, so also before it is
//! divided. What concerns the next step ([`step`]) is asked when that is planned.

mod build;
pub(super) mod confirm;
mod crowd;
mod double;
mod folder;
pub(crate) mod identity;
mod live;
mod order;
mod pace;
mod pruning;
mod reversal;
mod rules;
pub(super) mod state;
pub(super) mod step;
pub(super) mod subject;
mod suspension;
mod twin;
mod unfetched;
