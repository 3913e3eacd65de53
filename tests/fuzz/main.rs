//! Inputs that nobody wrote: samples of the repository, mutated at random, with words of the language that is read.
//!
//! Each target gets a fixed number of them, or with `GITOPS_WINDOWS_FUZZ` as many as so many seconds allow, beginning
//! at `GITOPS_WINDOWS_SEED`. What once went wrong is kept in `found/`, by target, and tried first.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test may fail and speak"
)]

#[path = "../support/mod.rs"]
mod support;

mod builds;
mod jobs;
mod mutate;
mod output;
mod texts;
mod times;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mutate::Dice;

/// How many inputs a target gets in plain `cargo test`.
const CASES: u64 = 400;

/// A seed that differs between targets.
fn first() -> u64 {
    let seed = std::env::var("GITOPS_WINDOWS_SEED").ok();
    seed.map_or(1, |seed| seed.parse().unwrap())
}

/// Returns inputs made of samples and words to a target, which panics where it does wrong; `share` of the usual number.
///
/// An input that takes longer than ten seconds is one that does wrong, too. The last one of each target is kept in
/// `target/tmp`.
fn fuzz(target: &str, share: u64, samples: &[String], words: &[&str], run: &mut dyn FnMut(&str)) {
    let limit =
        std::env::var("GITOPS_WINDOWS_FUZZ").ok().map(|text| Duration::from_secs(text.parse().unwrap()));
    let begun = Instant::now();
    // Who is killed tells nothing.
    let last = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{target}"));
    let mut attempt = |text: &str, name: &str| {
        std::fs::write(&last, format!("{name}\n{text}")).unwrap();
        let start = Instant::now();
        let shown = Shown { name, text };
        run(text);
        assert!(start.elapsed() < Duration::from_secs(10), "{name}: {:?}", start.elapsed());
        std::mem::forget(shown);
    };
    for path in found(target) {
        attempt(&std::fs::read_to_string(&path).unwrap(), &path.display().to_string());
    }
    let mut count = 0;
    for seed in first().. {
        let is_over = limit.map_or(count >= CASES * share / 100, |limit| begun.elapsed() >= limit);
        if is_over {
            break;
        }
        let text = Dice::of(target, seed).input(samples, words);
        attempt(&text, &format!("{target}, seed {seed}"));
        count += 1;
    }
    eprintln!("{target}: {count} inputs in {:?}", begun.elapsed());
}

/// Says which input it was when a target panics.
struct Shown<'a> {
    name: &'a str,
    text: &'a str,
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        eprintln!("{}: {:?}", self.name, self.text);
    }
}

/// The inputs that once went wrong.
fn found(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/found").join(target);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The text files of the repository's samples and examples whose names end so.
fn samples(end: &str) -> Vec<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    for folder in ["fixtures", "templates", "tests/golden"] {
        let walk = walkdir::WalkDir::new(top.join(folder)).sort_by_file_name();
        for path in walk.into_iter().map(|entry| entry.unwrap().into_path()) {
            let is_wanted = path.to_str().is_some_and(|path| path.ends_with(end));
            if let Some(text) = is_wanted.then(|| std::fs::read_to_string(&path).ok()).flatten() {
                texts.push(text);
            }
        }
    }
    texts.sort();
    texts.dedup();
    assert!(!texts.is_empty(), "no samples end in {end}");
    texts
}
