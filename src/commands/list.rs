//! The commands in the order in which help shows them.

use std::sync::LazyLock;

use clap::{Parser, Subcommand};

use crate::cli::Global;
use crate::commands::calendar::Calendar;
use crate::commands::check::Check;
use crate::commands::clusters::Clusters;
use crate::commands::cron::Cron;
use crate::commands::explain::Explain;
use crate::commands::flux_create::FluxCreate;
use crate::commands::freeze::{Freeze, Stop};
use crate::commands::init::Init;
use crate::commands::meta::{Completions, Schema};
use crate::commands::migrate::Migrate;
use crate::commands::overrides::Override;
use crate::commands::pr::Pr;
use crate::commands::split::Split;
use crate::commands::sync::Sync;
use crate::commands::verify::Verify;
use crate::commands::when::When;
use crate::commands::windows::Windows;
use crate::schedule::zone;

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
    /// Add, show and take away freezes: times in which nothing opens, whatever windows and overrides say
    Freeze(Freeze),
    /// Add, show and take away overrides: times in which a type opens beside its windows
    Override(Override),
    /// Stop what waits for windows: a freeze from now
    Stop(Stop),
    /// Show the clusters, what Flux applies to each, and what no cluster gets
    Clusters(Clusters),
    /// Find what is wrong or doubtful in the repository, with or without a spec
    ///
    /// Exits with 0 where there is nothing to tell, or only what `--fail-on` lets pass, 1 where there
    /// is more, 3 where the spec is invalid. `docs/codes.md` lists all codes.
    Check(Check),
    /// Say what a pull request changes in which cluster, and when each change lands
    ///
    /// Exits with 0 where there is no finding that `--fail-on` names, 1 where there is one, 3 where a
    /// revision can't be read.
    Pr(Pr),
    /// Print when Kubernetes fires a cron expression
    Cron(Cron),
    /// Print the JSON Schema of windows.yaml, or of an answer
    Schema(Schema),
    /// Print the completions of a shell
    Completions(Completions),
    /// Print the manual page
    Man,
    /// Print the licences of everything that this program carries
    Licenses,
}
