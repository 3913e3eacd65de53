//! Builds every entry point of a repository once, natively and in one process, with the Go code that is
//! the kustomize inside: what that takes is the price of kustomize itself, to which the price of a command
//! can be told as a ratio.
//!
//! `cargo run --release --example native -- TOP PROGRAM`, where `go build` in `renderer/` makes the program.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example for measuring")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use gitops_windows::delivery::Known;
use gitops_windows::delivery::Model;
use gitops_windows::render::Embedded;
use gitops_windows::repo::Repository;

fn main() {
    let [top, program] = std::env::args().skip(1).collect::<Vec<_>>().try_into().unwrap();
    let repository = Repository::discover(Path::new(&top)).unwrap();
    let snapshot = repository.read().unwrap().snapshot;
    let model = Model::read(&snapshot, repository.spec_dir(), &Known::default(), &Embedded::default());
    let folders: BTreeSet<&str> = model.all_entries().iter().map(|entry| entry.path.as_str()).collect();
    let start = Instant::now();
    let mut native =
        Command::new(program).arg(&top).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (native.stdin.take().unwrap(), native.stdout.take().unwrap());
    let mut answers = BufReader::new(output).lines();
    let mut failed = 0;
    for (index, path) in folders.iter().enumerate() {
        let request = serde_json::json!({"index": index, "path": path, "origins": false, "flux": {}});
        writeln!(input, "{request}").unwrap();
        let answer: serde_json::Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        failed += usize::from(answer["objects"].is_null());
    }
    drop(input);
    native.wait().unwrap();
    println!("{} entry points, {failed} failed, {:?}", folders.len(), start.elapsed());
}
