//! The current time and the zone of whoever asks, read in one place.

use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;

use crate::cli::Global;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::schedule::{self, SPOKEN, Said, Unreal};
use crate::spec::{skipped, unskipped};
use crate::text::did_you_mean;

/// Returns the current time: that of `--now`, or of the machine.
pub fn now(global: &Global) -> Result<Timestamp, Error> {
    global.now.as_deref().map_or_else(|| Ok(Timestamp::now()), |text| instant("--now", text))
}

/// Returns the zone of whoever asks: `TZ`, or that of the machine; UTC where neither is known.
pub fn local() -> TimeZone {
    TimeZone::try_system().unwrap_or(TimeZone::UTC)
}

/// Reads an instant of the command line.
pub fn instant(option: &str, text: &str) -> Result<Timestamp, Error> {
    text.parse().map_err(|_| {
        if is_beyond(text) {
            return beyond(option, text);
        }
        wrong(
            format!("{option}: `{text}` is not a time with an offset from UTC"),
            "write it as 2026-03-29T00:00:00Z or 2026-03-29T01:00:00+01:00",
        )
    })
}

/// Reads a day or a time as people say it ([`Said::spoken`]); of a day its first instant, or, as an end, the first one
/// after it. Without a zone, only what needs none.
pub fn said(
    option: &str,
    text: &str,
    now: Timestamp,
    zone: Option<&TimeZone>,
    is_end: bool,
) -> Result<Timestamp, Error> {
    let Some(said) = Said::spoken(text, now, zone.unwrap_or(&TimeZone::UTC)) else {
        if is_beyond(text) {
            return Err(beyond(option, text));
        }
        if let Some(near) = did_you_mean(text, ["today", "tonight", "tomorrow", "now"]) {
            return Err(wrong(format!("{option}: `{text}` is no day and no time"), &near));
        }
        return Err(wrong(format!("{option}: `{text}` is no day and no time"), SPOKEN));
    };
    if let Said::Instant(instant) = said {
        return Ok(instant);
    }
    let Some(zone) = zone else {
        return Err(wrong(
            format!("{option}: `{text}` has no time zone, and the windows have several"),
            "write it with an offset from UTC, such as 2026-11-28T23:00:00+01:00",
        ));
    };
    said.instant(zone, is_end).map_err(|unreal| match unreal {
        Unreal::Beyond => beyond(option, text),
        Unreal::Clocks(clock) => {
            wrong(format!("{option}: {}", skipped(text, clock, zone)), &unskipped(clock, zone))
        }
    })
}

/// Returns whether a text is a time, which then is one that no timestamp can hold.
fn is_beyond(text: &str) -> bool {
    Pieces::parse(text).is_ok_and(|pieces| pieces.time().is_some() && pieces.offset().is_some())
}

fn beyond(option: &str, text: &str) -> Error {
    wrong(
        format!("{option}: `{text}` is outside of the times that can be reckoned with"),
        "give one before 9999-12-30T22:00:00Z",
    )
}

fn wrong(message: String, help: &str) -> Error {
    Error::new(ErrorKind::Usage, Diagnostic::error(message).help(help))
}

/// Reads a time zone of the command line.
pub fn zone(option: &str, name: &str) -> Result<TimeZone, Error> {
    schedule::zone::parse(name).map_err(|error| {
        let help = error.help();
        Error::new(ErrorKind::Usage, Diagnostic::error(format!("{option}: {error}")).help(help))
    })
}
