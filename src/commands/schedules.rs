//! What is doubtful about the schedules of a spec, shown by commands that write.

use crate::check::{spec_lints, unwanted};
use crate::cli::Global;
use crate::commands::clock;
use crate::delivery::Model;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::Error;
use crate::output::Output;
use crate::repo::Snapshot;
use crate::spec::Spec;

/// Shows what is doubtful and not wanted, and returns it; what can't be written the plan refuses by itself.
pub fn lint(
    global: &Global,
    output: &Output,
    spec: &Spec,
    model: &Model,
    snapshot: &Snapshot,
) -> Result<Vec<Diagnostic>, Error> {
    let lints = spec_lints(spec, model, clock::now(global)?);
    let mut lints = unwanted(lints, Some(spec), snapshot, &model.root);
    // Reading the spec showed these already.
    lints.retain(|lint| lint.code != Some("GW101") && lint.severity != Severity::Note);
    output.diagnostics(&lints);
    Ok(lints)
}
