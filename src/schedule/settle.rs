//! How long before its end an open time lets nothing new in.

use jiff::{Span, Timestamp};

use super::interval::Interval;

/// The part of an open time that it keeps at most for what it has let in to land.
const PART: i64 = 4;

/// How long before its end an open time lets nothing new in, so that what came last lands before it.
///
/// A fetch, a build, an apply and the `dependsOn` of others take their time: what is let in a second before the end lands
/// after it. A short open time keeps a quarter at most, so that each one lets something in, however it came to be short:
/// whoever freezes from now on must not be refused, nor find a window that never opens.
///
/// ```
/// use gitops_windows::schedule::{Interval, Settle};
///
/// let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
/// let night = Interval { open: at("2026-11-28T22:00:00Z"), close: at("2026-11-29T02:00:00Z") };
/// let brief = Interval { open: at("2026-11-28T22:00:00Z"), close: at("2026-11-28T22:08:00Z") };
/// assert_eq!(Settle::of_minutes(5).until(night), at("2026-11-29T01:55:00Z"));
/// assert_eq!(Settle::of_minutes(5).until(brief), at("2026-11-28T22:06:00Z"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settle {
    seconds: i64,
}

impl Settle {
    /// Lets something in until the end.
    pub const NONE: Settle = Settle { seconds: 0 };

    /// Makes one of whole minutes.
    pub fn of_minutes(minutes: u32) -> Settle {
        Settle { seconds: i64::from(minutes) * 60 }
    }

    /// Makes one of seconds.
    pub fn of_seconds(seconds: u32) -> Settle {
        Settle { seconds: seconds.into() }
    }

    /// Returns the seconds, of an open time that is long enough.
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Returns the first instant at which an open time lets nothing new in; its end where that is none.
    pub fn until(self, open: Interval) -> Timestamp {
        let whole = open.close.as_second().saturating_sub(open.open.as_second());
        let own = self.seconds.min(whole / PART);
        open.close.checked_sub(Span::new().seconds(own)).unwrap_or(open.close)
    }
}
