//! A weekday and a time of day, such as `Mon 08:00`.

use std::fmt;
use std::str::FromStr;

use super::month_day::TimeOfDay;

/// Days by which the week is counted, Sunday first as in cron.
pub(super) const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const LONG: [&str; 7] = ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"];

/// Returns the number of a weekday in English, short or long, in any case; 0 is Sunday.
pub(super) fn weekday_of(word: &str) -> Option<u8> {
    let is_it =
        |(short, long): (&&str, &str)| short.eq_ignore_ascii_case(word) || long.eq_ignore_ascii_case(word);
    WEEKDAYS.iter().zip(LONG).position(is_it).map(|weekday| weekday as u8)
}

/// A local time that comes once a week, to the minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WeekTime {
    /// 0 is Sunday.
    pub(super) weekday: u8,
    pub(super) hour: u8,
    pub(super) minute: u8,
}

impl WeekTime {
    /// Returns the minutes since Sunday 00:00 by the local clock.
    pub(super) fn minute_of_week(self) -> u32 {
        (u32::from(self.weekday) * 24 + u32::from(self.hour)) * 60 + u32::from(self.minute)
    }

    /// Makes the time of so many minutes after Sunday 00:00, whole weeks dropped.
    pub(super) fn from_minute_of_week(minute: u32) -> WeekTime {
        let minute = minute % (7 * 24 * 60);
        WeekTime {
            weekday: (minute / 1440) as u8,
            hour: (minute / 60 % 24) as u8,
            minute: (minute % 60) as u8,
        }
    }

    /// Returns the cron expression that fires then.
    pub(super) fn to_cron(self) -> String {
        let weekday = WEEKDAYS[usize::from(self.weekday % 7)];
        format!("{} {} * * {weekday}", self.minute, self.hour)
    }
}

impl fmt::Display for WeekTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weekday = WEEKDAYS[usize::from(self.weekday % 7)];
        let (first, rest) = weekday.split_at(1);
        write!(f, "{first}{} {:02}:{:02}", rest.to_ascii_lowercase(), self.hour, self.minute)
    }
}

/// Why a text is not a [`WeekTime`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeekTimeError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl fmt::Display for WeekTimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WeekTimeError {}

impl FromStr for WeekTime {
    type Err = WeekTimeError;

    /// Reads `Mon 08:00`: a weekday in English, short or long, in any case, and a time from 00:00 to 23:59.
    fn from_str(text: &str) -> Result<WeekTime, WeekTimeError> {
        let wrong = |why: &str| WeekTimeError {
            message: format!("`{text}` {why}"),
            help: "write a weekday and a time from 00:00 to 23:59, such as `Mon 08:00`".into(),
        };
        let mut words = text.split_whitespace();
        let (Some(day), Some(time), None) = (words.next(), words.next(), words.next()) else {
            return Err(wrong("is not a weekday and a time"));
        };
        let weekday = weekday_of(day).ok_or_else(|| wrong("does not begin with a weekday"))?;
        if !time.contains(':') {
            return Err(wrong("has no time of day"));
        }
        if let Some(time) = TimeOfDay::read(time) {
            let minutes = time.minutes();
            return Ok(WeekTime { weekday, hour: (minutes / 60) as u8, minute: (minutes % 60) as u8 });
        }
        if time != "24:00" {
            return Err(wrong("has a time that is not between 00:00 and 23:59"));
        }
        let midnight = WeekTime { weekday: (weekday + 1) % 7, hour: 0, minute: 0 };
        Err(WeekTimeError {
            message: format!("`{text}` is no time of that day, which ends as the next one begins"),
            help: format!("write `{midnight}`"),
        })
    }
}
