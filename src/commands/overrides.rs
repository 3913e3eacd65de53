//! `override`.

use clap::{Args, Subcommand};

use crate::cli::{Global, TextFormat};
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::commands::freeze::{ExceptionList, label};
use crate::commands::spec_edit::{SpecEdit, edit, file};
use crate::commands::workspace::{Loaded, Workspace};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::plan::gate::ByHand;
use crate::schedule::Length;
use crate::spec::exceptions::{
    About, End, NewOverride, Which, add_override, overrides, overrides_text, remove_override,
};
use crate::spec::windows::gated;

/// Arguments of `override`.
#[derive(Args, Debug)]
pub struct Override {
    /// What to do
    #[command(subcommand)]
    pub what: OverrideWhat,
}

/// What to do with overrides.
#[derive(Debug, Subcommand)]
pub enum OverrideWhat {
    /// Open a type beside its windows: add an override to windows.yaml, and bring the generated files along
    Add(OverrideAdd),
    /// Print the one command that opens a type in a cluster at once, without Git; it runs nothing
    Open(OverrideOpen),
    /// Print every override, and whether it is over
    List(ExceptionList),
    /// Take an override away
    Remove(OverrideRemove),
}

/// The clusters of an override.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub struct OverrideScope {
    /// The cluster
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// The clusters with this label (repeatable: with all of them)
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = label)]
    pub labels: Vec<(String, String)>,
}

/// Arguments of `override add`.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("end").required(true))]
pub struct OverrideAdd {
    /// The clusters
    #[command(flatten)]
    pub scope: OverrideScope,
    /// The type that opens [default: the only type with windows]
    #[arg(long = "type", value_name = "NAME")]
    pub change_type: Option<String>,
    /// The first day, or when it begins, such as `2026-11-24 20:00` or tonight [default: now]
    #[arg(long, value_name = "DAY or TIME")]
    pub from: Option<String>,
    /// The last day, or when it ends, such as `tomorrow 02:00`
    #[arg(long, alias = "to", value_name = "DAY or TIME", group = "end")]
    pub until: Option<String>,
    /// How long it lasts, such as 2h, to the next run of the gate
    #[arg(long = "for", value_name = "LENGTH", group = "end")]
    pub length: Option<String>,
    /// Why, for whoever asks
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// The zone of the times [default: `timeZone` of windows.yaml]
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// What every edit takes
    #[command(flatten)]
    pub edit: SpecEdit,
}

/// Arguments of `override open`.
#[derive(Args, Debug)]
pub struct OverrideOpen {
    /// The cluster
    #[arg(long, value_name = "NAME")]
    pub cluster: String,
    /// The type that opens [default: the only type with windows]
    #[arg(long = "type", value_name = "NAME")]
    pub change_type: Option<String>,
}

/// Arguments of `override remove`.
#[derive(Args, Debug)]
pub struct OverrideRemove {
    /// The clusters
    #[command(flatten)]
    pub scope: OverrideScope,
    /// Its type, where there are several
    #[arg(long = "type", value_name = "NAME")]
    pub change_type: Option<String>,
    /// When it begins, where there are several
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// What every edit takes
    #[command(flatten)]
    pub edit: SpecEdit,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &Override, output: &Output) -> Result<Exit, Error> {
    let now = clock::now(global)?;
    match &arguments.what {
        OverrideWhat::Add(arguments) => {
            let new = new(arguments)?;
            Ok(edit(global, output, &arguments.edit, |spec, text| add_override(spec, text, &new, now))?.exit)
        }
        OverrideWhat::Open(OverrideOpen { cluster, change_type }) => {
            let loaded = Loaded::open_in_need(global, output)?;
            let change_type = gated(&loaded.spec, change_type.as_deref())?;
            for command in ByHand::new(&loaded.input()).open(cluster, change_type)? {
                output.say(&format!("Run against {}, to {}.", command.cluster, command.purpose));
                output.result(format!("{}\n", command.shell()).as_bytes());
            }
            Ok(Exit::Clean)
        }
        OverrideWhat::List(ExceptionList { format }) => {
            let workspace = Workspace::open(global, output)?;
            let spec = workspace.spec(output)?;
            match format {
                TextFormat::Text => output.result(overrides_text(&spec, now).as_bytes()),
                TextFormat::Json => {
                    output.json(&overrides(&spec, file(&workspace).bytes(), now));
                }
            }
            Ok(Exit::Clean)
        }
        OverrideWhat::Remove(OverrideRemove { scope, change_type, from, edit: arguments }) => {
            let which = Which { about: scope.about(), change_type: change_type.clone(), from: from.clone() };
            Ok(edit(global, output, arguments, |spec, text| remove_override(spec, text, &which))?.exit)
        }
    }
}

impl OverrideScope {
    fn about(&self) -> About {
        About { clusters: self.cluster.iter().cloned().collect(), labels: self.labels.clone() }
    }
}

fn new(arguments: &OverrideAdd) -> Result<NewOverride, Error> {
    let OverrideAdd { scope, change_type, from, until, length, reason, time_zone, .. } = arguments;
    let end = match (until, length) {
        (None, Some(length)) => End::After(length.parse::<Length>().map_err(|error| {
            let error = Diagnostic::error(format!("--for: {error}"));
            Error::new(ErrorKind::Usage, error.help("write a length such as `2h` or `1h30m`"))
        })?),
        (until, _) => End::At(until.clone().unwrap_or_default()),
    };
    Ok(NewOverride {
        about: scope.about(),
        change_type: change_type.clone(),
        from: from.clone(),
        end,
        reason: reason.clone(),
        time_zone: time_zone.as_deref().map(|name| clock::zone("--time-zone", name)).transpose()?,
    })
}
