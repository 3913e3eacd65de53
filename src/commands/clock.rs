//! The current time and the zone of whoever asks, read in one place.

use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

use crate::cli::Global;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::schedule;

/// Gives the current time: that of `--now`, or of the machine.
pub fn now(global: &Global) -> Result<Timestamp, Error> {
    global.now.as_deref().map_or_else(|| Ok(Timestamp::now()), |text| instant("--now", text))
}

/// Gives the zone of whoever asks: `TZ`, or that of the machine; UTC where neither is known.
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

/// Reads an instant, or a date for the first moment of its day in a zone.
pub fn instant_or_date(option: &str, text: &str, zone: &TimeZone) -> Result<Timestamp, Error> {
    if let Ok(instant) = text.parse() {
        return Ok(instant);
    }
    let date = text.parse::<civil::Date>().ok().filter(|_| !text.contains(':'));
    let start = date.and_then(|date| date.to_zoned(zone.clone()).ok());
    start.map(|start| start.timestamp()).ok_or_else(|| {
        if date.is_some() || is_beyond(text) {
            return beyond(option, text);
        }
        wrong(
            format!("{option}: `{text}` is neither a date nor a time with an offset from UTC"),
            "write it as 2026-03-29 or 2026-03-29T01:00:00+01:00",
        )
    })
}

/// Says whether a text is a time, which then is one that no timestamp can hold.
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
