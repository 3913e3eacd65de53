//! `check`.

use std::collections::BTreeSet;

use crate::check::{
    CODES, Code, Former, SpecLintOptions, Standard, Subject, explain, github, history, ignore, json, sarif,
    sort, spec_lints_with,
};
use crate::cli::Global;
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::commands::renderer::{on_demand, renderer};
use crate::commands::workspace::{Workspace, tell_guess};
use crate::delivery::{Delivery, Holds, Model, World};
use crate::diagnostic::{Diagnostic, Severity, distinct};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::plan;
use crate::render::Renderer;
use crate::repo::Snapshot;
use crate::schedule::Length;
use crate::spec::{self, Parsed, Spec};
use crate::template::Templates;
use crate::text::{did_you_mean, some};
use clap::{Args, ValueEnum};

/// How many folders are named.
const MOST: usize = 5;

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct Check {
    /// How to print the findings
    #[arg(long, value_enum, default_value_t)]
    pub format: CheckFormat,
    /// The least severity that makes the exit code 1
    #[arg(long, value_enum, default_value_t)]
    pub fail_on: FailOn,
    /// Find what is new since this revision, and what goes wrong on the way from there. The rest is counted, and shown
    /// with --verbose
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
    let base = base(arguments, &workspace, spec, reader)?;
    let model = match &base {
        Some(base) => workspace.model_after(base.world(), &workspace.snapshot, spec, reader),
        None => workspace.model(spec, reader),
    };
    tell_guess(&model, spec, output);
    let warnings = parsed.as_ref().map(|parsed| parsed.warnings.clone()).unwrap_or_default();
    let options = SpecLintOptions {
        most_days_closed: arguments.max_days_closed,
        least_open: arguments.min_open,
        most_days_frozen: arguments.max_days_frozen,
    };
    let mut remote = BTreeSet::new();
    let mut marks = None;
    let findings = match renderer.as_deref() {
        Some(renderer) => {
            let templates = Templates::new(workspace.overrides())?;
            let subject = Subject::new(&workspace.snapshot, &model, spec, renderer);
            let standard = |warnings| Standard { warnings, templates: Some(&templates), now, options };
            let (more, before) = base.map(|base| changes(&base, &subject, &standard)).unzip();
            remote = unfetched(&subject);
            let found = standard(warnings).findings(&subject, more.unwrap_or_default());
            marks = before.map(|before| before.marks(&found, &subject));
            found
        }
        None => {
            let mut found = warnings;
            found.extend(spec.into_iter().flat_map(|spec| spec_lints_with(spec, &model, now, options)));
            let mut found = ignore(found, spec, &workspace.snapshot, &model.root);
            sort(&mut found);
            found
        }
    };
    let is_text = arguments.format == CheckFormat::Text;
    let is_lost = is_text && spec.is_none() && is_nowhere(&model, output);
    let (new, old) = parted(&findings, marks.as_deref());
    match arguments.format {
        CheckFormat::Json => {
            let value = json(&findings, marks.as_deref());
            output.json(&value);
        }
        CheckFormat::Sarif => {
            let value = sarif(&findings, marks.as_deref());
            output.json(&value);
        }
        CheckFormat::Text if is_lost && new.is_empty() => {}
        CheckFormat::Text if new.is_empty() && !old.is_empty() => output.say("Nothing new."),
        format => show(&new, format, output),
    }
    if let (Some(revision), true, true) = (&arguments.base, is_text && output.verbose(), !old.is_empty()) {
        output.result(format!("Found at {revision} already:\n\n").as_bytes());
        show(&old, arguments.format, output);
    }
    if is_text && !is_lost {
        looked_at(&workspace, &model, spec.is_some(), output);
        if spec.is_some_and(|spec| waits_for_nothing(spec, &model)) {
            output
                .say("Nothing waits: no gate suspends a Flux Kustomization. `gitops-windows when` says why.");
        }
        let remote: Vec<String> = remote.into_iter().collect();
        let (is, it) = if remote.len() == 1 { ("is", "it needs") } else { ("are", "they need") };
        if !remote.is_empty() {
            output.say(&format!(
                "{} {is} not checked, as {it} the network. `gitops-windows fetch-bases` copies what is fetched.",
                some(&remote, MOST)
            ));
        }
    }
    if let (Some(revision), true) = (&arguments.base, !old.is_empty()) {
        let told = match old.len() {
            1 => "1 finding was".to_owned(),
            several => format!("{several} findings were"),
        };
        let shown = if is_text && !output.verbose() { ": --verbose shows them" } else { "" };
        output.say(&format!("{told} there at {revision} already{shown}. The exit code counts what is new."));
    }
    Ok(if fails(&new, arguments.fail_on) { Exit::Pending } else { Exit::Clean })
}

/// Parts findings into new and old ones; all are new without marks.
fn parted(findings: &[Diagnostic], marks: Option<&[bool]>) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let is_new = |position: usize| marks.is_none_or(|marks| marks.get(position) != Some(&false));
    let (new, old): (Vec<_>, Vec<_>) =
        findings.iter().cloned().enumerate().partition(|(position, _)| is_new(*position));
    let findings = |part: Vec<(usize, Diagnostic)>| part.into_iter().map(|(_, finding)| finding).collect();
    (findings(new), findings(old))
}

/// Says that nothing was looked at, where no cluster gets a Flux Kustomization, and returns whether it is so.
fn is_nowhere(model: &Model, output: &Output) -> bool {
    if model.delivered.all.iter().any(|cluster| !cluster.kustomizations.is_empty()) {
        return false;
    }
    let found = match model.unlisted.len() {
        0 => "no Flux Kustomization was found".to_owned(),
        1 => "no root of a cluster applies the Flux Kustomization that was found".to_owned(),
        count => format!("no root of a cluster applies the {count} Flux Kustomizations that were found"),
    };
    output.say(&format!("Looked at no cluster: {found}. `gitops-windows clusters` says more."));
    true
}

/// Returns whether nothing waits although the spec wants that: it has windows, and not all gates are off.
fn waits_for_nothing(spec: &Spec, model: &Model) -> bool {
    let is_on = |cluster: &String| spec.gates(cluster) && spec.gate_enabled(cluster);
    spec.clusters.keys().any(is_on) && Holds::new(model, Some(spec)).all().is_empty()
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
    if !has_spec && *workspace.repository.spec_dir() != model.root {
        output.say(&format!(
            "Looked at the whole repository: {} clusters, {kustomizations} Flux Kustomizations.",
            model.delivered.all.len()
        ));
    }
}

/// The revision with which the repository is compared.
struct Base {
    snapshot: Snapshot,
    parsed: Option<Parsed>,
    model: Model,
}

impl Base {
    fn world(&self) -> World<'_> {
        World { snapshot: &self.snapshot, model: &self.model }
    }
}

/// Reads the revision of `--base`; one older than the spec by that of today, which says what its folders mean.
fn base(
    arguments: &Check,
    workspace: &Workspace,
    spec: Option<&Spec>,
    renderer: &dyn Renderer,
) -> Result<Option<Base>, Error> {
    let Some(revision) = &arguments.base else { return Ok(None) };
    let snapshot = workspace.repository.snapshot_beside(revision, &workspace.snapshot)?.snapshot;
    let parsed = spec::read(&snapshot, &workspace.spec_path).ok();
    let old = parsed.as_ref().map(|parsed| &parsed.spec).or(spec);
    let model = workspace.model_before(&workspace.snapshot, &snapshot, old, renderer);
    Ok(Some(Base { snapshot, parsed, model }))
}

/// Finds what goes wrong on the way from a revision, and notes what was found there.
fn changes<'a>(
    base: &Base,
    after: &Subject<'_>,
    standard: &dyn Fn(Vec<Diagnostic>) -> Standard<'a>,
) -> (Vec<Diagnostic>, Former) {
    let Base { snapshot, parsed, model } = base;
    let warnings = parsed.as_ref().map(|parsed| parsed.warnings.clone()).unwrap_or_default();
    let own = parsed.as_ref().map(|parsed| &parsed.spec);
    let mut before = Subject::new(snapshot, model, own.or(after.spec), after.renderer);
    let told = history(&before, after);
    // A spec that it lent is part of the change.
    before.spec = own;
    let found = standard(warnings).findings(&before, Vec::new());
    let told = distinct(told.into_iter().map(|told| told.finding));
    (told, Former::new(&before, found))
}

fn show(findings: &[Diagnostic], format: CheckFormat, output: &Output) {
    match format {
        CheckFormat::Json => output.json(&json(findings, None)),
        CheckFormat::Sarif => output.json(&sarif(findings, None)),
        CheckFormat::Github => output.result(github(findings).as_bytes()),
        CheckFormat::Text if findings.is_empty() => output.say("Nothing to report."),
        CheckFormat::Text => output.findings(findings),
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

/// Names the folders of which nothing is told, since their builds need the network.
fn unfetched(subject: &Subject<'_>) -> BTreeSet<String> {
    let is_it = |one: &&Delivery| one.error.as_deref().is_some_and(plan::is_remote);
    subject.deliveries.iter().filter(is_it).map(|one| one.path.to_string()).collect()
}
