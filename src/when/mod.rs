//! When changes reach each cluster: the answer of `when`, pure.
//!
//! [`select`] finds the sides that a question means, [`answer`] looks up their schedules at an instant, [`text`]
//! and [`json`] write it down. [`begins`] says what a first gate will do.
mod alike;
mod answer;
mod begins;
mod json;
mod note;
mod reason;
mod schema;
mod select;
mod text;

pub use answer::{Answer, Line, Ungated, answer};
pub use begins::{Ahead, begins};
pub use json::json;
pub use note::notes;
pub use reason::{CloseReason, Reason};
pub use schema::schema;
pub use select::{Question, Selected, select, unknown_clusters};
pub use text::text;
