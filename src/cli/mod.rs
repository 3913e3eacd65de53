//! The command line: types only, no behaviour.

mod format;
mod plan;
mod question;
mod time;
mod windows;

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::render::RendererChoice;
use crate::schedule::zone;

pub use format::{Answer, Format, TextFormat};
pub use plan::{Init, Migrate, Split, SplitWhat, Sync};
pub use question::{Check, CheckFormat, Explain, FailOn, FluxCreate, Verify};
pub use time::{Calendar, CalendarFormat, Cron, When};
pub use windows::{Windows, WindowsEdit, WindowsGet, WindowsRemove, WindowsSet, WindowsWhat};

/// The file name of the spec, unless `--spec` gives another.
pub const DEFAULT_SPEC: &str = "windows.yaml";

/// Say when each kind of change may reach each cluster of a Flux + kustomize repository.
///
/// Every command that writes shows the difference first and proves by rendering that no cluster
/// would get anything else. Nothing is written without `--yes` or your word on a terminal.
#[derive(Debug, Parser)]
#[command(name = "gitops-windows", version, long_version = long_version(), max_term_width = 100)]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Says the version with that of the time zones, which decide when a window opens as well.
fn long_version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "{}\ntime zone database {}",
            env!("CARGO_PKG_VERSION"),
            zone::database_release().unwrap_or("of unknown release")
        )
    });
    &TEXT
}

/// Options of every command.
#[derive(Args, Debug)]
pub struct Global {
    /// Work in this folder, which holds windows.yaml; it may be a subfolder of the git repository
    #[arg(short = 'C', long = "directory", value_name = "DIR", default_value = ".", global = true)]
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

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find what is there and write windows.yaml, the gate and each cluster's patches
    Init(Init),
    /// Divide apps, and the entry points that use them, by change type
    Split(Split),
    /// Say where each cluster stands on the way from one Flux Kustomization to several, and take the
    /// next step
    ///
    /// A split takes three commits, so that no object is ever deleted: `split` makes the first, this
    /// command the others. Each must have reached the clusters before the next.
    Migrate(Migrate),
    /// Take a split back: every file gets its original bytes, with what was edited since
    Join(Split),
    /// Bring everything that the spec implies up to date
    Sync(Sync),
    /// Show what `sync` would change
    Diff(Sync),
    /// Prove that every entry point and its sides agree, or that they give what a revision gave
    ///
    /// Exits with 0 where all is equal, 1 where objects were added, changed or moved between
    /// types, 3 where something does not build, 5 where an object is lost, doubled or on the
    /// wrong side.
    Verify(Verify),
    /// Say for each object of a file or folder which type it is, why, and who consumes it
    Explain(Explain),
    /// Print the `flux create` commands for clusters whose Flux Kustomizations are not in Git
    ///
    /// For clusters that hold none of the objects yet: everything is created with `prune: true`.
    FluxCreate(FluxCreate),
    /// Take back the last write, if nothing was edited since
    Undo,
    /// Say when changes reach each cluster: which type, by which Flux Kustomization, open now, when next
    When(When),
    /// Show the windows of the fleet as a timeline, a picture or a calendar file
    Calendar(Calendar),
    /// Read and edit the windows in windows.yaml, answering in JSON: the interface for services
    Windows(Windows),
    /// Find what is wrong or doubtful in the repository, with or without a spec
    ///
    /// Exits with 0 where there is nothing to tell, or only what `--fail-on` lets pass, 1 where there
    /// is more, 3 where the spec is invalid. `docs/codes.md` lists all codes.
    Check(Check),
    /// Print when Kubernetes fires a cron expression
    Cron(Cron),
    /// Print the JSON Schema of windows.yaml
    Schema,
    /// Print the completions of a shell
    Completions(Completions),
    /// Print the manual page
    Man,
    /// Print the licences of everything that this program carries
    Licenses,
}

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}
