//! The commands: each wires the stages together and holds no logic of its own.

mod apply;
mod calendar;
mod check;
mod clock;
mod clusters;
mod contexts;
mod cron;
mod demo;
mod explain;
mod fetch_bases;
mod flux_create;
mod freeze;
mod guess;
mod idle;
mod init;
mod join;
mod list;
mod meta;
mod migrate;
mod overrides;
mod plugin;
mod post;
mod pr;
mod refused;
mod renderer;
mod schedules;
mod spec_edit;
mod split;
mod status;
mod sync;
mod undo;
mod unmerged;
mod verify;
mod when;
mod windows;
mod workspace;

use std::ffi::OsString;

use crate::error::Error;
use crate::output::Output;

pub use apply::Exit;
use guess::advised;
pub use list::{Cli, Command};
pub use meta::schema_of;
pub use plugin::parse;

/// Parses the arguments of the process, the program's name first, runs the command and returns the exit code.
pub fn main(arguments: Vec<OsString>) -> u8 {
    match parse(arguments) {
        Ok(cli) => run(&cli),
        Err(error) => Output::refusal(&advised(error)),
    }
}

/// Runs a command and gives the exit code of the process.
pub fn run(cli: &Cli) -> u8 {
    run_to(cli, &Output::new(&cli.global))
}

/// As [`run`], with another output than that of the process.
pub fn run_to(cli: &Cli, output: &Output) -> u8 {
    let result = dispatch(cli, output).and_then(|exit| match output.lost() {
        Some(lost) => Err(Error::invalid(lost)),
        None => Ok(exit),
    });
    match result {
        Ok(exit) => exit as u8,
        Err(error) => {
            output.diagnostics(&error.diagnostics);
            error.exit_code()
        }
    }
}

fn dispatch(cli: &Cli, output: &Output) -> Result<Exit, Error> {
    match &cli.command {
        Command::Split(arguments) => split::run(&cli.global, arguments, output),
        Command::Migrate(arguments) => migrate::run(&cli.global, arguments, output),
        Command::FetchBases(arguments) => fetch_bases::run(&cli.global, arguments, output),
        Command::Join(arguments) => join::run(&cli.global, arguments, output),
        Command::Verify(arguments) => verify::run(&cli.global, arguments, output),
        Command::Explain(arguments) => explain::run(&cli.global, arguments, output),
        Command::FluxCreate(arguments) => flux_create::run(&cli.global, arguments, output),
        Command::Demo(arguments) => demo::run(&cli.global, arguments, output),
        Command::Init(arguments) => init::run(&cli.global, arguments, output),
        Command::Sync(arguments) => sync::run(&cli.global, arguments, output),
        Command::Diff(arguments) => sync::diff(&cli.global, arguments, output),
        Command::Undo(arguments) => undo::run(&cli.global, arguments, output),
        Command::When(arguments) => when::run(&cli.global, arguments, output),
        Command::Calendar(arguments) => calendar::run(&cli.global, arguments, output),
        Command::Windows(arguments) => windows::run(&cli.global, arguments, output),
        Command::Freeze(arguments) => freeze::run(&cli.global, arguments, output),
        Command::Override(arguments) => overrides::run(&cli.global, arguments, output),
        Command::Stop(arguments) => freeze::stop(&cli.global, arguments, output),
        Command::Status(arguments) => status::run(&cli.global, arguments, output),
        Command::Clusters(arguments) => clusters::run(&cli.global, arguments, output),
        Command::Check(arguments) => check::run(&cli.global, arguments, output),
        Command::Pr(arguments) => pr::run(&cli.global, arguments, output),
        Command::Cron(arguments) => cron::run(&cli.global, arguments, output),
        Command::Schema(arguments) => meta::schema(arguments, output),
        Command::Completions(arguments) => meta::completions(arguments, output),
        Command::Man => meta::man(output),
        Command::Version => meta::version(output),
        Command::Licenses => meta::licenses(output),
        Command::Complete(arguments) => plugin::complete(arguments, output),
    }
}
