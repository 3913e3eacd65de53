//! What commands have in common on the command line: types only, no behaviour.

mod format;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::render::{RendererChoice, Shared};

pub use format::{Answer, Format, TextFormat};

/// The file name of the spec, unless `--spec` gives another.
pub const DEFAULT_SPEC: &str = "windows.yaml";

/// The folder to work in where none is named: then the spec may stand in one above.
pub const DEFAULT_DIRECTORY: &str = ".";

/// The heading of the options of every command.
const GLOBAL: &str = "Options of every command";

/// Options of every command.
#[derive(Args, Debug)]
pub struct Global {
    /// Work in this folder
    ///
    /// It holds windows.yaml, and may be a subfolder of the git repository.
    #[arg(short = 'C', long = "directory", value_name = "DIR", default_value = DEFAULT_DIRECTORY, global = true, help_heading = GLOBAL)]
    pub directory: PathBuf,
    /// The spec, relative to the folder
    #[arg(long, value_name = "FILE", default_value = DEFAULT_SPEC, global = true, help_heading = GLOBAL, hide_short_help = true)]
    pub spec: String,
    /// Which kustomize proves the result [default: the one inside, else one found on PATH]
    #[arg(long, value_enum, global = true, help_heading = GLOBAL, hide_short_help = true)]
    pub renderer: Option<RendererChoice>,
    /// Neither use nor keep builds of other runs
    #[arg(long, global = true, help_heading = GLOBAL, hide_short_help = true)]
    pub no_cache: bool,
    /// Whether to colour
    #[arg(long, value_enum, default_value_t, global = true, help_heading = GLOBAL, hide_short_help = true)]
    pub color: Color,
    /// Take this for the current time, in RFC 3339, for example 2026-03-29T00:00:00Z
    #[arg(long, value_name = "TIME", global = true, help_heading = GLOBAL, hide_short_help = true)]
    pub now: Option<String>,
    /// Say less: errors, answers, and what is left to do
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub quiet: bool,
    /// Say more: long lists, and how many builds it took
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub verbose: bool,
    /// What builds instead of what would be found, for a process that runs several commands.
    #[arg(skip)]
    pub builder: Option<Shared>,
}

/// Whether to write without asking, or not at all.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Consent {
    /// Write without asking
    #[arg(long, short = 'y', conflicts_with = "dry_run")]
    pub yes: bool,
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Options of every command that writes a plan.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Writing {
    /// Whether to ask.
    #[command(flatten)]
    pub consent: Consent,
    /// Write although git has uncommitted changes
    #[arg(long)]
    pub allow_dirty: bool,
}

/// Whether to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
