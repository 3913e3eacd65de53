//! What the binary does where it is not welcome: odd environments, small limits, full disks as output, and other writers
//! beside it. Always the old tree or the new one, and a clear end.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test may fail and speak, in folders of its own"
)]

#[path = "../support/mod.rs"]
mod support;

mod beside;
mod calls;
mod ground;
mod room;
mod strace;
