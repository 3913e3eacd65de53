//! What clusters have against what they should have: the answer of `status`.
//!
//! ```text
//! live::Objects ─┐
//!                ├─► observe: Gated ─► judge: Problem ─┬─► text, json
//! Expected ──────┘        │                            │
//! spec, model             └─► wanted ─► waiting ───────┘
//!                             two commits compared
//! ```
//!
//! Nothing here reads a clock or asks a cluster. How a gate holds is for its mechanism to say
//! ([`Mechanism::left`](crate::mechanism::Mechanism::left)).

mod answer;
mod expected;
mod job;
mod json;
mod judge;
mod observe;
mod problem;
mod schema;
mod setter;
mod step;
#[cfg(test)]
mod tests;
mod text;
mod waits;

pub use answer::{Answer, Cluster, Gated, Held, Window};
pub use expected::Expected;
pub use job::{LiveJob, Outcome, Run};
pub use json::json;
pub use judge::judge;
pub use observe::observe;
pub use problem::{Kind, Problem};
pub use schema::schema;
pub use setter::{By, Setter};
pub use text::{Look, text};
pub use waits::{Waiting, Waits, unknown, waiting, wanted};
