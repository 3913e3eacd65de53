//! Scenes on a real Flux: API server, CronJob controller and Flux's own controllers are the judges.
//!
//! `cargo test --test e2e -- --ignored` builds what it needs and plays all scenes side by side; a
//! name behind it plays that one, and `programs` only builds. `docs/facts.md` lists what they show.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may fail and speak"
)]
#![allow(clippy::disallowed_methods, reason = "writes into temporary folders and its own cache")]

mod api;
mod belief;
mod binaries;
mod cluster;
mod fleet;
mod git;
mod landing;
mod node;
mod operator;
mod processes;
mod registry;
mod report;
mod scene;
mod scenes;
#[path = "../support/scratch.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod scratch;
mod wait;
mod watch;
mod window;

use libtest_mimic::{Arguments, Trial};

/// How many scenes play at once: they mostly wait, for full minutes above all.
const AT_ONCE: usize = 8;

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let scenes = scenes::ALL.iter().map(|scene| {
        let play = || {
            scene.run();
            Ok(())
        };
        Trial::test(scene.name, play).with_ignored_flag(true)
    });
    let programs = || {
        binaries::Binaries::ready();
        Ok(())
    };
    let programs = Trial::test("programs", programs).with_ignored_flag(true);
    let facts = Trial::test("facts_name_every_scene", || {
        scenes::facts();
        Ok(())
    });
    let conclusion = libtest_mimic::run(&arguments, scenes.chain([programs, facts]).collect());
    scene::print_times();
    landing::print();
    conclusion.exit();
}
