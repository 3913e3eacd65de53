//! The commands in the order in which help shows them.

use std::sync::LazyLock;

use anstyle::Style;
use clap::{Parser, Subcommand};

use crate::cli::Global;
use crate::commands::calendar::Calendar;
use crate::commands::check::Check;
use crate::commands::clusters::Clusters;
use crate::commands::cron::Cron;
use crate::commands::demo::Demo;
use crate::commands::explain::Explain;
use crate::commands::fetch_bases::FetchBases;
use crate::commands::flux_create::FluxCreate;
use crate::commands::freeze::{Freeze, Stop};
use crate::commands::init::Init;
use crate::commands::meta::{Completions, Schema};
use crate::commands::migrate::Migrate;
use crate::commands::overrides::Override;
use crate::commands::plugin::Complete;
use crate::commands::pr::Pr;
use crate::commands::split::Split;
use crate::commands::status::Status;
use crate::commands::sync::{Sync, Wish};
use crate::commands::undo::Undo;
use crate::commands::verify::Verify;
use crate::commands::when::When;
use crate::commands::windows::Windows;
use crate::schedule::zone;

/// Say when each kind of change may reach each cluster of a Flux repository.
///
/// Every command that writes shows the difference first and proves by rendering that no cluster
/// would get anything else. Nothing is written without `--yes` or your word on a terminal.
#[derive(Debug, Parser)]
#[command(
    name = "gitops-windows",
    version,
    long_version = long_version(),
    max_term_width = 100,
    help_template = TEMPLATE,
    after_help = groups()
)]
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

/// The help of the whole: the commands stand in groups.
const TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}{after-help}\n\nOptions (--help shows all):\n{options}";

/// The commands by what they are for, in the order of a first week.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Look around", &["demo", "clusters", "check"]),
    ("Set up", &["init", "explain", "split", "verify", "migrate"]),
    ("Every day", &["when", "calendar", "status", "pr"]),
    ("Change windows", &["windows", "freeze", "override", "stop", "cron"]),
    ("Later", &["sync", "diff", "join", "undo", "fetch-bases", "flux-create"]),
];

/// Says what each command does, group by group; the rest are about this program.
fn groups() -> String {
    const HEADING: Style = Style::new().bold().underline();
    let all = Command::augment_subcommands(clap::Command::new("gitops-windows"));
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text.push_str(&format!("{HEADING}{heading}:{HEADING:#}\n"));
        for command in names.iter().filter_map(|name| all.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {:<12} {about}\n", command.get_name()));
        }
    }
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set());
    let rest = shown.map(clap::Command::get_name).filter(|name| !is_grouped(name));
    let rest: Vec<&str> = rest.collect();
    text + &format!("{HEADING}This program:{HEADING:#}\n  {}", rest.join(", "))
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play the main job in a scratch folder, step by step
    ///
    /// Makes a small fleet with a git repository of its own, and leaves it to play with. On a
    /// terminal it waits for Enter before each step; `< /dev/null` does without. Nothing but git is
    /// run. Nothing is written outside of the folder, but the unpacked kustomize in the user's cache.
    Demo(Demo),
    /// Show the clusters, and what Flux applies to each
    ///
    /// Shows what waits for which window as well, and what no cluster gets.
    Clusters(Clusters),
    /// Find what is wrong or doubtful, with or without a spec
    ///
    /// Exits with 0 without findings, or with none that `--fail-on` names. Exits with 1 where there is
    /// one, 3 where the spec is invalid. `docs/codes.md` lists all codes.
    Check(Check),
    /// Write windows.yaml and the gates for what is there
    ///
    /// Finds clusters, entry points, apps, Flux Kustomizations and gates. In an empty folder, with
    /// `--cluster` and `--app`, it writes a whole repository.
    Init(Init),
    /// Say which type each object of a file or folder has, and why
    Explain(Explain),
    /// Divide apps by change type, with the entry points that use them
    #[command(
        override_usage = "gitops-windows split [OPTIONS] app <NAME>...\n       gitops-windows split [OPTIONS] --all"
    )]
    Split(Split),
    /// Prove that every entry point and its sides agree
    ///
    /// With `--base`, proves that they give what a revision gave. Exits with 0 where all is equal,
    /// 1 where objects were added, changed or moved between types. Exits with 3 where something does
    /// not build, 5 where an object is lost, doubled or on the wrong side.
    Verify(Verify),
    /// Take the next step from one Flux Kustomization to several
    ///
    /// A split takes three commits, so that no object is ever deleted: `split` makes the first, this
    /// command the others. Each must have reached the clusters before the next. Says where each
    /// cluster stands.
    Migrate(Migrate),
    /// Say when changes reach each cluster, and what is open now
    When(When),
    /// Show the windows as a timeline, a picture or a calendar file
    Calendar(Calendar),
    /// Compare clusters with the spec and Git
    ///
    /// Reads windows, runs, commits, what waits and edits by hand with kubectl, and changes nothing.
    /// Exits with 0 where all is as it should be, 1 where something is not, 3 where no cluster
    /// answers.
    Status(Status),
    /// Say what a pull request changes, and when each line lands
    ///
    /// Exits with 0 without a finding that `--fail-on` names, 1 with one. Exits with 3 where a
    /// revision can't be read.
    Pr(Pr),
    /// Read and edit windows, answering in JSON: for services
    Windows(Windows),
    /// Add, show and remove freezes: times in which nothing opens
    ///
    /// A freeze wins over windows and overrides.
    Freeze(Freeze),
    /// Add, show and remove overrides: times beside the windows
    Override(Override),
    /// Stop what waits for windows: a freeze from now
    Stop(Stop),
    /// Print when Kubernetes fires a cron expression
    Cron(Cron),
    /// Bring everything up to date with windows.yaml
    Sync(Sync),
    /// Show what `sync` would change
    Diff(Wish),
    /// Take a split back
    ///
    /// Every file gets its original bytes, with what was edited since.
    #[command(
        override_usage = "gitops-windows join [OPTIONS] app <NAME>...\n       gitops-windows join [OPTIONS] --all"
    )]
    Join(Split),
    /// Copy remote bases and files into the repository
    ///
    /// What builds name by an address is copied, each at its commit, and named by its path instead.
    /// Only this command fetches anything. Then the builds can be proven.
    FetchBases(FetchBases),
    /// Take back the last write, if nothing was edited since
    Undo(Undo),
    /// Print `flux create` commands, for Flux objects not in Git
    ///
    /// For clusters that hold none of the objects yet: everything is created with `prune: true`.
    FluxCreate(FluxCreate),
    /// Print the JSON Schema of windows.yaml, or of an answer
    Schema(Schema),
    /// Print the completions of a shell
    Completions(Completions),
    /// Print the manual page
    Man,
    /// Print the versions of the program and of its time zones
    Version,
    /// Print the licences of everything that this program carries
    Licenses,
    /// Print what the last of some words may become, as flux asks its plugins
    #[command(name = "__complete", hide = true)]
    Complete(Complete),
}
