//! The words of a calendar.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::calendar::{Closes, Row};
use crate::delivery::UNTIL_FIRST;
use crate::diagnostic::clean;
use crate::schedule::{Interval, Stretch, minute};
use crate::spec::exceptions::{UNTIL_REMOVED, is_endless};

/// Names the clusters of a row in at most so many characters, with the number of those left out.
pub fn clusters(row: &Row, all: usize, width: usize) -> String {
    let count = row.clusters.len();
    let head = match count {
        _ if count == all && all > 3 => format!("all {count} clusters: "),
        0..=3 => String::new(),
        _ => format!("{count} clusters: "),
    };
    let mut text = head;
    for (index, cluster) in row.clusters.iter().enumerate() {
        let name = clean(cluster);
        let separator = if index == 0 { "" } else { ", " };
        let left = count - index - 1;
        let reserve = if left == 0 { 0 } else { ", … +".len() + left.to_string().len() };
        let length = text.chars().count() + separator.len() + name.chars().count() + reserve;
        if index > 0 && length > width {
            text += &format!(", … +{}", count - index);
            break;
        }
        text += separator;
        text += &name;
    }
    text
}

/// Says in brackets what keeps windows from counting: the gate is off, nothing waits or nothing has closed yet.
pub fn state(row: &Row) -> String {
    let zone = row.zone();
    match row.first_closing {
        _ if row.closes == Closes::Off => " (gate off: nothing closes)".to_owned(),
        _ if row.closes == Closes::Nothing => " (at once: nothing waits yet)".to_owned(),
        Some(first) => format!(" ({UNTIL_FIRST}, {} {})", minute(first, zone), self::zone(zone)),
        None => String::new(),
    }
}

/// Writes when an interval is open, in one zone, for example `Mon 2026-11-23 08:00 – Thu 2026-11-26 17:00`.
pub fn interval(interval: &Interval, zone: &TimeZone) -> String {
    let open = minute(interval.open, zone);
    let close = minute(interval.close, zone);
    match (interval.open == Timestamp::MIN, interval.close == Timestamp::MAX) {
        (true, true) => "always".to_owned(),
        (true, false) => format!("until {close}"),
        (false, true) => format!("{open} – for ever"),
        (false, false) => format!("{open} – {close}"),
    }
}

/// Writes when a freeze or an override holds, in one zone, and why; `what` is the word for it.
pub fn stretch(what: &str, stretch: &Stretch, zone: &TimeZone) -> String {
    let times = match is_endless(stretch.interval) && stretch.interval.open != Timestamp::MIN {
        true => format!("{} – {UNTIL_REMOVED}", minute(stretch.interval.open, zone)),
        false => interval(&stretch.interval, zone),
    };
    format!("{what} {times} {}{}", self::zone(zone), reason(Some(&stretch.reason)))
}

/// Writes why something is open or frozen, behind its times.
pub fn reason(reason: Option<&str>) -> String {
    reason.map(|reason| format!(" ({})", clean(reason))).unwrap_or_default()
}

/// Returns the name of a zone.
pub fn zone(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("local time")
}
