//! What all mechanisms that work by CronJobs share.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::mechanism::GateTarget;

/// The most characters that a CronJob's name may have: the controller adds eleven for its Jobs
/// (Kubernetes, `pkg/apis/batch/validation`).
pub const LONGEST_JOB_NAME: usize = 52;

/// Returns the `spec` of the pods that a CronJob makes.
pub fn pod_of(job: &Value) -> &Value {
    &job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
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
    let mut script = "failed=0\n".to_owned();
    for (namespace, names) in &namespaces {
        let line = shell_line(&in_one(namespace, names));
        script += &format!("{line} || failed=1\n");
    }
    script += "exit \"$failed\"";
    in_shell(script)
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
