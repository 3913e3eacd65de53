//! Arguments of the commands that answer a question about the repository.

use clap::{Args, ValueEnum};

use crate::cli::Answer;

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
