//! Commands about the program itself: schema, completions, man, licenses.

use clap::{Args, CommandFactory, ValueEnum};

use crate::calendar;
use crate::commands::Cli;
use crate::commands::apply::Exit;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::pr;
use crate::spec;
use crate::status;
use crate::when;

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Arguments of `schema`.
#[derive(Args, Debug)]
pub struct Schema {
    /// Of what
    #[arg(value_enum, default_value_t)]
    pub what: Described,
}

/// What has a JSON Schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Described {
    /// windows.yaml
    #[default]
    Spec,
    /// The answer of `pr --format json`
    Pr,
    /// The answer of `when --format json`
    When,
    /// The answer of `calendar --format json`
    Calendar,
    /// The answer of `status --format json`
    Status,
}

/// Prints a JSON Schema.
pub fn schema(arguments: &Schema, output: &Output) -> Result<Exit, Error> {
    let schema = match arguments.what {
        Described::Spec => spec::schema(),
        Described::Pr => pr::schema(),
        Described::When => when::schema(),
        Described::Calendar => calendar::schema(),
        Described::Status => status::schema(),
    };
    output.result(format!("{schema:#}\n").as_bytes());
    Ok(Exit::Clean)
}

/// Prints a shell's completions.
pub fn completions(arguments: &Completions, output: &Output) -> Result<Exit, Error> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "gitops-windows", &mut text);
    output.result(&text);
    Ok(Exit::Clean)
}

/// Prints the manual page.
pub fn man(output: &Output) -> Result<Exit, Error> {
    let mut text = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut text).map_err(|error| {
        Error::new(ErrorKind::Bug, Diagnostic::error(format!("the manual page can't be made: {error}")))
    })?;
    output.result(&text);
    Ok(Exit::Clean)
}

/// Prints the version, as `--version` does.
pub fn version(output: &Output) -> Result<Exit, Error> {
    output.result(Cli::command().render_long_version().as_bytes());
    Ok(Exit::Clean)
}

/// Prints the licences of what the binary carries.
pub fn licenses(output: &Output) -> Result<Exit, Error> {
    output.result(include_bytes!("../../LICENSES.md"));
    Ok(Exit::Clean)
}
