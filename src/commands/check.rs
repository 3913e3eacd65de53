//! `check`.

use crate::check::{
    CODES, Code, SpecLintOptions, Standard, Subject, explain, github, history, ignore, json, sarif, sort,
    spec_lints_with,
};
use crate::cli::Global;
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::commands::renderer::{on_demand, renderer};
use crate::commands::workspace::Workspace;
use crate::delivery::Model;
use crate::diagnostic::{self, Diagnostic, Severity, distinct};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::render::Renderer;
use crate::schedule::Length;
use crate::spec;
use crate::template::Templates;
use crate::text::did_you_mean;
use clap::{Args, ValueEnum};

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct Check {
    /// How to print the findings
    #[arg(long, value_enum, default_value_t)]
    pub format: CheckFormat,
    /// The least severity that makes the exit code 1
    #[arg(long, value_enum, default_value_t)]
    pub fail_on: FailOn,
    /// Also find what goes wrong between this revision and the files as they are now
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Print what a code means, why it matters and how to mend it
    #[arg(long, value_name = "CODE")]
    pub explain: Option<String>,
    /// Report a type that stays closed for more days than this
    #[arg(long, value_name = "DAYS")]
    pub max_days_closed: Option<u32>,
    /// Report a freeze that lasts for more days than this [default: 90]
    #[arg(long, value_name = "DAYS")]
    pub max_days_frozen: Option<u32>,
    /// Report a type that is open for less in some 32 days, counting stretches of 4 hours, such as 48h
    #[arg(long, value_name = "LENGTH")]
    pub min_open: Option<Length>,
}

/// The forms of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For code scanning services: SARIF 2.1.0
    Sarif,
    /// For GitHub Actions: workflow commands
    Github,
}

/// The least severity that counts as a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Notes too
    #[value(alias = "info")]
    Note,
    /// Warnings and errors
    Warning,
    /// Only errors
    #[default]
    Error,
    /// Nothing
    Never,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &Check, output: &Output) -> Result<Exit, Error> {
    if let Some(code) = &arguments.explain {
        output.result(format!("{}\n", long_text(code)?).as_bytes());
        return Ok(Exit::Clean);
    }
    let now = clock::now(global)?;
    let workspace = Workspace::open(global, output)?;
    let parsed = match workspace.spec_if_any(global) {
        Ok(parsed) => parsed,
        Err(error) if arguments.format != CheckFormat::Text && error.kind == ErrorKind::Invalid => {
            show(&error.diagnostics, arguments.format, output);
            return Ok(Exit::Invalid);
        }
        Err(error) => return Err(error),
    };
    let spec = parsed.as_ref().map(|parsed| &parsed.spec);
    let renderer = match renderer(global, output) {
        // Whoever asks for one renderer, or for a change set, can't do without.
        Err(error) if global.renderer.is_some() || arguments.base.is_some() => return Err(error),
        Err(error) => {
            output.diagnostics(&error.diagnostics);
            output.say("Only the spec and its schedules are looked at.");
            None
        }
        Ok(renderer) => Some(renderer),
    };
    let unable: Box<dyn Renderer>;
    let reader = match renderer.as_deref() {
        Some(renderer) => renderer,
        None => {
            unable = on_demand(global, output);
            unable.as_ref()
        }
    };
    let model = workspace.model(spec, reader);
    let warnings = parsed.as_ref().map(|parsed| parsed.warnings.clone()).unwrap_or_default();
    let options = SpecLintOptions {
        most_days_closed: arguments.max_days_closed,
        least_open: arguments.min_open,
        most_days_frozen: arguments.max_days_frozen,
    };
    let findings = match renderer.as_deref() {
        Some(renderer) => {
            let templates = Templates::new(workspace.overrides())?;
            let subject = Subject::new(&workspace.snapshot, &model, spec, renderer);
            let more = changes(arguments, &workspace, &subject)?;
            Standard { warnings, templates: Some(&templates), now, options }.findings(&subject, more)
        }
        None => {
            let mut found = warnings;
            found.extend(spec.into_iter().flat_map(|spec| spec_lints_with(spec, &model, now, options)));
            let mut found = ignore(found, spec, &workspace.snapshot, &model.root);
            sort(&mut found);
            found
        }
    };
    show(&findings, arguments.format, output);
    if arguments.format == CheckFormat::Text {
        looked_at(&workspace, &model, spec.is_some(), output);
    }
    Ok(if fails(&findings, arguments.fail_on) { Exit::Pending } else { Exit::Clean })
}

/// Says what was looked at, where that is not what somebody would think.
fn looked_at(workspace: &Workspace, model: &Model, has_spec: bool, output: &Output) {
    if !model.unlisted.is_empty() {
        let text = match model.unlisted.len() {
            1 => "1 Flux Kustomization reaches no cluster: `gitops-windows clusters` names it.".to_owned(),
            count => {
                format!("{count} Flux Kustomizations reach no cluster: `gitops-windows clusters` lists them.")
            }
        };
        output.say(&text);
    }
    let kustomizations: usize = model.delivered.all.iter().map(|cluster| cluster.kustomizations.len()).sum();
    if has_spec {
        return;
    }
    if kustomizations == 0 {
        output.say(
            "Looked at no cluster: no Flux Kustomization was found. `gitops-windows clusters` says more.",
        );
    } else if *workspace.repository.spec_dir() != model.root {
        output.say(&format!(
            "Looked at the whole repository: {} clusters, {kustomizations} Flux Kustomizations.",
            model.delivered.all.len()
        ));
    }
}

/// Finds what goes wrong on the way from `--base`.
fn changes(arguments: &Check, workspace: &Workspace, after: &Subject<'_>) -> Result<Vec<Diagnostic>, Error> {
    let Some(revision) = &arguments.base else { return Ok(Vec::new()) };
    let snapshot = workspace.repository.snapshot_beside(revision, &workspace.snapshot)?.snapshot;
    // The revision may be older than the spec; then today's says what its folders mean.
    let old = spec::read(&snapshot, &workspace.spec_path).map(|parsed| parsed.spec).ok();
    let old = old.as_ref().or(after.spec);
    let model = workspace.model_of(&snapshot, old, after.renderer);
    let told = history(&Subject::new(&snapshot, &model, old, after.renderer), after);
    Ok(distinct(told.into_iter().map(|told| told.finding)))
}

fn show(findings: &[Diagnostic], format: CheckFormat, output: &Output) {
    match format {
        CheckFormat::Json => output.result(format!("{:#}\n", json(findings)).as_bytes()),
        CheckFormat::Sarif => output.result(format!("{:#}\n", sarif(findings)).as_bytes()),
        CheckFormat::Github => output.result(github(findings).as_bytes()),
        CheckFormat::Text if findings.is_empty() => output.say("Nothing to report."),
        CheckFormat::Text => {
            output.result(diagnostic::render(findings, output.color(), output.width()).as_bytes())
        }
    }
}

fn long_text(code: &str) -> Result<&'static str, Error> {
    let known = Code::find(code).and_then(|code| explain(code.code));
    known.ok_or_else(|| {
        let help = did_you_mean(&code.to_uppercase(), CODES.iter().map(|code| code.code));
        let help = help.unwrap_or_else(|| "`docs/codes.md` lists all codes".to_owned());
        Error::new(
            ErrorKind::Usage,
            Diagnostic::error(format!("--explain: there is no code `{code}`")).help(help),
        )
    })
}

fn fails(findings: &[Diagnostic], fail_on: FailOn) -> bool {
    let least = match fail_on {
        FailOn::Note => Severity::Note,
        FailOn::Warning => Severity::Warning,
        FailOn::Error => Severity::Error,
        FailOn::Never => return false,
    };
    findings.iter().any(|finding| finding.severity >= least)
}
