//! `init`.

use clap::Args;

use crate::cli::{Format, Global, Writing};
use crate::commands::apply::{Exit, apply};
use crate::commands::clock;
use crate::commands::renderer::renderer;
use crate::commands::schedules::{shown, sound};
use crate::commands::workspace::Workspace;
use crate::delivery::{Input, Known, Model};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::plan::command::{InitOptions, init, scaffold};
use crate::plan::gate::needed;
use crate::plan::split::{Selection, split};
use crate::plan::{EntryOutcome, Plan, Report, Way};
use crate::render::Renderer;
use crate::spec;
use crate::template::Templates;
use crate::when::{Ahead, begins};

/// Arguments of `init`.
#[derive(Args, Debug)]
pub struct Init {
    /// In an empty folder: a cluster to write a repository for (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// In an empty folder: an app to begin with (repeatable)
    #[arg(long = "app", value_name = "NAME")]
    pub apps: Vec<String>,
    /// A folder that belongs to a cluster, where that is not found out (repeatable)
    #[arg(long, value_name = "NAME=FOLDER", conflicts_with_all = ["clusters", "apps"])]
    pub cluster_folder: Vec<String>,
    /// The GitRepository that fetches this repository, where that is not found out
    #[arg(long, value_name = "NAME", conflicts_with_all = ["clusters", "apps"])]
    pub source: Option<String>,
    /// When the window opens, as a cron expression
    #[arg(long, value_name = "CRON")]
    pub open: Option<String>,
    /// When the window closes, as a cron expression
    #[arg(long, value_name = "CRON")]
    pub close: Option<String>,
    /// The window's time zone, for example Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// Tell people of openings that fail to apply, by a Flux notification Provider of this type, for
    /// example slack
    #[arg(long, value_name = "TYPE", value_parser = clap::builder::PossibleValuesParser::new(crate::spec::ALERT_TYPES), hide_possible_values = true)]
    pub alerts: Option<String>,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Whether to write.
    #[command(flatten)]
    pub writing: Writing,
}

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
        source: arguments.source.clone(),
        lost: lost(&workspace),
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
        lint_planned(global, output, &workspace, &plan, &options, renderer.as_ref())?;
        return apply(&arguments.writing, output, &workspace, &plan, renderer.as_ref(), arguments.format);
    }
    let mut plan = init(&workspace.snapshot, &workspace.spec_path, renderer.as_ref(), &templates, &options)?;
    let is_guides = matches!(plan.report, Report::Init { default_window: true, .. });
    if is_guides && arguments.writing.consent.may_ask(output) {
        ask(output, &mut options);
        options.check()?;
        plan = init(&workspace.snapshot, &workspace.spec_path, renderer.as_ref(), &templates, &options)?;
    }
    lint_planned(global, output, &workspace, &plan, &options, renderer.as_ref())?;
    let exit = apply(&arguments.writing, output, &workspace, &plan, renderer.as_ref(), arguments.format)?;
    // It plans a split, for which nobody waits who hears nothing of it.
    if !global.quiet {
        if output.progress().is_some() {
            output.say("Planning the split, to say what will wait. Its builds are kept; to interrupt it loses nothing.");
        }
        effect(global, &workspace, &plan, renderer.as_ref())?.lines().for_each(|line| output.say(line));
    }
    Ok(exit)
}

/// Returns the command that restores the spec, where a commit removed it.
fn lost(workspace: &Workspace) -> Option<String> {
    let path = &workspace.spec_path;
    let removal = workspace.repository.removal_of(std::slice::from_ref(path))?;
    let top = if path.segments().count() > 1 { ":/" } else { "" };
    Some(format!("git checkout {}^ -- {top}{path}", removal.short()))
}

/// Says what waits once what is planned has reached the clusters.
fn effect(
    global: &Global,
    workspace: &Workspace,
    plan: &Plan,
    renderer: &dyn Renderer,
) -> Result<String, Error> {
    let Report::Init { held, .. } = &plan.report else { return Ok(String::new()) };
    let after = plan.changes.apply(&workspace.snapshot);
    let spec = spec::read(&after, &workspace.spec_path)?.spec;
    let model = Model::read(&after, &spec.folder(), &Known::of(&spec), renderer);
    let input = Input { spec: &spec, snapshot: &after, model: &model, renderer };
    let templates = Templates::new(workspace.overrides_of(&after))?;
    // What keeps a split from being planned, `split` says.
    let ahead = split(&input, None, &templates, &Selection::All);
    let mut ahead = ahead.map(|plan| counted(&input, plan.report.entries())).unwrap_or_default();
    if ahead.divided == 0 {
        ahead.needed = needed(&input);
    }
    begins(&spec, &model, held, &ahead, clock::now(global)?)
        .map_err(|diagnostics| Error { kind: ErrorKind::Invalid, diagnostics })
}

/// Counts what waits after the hand-over of these entry points: each of their Flux Kustomizations once for each side with
/// a window.
fn counted(input: &Input<'_>, outcomes: &[EntryOutcome]) -> Ahead {
    let mut ahead = Ahead::default();
    for outcome in outcomes {
        ahead.refused += usize::from(outcome.way == Way::Refused);
        if !matches!(outcome.way, Way::Plain | Way::Projection) {
            continue;
        }
        ahead.divided += 1;
        let has_window = |name: &&String| {
            let own = input.spec.types.iter().find(|own| own.name.value == **name);
            own.is_some_and(|own| !own.is_real_time())
        };
        let sides = outcome.after.iter().map(|(name, _)| name).filter(has_window).count();
        let mut own: Vec<_> = input.model.flux_at(&outcome.before).collect();
        own.sort_by_key(|one| (&one.cluster, &one.namespace, &one.name));
        own.dedup_by_key(|one| (&one.cluster, &one.namespace, &one.name));
        ahead.replaced.extend(own.iter().map(|one| {
            let namespace = input.spec.flux.namespace_of(&one.namespace).to_owned();
            (one.cluster.clone(), namespace, one.name.clone())
        }));
        ahead.waiting.extend(own.iter().flat_map(|one| std::iter::repeat_n(one.cluster.clone(), sides)));
    }
    ahead
}

/// Shows what is doubtful about the schedules of the spec that the plan writes, and refuses given times that make no
/// window at all. Those of a gate that runs stay what they are.
fn lint_planned(
    global: &Global,
    output: &Output,
    workspace: &Workspace,
    plan: &Plan,
    options: &InitOptions,
    renderer: &dyn Renderer,
) -> Result<(), Error> {
    let after = plan.changes.apply(&workspace.snapshot);
    let Ok(parsed) = spec::read(&after, &workspace.spec_path) else { return Ok(()) };
    let model = Model::read(&after, &parsed.spec.folder(), &Known::of(&parsed.spec), renderer);
    // A gate that stands keeps its own times.
    let text = after.file(&workspace.spec_path).and_then(|file| file.text()).unwrap_or_default();
    let is_used = |time: &Option<String>| time.as_ref().is_some_and(|time| text.contains(time.as_str()));
    if !is_used(&options.open) || !is_used(&options.close) {
        return shown(global, output, &parsed.spec, &model, &after);
    }
    sound(global, output, &parsed.spec, &model, &after).map_err(|mut error| {
        let text = "the given times make no window. Nothing was written";
        let help = "give other times with --open and --close";
        error.diagnostics.push(Diagnostic::error(text).help(help));
        error
    })
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
