//! `split app NAME…` and `split --all`.

use clap::{Args, Subcommand};

use crate::cli::{Format, Global};
use crate::commands::apply::{Exit, apply};
use crate::commands::workspace::Loaded;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::plan::split::{Selection, needs_base, split};
use crate::template::Templates;

/// Arguments of `split` and `join`.
#[derive(Args, Debug)]
pub struct Split {
    /// Which apps
    #[command(subcommand)]
    pub what: Option<SplitWhat>,
    /// All apps
    #[arg(long)]
    pub all: bool,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t, global = true)]
    pub format: Format,
}

/// What to split or join.
#[derive(Debug, Subcommand)]
pub enum SplitWhat {
    /// These apps
    App {
        /// The apps' names
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
}

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
