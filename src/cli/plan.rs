//! Arguments of the commands that make a plan and carry it out.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::Format;

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
    /// How many seconds a cluster may take to answer a request; kubectl is stopped after twice as many
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
    /// Take away the gates of clusters that windows.yaml speaks of no more, and Namespaces that gates leave; says what that deletes
    #[arg(long)]
    pub allow_deletion: bool,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}
