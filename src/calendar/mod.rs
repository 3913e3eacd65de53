//! The windows of the fleet over a range of days: as a timeline for the terminal, a picture, a page or a calendar
//! file.
//!
//! [`Calendar::new`] collects the open intervals, clusters with equal windows together; [`text`], [`svg`],
//! [`html`], [`ics`] and [`json`] write them down. All of it is pure.
mod axis;
mod html;
mod ics;
mod json;
mod label;
mod rows;
mod svg;
mod text;

pub use html::html;
pub use ics::ics;
pub use json::{json, schema};
pub use rows::{Calendar, Closes, Gated, OpenTime, Row};
pub use svg::svg;
pub use text::text;
