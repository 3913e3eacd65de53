//! Layouts, names and numbers of types that real teams and careless ones choose, given to the real
//! binary: a right result or a clear error, and never one thing in the place of another.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, in a folder of its own")]

mod folder;
mod gate;
mod name;
mod repository;
#[path = "../support/mod.rs"]
mod support;
mod template;
