//! `flux windows`: this program as a plugin of the flux command.
//!
//! flux runs the file `flux-windows` of its plugin folder with the words that follow, and asks it for completions as
//! Cobra's commands are asked (flux2 v2.9, internal/plugin/completion.go).

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Args, Command, CommandFactory, FromArgMatches};

use crate::commands::Cli;
use crate::commands::apply::Exit;
use crate::commands::idle::refuse_idle;
use crate::error::Error;
use crate::output::Output;

/// The file that flux runs as `flux windows`.
const FILE: &str = "flux-windows";

/// The command that asks for completions.
const ASK: &str = "__complete";

/// Cobra's ShellCompDirectiveDefault: a file's name may stand there as well.
const FILES: u8 = 0;

/// Cobra's ShellCompDirectiveNoFileComp.
const NO_FILES: u8 = 4;

/// Arguments of `__complete`.
#[derive(Args, Debug)]
pub struct Complete {
    /// The words so far; what the last one may become is asked for
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}

/// Parses the arguments of the process, the program's name first.
///
/// # Errors
///
/// When they are wrong, or ask for help.
pub fn parse(mut arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let mut command = Cli::command();
    if arguments.first().and_then(|name| Path::new(name).file_stem()) == Some(OsStr::new(FILE)) {
        command = command.name("flux windows").bin_name("flux windows");
    }
    if arguments.get(1).is_some_and(|word| word == ASK) {
        // Options are words like others then.
        arguments.insert(2, "--".into());
    }
    let matches = command.try_get_matches_from_mut(arguments)?;
    refuse_idle(&mut command, &matches)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Prints what the last word may become.
pub fn complete(arguments: &Complete, output: &Output) -> Result<Exit, Error> {
    let words: Vec<_> = arguments.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    output.result(completions(&words).as_bytes());
    Ok(Exit::Clean)
}

/// Returns a line for each completion, a description after a tab, and the directive.
fn completions(words: &[String]) -> String {
    let mut command = Cli::command();
    command.build();
    let (last, before) = words.split_last().map_or(("", [].as_slice()), |(last, before)| (last, before));
    let place = Place::after(&command, before);
    let (found, files) = place.next(last);
    let mut text = String::new();
    for (word, about) in found.iter().filter(|(word, _)| word.starts_with(last)) {
        let line = about.lines().next().unwrap_or_default();
        let _ = if line.is_empty() { writeln!(text, "{word}") } else { writeln!(text, "{word}\t{line}") };
    }
    let _ = writeln!(text, ":{}", if files { FILES } else { NO_FILES });
    text
}

/// Where on the command line the next word stands.
struct Place<'c> {
    command: &'c Command,
    /// The option whose value it is.
    option: Option<&'c Arg>,
    /// How many words that are no options stand before it.
    words: usize,
    /// Whether `--` stands before it.
    literal: bool,
}

impl<'c> Place<'c> {
    fn after(command: &'c Command, before: &[String]) -> Place<'c> {
        let mut place = Place { command, option: None, words: 0, literal: false };
        for word in before {
            if place.option.take().is_some() {
                continue;
            }
            match word.strip_prefix('-') {
                Some("-") if !place.literal => place.literal = true,
                Some(option) if !place.literal && !option.is_empty() => place.option = place.waiting(option),
                _ => match place.command.find_subcommand(word) {
                    Some(command) if place.words == 0 => place.command = command,
                    _ => place.words += 1,
                },
            }
        }
        place
    }

    /// Returns the option whose value the next word is; `option` lacks its first `-`.
    fn waiting(&self, option: &str) -> Option<&'c Arg> {
        let takes_value = |argument: &&Arg| argument.get_action().takes_values();
        let mut all = self.command.get_arguments();
        match option.strip_prefix('-') {
            Some(name) => all.find(|argument| argument.get_long() == Some(name)).filter(takes_value),
            None => {
                let letter = option.chars().next_back();
                all.find(|argument| argument.get_short() == letter).filter(takes_value)
            }
        }
    }

    /// Returns what may stand here where the word begins as given, and whether a file's name may.
    fn next(&self, begun: &str) -> (Vec<(String, String)>, bool) {
        if let Some(option) = self.option {
            return values(option, "");
        }
        if !self.literal && begun.starts_with('-') {
            if let Some((name, _)) = begun.strip_prefix("--").and_then(|begun| begun.split_once('=')) {
                let option = self.command.get_arguments().find(|option| option.get_long() == Some(name));
                return option.map(|option| values(option, &format!("--{name}="))).unwrap_or_default();
            }
            let shown = self.command.get_arguments().filter(|option| !option.is_hide_set());
            let long = shown.filter_map(|option| Some((format!("--{}", option.get_long()?), help(option))));
            return (long.collect(), false);
        }
        let mut found = Vec::new();
        if self.words == 0 && !self.literal {
            let commands = self.command.get_subcommands().filter(|command| !command.is_hide_set());
            let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
            found.extend(commands.map(|command| (command.get_name().to_owned(), about(command))));
        }
        let positionals: Vec<&Arg> = self.command.get_positionals().collect();
        let many = |positional: &Arg| positional.get_num_args().is_some_and(|count| count.max_values() > 1);
        let own = positionals.get(self.words).or_else(|| positionals.last().filter(|last| many(last)));
        let (own, files) = own.map(|positional| values(positional, "")).unwrap_or_default();
        found.extend(own);
        (found, files)
    }
}

fn help(argument: &Arg) -> String {
    argument.get_help().map(ToString::to_string).unwrap_or_default()
}

/// Returns the values of an argument, and whether it has others.
fn values(argument: &Arg, before: &str) -> (Vec<(String, String)>, bool) {
    let possible = argument.get_possible_values();
    let shown = possible.iter().filter(|value| !value.is_hide_set());
    let text =
        |value: &clap::builder::PossibleValue| value.get_help().map(ToString::to_string).unwrap_or_default();
    (shown.map(|value| (format!("{before}{}", value.get_name()), text(value))).collect(), possible.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> String {
        completions(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn commands_options_and_values_are_completed() {
        let lines = [
            "c",
            "check --f",
            "check --format ",
            "--color=",
            "-C ",
            "-C x windows s",
            "cron -",
            "completions ",
            "windows -- -",
        ];
        let text: String = lines.iter().map(|line| format!("> {line}\n{}", asked(line))).collect();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn every_command_is_completed_from_what_clap_knows() {
        let all = asked("");
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            assert!(all.lines().any(|line| line.split('\t').next() == Some(name)), "{name}");
        }
        assert!(!all.contains(ASK), "{all}");
    }

    #[test]
    fn flux_reads_its_own_name_in_usage_and_asks_with_any_words() {
        let asked = |words: &[&str]| {
            parse(
                std::iter::once("/plugins/flux-windows")
                    .chain(words.iter().copied())
                    .map(OsString::from)
                    .collect(),
            )
        };
        let usage = asked(&["check", "--help"]).unwrap_err().to_string();
        let line = usage.lines().find(|line| line.starts_with("Usage: "));
        assert_eq!(line, Some("Usage: flux windows check [OPTIONS]"));
        let cli = asked(&[ASK, "-C", "x", "check", "--"]).unwrap();
        let crate::commands::Command::Complete(asked) = &cli.command else { panic!("{cli:?}") };
        assert_eq!(asked.words, ["-C", "x", "check", "--"]);
    }
}
