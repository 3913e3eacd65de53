//! Renders folders of a repository and tells how long each step took, beside `kustomize` and `kubectl`
//! where they are installed.
//!
//! `cargo run --release --example render -- TOP FOLDER...`; `-` as the only folder reads the
//! folders from standard input, a line each.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example for measuring")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use gitops_windows::render::{Embedded, External, Renderer, Request, Tool};

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
    let requests: Vec<Request> = folders.iter().map(|folder| Request::base(support::path(folder))).collect();
    for round in ["first", "again"] {
        let start = Instant::now();
        let built = Embedded::default().render(&snapshot, &requests);
        let objects: usize = built.iter().flatten().map(Vec::len).sum();
        let failed = built.iter().filter(|outcome| outcome.is_err()).count();
        println!("{round} {:?}: {objects} objects, {failed} failed", start.elapsed());
    }
    for size in [1, 25, 50] {
        let many: Vec<Request> = requests.iter().take(size).cloned().collect();
        let start = Instant::now();
        Embedded::default().render(&snapshot, &many);
        println!("{size} requests {:?}", start.elapsed());
    }
    // Side by side, so that the machine's load is the same for all of them.
    let embedded = Embedded::default();
    let tools = [Tool::Kustomize, Tool::Kubectl].map(External::find);
    let tools = tools.iter().flatten().map(|tool| tool as &dyn Renderer);
    let renderers: Vec<&dyn Renderer> = std::iter::once(&embedded as &dyn Renderer).chain(tools).collect();
    let mut times = vec![Duration::ZERO; renderers.len()];
    for request in &requests {
        for (renderer, time) in renderers.iter().zip(&mut times) {
            let start = Instant::now();
            renderer.render(&snapshot, std::slice::from_ref(request));
            *time += start.elapsed();
        }
    }
    for (renderer, time) in renderers.iter().zip(times) {
        println!("{}: {:?} a folder", renderer.describe(), time / requests.len() as u32);
    }
}
