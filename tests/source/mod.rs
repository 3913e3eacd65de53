//! The program's own sources as text, for tests about how they are written.
#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::{Path, PathBuf};

/// One source file below `src`.
pub struct Source {
    /// Its path, such as `src/plan/mod.rs`.
    pub path: String,
    /// Its module, such as `plan`.
    pub module: Vec<String>,
    /// Its text without comments, and without what only tests compile.
    pub code: String,
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the text of every Rust file below a folder, by path.
pub fn texts(folder: &str) -> Vec<(String, String)> {
    let walk = walkdir::WalkDir::new(top().join(folder)).sort_by_file_name();
    let files = walk.into_iter().map(|entry| entry.unwrap().into_path());
    let name = |file: &PathBuf| file.strip_prefix(top()).unwrap().to_str().unwrap().replace('\\', "/");
    let rust = files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|file| (name(&file), std::fs::read_to_string(&file).unwrap())).collect()
}

/// Returns the sources that the program is compiled from.
pub fn sources() -> Vec<Source> {
    let own = compiled().into_iter();
    own.map(|(path, text)| Source { module: module(&path), code: code(&text), path }).collect()
}

/// Returns the text of every file that the program is compiled from, by path.
pub fn compiled() -> Vec<(String, String)> {
    let texts = texts("src");
    let tests: Vec<String> = texts.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    let is_test = |path: &str| {
        let stem = path.trim_end_matches(".rs").trim_end_matches("/mod");
        tests.iter().any(|test| stem == test || stem.starts_with(&format!("{test}/")))
    };
    texts.into_iter().filter(|(path, _)| !is_test(path)).collect()
}

/// Returns the module of a file.
fn module(path: &str) -> Vec<String> {
    let path = path.trim_start_matches("src/").trim_end_matches(".rs");
    let segments = path.split('/').filter(|segment| !["mod", "lib", "main"].contains(segment));
    segments.map(str::to_owned).collect()
}

/// Returns the files, without their ending, of the modules that only tests compile.
fn test_modules(path: &str, text: &str) -> Vec<String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let own = match path.trim_end_matches(".rs") {
        stem if ["mod", "lib", "main"].iter().any(|name| stem.ends_with(&format!("/{name}"))) => folder,
        stem => stem,
    };
    let lines: Vec<&str> = text.lines().collect();
    let tested = lines.iter().enumerate().filter(|(_, line)| **line == "#[cfg(test)]");
    let found = tested.filter_map(|(index, _)| {
        let next = lines.get(index + 1)?;
        if let Some(file) = next.strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix(".rs\"]")) {
            return Some(format!("{folder}/{file}"));
        }
        Some(format!("{own}/{}", declared(next)?))
    });
    found.collect()
}

/// Returns the module that a line declares to stand in a file of its own.
pub fn declared(line: &str) -> Option<&str> {
    let (visibility, name) = line.strip_suffix(';')?.split_once("mod ")?;
    (visibility.is_empty() || visibility.starts_with("pub")).then_some(name)
}

/// Returns a text without comments and without items behind `#[cfg(test)]`.
///
/// It goes by the way in which rustfmt breaks lines: an item ends with a line of its own indentation.
fn code(text: &str) -> String {
    let mut kept = String::new();
    let mut skipped: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let indent = &line[..line.len() - trimmed.len()];
        if let Some(own) = skipped {
            let is_attribute = trimmed.starts_with("#[");
            if indent == own && !is_attribute && (trimmed.ends_with(';') || trimmed.ends_with('}')) {
                skipped = None;
            }
        } else if trimmed == "#[cfg(test)]" {
            skipped = Some(indent);
        } else if !trimmed.starts_with("//") {
            kept.push_str(line.split(" // ").next().unwrap_or_default());
            kept.push('\n');
        }
    }
    kept
}
