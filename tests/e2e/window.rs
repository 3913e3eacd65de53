//! Windows that open and close within minutes.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};

/// A window of today, in a zone that is not UTC.
pub struct Window {
    /// When it opens: a full minute.
    pub open: Timestamp,
    /// When it closes.
    pub close: Timestamp,
}

/// Half an hour beside every full hour of UTC.
pub const ZONE: &str = "Asia/Kolkata";

impl Window {
    /// Opens at the first full minute that is at least `lead` away, and closes some minutes later.
    pub fn ahead(lead: SignedDuration, minutes: i64) -> Window {
        let second = (Timestamp::now() + lead).as_second();
        let open = Timestamp::from_second(second + 60 - second.rem_euclid(60)).unwrap();
        Window { open, close: open + minutes.minutes() }
    }

    /// One that nothing of a scene falls into.
    pub fn far() -> Window {
        Window::ahead(SignedDuration::from_hours(6), 60)
    }

    /// Returns the options with which `init` writes this window.
    pub fn options(&self) -> [String; 6] {
        let [open, close] = self.cron();
        ["--open", &open, "--close", &close, "--time-zone", ZONE].map(str::to_owned)
    }

    /// Returns the cron expressions of the opening and the closing.
    pub fn cron(&self) -> [String; 2] {
        let zone = TimeZone::get(ZONE).unwrap();
        [self.open, self.close].map(|at| at.to_zoned(zone.clone()).strftime("%-M %-H * * *").to_string())
    }
}
