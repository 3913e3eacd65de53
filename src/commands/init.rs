//! `init`.

use crate::cli::{Global, Init};
use crate::commands::apply::{Exit, apply};
use crate::commands::renderer::renderer;
use crate::commands::schedules::lint;
use crate::commands::workspace::{Workspace, cluster_folders};
use crate::error::Error;
use crate::output::Output;
use crate::plan::{InitOptions, Plan, init, scaffold};
use crate::repo::Model;
use crate::spec;
use crate::template::Templates;

/// Runs the command.
pub fn run(global: &Global, arguments: &Init, output: &Output) -> Result<Exit, Error> {
    let workspace = Workspace::open(global, output)?;
    let templates = Templates::new(workspace.overrides())?;
    let mut options = InitOptions {
        open: arguments.open.clone(),
        close: arguments.close.clone(),
        time_zone: arguments.time_zone.clone(),
        alerts: arguments.alerts.clone(),
        folders: arguments.cluster_folder.clone(),
    };
    options.check()?;
    let renderer = renderer(global, output)?;
    if !arguments.clusters.is_empty() || !arguments.apps.is_empty() {
        let plan = scaffold(
            &workspace.snapshot,
            &workspace.spec_path,
            renderer.as_ref(),
            &templates,
            &options,
            &arguments.clusters,
            &arguments.apps,
        )?;
        lint_planned(global, output, &workspace, &plan)?;
        return apply(global, output, &workspace, &plan, renderer.as_ref(), arguments.format);
    }
    let mut plan = init(&workspace.snapshot, &workspace.spec_path, renderer.as_ref(), &templates, &options)?;
    if plan.default_window && !global.yes && !global.dry_run && output.can_ask() {
        ask(output, &mut options);
        options.check()?;
        plan = init(&workspace.snapshot, &workspace.spec_path, renderer.as_ref(), &templates, &options)?;
    }
    lint_planned(global, output, &workspace, &plan)?;
    apply(global, output, &workspace, &plan, renderer.as_ref(), arguments.format)
}

/// Shows what is doubtful about the schedules of the spec that the plan writes.
fn lint_planned(global: &Global, output: &Output, workspace: &Workspace, plan: &Plan) -> Result<(), Error> {
    let after = plan.apply(&workspace.snapshot);
    let Ok(parsed) = spec::read(&after, &workspace.spec_path) else { return Ok(()) };
    output.diagnostics(&parsed.warnings);
    let model = Model::read(&after, &parsed.spec.folder(), &cluster_folders(&parsed.spec));
    lint(global, output, &parsed.spec, &model, &after)
}

/// Asks for the window where nobody gave one; an empty answer keeps the guide's.
fn ask(output: &Output, options: &mut InitOptions) {
    let question = |text: &str| output.ask(text).filter(|answer| !answer.is_empty());
    let Some(open) =
        question("When does the window open? A cron expression, empty for Monday 8:00, switched off:")
    else {
        return;
    };
    options.close = question("When does it close?");
    options.time_zone =
        options.time_zone.take().or_else(|| question("In which time zone, for example Europe/Berlin?"));
    options.open = options.close.is_some().then_some(open);
}
