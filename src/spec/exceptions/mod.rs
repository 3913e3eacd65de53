//! Freezes, overrides and the table of open times, as commands read and edit them.
//!
//! Every edit is one of text in place: bytes that it does not name stay. What it leaves is read as any spec is read, and
//! judged once more by the time at which somebody asked.

mod about;
mod add;
mod json;
mod remove;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod times;

pub use about::About;
pub use add::{End, NewFreeze, NewOverride, add_freeze, add_override, free_name, is_endless};
pub use json::{freezes, overrides};
pub use remove::{Which, clean, remove_freeze, remove_override};
pub use table::extend;
pub use text::{freezes_text, overrides_text};

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::spec::{Spec, TableDef};

/// Makes the error of a command line.
fn usage(message: impl Into<String>, help: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, Diagnostic::error(message).help(help))
}

/// Returns the table, which freezes and overrides need.
fn needed_table<'a>(spec: &'a Spec, what: &str) -> Result<&'a TableDef, Error> {
    spec.gate.table.as_ref().ok_or_else(|| {
        let message = format!("{} can't keep {what}", spec.gate.inflexible().unwrap_or_default());
        let place = Place::file(spec.path.clone());
        Error::new(ErrorKind::Usage, Diagnostic::error(message).at(place).help(spec.gate.needs_table()))
    })
}
