//! `join app NAME…` and `join --all`.

use crate::cli::Global;
use crate::commands::apply::{Exit, apply};
use crate::commands::schedules::{shown, sound};
use crate::commands::split::{Split, selection};
use crate::commands::workspace::Loaded;
use crate::error::Error;
use crate::output::Output;
use crate::plan::split::{gates_differ, join, undone};
use crate::template::Templates;

/// Runs the command.
pub fn run(global: &Global, arguments: &Split, output: &Output) -> Result<Exit, Error> {
    let selection = selection(arguments, "join")?;
    let loaded = Loaded::open(global, output)?;
    loaded.mention(output);
    let templates = Templates::new(loaded.workspace.overrides())?;
    // It takes the tool out: only a gate that would get another window by that needs a sound one.
    let judge = if gates_differ(&loaded.input(), &templates) { sound } else { shown };
    judge(global, output, &loaded.spec, &loaded.model, &loaded.workspace.snapshot)?;
    let undone = undone(&loaded.input(), &loaded.workspace.repository);
    let plan = join(&loaded.input(), &templates, &selection, &undone)?;
    apply(&arguments.writing, output, &loaded.workspace, &plan, loaded.renderer.as_ref(), arguments.format)
}
