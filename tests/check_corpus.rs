//! `check` on real repositories: every finding stands in a reviewed table, and nothing else is found.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test may fail and speak, and prepares a tree of its own"
)]

mod common;
mod support;

use std::collections::BTreeMap;
use std::path::Path;

use common::Copy;
use support::{corpus, side_by_side};

/// Sections `# REPOSITORY FOLDER CLUSTER…`, each with lines `CODE PATH:LINE | why it is right`. A section
/// that names clusters is looked at with a spec of two types, the others without one.
const TABLE: &str = include_str!("check_corpus.txt");

/// A section of the table: findings and why each is right.
struct Section<'t> {
    heading: &'t str,
    findings: BTreeMap<&'t str, &'t str>,
}

fn table() -> Vec<Section<'static>> {
    let mut sections = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty()) {
        if let Some(heading) = line.strip_prefix("# ") {
            sections.push(Section { heading, findings: BTreeMap::new() });
        } else if let Some(section) = sections.last_mut() {
            let (finding, why) = line.split_once(" | ").unwrap_or_else(|| panic!("{line} has no reason"));
            assert!(!why.trim().is_empty(), "{line}");
            section.findings.insert(finding, why);
        }
    }
    sections
}

#[test]
fn every_finding_is_in_the_reviewed_table() {
    let repositories = corpus();
    let wrong = side_by_side(&table(), |section| {
        let words: Vec<&str> = section.heading.split(' ').collect();
        let origin = repositories.iter().find(|path| path.ends_with(words[0]));
        origin.map_or_else(Vec::new, |origin| judge(section, origin, words[1], &words[2..]))
    });
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns what is found and not in the table, or the other way around.
fn judge(section: &Section<'_>, origin: &Path, root: &str, clusters: &[&str]) -> Vec<String> {
    let copy = Copy::new(origin, root, clusters);
    if clusters.is_empty() {
        std::fs::remove_file(copy.at(root).join("windows.yaml")).unwrap();
    }
    let started = std::time::Instant::now();
    let now = ["--now", "2026-01-05T12:00:00Z"];
    let output = copy.run(&[&["check", "--format", "json", "--fail-on", "never"], &now[..]].concat());
    let took = started.elapsed();
    assert!(output.status.success(), "{}: {}", section.heading, String::from_utf8_lossy(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = found["findings"].as_array().unwrap();
    eprintln!("{}: {} findings in {took:?}", section.heading, found.len());
    let told: Vec<String> = found
        .iter()
        .map(|one| {
            let line = one["line"].as_u64().unwrap_or(0);
            format!("{} {}:{line}", one["code"].as_str().unwrap(), one["path"].as_str().unwrap())
        })
        .collect();
    let mut wrong = Vec::new();
    for one in told.iter().filter(|one| !section.findings.contains_key(one.as_str())) {
        wrong.push(format!("{}: {one} is not in the table", section.heading));
    }
    for one in section.findings.keys().filter(|one| !told.iter().any(|told| told == *one)) {
        wrong.push(format!("{}: {one} is not found", section.heading));
    }
    wrong
}
