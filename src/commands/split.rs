//! `split app NAME…` and `split --all`.

use clap::Args;

use crate::cli::{Format, Global, Writing};
use crate::commands::apply::{Exit, apply};
use crate::commands::workspace::Loaded;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::plan::split::{Selection, needs_base, split};
use crate::plan::{EntryOutcome, on_branches};
use crate::template::Templates;

/// Arguments of `split` and `join`.
#[derive(Args, Debug)]
pub struct Split {
    /// The apps, by name; the word `app` before them may be left out
    #[arg(value_name = "app NAME", conflicts_with_all = ["named", "all"])]
    pub apps: Vec<String>,
    /// As `app NAME`.
    #[arg(long = "app", value_name = "NAME", hide = true, conflicts_with = "all")]
    pub named: Vec<String>,
    /// All apps
    #[arg(long)]
    pub all: bool,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Whether to write.
    #[command(flatten)]
    pub writing: Writing,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &Split, output: &Output) -> Result<Exit, Error> {
    let selection = selection(arguments, "split")?;
    let loaded = Loaded::open_to_write(global, output)?;
    let templates = Templates::new(loaded.workspace.overrides())?;
    // In a repository without a commit nothing is live.
    let base = needs_base(&loaded.input()).then(|| loaded.base("HEAD").ok()).flatten();
    let base = base.as_ref().map(|base| base.input(loaded.renderer.as_ref()));
    let mut plan = split(&loaded.input(), base.as_ref(), &templates, &selection)?;
    let input = loaded.input();
    if let Some(branch) = loaded.workspace.repository.upstream_branch() {
        let begun = plan.report.entries().iter().filter(|outcome| outcome.is_begun());
        let begun = begun.filter_map(|outcome| input.model.entry(&outcome.before));
        let told = on_branches(&input, begun.flat_map(|entry| input.model.flux_of(entry)), &branch);
        plan.remarks.extend(told);
    }
    loaded.warn_of_broken(&mut plan);
    let renderer = loaded.renderer.as_ref();
    let exit = apply(&arguments.writing, output, &loaded.workspace, &plan, renderer, arguments.format)?;
    if exit == Exit::Clean && plan.report.entries().iter().any(EntryOutcome::is_begun) {
        output.say(NEXT);
    }
    Ok(exit)
}

/// What people do after a step of the way was written that another one follows.
pub(super) const NEXT: &str =
    "Next: commit it, wait until the clusters have applied it, then run `gitops-windows migrate`.";

/// As [`NEXT`], where the step after it changes what reads a held source.
pub(super) const NEXT_WHILE_OPEN: &str = "Next: commit it and wait until the clusters have applied it. Then run `gitops-windows migrate --while-open`, and merge that while the window is open.";

/// Reads which apps a command that divides or joins them means.
///
/// # Errors
///
/// When neither names nor `--all` are given.
pub(super) fn selection(arguments: &Split, verb: &str) -> Result<Selection, Error> {
    let names = match &arguments.apps[..] {
        // Alone it is the word, and never an app of that name: `app app` is.
        [word, names @ ..] if word == "app" => names,
        names => names,
    };
    let names: Vec<String> = names.iter().chain(&arguments.named).cloned().collect();
    match arguments.all {
        true => Ok(Selection::All),
        false if !names.is_empty() => Ok(Selection::Named(names)),
        false => Err(Error::new(
            ErrorKind::Usage,
            Diagnostic::error(format!("say what to {verb}: either apps by name, or all"))
                .help(format!("`gitops-windows {verb} app NAME…` or `gitops-windows {verb} --all`")),
        )),
    }
}
