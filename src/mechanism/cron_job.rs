//! What all mechanisms that work by CronJobs share.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{GateTarget, Job};
use crate::schedule::{CronPair, Window, WindowEdges, WindowError, reference};
use crate::spec::{Placed, Spec, WindowDef};

/// The most characters that a CronJob's name may have: the controller adds eleven for its Jobs
/// (Kubernetes, `pkg/apis/batch/validation`).
pub const LONGEST_JOB_NAME: usize = 52;

/// Returns the `spec` of the pods that a CronJob makes.
pub fn pod_of(job: &Value) -> &Value {
    &job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
}

/// Returns how many minutes lie between two runs of a CronJob that looks at a table; `None` for any other object.
pub(super) fn every(job: &Value) -> Option<u32> {
    let minutes = job["spec"]["schedule"].as_str()?.split_whitespace().next()?;
    let every = |minutes: &str| minutes.strip_prefix("*/").and_then(|every| every.parse().ok());
    Some(every(minutes).unwrap_or(if minutes == "*" { 1 } else { 60 }))
}

/// Returns the command of a job on some targets, from the command `in_one` namespace on names in it.
///
/// Of several namespaces each command is run, whatever becomes of the others, and the job fails where one has failed.
/// `usual` is the namespace where there are no targets.
pub(crate) fn command_line(
    targets: &BTreeSet<GateTarget>,
    usual: &str,
    in_one: impl Fn(&str, &BTreeSet<&str>) -> Vec<String>,
) -> Vec<String> {
    let mut namespaces: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for target in targets {
        namespaces.entry(&target.namespace).or_default().insert(&target.name);
    }
    if namespaces.len() < 2 {
        let (namespace, names) = namespaces.pop_first().unwrap_or((usual, BTreeSet::new()));
        return in_one(namespace, &names);
    }
    each(namespaces.iter().map(|(namespace, names)| shell_line(&in_one(namespace, names))))
}

/// Returns the command that runs each of some lines, whatever becomes of the others, and fails where one has failed.
pub(super) fn each(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let tried: String = lines.into_iter().map(|line| format!("{line} || failed=1\n")).collect();
    in_shell(format!("failed=0\n{tried}exit \"$failed\""))
}

/// Returns the command that runs a script.
pub(super) fn in_shell(script: String) -> Vec<String> {
    vec!["/bin/sh".to_owned(), "-c".to_owned(), script]
}

/// Joins words to a line for a POSIX shell.
pub(crate) fn shell_line(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

fn shell_word(word: &str) -> String {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns when a window opens and closes, in its zone.
///
/// What the tool makes of `for` or `from` and `to` must come exactly then, changes of the clocks included;
/// expressions that people wrote are theirs, and `check` judges them.
///
/// # Errors
///
/// When there are no such times.
pub(super) fn edges(def: &Placed<WindowDef>) -> Result<(WindowEdges, TimeZone), Error> {
    resolved(def, Window::resolve)
}

/// Returns the zone of a window that a table keeps, in which more times come.
///
/// # Errors
///
/// As [`edges`].
pub(super) fn zone_in_table(def: &Placed<WindowDef>) -> Result<TimeZone, Error> {
    Ok(resolved(def, Window::resolve_in_table)?.1)
}

fn resolved(
    def: &Placed<WindowDef>,
    resolve: impl Fn(&Window, Timestamp) -> Result<WindowEdges, WindowError>,
) -> Result<(WindowEdges, TimeZone), Error> {
    let window = def.schedule().map_err(|diagnostics| Error { kind: ErrorKind::Invalid, diagnostics })?;
    let edges = resolve(&window, reference()).map_err(|error| {
        Error::invalid(Diagnostic::error(error.message).at(def.place.clone()).help(error.help))
    })?;
    Ok((edges, window.zone_or_utc()))
}

/// Returns the expressions of a window, in its zone.
///
/// # Errors
///
/// As [`edges`], and when no cron expressions say it.
pub(super) fn pair(def: &Placed<WindowDef>) -> Result<(CronPair, TimeZone), Error> {
    let (edges, zone) = edges(def)?;
    let none = || {
        Diagnostic::error("no pair of CronJobs opens and closes this window")
            .at(def.place.clone())
            .help("give the gate a table, with `every` and `through`")
    };
    Ok((edges.cron().ok_or_else(|| Error::invalid(none()))?, zone))
}

/// Makes sure that Kubernetes takes the names of CronJobs.
///
/// # Errors
///
/// When one is too long, or two are the same.
pub(super) fn check_names(spec: &Spec, jobs: &[Job]) -> Result<(), Error> {
    let mut diagnostics = Vec::new();
    let mut seen = BTreeSet::new();
    let mut refuse = |message: String, help: &str| {
        diagnostics.push(Diagnostic::error(message).at(Place::file(spec.path.clone())).help(help));
    };
    for name in jobs.iter().map(|job| job.name.as_str()) {
        if name.len() > LONGEST_JOB_NAME {
            refuse(
                format!(
                    "the CronJob name `{name}` has {} characters; Kubernetes takes at most {LONGEST_JOB_NAME}",
                    name.len()
                ),
                "shorten the type's name, or `openJob` and `closeJob` under `layout`",
            );
        }
        if !seen.insert(name) {
            refuse(
                format!("two windows would both have the CronJob `{name}`"),
                "rename the type whose name is a number, or `openJob` and `closeJob` under `layout`",
            );
        }
    }
    if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Invalid, diagnostics }) }
}
