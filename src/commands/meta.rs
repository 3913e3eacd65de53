//! Commands about the program itself: schema, completions, man, licenses.

use clap::{Args, CommandFactory};

use crate::commands::Cli;
use crate::commands::apply::Exit;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::spec;

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Prints the JSON Schema of the spec.
pub fn schema(output: &Output) -> Result<Exit, Error> {
    output.result(format!("{:#}\n", spec::schema()).as_bytes());
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

/// Prints the licences of what the binary carries.
pub fn licenses(output: &Output) -> Result<Exit, Error> {
    output.result(include_bytes!("../../LICENSES.md"));
    Ok(Exit::Clean)
}
