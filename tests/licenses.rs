//! `LICENSES.md` lists what the binary carries, and is what the two module graphs say.
//!
//! `GITOPS_WINDOWS_LICENSES=write cargo test --test licenses` brings the list up to date and puts
//! the full texts, for a release, into the target directory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may fail and speak"
)]
#![allow(clippy::disallowed_methods, reason = "writes the project's own list, and only when asked")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// One thing that the binary carries.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    name: String,
    version: String,
    license: String,
    folder: PathBuf,
}

fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Lists the crates that the program links, on any platform.
fn crates() -> BTreeSet<Part> {
    let mut command = Command::new(env!("CARGO"));
    let text = output(command.args(["metadata", "--format-version", "1", "--locked"])).unwrap();
    let graph: Value = serde_json::from_str(&text).unwrap();
    let nodes: BTreeMap<&str, &Value> = graph["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["id"].as_str().unwrap(), node))
        .collect();
    let root = graph["resolve"]["root"].as_str().unwrap();
    let mut wanted = vec![root];
    let mut linked = BTreeSet::new();
    while let Some(id) = wanted.pop() {
        if !linked.insert(id) {
            continue;
        }
        for dependency in nodes[id]["deps"].as_array().unwrap() {
            // A kind of null is a dependency at run time; others are for tests and building.
            if dependency["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null()) {
                wanted.push(dependency["pkg"].as_str().unwrap());
            }
        }
    }
    let packages = graph["packages"].as_array().unwrap().iter();
    packages
        .filter(|package| package["id"] != root && linked.contains(package["id"].as_str().unwrap()))
        .map(|package| Part {
            name: package["name"].as_str().unwrap().to_owned(),
            version: package["version"].as_str().unwrap().to_owned(),
            license: package["license"]
                .as_str()
                .unwrap_or("see its files")
                .replace('/', " OR ")
                .replace("  ", " "),
            folder: Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned(),
        })
        .collect()
}

/// Lists the Go modules that the renderer links; `None` without Go.
fn modules() -> Option<BTreeSet<Part>> {
    let template = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}";
    let mut command = Command::new("go");
    command.args(["list", "-deps", "-f", template, "."]).current_dir("renderer");
    let text = output(command.env("GOOS", "wasip1").env("GOARCH", "wasm").env("GOWORK", "off"))?;
    let mut parts = BTreeSet::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let [name, version, folder] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        parts.insert(Part {
            name: name.to_owned(),
            version: version.to_owned(),
            license: texts(Path::new(folder))
                .iter()
                .flat_map(|(_, text)| known(text))
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect::<Vec<_>>()
                .join(" AND "),
            folder: PathBuf::from(folder),
        });
    }
    let root = output(Command::new("go").args(["env", "GOROOT"]))?;
    parts.insert(Part {
        name: "Go runtime and standard library".to_owned(),
        version: "of the Go that builds".to_owned(),
        license: "BSD-3-Clause".to_owned(),
        folder: PathBuf::from(root.trim()),
    });
    Some(parts)
}

/// Returns the licence files of a folder.
fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let upper = name.to_uppercase();
        let licence = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT"]
            .iter()
            .any(|word| upper.starts_with(word));
        if licence && path.is_file() {
            found.push((name, String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()));
        }
    }
    found.sort();
    found
}

/// Tells which well-known licences a text holds.
fn known(text: &str) -> Vec<&'static str> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let bsd = text.contains("Redistribution and use in source and binary forms");
    [
        ("Apache-2.0", text.contains("Apache License") || text.contains("Licensed under the Apache License")),
        ("MIT", text.contains("Permission is hereby granted, free of charge")),
        ("BSD-3-Clause", bsd && text.to_lowercase().contains("neither the name")),
        ("BSD-2-Clause", bsd && !text.to_lowercase().contains("neither the name")),
        ("MPL-2.0", text.contains("Mozilla Public License")),
        ("ISC", text.contains("Permission to use, copy, modify, and/or distribute")),
    ]
    .into_iter()
    .filter_map(|(name, holds)| holds.then_some(name))
    .collect()
}

fn table(list: &mut String, title: &str, parts: &BTreeSet<Part>) {
    let _ = write!(list, "\n## {title}\n\n| name | version | licence |\n|---|---|---|\n");
    for part in parts {
        let _ = writeln!(list, "| {} | {} | {} |", part.name, part.version, part.license);
    }
}

#[test]
fn the_list_is_true() {
    let crates = crates();
    let Some(modules) = modules() else {
        eprintln!("skipped: Go is not at hand");
        return;
    };
    for part in crates.iter().chain(&modules) {
        assert!(!part.license.is_empty(), "{} {} has no licence that is known", part.name, part.version);
    }
    let mut list = String::from(
        "# What the binary carries\n\nMade by `GITOPS_WINDOWS_LICENSES=write cargo test --test licenses`, which also puts the full\ntexts into `target/tmp/licenses.txt`. A test keeps this list true.\n",
    );
    table(&mut list, "Go modules of the embedded kustomize", &modules);
    table(&mut list, "Crates, of all platforms", &crates);
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("LICENSES.md");
    if std::env::var_os("GITOPS_WINDOWS_LICENSES").is_some_and(|value| value == "write") {
        std::fs::write(&place, &list).unwrap();
        let mut full = String::new();
        for part in modules.iter().chain(&crates) {
            let _ = writeln!(full, "=== {} {}: {}\n", part.name, part.version, part.license);
            for (name, text) in texts(&part.folder) {
                let _ = writeln!(full, "--- {name}\n\n{text}");
            }
        }
        std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("licenses.txt"), full).unwrap();
    }
    let kept = std::fs::read_to_string(&place).unwrap_or_default();
    assert!(
        kept == list,
        "LICENSES.md is out of date: run `GITOPS_WINDOWS_LICENSES=write cargo test --test licenses`"
    );
}
