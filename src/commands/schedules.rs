//! What is doubtful about the schedules of a spec, shown by commands that write.

use crate::check::spec_lints;
use crate::cli::Global;
use crate::commands::clock;
use crate::diagnostic::Severity;
use crate::error::Error;
use crate::output::Output;
use crate::repo::Model;
use crate::spec::Spec;

/// Shows what is doubtful; what can't be written the plan refuses by itself.
pub fn lint(global: &Global, output: &Output, spec: &Spec, model: &Model) -> Result<(), Error> {
    let mut lints = spec_lints(spec, model, clock::now(global)?);
    // Reading the spec showed these already.
    lints.retain(|lint| lint.code != Some("GW101") && lint.severity != Severity::Note);
    output.diagnostics(&lints);
    Ok(())
}
