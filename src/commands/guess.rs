//! What people type in the hope of a command, and what they may mean.

use clap::error::{ContextKind, ContextValue, ErrorKind};

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

/// Options of other tools, and what asks for it here.
const OPTIONS: &[(&[&str], &str)] = &[
    (&["--since", "--time", "--date", "--on"], "--at` or `--from"),
    (&["--tz", "--timezone", "--zone"], "--time-zone"),
    (&["--force", "--approve", "--auto-approve", "-y", "--write"], "--yes"),
    (&["--dryrun", "--check", "--plan", "--no-write"], "--dry-run"),
    (&["--output", "-o", "--json"], "--format"),
    (&["--for", "--length", "--duration"], "--to now+2h"),
];

/// Adds to a refusal of a command or an option what may be meant.
pub fn advised(error: clap::Error) -> clap::Error {
    match error.kind() {
        ErrorKind::UnknownArgument => of_option(error),
        _ => of_command(error),
    }
}

/// Adds the option that may be meant, and that an expression stands in quotes.
fn of_option(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return error };
    let tip = match OPTIONS.iter().find(|(words, _)| words.contains(&word.as_str())) {
        Some((_, meant)) => format!("did you mean `{meant}`?"),
        None if word.bytes().all(|byte| byte.is_ascii_digit() || b"*/,".contains(&byte)) => {
            "write a cron expression in quotes, as '0 22 * * SAT'".to_owned()
        }
        None => return error,
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
    use clap::{Arg, Command};

    use super::*;

    fn said(words: &[&str]) -> String {
        let command = Command::new("when").arg(Arg::new("at").long("at")).arg(Arg::new("open").long("open"));
        let error = command.try_get_matches_from([&["when"], words].concat()).map(drop);
        error.map_or_else(|error| advised(error).to_string(), |()| String::new())
    }

    #[test]
    fn an_option_of_other_tools_and_an_expression_without_quotes_get_a_tip() {
        assert!(
            said(&["--since", "now"]).contains("tip: did you mean `--at` or `--from`?"),
            "{}",
            said(&["--since", "now"])
        );
        let open = said(&["--open", "0", "22", "*", "*", "SAT"]);
        assert!(open.contains("tip: write a cron expression in quotes, as '0 22 * * SAT'"), "{open}");
        assert!(!said(&["--nothing"]).contains("did you mean"));
    }
}
