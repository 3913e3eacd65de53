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

/// Options of every command.
#[derive(Args, Debug)]
pub struct Global {
    /// Work in this folder, which holds windows.yaml; it may be a subfolder of the git repository
    #[arg(short = 'C', long = "directory", value_name = "DIR", default_value = DEFAULT_DIRECTORY, global = true)]
    pub directory: PathBuf,
    /// The spec, relative to the folder
    #[arg(long, value_name = "FILE", default_value = DEFAULT_SPEC, global = true)]
    pub spec: String,
    /// Write without asking
    #[arg(long, short = 'y', global = true, conflicts_with = "dry_run")]
    pub yes: bool,
    /// Show what would change and write nothing
    #[arg(long, global = true)]
    pub dry_run: bool,
    /// Write although git has uncommitted changes
    #[arg(long, global = true)]
    pub allow_dirty: bool,
    /// Which kustomize proves the result [default: the one inside, else one found on PATH]
    #[arg(long, value_enum, global = true)]
    pub renderer: Option<RendererChoice>,
    /// Neither use nor keep builds of other runs
    #[arg(long, global = true)]
    pub no_cache: bool,
    /// Whether to colour
    #[arg(long, value_enum, default_value_t, global = true)]
    pub color: Color,
    /// Take this for the current time, in RFC 3339, for example 2026-03-29T00:00:00Z
    #[arg(long, value_name = "TIME", global = true)]
    pub now: Option<String>,
    /// Say less: only errors, and what was asked for
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more: how many builds it took
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// What builds instead of what would be found, for a process that runs several commands.
    #[arg(skip)]
    pub builder: Option<Shared>,
}

/// The options of [`Global`] about writing, which the help of a command that writes nothing does not show.
#[derive(Args, Debug)]
pub struct Writing {
    /// As `--yes`.
    #[arg(long, short = 'y', hide = true)]
    pub yes: bool,
    /// As `--dry-run`.
    #[arg(long, hide = true)]
    pub dry_run: bool,
    /// As `--allow-dirty`.
    #[arg(long, hide = true)]
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
