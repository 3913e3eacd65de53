//! `split` and `join` of small repositories that hold one difficulty each.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod absence;
mod app;
mod cluster;
mod entry;
mod flux;
mod join;
mod link;
mod namespace;
mod repository;
#[path = "../support/mod.rs"]
mod support;
