//! `when`.

use clap::Args;

use crate::cli::{Global, TextFormat};
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::commands::renderer::on_demand;
use crate::commands::workspace::{Workspace, tell_guess};
use crate::delivery::fleet::{Fleet, Schedules};
use crate::delivery::{Input, Past};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::when::{Question, answer, json, select, text};

/// Arguments of `when`.
#[derive(Args, Debug)]
pub struct When {
    /// Apps by name, or files and folders of the repository [default: everything]
    #[arg(value_name = "APP or PATH")]
    pub what: Vec<String>,
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The time to ask for, such as `2026-11-28 23:00` in the zone of the windows, tonight, or now+2h [default: now]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: TextFormat,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &When, output: &Output) -> Result<Exit, Error> {
    let now = clock::now(global)?;
    let workspace = Workspace::open(global, output)?;
    let spec = workspace.spec(output)?;
    let renderer = on_demand(global, output);
    let model = workspace.model(Some(&spec), renderer.as_ref());
    tell_guess(&model, Some(&spec), output);
    let invalid = |diagnostics| Error { kind: ErrorKind::Invalid, diagnostics };
    let zone = Schedules::new(&spec).map_err(invalid)?.zone(&spec, &arguments.clusters);
    let zone = zone.or_else(|| spec.zone());
    let said = |text: &str| clock::said("--at", text, now, zone.as_ref(), false);
    let at = arguments.at.as_deref().map_or(Ok(now), said)?;
    let files = (&workspace.snapshot, &model);
    let history = Past::new(&workspace.repository, "HEAD", files, renderer.as_ref());
    let schedules = Schedules::in_git(&spec, &model, at).map_err(invalid)?;
    let schedules = schedules.until_applied(Some(&spec), &model, at, &history);
    let fleet = Fleet::new(&spec, &model, &schedules);
    let question = Question {
        clusters: &arguments.clusters,
        what: &arguments.what,
        folder: workspace.repository.spec_dir(),
    };
    let input =
        Input { spec: &spec, snapshot: &workspace.snapshot, model: &model, renderer: renderer.as_ref() };
    let selected = select(&input, &fleet, &question)?;
    let answer = answer(&spec, &fleet, &schedules, &selected, at, clock::local());
    let answer = answer.with_history(&model, &schedules, &history).with_types(&input);
    workspace.repository.answered()?;
    match arguments.format {
        TextFormat::Text => output.result(text(&answer, output.width(), output.verbose()).as_bytes()),
        TextFormat::Json => output.json(&json(&answer)),
    }
    Ok(Exit::Clean)
}
