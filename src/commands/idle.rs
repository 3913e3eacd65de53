//! Options of every command, given to one that has no use for them.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// Commands that read no repository, and the options that mean nothing to them.
const IDLE: &[(&[&str], &[&str])] = &[
    (&["cron"], &["directory", "spec", "renderer", "no_cache", "verbose"]),
    (
        &["schema", "completions", "man", "version", "licenses"],
        &["directory", "spec", "renderer", "no_cache", "verbose", "now"],
    ),
];

/// Refuses options that would be passed over in silence.
///
/// # Errors
///
/// With the first of them.
pub fn refuse_idle(command: &mut Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some((name, own)) = matches.subcommand() else { return Ok(()) };
    let idle = IDLE.iter().find(|(commands, _)| commands.contains(&name)).map_or(&[][..], |(_, idle)| idle);
    let is_given = |id: &&&str| own.value_source(id) == Some(ValueSource::CommandLine);
    let Some(given) = idle.iter().find(is_given) else { return Ok(()) };
    let option = given.replace('_', "-");
    Err(command.error(ErrorKind::ArgumentConflict, format!("`{name}` has no use for --{option}")))
}
