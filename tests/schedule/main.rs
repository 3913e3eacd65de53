//! Schedules through their public interface.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "figures are told to whoever runs the tests")]

mod cronjob;
mod later;
mod lints;
mod monthly;
mod open_times;
mod outage;
mod second_opinion;
#[path = "../support/thorough.rs"]
mod thorough;
mod windows;

use gitops_windows::schedule::{CronExpr, Window, WindowForm, zone};
use jiff::Timestamp;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn cron(text: &str) -> CronExpr {
    CronExpr::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn open_close(zone: &str, open: &str, close: &str) -> Window {
    let form = WindowForm::OpenClose { open: cron(open), close: cron(close) };
    Window { zone: Some(zone::parse(zone).unwrap()), form }
}

fn open_for(zone: &str, open: &str, length: &str) -> Window {
    let form = WindowForm::OpenFor { open: cron(open), length: length.parse().unwrap() };
    Window { zone: Some(zone::parse(zone).unwrap()), form }
}

fn from_to(zone: &str, from: &str, to: &str) -> Window {
    let form = WindowForm::FromTo { from: from.parse().unwrap(), to: to.parse().unwrap() };
    Window { zone: Some(zone::parse(zone).unwrap()), form }
}
