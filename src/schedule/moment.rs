//! Instants to the second that no calendar of a library ends.

use std::fmt;

use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

use super::firing::floor;
use super::local::{DAY, Local, date_of, days_of};

const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// An instant in whole seconds, as cron expressions are searched from and fire at.
///
/// A [`Timestamp`] ends on 9999-12-30; the search of robfig/cron does not, so `cron` and the lines of
/// `cron -` work with these.
///
/// # Example
///
/// ```
/// use gitops_windows::schedule::{Moment, zone};
///
/// let moment = Moment::parse("9999-12-31T23:30:00.5-01:00").unwrap();
/// assert_eq!(moment.to_string(), "10000-01-01T00:30:00Z");
/// let berlin = zone::parse("Europe/Berlin")?;
/// assert_eq!(moment.local(&berlin), "Sat 10000-01-01 01:30:00 +01:00");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub(super) second: i64,
}

impl From<Timestamp> for Moment {
    /// Drops the fraction of a second towards the past.
    fn from(instant: Timestamp) -> Moment {
        Moment { second: floor(instant) }
    }
}

impl Moment {
    /// Reads RFC 3339 with an offset, from the year 0000 to 9999; `None` for everything else.
    ///
    /// A fraction of a second is dropped towards the past. The second 60, `24:00`, lower-case `t` and `z` and
    /// a space for the `T` are refused, as Go's `time.RFC3339` does.
    pub fn parse(text: &str) -> Option<Moment> {
        let bytes = text.as_bytes();
        let number = |range: std::ops::Range<usize>| {
            let digits = bytes.get(range)?;
            digits.iter().try_fold(0_i64, |value, digit| {
                digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0'))
            })
        };
        let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
        if separators.iter().any(|&(at, separator)| bytes.get(at) != Some(&separator)) {
            return None;
        }
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        let date = civil::Date::new(year as i16, month as i8, day as i8).ok()?;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let mut rest = &bytes[19..];
        if let [b'.', fraction @ ..] = rest {
            let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            if digits == 0 {
                return None;
            }
            // A fraction never changes the second that the time falls into, as the offset is whole minutes.
            rest = &fraction[digits..];
        }
        let offset = match rest {
            [b'Z'] => 0,
            [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
                let start = bytes.len() - 5;
                let (hours, minutes) = (number(start..start + 2)?, number(start + 3..start + 5)?);
                if hours > 23 || minutes > 59 {
                    return None;
                }
                (hours * 3600 + minutes * 60) * if *sign == b'-' { -1 } else { 1 }
            }
            _ => return None,
        };
        let days = days_of(date.year().into(), date.month() as u32, date.day().into());
        Some(Moment { second: days * DAY + hour * 3600 + minute * 60 + second - offset })
    }

    /// Writes weekday, date, time and offset in a zone, for example `Mon 2026-03-30 08:00:00 +02:00`.
    pub fn local(self, zone: &TimeZone) -> String {
        let mut local = Local::new(zone);
        let civil = local.civil(self.second);
        let offset = local.offset(self.second);
        let mut text = String::from(WEEKDAYS[civil.weekday() as usize % 7]);
        text.push(' ');
        push_date(&mut text, civil.days);
        text.push(' ');
        push_time(&mut text, civil.second_of_day);
        text.push_str(if offset < 0 { " -" } else { " +" });
        let offset = offset.abs();
        push_two(&mut text, offset / 3600);
        text.push(':');
        push_two(&mut text, offset / 60 % 60);
        // Local mean times of the 19th century.
        if offset % 60 != 0 {
            text.push(':');
            push_two(&mut text, offset % 60);
        }
        text
    }

    /// Appends it as [`fmt::Display`] writes it, which costs too much where there are millions.
    pub(super) fn push_utc(self, text: &mut String) {
        push_date(text, self.second.div_euclid(DAY));
        text.push('T');
        push_time(text, self.second.rem_euclid(DAY));
        text.push('Z');
    }
}

impl fmt::Display for Moment {
    /// Writes it in UTC, for example `2026-03-30T06:00:00Z`; years after 9999 have five digits, as Go has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.push_utc(&mut text);
        f.write_str(&text)
    }
}

/// Writes `2006-01-02`.
fn push_date(text: &mut String, days: i64) {
    let (year, month, day) = date_of(days);
    if year < 0 {
        text.push('-');
    }
    let (high, low) = (year.abs() / 100, year.abs() % 100);
    if high < 100 {
        push_two(text, high);
    } else {
        text.push_str(&high.to_string());
    }
    push_two(text, low);
    for number in [month, day] {
        text.push('-');
        push_two(text, i64::from(number));
    }
}

/// Writes `15:04:05`.
fn push_time(text: &mut String, second_of_day: i64) {
    push_two(text, second_of_day / 3600);
    for number in [second_of_day / 60 % 60, second_of_day % 60] {
        text.push(':');
        push_two(text, number);
    }
}

fn push_two(text: &mut String, number: i64) {
    text.push(char::from(b'0' + (number / 10) as u8));
    text.push(char::from(b'0' + (number % 10) as u8));
}
