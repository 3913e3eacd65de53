//! `sync` and `diff`.

use std::collections::BTreeSet;

use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::cli::{Format, Global, Writing};
use crate::commands::apply::{Exit, apply, preview};
use crate::commands::clock;
use crate::commands::schedules::sound;
use crate::commands::spec_edit::{Along, Edited};
use crate::commands::unmerged::refuse_unmerged;
use crate::commands::workspace::Loaded;
use crate::delivery::Model;
use crate::delivery::fleet::Schedules;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::plan::command::{SyncOptions, sync};
use crate::plan::gate::Late;
use crate::plan::{Plan, Purpose, unreleased};
use crate::schedule::moment;
use crate::spec::exceptions::{clean, extend, look};
use crate::spec::{EVERY, Parsed, Spec};
use crate::template::Templates;
use crate::text::some;

/// How far ahead a time is looked for at which windows are open together.
const A_YEAR: SignedDuration = SignedDuration::from_hours(366 * 24);

/// The most clusters that are named.
const MOST_NAMES: usize = 8;

/// Arguments of `sync`.
#[derive(Args, Debug)]
pub struct Sync {
    /// How far it goes.
    #[command(flatten)]
    pub wish: Wish,
    /// Whether to write.
    #[command(flatten)]
    pub writing: Writing,
}

/// Arguments of `sync` and `diff`.
#[derive(Args, Debug)]
pub struct Wish {
    /// Remove gates of clusters that left windows.yaml, and Namespaces without a gate; shows the deletions first
    #[arg(long)]
    pub allow_deletion: bool,
    /// Give the gate a table of open times, at which its jobs look so often
    #[arg(long, value_name = "TIME", value_parser = PossibleValuesParser::new(EVERY))]
    pub every: Option<String>,
    /// Move the end of the table to this day, or by years until one lies ahead
    #[arg(long, value_name = "DAY", num_args = 0..=1)]
    pub extend: Option<Option<String>>,
    /// Take freezes and overrides that are over out of windows.yaml
    #[arg(long)]
    pub clean: bool,
    /// Write also changes that may only be merged while the windows are open, such as leaving a held source
    #[arg(long)]
    pub while_open: bool,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

impl Wish {
    fn options(&self) -> SyncOptions {
        let late = if self.while_open { Late::Written } else { Late::Refused };
        SyncOptions { allow_deletion: self.allow_deletion, late }
    }
}

/// Runs `sync`.
pub fn run(global: &Global, arguments: &Sync, output: &Output) -> Result<Exit, Error> {
    let (mut loaded, plan) = plan(global, output, &arguments.wish)?;
    loaded.workspace.allow_edited_spec();
    let renderer = loaded.renderer.as_ref();
    apply(&arguments.writing, output, &loaded.workspace, &plan, renderer, arguments.wish.format)
}

/// Runs `diff`: what `sync` would change, proven and never written.
pub fn diff(global: &Global, arguments: &Wish, output: &Output) -> Result<Exit, Error> {
    let (loaded, plan) = plan(global, output, arguments)?;
    preview(output, &loaded.workspace, &plan, loaded.renderer.as_ref(), arguments.format)
}

fn plan(global: &Global, output: &Output, arguments: &Wish) -> Result<(Loaded, Plan), Error> {
    if arguments.every.is_some() || arguments.extend.is_some() || arguments.clean {
        let edited =
            Edited::plan(global, output, None, Along::Everything(arguments.options()), |spec, text| {
                tidied(spec, text, arguments, clock::now(global)?)
            })?;
        refuse_unmerged(&edited.loaded)?;
        return Ok((edited.loaded, edited.plan));
    }
    let loaded = Loaded::open(global, output)?;
    let plan = plan_of(global, output, &loaded, arguments.options())?;
    refuse_unmerged(&loaded)?;
    Ok((loaded, plan))
}

/// What an edit leaves: the text of the spec, read.
type Left = (String, Parsed);

/// Edits the spec by what its times ask for; without that, `sync` knows no time.
fn tidied(spec: &Spec, text: &str, arguments: &Wish, now: Timestamp) -> Result<Left, Error> {
    let Wish { every, extend: through, clean: is_tidy, .. } = arguments;
    let mut done: Option<Left> = None;
    if let Some(every) = every {
        done = Some(look(spec, text, every, now)?);
    }
    if let Some(through) = through {
        let (spec, text) = latest(done.as_ref(), spec, text);
        done = Some(extend(spec, text, through.as_deref(), now)?);
    }
    match done {
        Some(done) if !is_tidy => Ok(done),
        done => {
            let (spec, text) = latest(done.as_ref(), spec, text);
            clean(spec, text, now)
        }
    }
}

/// Returns what the last edit has left, where there was one.
fn latest<'a>(done: Option<&'a Left>, spec: &'a Spec, text: &'a str) -> (&'a Spec, &'a str) {
    done.map_or((spec, text), |(text, parsed)| (&parsed.spec, text))
}

/// Plans what a spec implies, and shows what is doubtful about its schedules.
///
/// # Errors
///
/// Those of [`sound`] and of the plan.
pub fn plan_of(
    global: &Global,
    output: &Output,
    loaded: &Loaded,
    options: SyncOptions,
) -> Result<Plan, Error> {
    let templates = Templates::new(loaded.workspace.overrides())?;
    sound(global, output, &loaded.spec, &loaded.model, &loaded.workspace.snapshot)?;
    let mut plan = sync(&loaded.input(), &templates, options)?;
    let when = when_open(&loaded.spec, &loaded.model, &plan.while_open, clock::now(global)?)?;
    plan.remarks.extend(when);
    let concerned = plan.while_open.iter().flat_map(|cluster| loaded.model.flux_of_cluster(cluster));
    plan.remarks.extend(unreleased(&loaded.input(), concerned, Purpose::WhileOpen));
    loaded.warn_of_broken(&mut plan);
    Ok(plan)
}

/// Says when the windows of clusters are open together, which a plan has to reach then.
pub(super) fn when_open(
    spec: &Spec,
    model: &Model,
    clusters: &BTreeSet<String>,
    now: Timestamp,
) -> Result<Option<Diagnostic>, Error> {
    let invalid = |diagnostics| Error { kind: ErrorKind::Invalid, diagnostics };
    let until = now.checked_add(A_YEAR).unwrap_or(Timestamp::MAX);
    if clusters.is_empty() {
        return Ok(None);
    }
    let schedules = Schedules::in_git(spec, model, now).map_err(invalid)?;
    let own: Vec<String> = clusters.iter().cloned().collect();
    let zone = schedules.zone(spec, &own).unwrap_or(TimeZone::UTC);
    let names = some(&clusters.iter().map(String::as_str).collect::<Vec<_>>(), MOST_NAMES);
    let place = Place::file(spec.path.clone());
    Ok(Some(match schedules.open_together(spec, clusters, now, until) {
        Some(open) => {
            let from = if open.open <= now {
                "open together now".to_owned()
            } else {
                format!("next open together from {}", moment(open.open, &zone))
            };
            let until = match open.close == Timestamp::MAX {
                true => String::new(),
                false => format!(". The first closes at {}", moment(open.close, &zone)),
            };
            let text = format!("all windows of {names} are {from}{until}");
            Diagnostic::note(text).at(place).help("let it reach every cluster in that time")
        }
        // Not all of its types may be meant.
        None if clusters.iter().any(|cluster| schedules.has_several(spec, cluster)) => return Ok(None),
        None => {
            let text = format!("the windows of {names} are never open together within a year");
            let help = "let it reach them while most are open\nsuspend first what is closed in the others, and resume it in their windows";
            Diagnostic::warning(text).at(place).help(help)
        }
    }))
}
