//! Arguments of the commands about time.

use clap::{Args, ValueEnum};

use crate::cli::TextFormat;

/// Arguments of `cron`.
#[derive(Args, Debug)]
pub struct Cron {
    /// The expression; `-` reads lines of EXPR TAB ZONE TAB FROM TAB COUNT, and answers each with the
    /// firings in UTC, `never` or `error`
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub expression: String,
    /// The IANA time zone
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub time_zone: String,
    /// The time after which to look, in RFC 3339 [default: now]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// How many times to print, at most a million
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub count: u64,
}

/// Arguments of `when`.
#[derive(Args, Debug)]
pub struct When {
    /// Apps by name, or files and folders of the repository [default: everything]
    #[arg(value_name = "APP or PATH")]
    pub what: Vec<String>,
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The time to ask for, in RFC 3339 [default: now]
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: TextFormat,
}

/// Arguments of `calendar`.
#[derive(Args, Debug)]
pub struct Calendar {
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The first day, for example 2026-03-23, or a time in RFC 3339 [default: today]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// How many days
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=3660))]
    pub days: u16,
    /// The time zone of the days, for example Europe/Berlin [default: that of this machine]
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// The form
    #[arg(long, value_enum, default_value_t)]
    pub format: CalendarFormat,
}

/// The forms of a calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CalendarFormat {
    /// A timeline for the terminal
    #[default]
    Text,
    /// A picture
    Svg,
    /// An iCalendar file (RFC 5545)
    Ics,
}
