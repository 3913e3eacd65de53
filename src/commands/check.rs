//! `check`.

use crate::check::{SpecLintOptions, json, spec_lints_with};
use crate::cli::{Check, FailOn, Global, TextFormat};
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::commands::workspace::Workspace;
use crate::diagnostic::{Diagnostic, Severity, render};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::spec;

/// Runs the command.
pub fn run(global: &Global, arguments: &Check, output: &Output) -> Result<Exit, Error> {
    let now = clock::now(global)?;
    let workspace = Workspace::open(global, output)?;
    let parsed = match spec::read(&workspace.snapshot, &workspace.spec_path) {
        Ok(parsed) => parsed,
        Err(error) if arguments.format == TextFormat::Json && error.kind == ErrorKind::Invalid => {
            output.result(format!("{:#}\n", json(&error.diagnostics)).as_bytes());
            return Ok(Exit::Invalid);
        }
        Err(error) => return Err(error),
    };
    let model = workspace.model(&parsed.spec);
    let mut findings = parsed.warnings;
    let options = SpecLintOptions { most_days_closed: arguments.max_days_closed };
    findings.extend(spec_lints_with(&parsed.spec, &model, now, options));
    match arguments.format {
        TextFormat::Json => output.result(format!("{:#}\n", json(&findings)).as_bytes()),
        TextFormat::Text if findings.is_empty() => output.say("Nothing to report."),
        TextFormat::Text => output.result(render(&findings, output.color(), output.width()).as_bytes()),
    }
    Ok(if fails(&findings, arguments.fail_on) { Exit::Pending } else { Exit::Clean })
}

fn fails(findings: &[Diagnostic], fail_on: FailOn) -> bool {
    let least = match fail_on {
        FailOn::Note => Severity::Note,
        FailOn::Warning => Severity::Warning,
        FailOn::Error => Severity::Error,
        FailOn::Never => return false,
    };
    findings.iter().any(|finding| finding.severity >= least)
}
