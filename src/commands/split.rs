//! `split app NAME…` and `split --all`.

use crate::cli::{Global, Split, SplitWhat};
use crate::commands::apply::{Exit, apply};
use crate::commands::workspace::Loaded;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::plan::split::{Selection, needs_base, split};
use crate::template::Templates;

/// Runs the command.
pub fn run(global: &Global, arguments: &Split, output: &Output) -> Result<Exit, Error> {
    let selection = selection(arguments, "split")?;
    let loaded = Loaded::open(global, output)?;
    output.diagnostics(&loaded.model.remarks);
    let templates = Templates::new(loaded.workspace.overrides())?;
    // In a repository without a commit nothing is live.
    let base = needs_base(&loaded.input()).then(|| loaded.base("HEAD").ok()).flatten();
    let base = base.as_ref().map(|base| base.input(loaded.renderer.as_ref()));
    let plan = split(&loaded.input(), base.as_ref(), &templates, &selection)?;
    apply(global, output, &loaded.workspace, &plan, loaded.renderer.as_ref(), arguments.format)
}

/// Reads which apps a command that divides or joins them means.
///
/// # Errors
///
/// When neither names nor `--all` are given, or both.
pub(super) fn selection(arguments: &Split, verb: &str) -> Result<Selection, Error> {
    match (&arguments.what, arguments.all) {
        (Some(SplitWhat::App { names }), false) => Ok(Selection::Named(names.clone())),
        (None, true) => Ok(Selection::All),
        _ => Err(Error::new(
            ErrorKind::Usage,
            Diagnostic::error(format!("say what to {verb}: either apps by name, or all"))
                .help(format!("`gitops-windows {verb} app NAME…` or `gitops-windows {verb} --all`")),
        )),
    }
}
