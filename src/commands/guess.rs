//! What people type in the hope of a command, and what they may mean.

use clap::error::{ContextKind, ContextValue};

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

/// Adds to a refusal of a command the commands that may be meant.
pub fn advised(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let word = word.to_lowercase();
    if let Some((_, meant)) = MEANT.iter().find(|(words, _)| words.contains(&word.as_str())) {
        let meant = meant.iter().map(|command| (*command).to_owned()).collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
    }
    error
}
