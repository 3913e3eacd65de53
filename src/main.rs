//! Parses, runs, and gives the exit code.

use std::process::ExitCode;

use clap::Parser;
use gitops_windows::commands::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    ExitCode::from(gitops_windows::commands::run(&cli))
}
