//! Repositories that were divided, and how far they have come.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::support::scratch::{Scratch, Tree};

/// A spec without its clusters.
pub const SPEC: &str = "apiVersion: gitops-windows/v1\ntypes:\n  rt: {}\n  rw: { window: nights }\nwindows:\n  nights: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 4 * * SUN }\nclusters:\n";

/// How far a repository has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Divided,
    Finished,
}

type Way = (Step, String, Vec<String>);

/// Returns a repository that has come so far: the first test of a process that asks makes it.
fn come(step: Step, fixture: &str, clusters: &[&str], make: fn(&str, &[&str]) -> Scratch) -> Scratch {
    static MADE: Mutex<BTreeMap<Way, Arc<OnceLock<Tree>>>> = Mutex::new(BTreeMap::new());
    let way = (step, fixture.to_owned(), clusters.iter().map(|&name| name.to_owned()).collect());
    let made = Arc::clone(MADE.lock().unwrap_or_else(PoisonError::into_inner).entry(way).or_default());
    Scratch::again(made.get_or_init(|| make(fixture, clusters).kept()))
}

/// Copies a fixture, writes a spec and the gates, splits everything, and commits each.
pub fn divided(fixture: &str, clusters: &[&str]) -> Scratch {
    come(Step::Divided, fixture, clusters, |fixture, clusters| {
        let scratch = Scratch::fixture(fixture);
        let clusters: String = clusters.iter().map(|name| format!("  {name}: {{}}\n")).collect();
        scratch.write("windows.yaml", format!("{SPEC}{clusters}"));
        scratch.commit();
        scratch.take(&["sync", "--yes"]);
        scratch.take(&["split", "--all", "--yes"]);
        scratch
    })
}

/// Only Namespaces are real-time.
pub const NAMESPACE_ONLY: &str = "rules:\n- { kind: Namespace, type: rt }\n- { type: rw }\n";
/// Secrets are real-time as well.
pub const SECRET_TOO: &str = "rules:\n- { kind: Namespace, type: rt }\n- { kind: ConfigMap, type: rt }\n- { kind: Secret, type: rt }\n- { type: rw }\n";

/// Writes the spec with these rules; nothing is committed.
pub fn rules(scratch: &Scratch, text: &str) {
    let spec = scratch.text("windows.yaml");
    let spec = spec.split("rules:").next().unwrap_or_default().to_owned();
    scratch.write("windows.yaml", spec + text);
}

/// Takes all three steps.
pub fn finished(fixture: &str, clusters: &[&str]) -> Scratch {
    come(Step::Finished, fixture, clusters, |fixture, clusters| {
        let scratch = divided(fixture, clusters);
        for _ in 0..2 {
            scratch.take(&["migrate", "--yes"]);
        }
        scratch
    })
}

/// The findings about a commit that lets a cluster delete something.
const DELETING: [&str; 5] = ["GW012", "GW013", "GW048", "GW054", "GW055"];

/// Makes sure that nobody deletes anything on the way from the commit before, and returns all that is said of it.
#[track_caller]
pub fn nothing_is_deleted(scratch: &Scratch) -> String {
    let run = scratch.run(&["check", "--base", "HEAD~1"]);
    assert!([0, 1].contains(&run.code), "the check itself failed: {run:?}");
    let said = run.stdout + &run.stderr;
    assert!(DELETING.iter().all(|code| !said.contains(code)), "{said}");
    said
}

/// Makes sure that each cluster gets after the last commit what it got before.
#[track_caller]
pub fn nothing_differs(scratch: &Scratch) {
    let run = scratch.run(&["verify", "--base", "HEAD~1"]);
    assert_eq!(run.code, 0, "{}", run.stdout + &run.stderr);
}
