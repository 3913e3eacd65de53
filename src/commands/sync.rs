//! `sync` and `diff`.

use clap::Args;

use crate::cli::{Format, Global};
use crate::commands::apply::{Exit, apply, preview};
use crate::commands::schedules::lint;
use crate::commands::workspace::Loaded;
use crate::error::Error;
use crate::output::Output;
use crate::plan::Plan;
use crate::plan::command::sync;
use crate::template::Templates;

/// Arguments of `sync` and `diff`.
#[derive(Args, Debug)]
pub struct Sync {
    /// Take away the gates of clusters that windows.yaml speaks of no more, and Namespaces that gates leave; says what that deletes
    #[arg(long)]
    pub allow_deletion: bool,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Runs `sync`.
pub fn run(global: &Global, arguments: &Sync, output: &Output) -> Result<Exit, Error> {
    let (mut loaded, plan) = plan(global, output, arguments)?;
    loaded.workspace.allow_edited_spec();
    apply(global, output, &loaded.workspace, &plan, loaded.renderer.as_ref(), arguments.format)
}

/// Runs `diff`: what `sync` would change, proven and never written.
pub fn diff(global: &Global, arguments: &Sync, output: &Output) -> Result<Exit, Error> {
    let (loaded, plan) = plan(global, output, arguments)?;
    preview(output, &loaded.workspace, &plan, loaded.renderer.as_ref(), arguments.format)
}

fn plan(global: &Global, output: &Output, arguments: &Sync) -> Result<(Loaded, Plan), Error> {
    let loaded = Loaded::open(global, output)?;
    let plan = plan_of(global, output, &loaded, arguments.allow_deletion)?;
    Ok((loaded, plan))
}

/// Plans what a spec implies, and shows what is doubtful about its schedules.
pub fn plan_of(
    global: &Global,
    output: &Output,
    loaded: &Loaded,
    allow_deletion: bool,
) -> Result<Plan, Error> {
    let templates = Templates::new(loaded.workspace.overrides())?;
    lint(global, output, &loaded.spec, &loaded.model, &loaded.workspace.snapshot)?;
    sync(&loaded.input(), &templates, allow_deletion)
}
