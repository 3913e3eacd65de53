//! Days and times of the calendar, as freezes, overrides and tables name them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

use crate::diagnostic::Diagnostic;
use crate::schedule::{Said, Unreal};
use crate::spec::Placed;

/// The years that are taken, beyond which nothing is worked out.
const YEARS: std::ops::RangeInclusive<i16> = 2000..=2199;

/// Returns whether a text names a whole day.
pub(super) fn is_day(text: &str) -> bool {
    !text.contains('T')
}

/// Reads a day, or a time with or without an offset from UTC.
///
/// A day stands for its first instant, or, as an end, for the first instant after it.
///
/// # Errors
///
/// When it is none of the calendar, or a local time that a change of the clocks skips or brings twice.
pub(super) fn instant(
    text: &Placed<String>,
    zone: &TimeZone,
    is_end: bool,
) -> Result<Timestamp, Box<Diagnostic>> {
    let error = |message: String, help: String| {
        Box::new(Diagnostic::error(message).at(text.place.clone()).help(help))
    };
    let none = || {
        error(format!("`{}` is not in the calendar", text.value), "write it like 2026-12-18T17:00".to_owned())
    };
    let said = Said::written(text).ok_or_else(none)?;
    let year = text.get(..4).and_then(|year| year.parse().ok());
    if !year.is_some_and(|year| YEARS.contains(&year)) {
        return Err(none());
    }
    said.instant(zone, is_end).map_err(|unreal| match unreal {
        Unreal::Beyond => none(),
        Unreal::Clocks(clock) => {
            error(skipped(&clock.strftime("%Y-%m-%dT%H:%M").to_string(), clock, zone), unskipped(clock, zone))
        }
    })
}

/// Says how a local time is written that is none, or two: another one, or each of the two with its offset from UTC.
pub fn unskipped(clock: DateTime, zone: &TimeZone) -> String {
    let ambiguous = zone.to_ambiguous_timestamp(clock);
    let written = |offset| {
        clock.to_zoned(TimeZone::fixed(offset)).map(|at| at.strftime("%Y-%m-%dT%H:%M%:z").to_string())
    };
    let told = match ambiguous.offset() {
        AmbiguousOffset::Fold { before, after } => {
            written(before).and_then(|first| Ok([first, written(after)?].join(" or ")))
        }
        _ => {
            ambiguous.compatible().map(|at| at.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M").to_string())
        }
    };
    told.map_or_else(|_| "write another time".to_owned(), |told| format!("write {told}"))
}

/// Says that a local time is none, or two, with the time as it was said.
pub fn skipped(local: &str, clock: DateTime, zone: &TimeZone) -> String {
    let is_twice = matches!(zone.to_ambiguous_timestamp(clock).offset(), AmbiguousOffset::Fold { .. });
    let comes = if is_twice { "comes twice" } else { "does not come" };
    let zone = zone.iana_name().unwrap_or("UTC");
    format!("as the clocks in {zone} change, {local} {comes}")
}
