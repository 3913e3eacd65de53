//! A calendar as an iCalendar file (RFC 5545).

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::calendar::{Calendar, Closes, OpenTime, Row, label};
use crate::diagnostic::clean;
use crate::schedule::{Interval, Stretch};

/// The most octets of a line without its end (RFC 5545 §3.1).
const FOLD: usize = 75;

/// The most characters in which an event names its clusters.
const MOST_NAMED: usize = 1_000;

/// How often a program that subscribes should look again (RFC 7986 §5.7): twice a day.
const REFRESH: &str = "PT12H";

/// Writes a calendar as an iCalendar file, an event for each time that a gate is open, each freeze, and each override that
/// opens nothing by itself.
///
/// Begin and end are instants in UTC, so that every calendar program shows the right local time whatever
/// changes of the clocks lie between, and repeats nothing on its own. An event has the same `UID` in every
/// file in which the same cluster comes first, so that a newer one replaces it. `revised` becomes `DTSTAMP`: the time of
/// the commit that last changed what it is made from, so that the same commit gives the same bytes.
pub fn ics(calendar: &Calendar, revised: Timestamp) -> String {
    let mut text = String::new();
    for line in
        ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//gitops-windows//calendar//EN", "CALSCALE:GREGORIAN"]
    {
        push(&mut text, line);
    }
    push(&mut text, "X-WR-CALNAME:Reconciliation windows");
    push(&mut text, &format!("REFRESH-INTERVAL;VALUE=DURATION:{REFRESH}"));
    // What programs understood before RFC 7986.
    push(&mut text, &format!("X-PUBLISHED-TTL:{REFRESH}"));
    for row in &calendar.rows {
        for time in &row.times {
            event(&mut text, calendar, row, time, revised);
        }
        for freeze in &row.freezes {
            stretch(&mut text, calendar, row, (FROZEN, freeze), revised);
        }
        for given in row.untold() {
            stretch(&mut text, calendar, row, (OVERRIDE, given), revised);
        }
    }
    push(&mut text, "END:VCALENDAR");
    text
}

/// What a stretch is called, and what becomes of changes in it.
type Told = (&'static str, fn(&str) -> String);

const FROZEN: Told =
    ("frozen", |change_type| format!("No change of type {change_type} reaches the cluster in this time."));
const OVERRIDE: Told =
    ("override", |change_type| format!("An override of type {change_type}: it opens unless a freeze holds."));

fn event(text: &mut String, calendar: &Calendar, row: &Row, time: &OpenTime, revised: Timestamp) {
    let interval = &time.interval;
    // A gate that was never closed, or never closes, is open for the whole range, or since the window opened that ends it.
    let begin = match interval.open == Timestamp::MIN {
        true => time.window.unwrap_or(calendar.from),
        false => interval.open,
    };
    let end = if interval.close == Timestamp::MAX { calendar.to } else { interval.close };
    let off = match row.closes {
        Closes::Gate => "",
        Closes::Off => " (gate off)",
        Closes::Nothing => " (nothing waits yet)",
    };
    let summary =
        format!("{} open{off}: {}", clean(&row.change_type), label::clusters(row, calendar.clusters, 60));
    let clusters = label::clusters(row, calendar.clusters, MOST_NAMED);
    let description = format!(
        "Changes of type {} reach the cluster in this time.\n{} {}{}\nClusters: {}",
        clean(&row.change_type),
        label::interval(interval, &time.zone),
        label::zone(&time.zone),
        label::reason(time.reason.as_deref()),
        clusters
    );
    push_event(text, &uid(row, interval.open, "open"), (begin, end, revised), (&summary, &description));
}

/// Writes an event for the time of a freeze or an override.
fn stretch(
    text: &mut String,
    calendar: &Calendar,
    row: &Row,
    ((what, means), stretch): (Told, &Stretch),
    revised: Timestamp,
) {
    let clusters = |most: usize| label::clusters(row, calendar.clusters, most);
    let change_type = clean(&row.change_type);
    let summary = format!("{change_type} {what}: {}", clusters(60));
    let description =
        format!("{}\n{}\nClusters: {}", means(&change_type), clean(&stretch.reason), clusters(MOST_NAMED));
    let Interval { open, close } = stretch.interval;
    let uid = uid(row, open, &format!("{what} {}", stretch.reason));
    push_event(text, &uid, (open, close, revised), (&summary, &description));
}

fn push_event(
    text: &mut String,
    uid: &str,
    (begin, end, revised): (Timestamp, Timestamp, Timestamp),
    (summary, description): (&str, &str),
) {
    push(text, "BEGIN:VEVENT");
    push(text, &format!("UID:{uid}"));
    push(text, &format!("DTSTAMP:{}", utc(revised)));
    push(text, &format!("DTSTART:{}", utc(begin)));
    push(text, &format!("DTEND:{}", utc(end)));
    push(text, &format!("SUMMARY:{}", escape(summary)));
    push(text, &format!("DESCRIPTION:{}", escape(description)));
    push(text, "TRANSP:TRANSPARENT");
    push(text, "END:VEVENT");
}

/// Makes the identity of an event from its type, the first of its clusters, its begin and what it is.
///
/// No two rows of a type have a cluster in common. What closes earlier or later than before, because a window or a freeze
/// changed, is the same event.
fn uid(row: &Row, begin: Timestamp, what: &str) -> String {
    let mut hash = Sha256::new();
    for part in [row.change_type.as_str(), row.clusters.first().map_or("", String::as_str), what] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.update(begin.as_second().to_be_bytes());
    let digits: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{digits}@gitops-windows")
}

fn utc(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Writes a text value (RFC 5545 §3.3.11).
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | ';' | ',' => escaped.extend(['\\', character]),
            '\n' => escaped.push_str("\\n"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Writes a content line, folded without cutting a character (RFC 5545 §3.1).
fn push(text: &mut String, line: &str) {
    let mut used = 0;
    for character in line.chars() {
        let length = character.len_utf8();
        if used + length > FOLD {
            text.push_str("\r\n ");
            used = 1;
        }
        text.push(character);
        used += length;
    }
    text.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_between_characters() {
        let mut text = String::new();
        push(&mut text, &format!("SUMMARY:{}", "ä".repeat(100)));
        assert!(text.ends_with("\r\n"));
        assert!(text.split("\r\n").all(|line| line.len() <= 75), "{text}");
        assert_eq!(text.replace("\r\n ", ""), format!("SUMMARY:{}\r\n", "ä".repeat(100)));
    }

    #[test]
    fn a_line_of_75_octets_stays_whole() {
        let mut text = String::new();
        push(&mut text, &"x".repeat(75));
        assert_eq!(text, format!("{}\r\n", "x".repeat(75)));
    }

    #[test]
    fn text_values_are_escaped() {
        assert_eq!(escape("a,b;c\\d\ne:f"), "a\\,b\\;c\\\\d\\ne:f");
    }
}
