//! Events of an iCalendar file (RFC 5545), for calendars that other people keep.
//!
//! What is needed of it is small, and every refusal has to name its line, so no library reads it. An event that repeats by a
//! rule is refused: which days a rule means, whoever exports the calendar knows better.

use std::ops::Range;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

use super::interval::Interval;
use super::zone;
use crate::limit::CALENDAR_EVENTS;

/// What an event is called that has no name.
const NAMELESS: &str = "an event of the calendar";

/// An event of a calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// From its first instant to the first one after it.
    pub interval: Interval,
    /// What it is called, never empty.
    pub summary: String,
}

/// Why a file is no calendar that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: &'static str,
    /// The bytes of the file of which it speaks.
    pub span: Range<usize>,
}

/// Reads the events of a calendar, in the order of the file; whole days and times without a zone are those of `zone`.
///
/// Cancelled events are left out. A day without an end is one day.
///
/// # Errors
///
/// Where the text is no calendar or has no events, and at the line of an event that repeats, has no begin or no end, or
/// names a zone that the database does not have.
///
/// # Example
///
/// ```
/// use gitops_windows::schedule::{events, zone};
///
/// let text = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20270101\r\nSUMMARY:Neujahr\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
/// let found = events(text, &zone::parse("Europe/Berlin")?).unwrap();
/// assert_eq!(found[0].summary, "Neujahr");
/// assert_eq!(found[0].interval.open.to_string(), "2026-12-31T23:00:00Z");
/// assert_eq!(found[0].interval.close.to_string(), "2027-01-01T23:00:00Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn events(text: &str, zone: &TimeZone) -> Result<Vec<Event>, CalendarError> {
    let lines = lines(text);
    let is_calendar = lines.first().is_some_and(|line| line.is("BEGIN", "VCALENDAR"));
    if !is_calendar {
        let span = lines.first().map_or(0..0, |line| line.span.clone());
        return Err(refused(
            span,
            "this is no iCalendar file".into(),
            "export the calendar as an .ics file (RFC 5545)",
        ));
    }
    let mut found = Vec::new();
    let mut inside: Vec<&str> = Vec::new();
    let mut event: Vec<&Line<'_>> = Vec::new();
    for line in &lines {
        match line.name.as_str() {
            "BEGIN" => {
                if line.value.eq_ignore_ascii_case("VEVENT") {
                    event = vec![line];
                }
                inside.push(&line.value);
            }
            "END" => {
                let ends = inside.pop();
                if !ends.is_some_and(|begun| begun.eq_ignore_ascii_case(&line.value)) {
                    let help = "export the calendar anew";
                    return Err(refused(
                        line.span.clone(),
                        format!("`END:{}` ends nothing", line.value),
                        help,
                    ));
                }
                if line.value.eq_ignore_ascii_case("VEVENT") {
                    found.extend(read(&event, zone)?);
                }
                if found.len() > CALENDAR_EVENTS {
                    let help = "export the years that matter";
                    return Err(refused(
                        line.span.clone(),
                        format!("there are more than {CALENDAR_EVENTS} events"),
                        help,
                    ));
                }
            }
            // An alarm within an event has times of its own.
            _ if inside.last().is_some_and(|last| last.eq_ignore_ascii_case("VEVENT")) => event.push(line),
            _ => {}
        }
    }
    let last = lines.last().map_or(0..0, |line| line.span.clone());
    if let Some(open) = inside.last() {
        return Err(refused(last, format!("the file ends within {open}"), "export the calendar anew"));
    }
    if found.is_empty() {
        return Err(refused(last, "there is no event in it".into(), "export the calendar with its events"));
    }
    Ok(found)
}

/// A content line, unfolded.
#[derive(Debug)]
struct Line<'t> {
    /// In capitals.
    name: String,
    parameters: Vec<(String, String)>,
    value: String,
    span: Range<usize>,
    text: &'t str,
}

impl Line<'_> {
    fn is(&self, name: &str, value: &str) -> bool {
        self.name == name && self.value.trim().eq_ignore_ascii_case(value)
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    fn refused(&self, message: String, help: &'static str) -> CalendarError {
        refused(self.span.clone(), message, help)
    }
}

fn refused(span: Range<usize>, message: String, help: &'static str) -> CalendarError {
    CalendarError { message, help, span }
}

/// Unfolds and takes apart the lines of a file; what has no `:` is none.
fn lines(text: &str) -> Vec<Line<'_>> {
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for line in text[start..].split_inclusive('\n') {
        let own = line.trim_end_matches(['\n', '\r']);
        match (own.strip_prefix([' ', '\t']), found.last_mut()) {
            (Some(rest), Some((_, whole))) => whole.push_str(rest),
            _ if own.is_empty() => {}
            _ => found.push((start..start + own.len(), own.to_owned())),
        }
        start += line.len();
    }
    found.into_iter().filter_map(|(span, whole)| line(&text[span.clone()], &whole, span)).collect()
}

/// Takes a line apart: `NAME;PARAMETER="VALUE":VALUE`.
fn line<'t>(text: &'t str, whole: &str, span: Range<usize>) -> Option<Line<'t>> {
    let mut quoted = false;
    let mut parts = vec![String::new()];
    let mut rest = whole.chars();
    loop {
        match rest.next()? {
            '"' => quoted = !quoted,
            ':' if !quoted => break,
            ';' if !quoted => parts.push(String::new()),
            other => parts.last_mut()?.push(other),
        }
    }
    let mut parts = parts.into_iter();
    let name = parts.next()?.trim().to_ascii_uppercase();
    let parameters = parts.filter_map(|part| {
        part.split_once('=').map(|(name, value)| (name.to_ascii_uppercase(), value.to_owned()))
    });
    Some(Line { name, parameters: parameters.collect(), value: rest.as_str().to_owned(), span, text })
}

/// Reads an event from its lines, of which the first begins it.
fn read(lines: &[&Line<'_>], zone: &TimeZone) -> Result<Option<Event>, CalendarError> {
    let find = |name: &str| lines.iter().copied().find(|line| line.name == name);
    if lines.iter().any(|line| line.is("STATUS", "CANCELLED")) {
        return Ok(None);
    }
    if let Some(rule) = ["RRULE", "RDATE", "RECURRENCE-ID"].into_iter().find_map(find) {
        let help = "export the calendar with an event for each day, or write freezes of their own";
        return Err(
            rule.refused(format!("this event repeats by `{}`, which is not worked out", rule.name), help)
        );
    }
    let Some(first) = lines.first() else { return Ok(None) };
    let Some(begin) = find("DTSTART") else {
        return Err(first.refused("this event has no DTSTART".into(), "export the calendar anew"));
    };
    let (open, is_day) = time(begin, zone)?;
    let close = match (find("DTEND"), find("DURATION")) {
        (Some(end), _) => time(end, zone)?.0,
        (None, Some(line)) => {
            let none =
                || line.refused(format!("`{}` is no duration", line.value), "write it such as PT2H or P1D");
            let span: Span = line.value.trim().parse().map_err(|_| none())?;
            open.checked_add(span).map_err(|_| none())?
        }
        (None, None) if is_day => open.clone(),
        (None, None) => {
            let help = "give it a DTEND or a DURATION";
            return Err(begin.refused("this event has no end".into(), help));
        }
    };
    let close = if is_day && close == open { open.checked_add(1.day()).unwrap_or(close) } else { close };
    if close <= open {
        return Err(begin.refused("this event ends before it begins".into(), "give it a later DTEND"));
    }
    let summary = find("SUMMARY").map(|line| unescaped(&line.value)).filter(|text| !text.trim().is_empty());
    let interval = Interval { open: open.timestamp(), close: close.timestamp() };
    Ok(Some(Event { interval, summary: summary.unwrap_or_else(|| NAMELESS.to_owned()) }))
}

/// Reads a day or a time, with whether it is a day.
fn time(line: &Line<'_>, zone: &TimeZone) -> Result<(Zoned, bool), CalendarError> {
    let value = line.value.trim();
    let none = || {
        line.refused(
            format!("`{}` is no day and no time", line.text),
            "write it such as 20270101 or 20270101T080000Z",
        )
    };
    let zoned = |at: DateTime, zone: &TimeZone| at.to_zoned(zone.clone()).map_err(|_| none());
    if line.parameter("VALUE").is_some_and(|kind| kind.eq_ignore_ascii_case("DATE")) || value.len() == 8 {
        let day = Date::strptime("%Y%m%d", value).map_err(|_| none())?;
        return Ok((zoned(day.at(0, 0, 0, 0), zone)?, true));
    }
    let (local, is_utc) = value.strip_suffix('Z').map_or((value, false), |local| (local, true));
    let at = DateTime::strptime("%Y%m%dT%H%M%S", local).map_err(|_| none())?;
    let own = match line.parameter("TZID") {
        _ if is_utc => TimeZone::UTC,
        None => zone.clone(),
        Some(name) => zone::parse(name).map_err(|_| {
            let message = format!("the time zone `{name}` is none of the IANA database");
            line.refused(message, "export the calendar with IANA time zones, or in UTC")
        })?,
    };
    Ok((zoned(at, &own)?, false))
}

/// Reads a text value (RFC 5545 §3.3.11), in one line.
fn unescaped(value: &str) -> String {
    let mut text = String::new();
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n' | 'N') => text.push(' '),
                Some(other) => text.push(other),
                None => {}
            },
            other => text.push(other),
        }
    }
    text.trim().to_owned()
}

/// Returns whether an interval lies where times are reckoned with, from the year 2000 to 2199.
pub fn is_reckoned(interval: Interval) -> bool {
    let year = |at: Timestamp| at.to_zoned(TimeZone::UTC).year();
    year(interval.close) >= 2000 && year(interval.open) <= 2199
}

#[cfg(test)]
#[path = "ical_tests.rs"]
mod tests;
