//! Gives the process's arguments to the library, and the exit code to the system.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(gitops_windows::commands::main(std::env::args_os().collect()))
}
