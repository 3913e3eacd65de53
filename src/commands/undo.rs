//! `undo`.

use clap::Args;

use crate::cli::{Consent, Global};
use crate::commands::apply::{Exit, unified};
use crate::commands::workspace::Workspace;
use crate::error::Error;
use crate::output::Output;
use crate::write;

/// Arguments of `undo`.
#[derive(Args, Debug)]
pub struct Undo {
    /// Whether to ask.
    #[command(flatten)]
    pub consent: Consent,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &Undo, output: &Output) -> Result<Exit, Error> {
    let workspace = Workspace::open(global, output)?;
    let Some(changes) = write::undo_plan(&workspace.repository)? else {
        output.say("There is nothing to take back.");
        return Ok(Exit::Clean);
    };
    output.result(unified(&changes, output).as_bytes());
    let asked = arguments.consent.may_ask(output);
    let yes = arguments.consent.yes
        || (asked
            && output.ask("Take this back? [y/N]").is_some_and(|answer| answer.eq_ignore_ascii_case("y")));
    if !yes {
        output.say("Nothing was changed. Run it again with --yes to take it back.");
        return Ok(Exit::Pending);
    }
    write::undo(&workspace.repository)?;
    output.say("Took it back.");
    Ok(Exit::Clean)
}
