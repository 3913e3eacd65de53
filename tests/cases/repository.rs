//! The small repositories and what they are made of.

use std::sync::LazyLock;

use gitops_windows::path::RepoPath;
use gitops_windows::render::Embedded;

use crate::agree::disagreements;
use crate::support::scratch::{Run, Scratch};
use crate::support::{flux_kustomization, read};

/// What `init` is told.
pub const INIT: [&str; 10] = [
    "init",
    "--yes",
    "--open",
    "0 22 * * SAT",
    "--close",
    "0 4 * * SUN",
    "--time-zone",
    "UTC",
    "--now",
    "2026-11-23T12:00:00Z",
];

/// A Service; `NAME` stands for its name.
pub const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata: { name: NAME, namespace: shop }\nspec: { ports: [{ port: 80 }] }\n";

/// A ConfigMap; `NAME` stands for its name.
pub const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: NAME, namespace: shop }\n";

/// A repository of these files, committed.
pub fn repository(files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::empty();
    for (path, text) in files {
        scratch.write(path, text);
    }
    scratch.commit();
    agreed(&scratch);
    scratch
}

/// Holds the questions to the same belief about a repository.
#[track_caller]
pub fn agreed(scratch: &Scratch) {
    static RENDERER: LazyLock<Embedded> = LazyLock::new(Embedded::default);
    let found = disagreements(&read(scratch.top()), &RepoPath::top(), &*RENDERER);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The Flux Kustomization that applies the folder of a cluster, its own file included.
pub fn root(cluster: &str) -> String {
    flux_kustomization("flux-system", &format!("clusters/{cluster}"), "")
}

/// Runs a command that must succeed, commits, and returns what it told people, but for the proof and the count.
#[track_caller]
pub fn told(scratch: &Scratch, arguments: &[&str]) -> String {
    spoken(&scratch.take(arguments))
}

/// What a run told people, but for the proof and the count.
pub fn spoken(run: &Run) -> String {
    let is_kept = |line: &&str| !line.starts_with("Proven with") && !line.starts_with("Wrote ");
    run.stderr.lines().filter(is_kept).map(|line| format!("{line}\n")).collect()
}

/// Splits everything and takes every step; returns what the step after the last one says.
#[track_caller]
pub fn finished(scratch: &Scratch) -> String {
    agreed(scratch);
    scratch.take(&["split", "--all", "--yes"]);
    agreed(scratch);
    for _ in 0..2 {
        scratch.take(&["migrate", "--yes"]);
        agreed(scratch);
    }
    told(scratch, &["migrate", "--yes"])
}

/// Holds `check` to nothing worse than a warning, and returns the codes of what it tells.
#[track_caller]
pub fn notes(scratch: &Scratch) -> Vec<String> {
    let run = scratch.expect(0, &["check", "--format", "json", "--fail-on", "error"]);
    agreed(scratch);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let codes =
        json["findings"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap().to_owned());
    codes.collect()
}

/// Returns every text of CronJobs and roles that a gate's folder holds.
pub fn gate(scratch: &Scratch) -> String {
    let is_gate = |path: &str| path.contains("reconciliation-windows");
    let files = scratch.git(&["ls-files"]);
    files.lines().filter(|path| is_gate(path)).map(|path| scratch.text(path)).collect()
}
