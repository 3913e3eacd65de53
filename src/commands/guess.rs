//! What people type in the hope of a command, and what they may mean.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use crate::commands::Cli;

/// Words of other tools, and the commands that do what they say.
const MEANT: &[(&[&str], &[&str])] = &[
    (&["list", "ls", "get", "show", "info"], &["clusters", "when", "windows list", "freeze list"]),
    (&["state", "live", "diagnose"], &["status", "when", "check"]),
    (&["next", "schedule", "schedules", "timeline"], &["when", "calendar"]),
    (&["apply", "update", "generate", "reconcile", "render", "build"], &["sync"]),
    (&["plan", "preview", "dry-run"], &["diff", "split --all --dry-run"]),
    (&["validate", "lint", "test", "doctor", "prove"], &["check", "verify"]),
    (&["rollback", "revert", "reset", "restore"], &["undo", "join"]),
    (&["remove", "delete", "uninstall", "eject"], &["join --all", "freeze remove", "windows remove"]),
    (&["add", "new", "create", "set"], &["init", "windows set", "freeze add", "override add"]),
    (&["open", "resume"], &["override open", "override add"]),
    (&["close", "pause", "suspend"], &["stop", "freeze add"]),
    (&["comment", "review", "mr"], &["pr"]),
    (&["tutorial", "example", "start", "try", "play"], &["demo"]),
];

/// Options of other tools, and those of this one that say the same, with a value where that tells more.
const OPTIONS: &[(&[&str], &[&str])] = &[
    (&["--since", "--time", "--date", "--on"], &["--at", "--from"]),
    (&["--tz", "--timezone", "--zone"], &["--time-zone"]),
    (&["--force", "--approve", "--auto-approve", "-y", "--write"], &["--yes"]),
    (&["--dryrun", "--check", "--plan", "--no-write"], &["--dry-run"]),
    (&["--output", "-o", "--json"], &["--format"]),
    (&["--for", "--length", "--duration"], &["--to now+2h"]),
];

/// Adds to a refusal of a command or an option what may be meant.
pub fn advised(error: clap::Error) -> clap::Error {
    match error.kind() {
        ErrorKind::UnknownArgument => of_option(error, &Cli::command()),
        _ => of_command(error),
    }
}

/// Returns the command that the usage in an error names; the whole where that names none.
fn refusing<'c>(error: &clap::Error, whole: &'c Command) -> &'c Command {
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    };
    let mut command = whole;
    for word in usage.lines().next().unwrap_or_default().split_whitespace() {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    command
}

/// Adds the option that may be meant, if the command has it, and that an expression stands in quotes.
fn of_option(mut error: clap::Error, whole: &Command) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return error };
    let command = refusing(&error, whole);
    let has = |meant: &&&str| {
        let name = meant.split(' ').next().and_then(|option| option.strip_prefix("--"));
        command.get_arguments().any(|own| own.get_long() == name)
    };
    let known = OPTIONS.iter().find(|(words, _)| words.contains(&word.as_str()));
    let meant: Vec<&str> =
        known.into_iter().flat_map(|(_, meant)| meant.iter().filter(has).copied()).collect();
    let tip = match meant.is_empty() {
        false => format!("did you mean `{}`?", meant.join("` or `")),
        true if word.bytes().all(|byte| byte.is_ascii_digit() || b"*/,".contains(&byte)) => {
            "write a cron expression in quotes, as '0 22 * * SAT'".to_owned()
        }
        true => return error,
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

fn of_command(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let word = word.to_lowercase();
    if let Some((_, meant)) = MEANT.iter().find(|(words, _)| words.contains(&word.as_str())) {
        let meant = meant.iter().map(|command| (*command).to_owned()).collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str]) -> String {
        let error = Cli::command().try_get_matches_from([&["gitops-windows"], words].concat()).map(drop);
        error.map_or_else(|error| advised(error).to_string(), |()| String::new())
    }

    #[test]
    fn an_option_of_other_tools_and_an_expression_without_quotes_get_a_tip() {
        let tip = |command: &str| {
            let said = said(&[command, "--since", "now"]);
            said.lines().find_map(|line| line.trim().strip_prefix("tip: ")).unwrap_or_default().to_owned()
        };
        assert_eq!(tip("when"), "did you mean `--at`?");
        assert_eq!(tip("calendar"), "did you mean `--from`?");
        // Neither means anything to it.
        assert!(!tip("check").contains("--at"), "{}", tip("check"));
        let open = said(&["init", "--open", "0", "22", "*", "*", "SAT"]);
        assert!(open.contains("tip: write a cron expression in quotes, as '0 22 * * SAT'"), "{open}");
        assert!(!said(&["when", "--nothing"]).contains("did you mean"));
    }
}
