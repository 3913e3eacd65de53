//! Arguments of `windows`.

use clap::{Args, Subcommand};

use crate::cli::Format;

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
    List,
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

/// Arguments of `windows get`.
#[derive(Args, Debug)]
pub struct WindowsGet {
    /// The window
    #[arg(value_name = "NAME", required_unless_present = "cluster", conflicts_with = "cluster")]
    pub name: Option<String>,
    /// The windows of this cluster, by type
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
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
    /// For this type [default in a cluster: the only one that has windows]
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
    /// When it opens, as a moment of the week, for example 'Mon 08:00'
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
    /// The type [default: the only one that has windows]
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
}
