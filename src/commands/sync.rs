//! `sync` and `diff`.

use crate::check::spec_lints;
use crate::cli::{Global, Sync};
use crate::commands::apply::{Exit, apply, preview};
use crate::commands::clock;
use crate::commands::workspace::Loaded;
use crate::diagnostic::Severity;
use crate::error::Error;
use crate::output::Output;
use crate::plan::{Plan, sync};
use crate::template::Templates;

/// Runs `sync`.
pub fn run(global: &Global, arguments: &Sync, output: &Output) -> Result<Exit, Error> {
    let (loaded, plan) = plan(global, output)?;
    apply(global, output, &loaded.workspace, &plan, loaded.renderer.as_ref(), arguments.format)
}

/// Runs `diff`: what `sync` would change, proven and never written.
pub fn diff(global: &Global, arguments: &Sync, output: &Output) -> Result<Exit, Error> {
    let (loaded, plan) = plan(global, output)?;
    preview(output, &loaded.workspace, &plan, loaded.renderer.as_ref(), arguments.format)
}

/// Shows what is doubtful about the schedules; what can't be written the plan refuses by itself.
fn lint(global: &Global, output: &Output, loaded: &Loaded) -> Result<(), Error> {
    let mut lints = spec_lints(&loaded.spec, &loaded.model, clock::now(global)?);
    // Opening the spec showed these already.
    lints.retain(|lint| lint.code != Some("GW101") && lint.severity != Severity::Note);
    output.diagnostics(&lints);
    Ok(())
}

fn plan(global: &Global, output: &Output) -> Result<(Loaded, Plan), Error> {
    let loaded = Loaded::open(global, output)?;
    let plan = plan_of(global, output, &loaded)?;
    Ok((loaded, plan))
}

/// Plans what a spec implies, and shows what is doubtful about its schedules.
pub fn plan_of(global: &Global, output: &Output, loaded: &Loaded) -> Result<Plan, Error> {
    let templates = Templates::new(loaded.workspace.overrides())?;
    lint(global, output, loaded)?;
    sync(&loaded.input(), &templates)
}
