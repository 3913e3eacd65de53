//! The windows of the fleet over a range of days: as a timeline for the terminal, a picture, or a calendar file.
//!
//! [`Calendar::new`] collects the open intervals, clusters with equal windows together; [`text`], [`svg`],
//! [`ics`] and [`json`] write them down. All of it is pure.
mod axis;
mod ics;
mod json;
mod label;
mod rows;
mod svg;
mod text;

pub use ics::ics;
pub use json::{json, schema};
pub use rows::{Calendar, OpenTime, Row, Unclosed};
pub use svg::svg;
pub use text::text;
