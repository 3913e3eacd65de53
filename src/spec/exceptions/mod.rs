//! Freezes, overrides and the table of open times, as commands read and edit them.
//!
//! Every edit is one of text in place: bytes that it does not name stay. What it leaves is read as any spec is read, and
//! judged once more by the time at which somebody asked.

mod about;
mod add;
mod json;
mod remove;
mod table;
mod taken;
#[cfg(test)]
mod tests;
mod text;
mod times;

pub use about::About;
pub use add::{End, NewFreeze, NewOverride, UNTIL_REMOVED, add_freeze, add_override, free_name, is_endless};
pub use json::{freezes, overrides};
pub use remove::{Which, clean, remove_freeze, remove_override};
pub use table::{extend, look};
pub use text::{freezes_text, overrides_text};

use jiff::Timestamp;

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::spec::validate::lacks_zone;
use crate::spec::{MechanismName, Spec, TableDef};

/// Makes the error of a command line.
fn usage(message: impl Into<String>, help: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, Diagnostic::error(message).help(help))
}

/// Returns the table, which freezes and overrides need.
fn needed_table<'a>(spec: &'a Spec, now: Timestamp, what: &str) -> Result<&'a TableDef, Error> {
    spec.gate.table.as_ref().ok_or_else(|| {
        let message = format!("{} can't keep {what}", spec.gate.inflexible().unwrap_or_default());
        let place = Place::file(spec.path.clone());
        Error::new(ErrorKind::Usage, Diagnostic::error(message).at(place).help(table_steps(spec, now)))
    })
}

/// Returns the last day of a table that somebody asks for now: the end of next year.
fn last_day(spec: &Spec, now: Timestamp) -> String {
    format!("{}-12-31", now.to_zoned(spec.told_zone()).year() + 1)
}

/// Says in steps how the gate of a spec gets a table.
pub fn table_steps(spec: &Spec, now: Timestamp) -> String {
    let (path, day) = (&spec.path, last_day(spec, now));
    let zone = match lacks_zone(spec) {
        true => format!("add `timeZone`, such as `Europe/Berlin`, at the top of {path}\n"),
        false => String::new(),
    };
    let edit = if spec.gate.mechanism == MechanismName::FluxOperator {
        format!(
            "choose `mechanism: suspend`, `every: 5m` and `through: {day}` under `gate` in {path}\nrun `gitops-windows sync --while-open`, and merge it while the windows are open"
        )
    } else {
        format!("run `gitops-windows sync --every 5m`: that gives the gate a table to {day}")
    };
    format!("{zone}{edit}\nlet that commit reach the clusters, and run this again")
}
