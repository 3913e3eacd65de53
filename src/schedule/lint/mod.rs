//! What is surprising about the windows of a type.

mod clocks;
mod known;
mod one;
mod outages;
mod several;

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;

use super::pair::Edge;
use super::window::{Window, WindowKey};
use one::One;

/// The years that are looked at, and the most firings and dates of one expression or finding.
const YEARS: i64 = 5;
const MOST_FIRINGS: usize = 4_000;
const MOST_DATES: usize = 10;

/// Kinds of surprises, each with a stable name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LintCode {
    /// The window has no time zone.
    MissingZone,
    /// An expression never fires.
    NeverFires,
    /// Day of month and day of week are both given, and either is enough.
    EitherDay,
    /// A change of the clocks skips or moves a firing.
    ClockGap,
    /// A change of the clocks makes a firing come twice.
    ClockFold,
    /// Some openings or closings come twice in a row.
    NotAlternating,
    /// Something of the type opens at the instant at which something closes, and the two Jobs race.
    SameInstant,
    /// It opens again before it has closed, every time.
    LongerThanPeriod,
    /// It never closes.
    AlwaysOpen,
    /// Two windows of the type overlap, and the closing of one closes the other.
    Overlap,
    /// It is shorter than what is gated needs.
    TooShort,
    /// The type opens less often than is asked for.
    RarelyOpens,
    /// After a long outage Kubernetes may not make up for a missed closing.
    LostClosing,
    /// It is closed for so short a time that it holds hardly anything back.
    HardlyCloses,
    /// No deadline for starting a missed run is right after every opening or closing.
    UnevenTimes,
}

impl LintCode {
    /// Returns whether the windows of a type are so wrong that finer findings about them mean nothing.
    fn is_fatal(self) -> bool {
        use LintCode::{AlwaysOpen, LongerThanPeriod, NeverFires, Overlap, SameInstant};
        matches!(self, NeverFires | AlwaysOpen | SameInstant | LongerThanPeriod | Overlap)
    }
}

/// One surprise about a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lint {
    /// Its kind.
    pub code: LintCode,
    /// The window, counted from 0 in the order in which they were given; `None` speaks of the type.
    pub window: Option<usize>,
    /// The key of the window, where one is to be changed.
    pub key: Option<WindowKey>,
    /// What is the case and what it causes, in one sentence without a final full stop.
    pub message: String,
    /// The first local dates on which it shows.
    pub dates: Vec<Date>,
    /// What to do, as an imperative.
    pub remedy: String,
}

/// What the windows are measured by.
#[derive(Clone, Copy, Debug)]
pub struct LintOptions {
    /// The instant from which five years are looked at.
    pub from: Timestamp,
    /// Interval plus timeout of the slowest Flux Kustomization that is gated.
    pub needed: Option<Duration>,
    /// The shortest interval of the Flux Kustomizations that are gated.
    pub interval: Option<Duration>,
    /// The most days that the type may stay closed.
    pub most_days_closed: Option<u32>,
}

/// Finds what is surprising about the windows of one type.
///
/// A window without openings and closings ([`Window::edges`]) is passed over: that is an error and said elsewhere. The findings
/// come in the order of the windows, those about the type as a whole last.
///
/// What was found once is kept while the process lives: clusters share windows, and so do two trees that are compared.
pub fn lints(windows: &[&Window], options: &LintOptions) -> Vec<Lint> {
    known::or_found(format!("{windows:?} {options:?}"), || found(windows, options))
}

fn found(windows: &[&Window], options: &LintOptions) -> Vec<Lint> {
    let mut lints = Vec::new();
    let mut valid = Vec::new();
    for (index, window) in windows.iter().enumerate() {
        if let Ok(edges) = window.edges() {
            valid.push(One { index, window, zone: window.zone_or_utc(), edges, options });
        }
    }
    static_lints(&valid, &mut lints);
    for position in 0..valid.len() {
        clocks::clocks(&valid, position, Edge::Open, &mut lints);
        clocks::clocks(&valid, position, Edge::Close, &mut lints);
    }
    lints.sort_by_key(|lint| lint.window.unwrap_or(usize::MAX));
    outages::outages(&valid, &mut lints);
    several::rarely_opens(&valid, options, &mut lints);
    several::hardly_closes(&valid, options, &mut lints);
    lints
}

/// Everything that can be said without looking at the changes of the clocks, and without an outage.
fn static_lints(windows: &[One<'_>], lints: &mut Vec<Lint>) {
    for one in windows {
        one.lint(lints);
    }
    several::same_instant(windows, lints);
    several::overlaps(windows, lints);
}
