//! Parses, runs, and gives the exit code.

use std::process::ExitCode;

use clap::Parser;
use gitops_windows::commands::{Cli, advised, run};

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| advised(error).exit());
    ExitCode::from(run(&cli))
}
