//! The answer for people at a terminal.

use crate::pr::report::Report;

/// Writes a report as lines.
pub fn text(_report: &Report) -> String {
    String::new()
}
