//! `split` and `join` of small repositories that hold one difficulty each.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod absence;
mod alike;
mod answers;
mod app;
mod cluster;
#[path = "../support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
mod entry;
mod flux;
mod join;
mod kept;
mod link;
mod namespace;
mod newcomer;
mod repository;
#[path = "../support/mod.rs"]
mod support;
mod unlisted;
mod values;
