//! Renders folders of a repository and tells how long each step took.
//!
//! `cargo run --release --example render -- TOP FOLDER...`; `-` as the only folder reads the
//! folders from standard input, a line each.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example for measuring")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::time::Instant;

use gitops_windows::render::{Embedded, Renderer, Request};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let top = arguments.next().unwrap();
    let mut folders: Vec<String> = arguments.collect();
    if folders == ["-"] {
        folders = std::io::read_to_string(std::io::stdin()).unwrap().lines().map(str::to_owned).collect();
    }
    let start = Instant::now();
    let snapshot = support::read(Path::new(&top));
    println!("read {:?}", start.elapsed());
    let start = Instant::now();
    let missing = Embedded::missing();
    println!("load {:?} {missing:?}", start.elapsed());
    let requests: Vec<Request> =
        folders.iter().map(|folder| Request::folder(support::path(folder))).collect();
    for round in ["first", "again"] {
        let start = Instant::now();
        let built = Embedded::default().render(&snapshot, &requests);
        let objects: usize = built.iter().flatten().map(Vec::len).sum();
        let failed = built.iter().filter(|outcome| outcome.is_err()).count();
        println!("{round} {:?}: {objects} objects, {failed} failed", start.elapsed());
    }
    for size in [1, 25, 50] {
        let many: Vec<Request> = requests.iter().cycle().take(size).cloned().collect();
        let start = Instant::now();
        Embedded::default().render(&snapshot, &many);
        println!("{size} requests {:?}", start.elapsed());
    }
}
