//! The embedded kustomize gives what `kustomize build` gives, on every folder of the corpus.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may fail and speak")]

mod support;

use std::time::Instant;

use gitops_windows::render::{Embedded, Renderer, Request};
use support::{corpus, kustomizations, kustomize, read};

#[test]
fn every_folder_builds_as_with_the_command() {
    let (mut built, mut refused, mut different) = (0, 0, Vec::new());
    for top in corpus() {
        let snapshot = read(&top);
        let requests: Vec<Request> = kustomizations(&snapshot).into_iter().map(Request::base).collect();
        let start = Instant::now();
        let embedded = Embedded::default().render(&snapshot, &requests);
        let took = start.elapsed();
        let origins: Vec<Request> = requests.iter().map(|request| request.clone().with_origins()).collect();
        let with_origins = Embedded::default().render(&snapshot, &origins);
        let command = kustomize().render(&snapshot, &requests);
        eprintln!("{}: {} folders in {took:?}", top.display(), requests.len());
        for (index, request) in requests.iter().enumerate() {
            let name = format!("{} {}", top.display(), request.path);
            match (&embedded[index], &command[index]) {
                (Err(ours), Err(theirs)) if ours == theirs => refused += 1,
                (Ok(ours), Ok(theirs)) if ours == theirs => built += 1,
                (ours, theirs) => different.push(format!("{name}\n{ours:?}\n{theirs:?}")),
            }
            let values = |outcome: &Result<Vec<gitops_windows::render::Object>, _>| {
                outcome.as_ref().ok().map(|all| all.iter().map(|one| one.value.clone()).collect::<Vec<_>>())
            };
            if values(&with_origins[index]) != values(&embedded[index]) {
                different.push(format!("{name}: origins change the result"));
            }
            for object in with_origins[index].as_ref().map(Vec::as_slice).unwrap_or_default() {
                if object.origin.is_none() {
                    different.push(format!("{name}: no origin for {}", object.value));
                }
            }
        }
    }
    eprintln!("{built} built, {refused} refused by both");
    assert!(different.is_empty(), "{} different:\n{}", different.len(), different.join("\n"));
}
