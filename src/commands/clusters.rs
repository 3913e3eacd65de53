//! `clusters`.

use clap::Args;

use crate::cli::{Global, TextFormat};
use crate::clusters::{json, text};
use crate::commands::apply::Exit;
use crate::commands::renderer::on_demand;
use crate::commands::workspace::Workspace;
use crate::error::Error;
use crate::output::Output;

/// Arguments of `clusters`.
#[derive(Args, Debug)]
pub struct Clusters {
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: TextFormat,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &Clusters, output: &Output) -> Result<Exit, Error> {
    let workspace = Workspace::open(global, output)?;
    let renderer = on_demand(global, output);
    let spec = workspace.spec_if_any(global)?.map(|parsed| workspace.shown(parsed, output));
    let model = workspace.model(spec.as_ref(), renderer.as_ref());
    output.diagnostics(&model.remarks);
    match arguments.format {
        TextFormat::Text => output.result(text(&model, spec.as_ref(), output.verbose()).as_bytes()),
        TextFormat::Json => {
            output.json(&json(&model, spec.as_ref()));
        }
    }
    Ok(Exit::Clean)
}
