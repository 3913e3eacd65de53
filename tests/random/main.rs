//! Random repositories: split, render, compare; split, join, compare bytes.
//!
//! The everyday run takes a few; `GITOPS_WINDOWS_RANDOM=5000` takes as many, and
//! `GITOPS_WINDOWS_SEED=17` begins there. A repository that fails is named by its seed and by the
//! fewest features with which it still fails; `GITOPS_WINDOWS_KEEP=FOLDER` writes it there.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may fail and speak")]

#[path = "../support/agree.rs"]
mod agree;
mod base;
mod dice;
mod entry;
mod fields;
mod judge;
mod objects;
mod repository;
mod spec;
#[path = "../support/mod.rs"]
mod support;
mod trial;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use dice::{Dice, FEATURES, Switches};
use gitops_windows::render::Embedded;
use proptest::strategy::{Just, Strategy};
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A repository may have about every third feature: with all of them at once the odd ones would
/// hide each other.
fn switches(seed: u64) -> Switches {
    let mut dice = Dice::at(seed, "features");
    let times = 1 + dice.below(5);
    FEATURES.iter().map(|_| dice.one_in(times)).collect()
}

#[test]
fn random_repositories_come_out_right_and_back() {
    let first = number("GITOPS_WINDOWS_SEED", 1);
    let count = number("GITOPS_WINDOWS_RANDOM", 6);
    let next = AtomicU64::new(first);
    let tally: Mutex<BTreeMap<String, usize>> = Mutex::default();
    let failures: Mutex<BTreeMap<u64, String>> = Mutex::default();
    let work = || {
        // Instances are started once, as that takes longer than a small build.
        let renderer = Embedded::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                break;
            }
            if seed > first && (seed - first).is_multiple_of(100) {
                eprintln!("{} repositories", seed - first);
            }
            match std::panic::catch_unwind(AssertUnwindSafe(|| trial::run(seed, &switches(seed), &renderer)))
            {
                Ok(Ok(found)) => {
                    let mut tally = tally.lock().unwrap();
                    found.into_iter().for_each(|(what, count)| *tally.entry(what).or_default() += count);
                }
                Ok(Err(_)) | Err(_) => {
                    let failure = shrink(seed);
                    eprintln!("{failure}");
                    failures.lock().unwrap().insert(seed, failure);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let failures = failures.into_inner().unwrap();
    for (what, count) in tally.into_inner().unwrap() {
        eprintln!("{count:7} {what}");
    }
    let texts: Vec<&str> = failures.values().map(String::as_str).collect();
    assert!(texts.is_empty(), "{} of {count} failed\n{}", texts.len(), texts.join("\n"));
}

#[test]
fn invariant_10_the_questions_agree_about_random_repositories() {
    let first = number("GITOPS_WINDOWS_SEED", 1);
    let seeds: Vec<u64> = (first..first + number("GITOPS_WINDOWS_RANDOM", 12)).collect();
    let wrong = support::side_by_side(&seeds, |seed| {
        let found = trial::disagreements(*seed, &switches(*seed), &Embedded::default())
            .unwrap_or_else(|error| vec![format!("seed {seed}: {error}")]);
        if let Some(folder) = std::env::var_os("GITOPS_WINDOWS_KEEP").filter(|_| !found.is_empty()) {
            trial::keep(*seed, &switches(*seed), std::path::Path::new(&folder));
        }
        found
    });
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Takes features away as long as the repository still fails.
fn shrink(seed: u64) -> String {
    let strategies: Vec<_> = switches(seed)
        .into_iter()
        .map(|on| if on { proptest::bool::weighted(1.0).boxed() } else { Just(false).boxed() })
        .collect();
    let config = Config { cases: 1, max_shrink_time: 60_000, failure_persistence: None, ..Config::default() };
    let failed = TestRunner::new(config).run(&strategies, |switches| {
        trial::run(seed, &switches, &Embedded::default()).map(drop).map_err(TestCaseError::fail)
    });
    match failed {
        Err(TestError::Fail(reason, switches)) => {
            let on = FEATURES.iter().zip(&switches).filter(|(_, on)| **on).map(|(name, _)| *name);
            let on: Vec<&str> = on.collect();
            if let Some(folder) = std::env::var_os("GITOPS_WINDOWS_KEEP") {
                trial::keep(seed, &switches, std::path::Path::new(&folder));
            }
            format!("seed {seed} with {}: {}", on.join(", "), reason.message())
        }
        other => format!("seed {seed} failed once and then not: {other:?}"),
    }
}
