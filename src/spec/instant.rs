//! Days and times of the calendar, as freezes, overrides and tables name them.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::diagnostic::Diagnostic;
use crate::spec::Placed;

/// The years that are taken, beyond which nothing is worked out.
const YEARS: std::ops::RangeInclusive<i16> = 2000..=2199;

/// Tells whether a text names a whole day.
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
    let error =
        |message: String, help: &str| Box::new(Diagnostic::error(message).at(text.place.clone()).help(help));
    let none = || error(format!("`{}` is not in the calendar", text.value), "write it like 2026-12-18T17:00");
    let known = |date: Date| YEARS.contains(&date.year()).then_some(date).ok_or_else(none);
    if is_day(text) {
        let date = known(text.parse::<Date>().map_err(|_| none())?)?;
        let date = if is_end { date.checked_add(1.day()).map_err(|_| none())? } else { date };
        return zone
            .to_ambiguous_zoned(date.at(0, 0, 0, 0))
            .compatible()
            .map(|day| day.timestamp())
            .map_err(|_| none());
    }
    let local = text.get(..16).unwrap_or_default();
    known(local.parse::<DateTime>().map_err(|_| none())?.date())?;
    if text.len() > local.len() {
        return text.parse::<Timestamp>().map_err(|_| none());
    }
    let found = zone.to_ambiguous_zoned(local.parse::<DateTime>().map_err(|_| none())?);
    found.unambiguous().map(|time| time.timestamp()).map_err(|_| {
        let zone = zone.iana_name().unwrap_or("UTC");
        error(
            format!("as the clocks in {zone} change, {local} does not come, or comes twice"),
            "write its offset from UTC behind it, such as +01:00",
        )
    })
}
