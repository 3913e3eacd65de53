//! The command line: types only, no behaviour.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::render::RendererChoice;
use crate::schedule::zone;

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
    /// Whether to colour
    #[arg(long, value_enum, default_value_t, global = true)]
    pub color: Color,
    /// Take this for the current time, in RFC 3339, for example 2026-03-29T00:00:00Z
    #[arg(long, value_name = "TIME", global = true)]
    pub now: Option<String>,
    /// Say less: only errors, and what was asked for
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more
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

/// The forms in which a difference can be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people, coloured on a terminal
    #[default]
    Unified,
    /// For `git apply`
    Patch,
    /// For the comment on a pull request
    Markdown,
    /// For programs
    Json,
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

/// Arguments of `init`.
#[derive(Args, Debug)]
pub struct Init {
    /// In an empty folder: a cluster to write a repository for (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// In an empty folder: an app to begin with (repeatable)
    #[arg(long = "app", value_name = "NAME")]
    pub apps: Vec<String>,
    /// A folder that belongs to a cluster, where that is not found out (repeatable)
    #[arg(long, value_name = "NAME=FOLDER", conflicts_with_all = ["clusters", "apps"])]
    pub cluster_folder: Vec<String>,
    /// When the window opens, as a cron expression
    #[arg(long, value_name = "CRON")]
    pub open: Option<String>,
    /// When the window closes, as a cron expression
    #[arg(long, value_name = "CRON")]
    pub close: Option<String>,
    /// The window's time zone, for example Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// Tell people of openings that fail to apply, by a Flux notification Provider of this type, for
    /// example slack
    #[arg(long, value_name = "TYPE", value_parser = clap::builder::PossibleValuesParser::new(crate::spec::ALERT_TYPES), hide_possible_values = true)]
    pub alerts: Option<String>,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `split` and `join`.
#[derive(Args, Debug)]
pub struct Split {
    /// Which apps
    #[command(subcommand)]
    pub what: Option<SplitWhat>,
    /// All apps
    #[arg(long)]
    pub all: bool,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t, global = true)]
    pub format: Format,
}

/// What to split or join.
#[derive(Debug, Subcommand)]
pub enum SplitWhat {
    /// These apps
    App {
        /// The apps' names
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
}

/// Arguments of `migrate`.
#[derive(Args, Debug)]
pub struct Migrate {
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The revision that the clusters have: the step before must stand in it
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub base: String,
    /// Ask the live cluster first, by kubectl and read-only, and go on only where it is ready
    #[arg(long)]
    pub confirm: bool,
    /// The context of kubectl for --confirm; CLUSTER=NAME where there are several clusters (repeatable)
    #[arg(long = "context", value_name = "NAME", requires = "confirm")]
    pub contexts: Vec<String>,
    /// The file with contexts for --confirm
    #[arg(long, value_name = "FILE", requires = "confirm")]
    pub kubeconfig: Option<PathBuf>,
    /// How many seconds a cluster may take to answer
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub timeout: u64,
    /// Go on although objects may be deleted; says which
    #[arg(long)]
    pub allow_deletion: bool,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `sync` and `diff`.
#[derive(Args, Debug)]
pub struct Sync {
    /// Take away the gates of clusters that windows.yaml speaks of no more; says what that deletes
    #[arg(long)]
    pub allow_deletion: bool,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub struct Verify {
    /// Compare with this revision instead of the entry points with their sides
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: Answer,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct Explain {
    /// The file or folder, relative to the folder of the spec
    #[arg(value_name = "PATH")]
    pub path: String,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: Answer,
}

/// The forms in which a question is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Answer {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// Arguments of `flux-create`.
#[derive(Args, Debug)]
pub struct FluxCreate {
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The address of this repository, to create the source too
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The branch that the source follows
    #[arg(long, value_name = "NAME", default_value = "main", requires = "url")]
    pub branch: String,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: Answer,
}

/// Arguments of `cron`.
#[derive(Args, Debug)]
pub struct Cron {
    /// The expression; `-` reads lines of EXPR TAB ZONE TAB FROM TAB COUNT, and answers each with the
    /// firings in UTC, `never` or `error`
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub expression: String,
    /// The IANA time zone
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub time_zone: String,
    /// The time after which to look, in RFC 3339 [default: now]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// How many times to print, at most a million
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub count: u64,
}

/// Arguments of `when`.
#[derive(Args, Debug)]
pub struct When {
    /// Apps by name, or files and folders of the repository [default: everything]
    #[arg(value_name = "APP or PATH")]
    pub what: Vec<String>,
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The time to ask for, in RFC 3339 [default: now]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: TextFormat,
}

/// The forms of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// Arguments of `calendar`.
#[derive(Args, Debug)]
pub struct Calendar {
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The first day, for example 2026-03-23, or a time in RFC 3339 [default: today]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// How many days
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=3660))]
    pub days: u16,
    /// The time zone of the days, for example Europe/Berlin [default: that of this machine]
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// The form
    #[arg(long, value_enum, default_value_t)]
    pub format: CalendarFormat,
}

/// The forms of a calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CalendarFormat {
    /// A timeline for the terminal
    #[default]
    Text,
    /// A picture
    Svg,
    /// An iCalendar file (RFC 5545)
    Ics,
}

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

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}
