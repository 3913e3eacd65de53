//! `pr`: what a pull request changes in which cluster, and when each line of it lands.
//!
//! ```text
//! two trees ─► delivery::Comparison ─► report ─┬─► json, text, markdown, html
//!              what differs, by object         │
//! clock ──────────────────────────────────────┘
//! when what a Flux Kustomization builds reaches its cluster
//! ```
//!
//! Nothing here reads a clock: the instant of the merge is handed in.

mod arrival;
mod behind;
mod body;
mod brought;
mod clock;
mod course;
mod deadline;
mod field;
mod finding;
mod fold;
mod footer;
mod gate;
#[cfg(test)]
mod hostile;
mod html;
mod inline;
mod json;
mod kinds;
mod landing;
mod lock;
mod markdown;
mod naming;
mod notice;
mod parent;
mod passing;
mod refusal;
mod report;
mod reschedule;
mod schema;
mod stage;
mod summary;
mod swept;
#[cfg(test)]
mod tests;
mod text;
mod train;
mod tree;
mod unreached;
mod unread;
mod waiting;
mod wanted;
mod withheld;
mod without_path;
mod words;

pub use behind::Behind;
pub use clock::Clock;
pub use field::{Field, fields};
pub use finding::{Finding, Standards, Topic};
pub use html::html;
pub use json::json;
pub use landing::{Landing, State};
pub use markdown::{Flavor, SMALLEST, markdown};
pub(crate) use notice::told_in;
pub use refusal::Refusal;
pub use report::{By, Line, Question, Report, report};
pub use schema::schema;
pub use text::text;
pub use train::{Closing, Commit, Train, Waiting, closings, trains};
pub use tree::Tree;
pub use wanted::Wanted;
pub use withheld::Withheld;
pub use without_path::{NewlyHeld, newly_held};
pub use words::zone_of;
