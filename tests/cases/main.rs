//! Small repositories of shapes that mislead whoever reads files in place of builds: the whole way through each.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

#[path = "../support/agree.rs"]
mod agree;
#[path = "../support/mod.rs"]
mod support;

mod fetched;
mod left_out;
mod lenient;
mod many;
mod patched;
mod remote;
mod repository;
mod shared;
mod waiting;
