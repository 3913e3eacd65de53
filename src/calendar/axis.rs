//! The days of a calendar.

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};

use crate::calendar::Calendar;

/// The begin of a day within a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// The date.
    pub date: Date,
    /// Its first instant in the calendar.
    pub start: Timestamp,
}

/// Returns the days that begin within a calendar, and the first one wherever that begins.
pub fn days(calendar: &Calendar) -> Vec<Day> {
    let mut date = calendar.from.to_zoned(calendar.zone.clone()).date();
    let mut days = vec![Day { date, start: calendar.from }];
    while let Ok(next) = date.checked_add(1.day()) {
        let Ok(start) = next.to_zoned(calendar.zone.clone()) else { break };
        if start.timestamp() >= calendar.to {
            break;
        }
        days.push(Day { date: next, start: start.timestamp() });
        date = next;
    }
    days
}

/// Returns the part of the range that lies before an instant, from 0 to 1.
pub fn fraction(calendar: &Calendar, at: Timestamp) -> f64 {
    let whole = calendar.to.as_second() - calendar.from.as_second();
    let part = at.as_second() - calendar.from.as_second();
    if whole <= 0 { 0.0 } else { (part as f64 / whole as f64).clamp(0.0, 1.0) }
}
