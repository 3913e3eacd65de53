//! `windows`.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use crate::cli::{Format, Global, Writing};
use crate::commands::apply::Exit;
use crate::commands::spec_edit::{AS_FAR_AS_POSSIBLE, Edited, file};
use crate::commands::workspace::Workspace;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::schedule::WindowKey;
use crate::spec::windows::{Edit, Owner, edit, get, list, of_cluster, schema};
use crate::spec::{self, Parsed};

/// Arguments of `windows`.
#[derive(Args, Debug)]
pub struct Windows {
    /// What to do
    #[command(subcommand)]
    pub what: WindowsWhat,
}

/// What to do with windows.
#[derive(Debug, Subcommand)]
pub enum WindowsWhat {
    /// Print every window, and which types and clusters use it
    List(WindowsList),
    /// Print one window, or the windows of a cluster
    Get(WindowsGet),
    /// Set values of a window, add one, or choose which windows a type or a cluster has
    ///
    /// Edits windows.yaml in place and brings the generated files along in the same write. Values
    /// that are not named stay. Ends with 4 where somebody else edited meanwhile.
    Set(WindowsSet),
    /// Take a window away, or let a cluster have the type's windows again
    Remove(WindowsRemove),
    /// Print the JSON Schema of the answers
    Schema,
}

/// The one form of the answers about windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum JsonOnly {
    /// For programs
    #[default]
    Json,
}

/// Arguments of `windows list`.
#[derive(Args, Debug)]
pub struct WindowsList {
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: JsonOnly,
}

/// Arguments of `windows get`.
#[derive(Args, Debug)]
pub struct WindowsGet {
    /// The window
    #[arg(value_name = "NAME", required_unless_present = "cluster", conflicts_with = "cluster")]
    pub name: Option<String>,
    /// The windows of this cluster, by type
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: JsonOnly,
}

/// Arguments of `windows set`.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("times").multiple(true).conflicts_with("windows"))]
pub struct WindowsSet {
    /// The window to set or add; without it, the window is a cluster's own
    #[arg(value_name = "NAME", conflicts_with_all = ["cluster", "change_type", "windows"], requires = "times", required_unless_present_any = ["cluster", "change_type"])]
    pub name: Option<String>,
    /// In this cluster only
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// For this type [default in a cluster: the only type with windows]
    #[arg(long = "type", value_name = "NAME")]
    pub change_type: Option<String>,
    /// Use this named window (repeatable)
    #[arg(long = "use", value_name = "NAME")]
    pub windows: Vec<String>,
    /// The IANA time zone, for example Europe/Berlin
    #[arg(long, value_name = "ZONE", group = "times")]
    pub time_zone: Option<String>,
    /// When it opens, as a cron expression
    #[arg(long, value_name = "CRON", group = "times", allow_hyphen_values = true)]
    pub open: Option<String>,
    /// When it closes, as a cron expression
    #[arg(long, value_name = "CRON", group = "times", allow_hyphen_values = true)]
    pub close: Option<String>,
    /// How long it stays open, for example 4h
    #[arg(long = "for", value_name = "LENGTH", group = "times")]
    pub length: Option<String>,
    /// The day of each month on which it opens, for example 'second Tue of month'
    #[arg(long, value_name = "DAY", group = "times")]
    pub on: Option<String>,
    /// When it opens: a moment of the week such as 'Mon 08:00', with --on a time of day
    #[arg(long = "from", value_name = "MOMENT", group = "times")]
    pub from: Option<String>,
    /// When it closes, as a moment of the week
    #[arg(long = "to", value_name = "MOMENT", group = "times")]
    pub to: Option<String>,
    /// What every edit takes
    #[command(flatten)]
    pub edit: WindowsEdit,
}

/// Arguments of `windows remove`.
#[derive(Args, Debug)]
pub struct WindowsRemove {
    /// The window; nothing may use it any more
    #[arg(value_name = "NAME", required_unless_present = "cluster", conflicts_with_all = ["cluster", "change_type"])]
    pub name: Option<String>,
    /// The cluster that gets the type's windows again
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// The type [default: the only type with windows]
    #[arg(long = "type", value_name = "NAME", requires = "cluster")]
    pub change_type: Option<String>,
    /// What every edit takes
    #[command(flatten)]
    pub edit: WindowsEdit,
}

/// What every edit of windows takes.
#[derive(Args, Debug)]
pub struct WindowsEdit {
    /// Edit only if windows.yaml is still at this revision, as an earlier answer gave it
    #[arg(long, value_name = "SHA-256")]
    pub if_revision: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value_t = Format::Json)]
    pub format: Format,
    /// Whether to write.
    #[command(flatten)]
    pub writing: Writing,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &Windows, output: &Output) -> Result<Exit, Error> {
    match &arguments.what {
        WindowsWhat::List(WindowsList { format: JsonOnly::Json }) => {
            read(global, output, |parsed, bytes| Ok(list(&parsed.spec, bytes)))
        }
        WindowsWhat::Get(WindowsGet { name, cluster, format: JsonOnly::Json }) => {
            read(global, output, |parsed, bytes| match (name, cluster) {
                (_, Some(cluster)) => of_cluster(&parsed.spec, bytes, cluster),
                (name, None) => get(&parsed.spec, bytes, name.as_deref().unwrap_or_default()),
            })
        }
        WindowsWhat::Set(arguments) => write(global, output, &setting(arguments)?, &arguments.edit),
        WindowsWhat::Remove(arguments) => write(global, output, &removal(arguments), &arguments.edit),
        WindowsWhat::Schema => print(output, &schema()),
    }
}

fn print(output: &Output, value: &Value) -> Result<Exit, Error> {
    output.json(value);
    Ok(Exit::Clean)
}

fn read(
    global: &Global,
    output: &Output,
    answer: impl Fn(&Parsed, &[u8]) -> Result<Value, Error>,
) -> Result<Exit, Error> {
    let workspace = Workspace::open(global, output)?;
    let parsed = spec::read(&workspace.snapshot, &workspace.spec_path)?;
    output.diagnostics(&parsed.warnings);
    let file = file(&workspace);
    print(output, &answer(&parsed, file.bytes())?)
}

/// Edits the spec, plans what it then implies, and writes both as one.
fn write(global: &Global, output: &Output, wish: &Edit, arguments: &WindowsEdit) -> Result<Exit, Error> {
    let revision = arguments.if_revision.as_deref();
    let edited =
        Edited::plan(global, output, revision, AS_FAR_AS_POSSIBLE, |spec, text| edit(spec, text, wish))?;
    edited.apply(&arguments.writing, output, arguments.format)
}

fn setting(arguments: &WindowsSet) -> Result<Edit, Error> {
    let WindowsSet { name, cluster, change_type, windows, .. } = arguments;
    let (parts, names) = (parts(arguments), windows.clone());
    let usage =
        |message: &str, help: &str| Err(Error::new(ErrorKind::Usage, Diagnostic::error(message).help(help)));
    Ok(match (name, cluster, change_type) {
        (Some(name), ..) => Edit::Define { name: name.clone(), parts },
        _ if names.is_empty() && parts.is_empty() => {
            return usage(
                "nothing is to be set",
                "name windows with --use, or times such as --open '0 22 * * SAT' --for 4h",
            );
        }
        (None, Some(cluster), _) if names.is_empty() => {
            Edit::Inline { cluster: cluster.clone(), change_type: change_type.clone(), parts }
        }
        (None, Some(cluster), _) => {
            let owner = Owner::Cluster { cluster: cluster.clone(), change_type: change_type.clone() };
            Edit::Use { owner, names }
        }
        (None, None, Some(change_type)) if !names.is_empty() => {
            Edit::Use { owner: Owner::Type(change_type.clone()), names }
        }
        (None, None, _) => {
            return usage(
                "a type has named windows only, and none is named",
                "set the window by its name, then name it with --use",
            );
        }
    })
}

fn parts(arguments: &WindowsSet) -> Vec<(WindowKey, String)> {
    [
        (WindowKey::TimeZone, &arguments.time_zone),
        (WindowKey::On, &arguments.on),
        (WindowKey::Open, &arguments.open),
        (WindowKey::Close, &arguments.close),
        (WindowKey::For, &arguments.length),
        (WindowKey::From, &arguments.from),
        (WindowKey::To, &arguments.to),
    ]
    .into_iter()
    .filter_map(|(key, text)| Some((key, text.clone()?)))
    .collect()
}

fn removal(arguments: &WindowsRemove) -> Edit {
    match (&arguments.name, &arguments.cluster) {
        (_, Some(cluster)) => {
            Edit::Reset { cluster: cluster.clone(), change_type: arguments.change_type.clone() }
        }
        (name, None) => Edit::Remove { name: name.clone().unwrap_or_default() },
    }
}
