//! Commands about the program itself: schema, completions, man, licenses.

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;
use serde_json::Value;

use crate::commands::Cli;
use crate::commands::apply::Exit;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::{calendar, check, clusters, explain, plan, pr, spec, status, verify, when};

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
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
    /// The answer of `check --format json`
    Check,
    /// The answer of `clusters --format json`
    Clusters,
    /// The answer of `explain --format json`
    Explain,
    /// The answer of `verify --format json`
    Verify,
    /// The answer of `init`, `split`, `join`, `sync`, `diff` and `migrate` with `--format json`
    #[value(aliases = ["init", "split", "join", "sync", "diff", "migrate"])]
    Plan,
}

impl Described {
    /// Returns its JSON Schema.
    fn schema(self) -> Value {
        match self {
            Described::Spec => spec::schema(),
            Described::Pr => pr::schema(),
            Described::When => when::schema(),
            Described::Calendar => calendar::schema(),
            Described::Status => status::schema(),
            Described::Check => check::schema(),
            Described::Clusters => clusters::schema(),
            Described::Explain => explain::schema(),
            Described::Verify => verify::schema(),
            Described::Plan => plan::schema(),
        }
    }
}

/// Returns the JSON Schema of what a command prints with `--format json`; `None` where there is none.
pub fn schema_of(command: &str) -> Option<Value> {
    let of = Described::from_str(command, false).ok()?;
    (of != Described::Spec).then(|| of.schema())
}

/// Prints a JSON Schema.
pub fn schema(arguments: &Schema, output: &Output) -> Result<Exit, Error> {
    let schema = arguments.what.schema();
    output.json(&schema);
    Ok(Exit::Clean)
}

/// Prints a shell's completions.
pub fn completions(arguments: &Completions, output: &Output) -> Result<Exit, Error> {
    output.result(completion(arguments.shell).as_bytes());
    Ok(Exit::Clean)
}

/// Writes a shell's completions.
fn completion(shell: Shell) -> String {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gitops-windows", &mut text);
    let text = String::from_utf8_lossy(&text);
    match shell {
        // clap_complete 4.6 (aot/shells/bash.rs) sets a command by one name of a program with a dash, and asks for it
        // by another: no word after the command would be completed.
        Shell::Bash => text.replace("gitops__subcmd__windows", "gitops__windows"),
        _ => text.into_owned(),
    }
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What bash completes of the last word.
    #[cfg(unix)]
    fn bash(words: &[&str]) -> Vec<String> {
        let [.., before, last] = words else { panic!("two words at least") };
        let script = format!(
            "{}\nCOMP_WORDS=({} '{last}'); COMP_CWORD={}\n\
             _gitops__windows gitops-windows '{last}' {before}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            completion(Shell::Bash),
            words[..words.len() - 1].join(" "),
            words.len() - 1
        );
        let done = Command::new("bash").args(["--norc", "-c", &script]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).lines().map(str::to_owned).collect()
    }

    #[cfg(unix)]
    #[test]
    fn bash_completes_what_follows_a_command() {
        assert_eq!(bash(&["gitops-windows", "spl"]), ["split"]);
        assert_eq!(bash(&["gitops-windows", "split", "--al"]), ["--all", "--allow-dirty"]);
        assert_eq!(bash(&["gitops-windows", "windows", "s"]), ["set", "schema"]);
        assert_eq!(bash(&["gitops-windows", "fetch-bases", "--dry"]), ["--dry-run"]);
        assert!(bash(&["gitops-windows", "check", "--fail-on", ""]).contains(&"error".to_owned()));
    }
}
