//! What is doubtful about the schedules of a spec, shown by commands that write.

use crate::check::{spec_lints, unwanted};
use crate::cli::Global;
use crate::commands::clock;
use crate::delivery::Model;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::repo::Snapshot;
use crate::spec::Spec;

/// Shows what is doubtful and not wanted, before something is written that follows from the spec.
///
/// # Errors
///
/// When a finding is an error: a window that never opens, closes as it opens, or stays open where the clocks change.
pub fn sound(
    global: &Global,
    output: &Output,
    spec: &Spec,
    model: &Model,
    snapshot: &Snapshot,
) -> Result<(), Error> {
    let (errors, others): (Vec<Diagnostic>, Vec<Diagnostic>) =
        found(global, spec, model, snapshot)?.into_iter().partition(|lint| lint.severity == Severity::Error);
    output.diagnostics(&others);
    if errors.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Invalid, diagnostics: errors }) }
}

/// As [`sound`], but that nothing is refused: what closes has no time to wait.
///
/// # Errors
///
/// When there is no time now.
pub fn shown(
    global: &Global,
    output: &Output,
    spec: &Spec,
    model: &Model,
    snapshot: &Snapshot,
) -> Result<(), Error> {
    let all = found(global, spec, model, snapshot)?.into_iter();
    let all: Vec<Diagnostic> = all.map(|lint| Diagnostic { severity: Severity::Warning, ..lint }).collect();
    output.diagnostics(&all);
    Ok(())
}

fn found(global: &Global, spec: &Spec, model: &Model, snapshot: &Snapshot) -> Result<Vec<Diagnostic>, Error> {
    let lints = spec_lints(spec, model, clock::now(global)?);
    let mut lints = unwanted(lints, Some(spec), snapshot, &model.root);
    // Reading the spec showed these already.
    lints.retain(|lint| lint.code != Some("GW101") && lint.severity != Severity::Note);
    Ok(lints)
}
