//! `join app NAME…` and `join --all`.

use crate::cli::{Global, Split, SplitWhat};
use crate::commands::apply::{Exit, apply};
use crate::commands::workspace::Loaded;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::plan::{Selection, join};

/// Runs the command.
pub fn run(global: &Global, arguments: &Split, output: &Output) -> Result<Exit, Error> {
    let selection = match (&arguments.what, arguments.all) {
        (Some(SplitWhat::App { names }), false) => Selection::Named(names.clone()),
        (None, true) => Selection::All,
        _ => {
            return Err(Error::new(
                ErrorKind::Usage,
                Diagnostic::error("say what to join: either apps by name, or all")
                    .help("`gitops-windows join app NAME…` or `gitops-windows join --all`"),
            ));
        }
    };
    let loaded = Loaded::open(global, output)?;
    output.diagnostics(&loaded.model.remarks);
    let plan = join(&loaded.input(), &selection)?;
    apply(global, output, &loaded.workspace, &plan, loaded.renderer.as_ref(), arguments.format)
}
