//! How long a window is open, such as `4h` or `1h30m`.

use std::fmt;
use std::str::FromStr;

const MINUTES_A_DAY: u32 = 24 * 60;

/// The longest that can be asked for, four weeks: cron knows nothing longer that repeats evenly.
const LONGEST: u32 = 28 * MINUTES_A_DAY;

/// A length of local time in whole minutes, from one minute to four weeks.
///
/// It is measured on the local clock: a window of `8h` from 22:00 closes at 06:00, also in the night in
/// which the clocks change and that takes seven or nine hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Length {
    minutes: u32,
}

impl Length {
    /// Returns the whole minutes.
    pub fn minutes(self) -> u32 {
        self.minutes
    }

    /// Makes a length; `None` outside one minute to four weeks.
    pub fn from_minutes(minutes: u32) -> Option<Length> {
        (1..=LONGEST).contains(&minutes).then_some(Length { minutes })
    }
}

impl fmt::Display for Length {
    /// Writes it so that it reads back, for example `2d`, `1h30m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.minutes / MINUTES_A_DAY, "d"),
            (self.minutes % MINUTES_A_DAY / 60, "h"),
            (self.minutes % 60, "m"),
        ];
        for (number, unit) in parts {
            if number > 0 {
                write!(f, "{number}{unit}")?;
            }
        }
        Ok(())
    }
}

/// Why a text is not a [`Length`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LengthError {
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LengthError {}

impl FromStr for Length {
    type Err = LengthError;

    /// Reads whole numbers with the units `w`, `d`, `h` and `m`, each at most once and the largest first:
    /// `4h`, `90m`, `1h30m`, `2d`.
    fn from_str(text: &str) -> Result<Length, LengthError> {
        let wrong = |why: &str| LengthError { message: format!("`{text}` {why}") };
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(wrong("is not a length of time"));
        }
        let mut total: u64 = 0;
        let mut last_unit = u64::MAX;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number: u64 =
                rest[..digits].parse().map_err(|_| wrong("is not made of whole numbers and units"))?;
            let mut after = rest[digits..].chars();
            let unit: u64 = match after.next() {
                Some('w') => 7 * 24 * 60,
                Some('d') => 24 * 60,
                Some('h') => 60,
                Some('m') => 1,
                Some('s') => return Err(wrong("has seconds, and a CronJob fires at whole minutes")),
                None => return Err(wrong("has a number without a unit")),
                Some(_) => return Err(wrong("has a unit other than `w`, `d`, `h` and `m`")),
            };
            if unit >= last_unit {
                return Err(wrong("names its units twice or not from the largest to the smallest"));
            }
            last_unit = unit;
            total = total.saturating_add(number.saturating_mul(unit));
            rest = after.as_str();
        }
        let minutes = u32::try_from(total).unwrap_or(u32::MAX);
        match Length::from_minutes(minutes) {
            Some(length) => Ok(length),
            None if minutes == 0 => Err(wrong("is no time at all")),
            None => Err(wrong("is longer than four weeks")),
        }
    }
}
