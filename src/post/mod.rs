//! The report of a pull request on a forge: one comment, edited in place, and annotations in the log of a CI.
//!
//! ```text
//! environment ─► target ─┐
//!                        ├─► sticky ─► forge ─► client ─► https
//! report ─► write(limit) ┘   which comment,     paths     tries,
//!           marker on top    how long           ids       limits of rate
//! ```
//!
//! A comment is ours where the token's own user wrote it and it begins with the [`Marker`]: anybody can write a marker.
//! The token goes to the API and nowhere else: no redirect is followed, no error and no output holds it.

mod annotation;
mod client;
mod foreign;
mod forge;
mod marker;
mod sticky;
mod target;

pub use annotation::annotations;
pub use foreign::foreign;
pub use forge::Forge;
pub use marker::{Marker, name};
pub use sticky::{Posted, post};
pub use target::{Given, Target};
