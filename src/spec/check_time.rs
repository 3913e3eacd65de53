//! Time zones and cron expressions of windows, judged by [`crate::schedule`].

use crate::diagnostic::Diagnostic;
use crate::spec::Placed;
use crate::spec::model::WindowForm;

/// Checks a time zone.
pub(crate) fn zone(_zone: &Placed<String>) -> Vec<Diagnostic> {
    Vec::new()
}

/// Checks the times of a window.
pub(crate) fn form(_form: &WindowForm) -> Vec<Diagnostic> {
    Vec::new()
}
