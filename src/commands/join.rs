//! `join app NAME…` and `join --all`.

use crate::cli::Global;
use crate::commands::apply::{Exit, apply};
use crate::commands::split::{Split, selection};
use crate::commands::workspace::Loaded;
use crate::error::Error;
use crate::output::Output;
use crate::plan::split::join;
use crate::template::Templates;

/// Runs the command.
pub fn run(global: &Global, arguments: &Split, output: &Output) -> Result<Exit, Error> {
    let selection = selection(arguments, "join")?;
    let loaded = Loaded::open(global, output)?;
    output.diagnostics(&loaded.model.remarks);
    let templates = Templates::new(loaded.workspace.overrides())?;
    let plan = join(&loaded.input(), &templates, &selection)?;
    apply(&arguments.writing, output, &loaded.workspace, &plan, loaded.renderer.as_ref(), arguments.format)
}
