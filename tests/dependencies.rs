//! Every dependency is used, and comes from crates.io under a licence that `deny.toml` allows.
//!
//! `cargo deny check` asks more (advisories, bans); this much is held true by a plain `cargo test`.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod source;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use source::{sources, texts};

const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut graph: Value = serde_json::from_slice(&output.stdout).unwrap();
    let Value::Array(packages) = graph["packages"].take() else { panic!("no packages") };
    packages.into_iter().filter(|package| !is_own(package)).collect()
}

/// Returns whether a package stands in this repository.
fn is_own(package: &Value) -> bool {
    let name = package["name"].as_str().unwrap();
    [env!("CARGO_PKG_NAME"), concat!(env!("CARGO_PKG_NAME"), "-renderer")].contains(&name)
}

/// Returns the licences of the list `allow` in `deny.toml`.
fn allowed() -> BTreeSet<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("deny.toml")).unwrap();
    let (_, list) = text.split_once("\nallow = [").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    list.split(',').map(|item| item.trim().trim_matches('"').to_owned()).collect()
}

/// Returns whether a licence expression leaves a choice of allowed licences only.
///
/// `AND` binds tighter than `OR` (SPDX 2.3, annex D); in the old form `/` means `OR`.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ");
    let mut depth = 0;
    let mut words: Vec<String> = vec![String::new()];
    for letter in expression.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        match words.last_mut() {
            Some(word) if depth > 0 || letter != ' ' => word.push(letter),
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    let part = |words: &[String]| match words {
        [one] if one.starts_with('(') => is_allowed(&one[1..one.len() - 1], allowed),
        words => allowed.contains(&words.join(" ")),
    };
    words.split(|word| word == "OR").any(|choice| choice.split(|word| word == "AND").all(part))
}

#[test]
fn every_crate_comes_from_the_registry_under_an_allowed_licence() {
    let allowed = allowed();
    let wrong: Vec<String> = packages()
        .iter()
        .filter(|package| {
            package["source"] != SOURCE
                || !package["license"].as_str().is_some_and(|text| is_allowed(text, &allowed))
        })
        .map(|package| {
            format!("{} {} {} {}", package["name"], package["version"], package["license"], package["source"])
        })
        .collect();
    assert!(wrong.is_empty(), "see deny.toml:\n{}", wrong.join("\n"));
}

#[test]
fn expressions_are_read_as_spdx_means_them() {
    let allowed: BTreeSet<String> =
        ["MIT", "Apache-2.0 WITH LLVM-exception"].into_iter().map(str::to_owned).collect();
    for good in ["MIT", "GPL-3.0 OR MIT", "GPL-3.0/MIT", "Apache-2.0 WITH LLVM-exception AND MIT"] {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR GPL-3.0) AND ISC", "Apache-2.0", ""] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}

/// Returns the dependencies of a section of Cargo.toml, as they are called in Rust.
fn section(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let (_, list) = text.split_once(&format!("\n[{name}]\n")).unwrap();
    let lines: Vec<&str> = list.lines().take_while(|line| !line.starts_with('[')).collect();
    // An optional one only turns on what another one can do; cargo itself asks for a feature that names it. One that
    // always does so says it above.
    let is_told = |at: usize| at > 0 && lines[at - 1].starts_with("# Not used here: ");
    let own = lines
        .iter()
        .enumerate()
        .filter(|(at, line)| !line.starts_with('#') && !line.contains("optional = true") && !is_told(*at));
    let names = own.filter_map(|(_, line)| line.split_once(" = "));
    names.map(|(name, _)| name.replace('-', "_")).collect()
}

/// Returns whether a text names a crate, as the first segment of a path.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let is_first =
            !text[..at].ends_with(|before: char| before.is_alphanumeric() || "_:.".contains(before));
        is_first && ["::", "!("].iter().any(|after| text[at + name.len()..].starts_with(after))
    })
}

#[test]
fn every_dependency_is_used() {
    let texts = |folders: &[&str]| folders.iter().flat_map(|folder| texts(folder)).collect::<Vec<_>>();
    let (tests, all) = (texts(&["tests", "examples"]), texts(&["src", "tests", "examples"]));
    let own: Vec<(String, String)> = sources().into_iter().map(|source| (source.path, source.code)).collect();
    let build = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("build.rs")).unwrap();
    let build = [("build.rs".to_owned(), build)];
    let mut found = Vec::new();
    for (list, texts) in
        [("dependencies", &own[..]), ("dev-dependencies", &all), ("build-dependencies", &build)]
    {
        for name in section(list) {
            // In `src` it would be the module of ours that is called the same.
            let is_module = own.iter().any(|(path, _)| path.ends_with(&format!("/{name}.rs")));
            let texts = if is_module { &tests } else { texts };
            if !texts.iter().any(|(_, text)| names(text, &name)) {
                found.push(format!("[{list}] {name}"));
            }
        }
    }
    assert!(
        found.is_empty(),
        "nothing uses these: take them out of Cargo.toml, or to [dev-dependencies] where only tests do:\n{}",
        found.join("\n")
    );
}
