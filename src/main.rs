//! Parses, runs, and gives the exit code.

use std::process::ExitCode;

use gitops_windows::commands::{advised, parse, run};

fn main() -> ExitCode {
    let cli = parse(std::env::args_os().collect()).unwrap_or_else(|error| advised(error).exit());
    ExitCode::from(run(&cli))
}
