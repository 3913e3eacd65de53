//! A weekday in a certain week of each month, such as `second Tue of month`, and a time of day.

use std::fmt;
use std::str::FromStr;

use super::local::{days_of, weekday};
use super::week_time::{WEEKDAYS, weekday_of};

pub(super) const WEEKS: [&str; 5] = ["first", "second", "third", "fourth", "last"];

/// The position of `last` in [`WEEKS`].
const LAST: u8 = 4;

/// A day that comes once in each month.
///
/// ```
/// use gitops_windows::schedule::MonthDay;
///
/// let day: MonthDay = "second Tuesday of month".parse().unwrap();
/// assert_eq!(day.to_string(), "second Tue of month");
/// // Not every month has five.
/// assert!("fifth Tue of month".parse::<MonthDay>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonthDay {
    /// 0 is the first, 4 the last.
    week: u8,
    /// 0 is Sunday.
    weekday: u8,
}

impl MonthDay {
    /// Returns the day in a month, in days since 1970-01-01.
    pub(super) fn in_month(self, year: i64, month: u32) -> i64 {
        let wanted = i64::from(self.weekday);
        if self.week == LAST {
            let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            let last = days_of(next_year, next, 1) - 1;
            return last - (i64::from(weekday(last)) - wanted).rem_euclid(7);
        }
        let first = days_of(year, month, 1);
        first + (wanted - i64::from(weekday(first))).rem_euclid(7) + 7 * i64::from(self.week)
    }
}

impl fmt::Display for MonthDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, rest) = WEEKDAYS[usize::from(self.weekday % 7)].split_at(1);
        let week = WEEKS[usize::from(self.week.min(LAST))];
        write!(f, "{week} {first}{} of month", rest.to_ascii_lowercase())
    }
}

/// Why a text is not a [`MonthDay`] or a [`TimeOfDay`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonthDayError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl fmt::Display for MonthDayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MonthDayError {}

impl FromStr for MonthDay {
    type Err = MonthDayError;

    /// Reads `second Tue of month`: `first` to `fourth` or `last`, and a weekday in English, short or long; in any case.
    fn from_str(text: &str) -> Result<MonthDay, MonthDayError> {
        let wrong = |why: &str, help: &str| MonthDayError {
            message: format!("`{text}` {why}"),
            help: help.to_owned(),
        };
        let usual = "write it like `second Tue of month` or `last Fri of month`";
        let words: Vec<String> = text.split_whitespace().map(str::to_ascii_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let ["every" | "each", day, ..] = words[..]
            && let Some(weekday) = weekday_of(day)
        {
            let (first, rest) = WEEKDAYS[usize::from(weekday % 7)].split_at(1);
            let name = format!("{first}{}", rest.to_ascii_lowercase());
            let help = format!("write `from: {name} 08:00` for each week, or `first {name} of month`");
            return Err(wrong("is no week of a month", &help));
        }
        let [week, day, "of", "month"] = words[..] else {
            return Err(wrong("is not a weekday in a week of each month", usual));
        };
        let weekday = weekday_of(day).ok_or_else(|| wrong("names no weekday", usual))?;
        let week = WEEKS.iter().position(|known| *known == week).ok_or_else(|| match week {
            "fifth" => wrong("does not come in every month", "write `last`, or `fourth`"),
            _ => wrong("does not begin with `first`, `second`, `third`, `fourth` or `last`", usual),
        })?;
        Ok(MonthDay { week: week as u8, weekday })
    }
}

/// A local time of day, to the minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay {
    minutes: u16,
}

impl TimeOfDay {
    /// Returns the minutes since midnight by the local clock.
    pub fn minutes(self) -> i64 {
        self.minutes.into()
    }

    /// Makes the time of so many minutes after midnight; `None` beyond the day.
    pub fn from_minutes(minutes: i64) -> Option<TimeOfDay> {
        u16::try_from(minutes).ok().filter(|minutes| *minutes < 24 * 60).map(|minutes| TimeOfDay { minutes })
    }

    /// Reads `8:00` or `08:00`; `None` for what is no time from 00:00 to 23:59.
    pub(super) fn read(text: &str) -> Option<TimeOfDay> {
        let (hour, minute) = text.split_once(':')?;
        let number = |digits: &str, width: std::ops::RangeInclusive<usize>| {
            let plain = width.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| digits.parse::<i64>().ok()).flatten()
        };
        let (hour, minute) = (number(hour, 1..=2)?, number(minute, 2..=2)?);
        (minute < 60).then(|| TimeOfDay::from_minutes(hour * 60 + minute)).flatten()
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.minutes / 60, self.minutes % 60)
    }
}

impl FromStr for TimeOfDay {
    type Err = MonthDayError;

    /// Reads `20:00`, a time from 00:00 to 23:59.
    fn from_str(text: &str) -> Result<TimeOfDay, MonthDayError> {
        TimeOfDay::read(text.trim()).ok_or_else(|| MonthDayError {
            message: format!("`{text}` is not a time of day"),
            help: "with `on`, write a time from 00:00 to 23:59, such as `20:00`".into(),
        })
    }
}
