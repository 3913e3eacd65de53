//! Local time as Go's `time` package computes it, on plain seconds.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

pub(super) const DAY: i64 = 86_400;

/// Seconds in 400 Gregorian years, after which dates and weekdays repeat.
const CYCLE: i64 = 146_097 * DAY;

/// Beyond this instant (the year 9500) offsets are those of 400 years earlier, since [`Timestamp`] ends
/// with the year 9999 and Go's times do not.
const FAR: i64 = 237_600_000_000;

/// A zone with the stretch of constant offset that was looked at last.
///
/// Every lookup within that stretch is a comparison and an addition.
#[derive(Debug)]
pub(super) struct Local<'z> {
    zone: &'z TimeZone,
    /// The offset from UTC, in seconds, that holds in `start..end`.
    offset: i64,
    start: i64,
    end: i64,
}

/// A local date and time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Civil {
    /// Days since 1970-01-01.
    pub(super) days: i64,
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    /// Seconds since the local clock showed midnight, or would have.
    pub(super) second_of_day: i64,
}

impl Civil {
    pub(super) fn hour(&self) -> i64 {
        self.second_of_day / 3600
    }

    /// Sunday is 0.
    pub(super) fn weekday(&self) -> u32 {
        weekday(self.days)
    }
}

impl<'z> Local<'z> {
    pub(super) fn new(zone: &'z TimeZone) -> Local<'z> {
        Local { zone, offset: 0, start: i64::MAX, end: i64::MIN }
    }

    /// Returns the offset from UTC at an instant.
    pub(super) fn offset(&mut self, unix: i64) -> i64 {
        if !(self.start <= unix && unix < self.end) {
            self.look_up(unix);
        }
        self.offset
    }

    /// Returns whether the offset is the same from the last lookup to `unix`.
    pub(super) fn holds(&self, unix: i64) -> bool {
        self.start <= unix && unix < self.end
    }

    fn look_up(&mut self, unix: i64) {
        let mut shift = 0;
        if unix > FAR {
            shift = (unix - FAR + CYCLE - 1) / CYCLE * CYCLE;
        }
        let at = Timestamp::from_second(unix - shift).unwrap_or(Timestamp::MIN);
        self.offset = i64::from(self.zone.to_offset(at).seconds());
        self.end = match self.zone.following(at).next() {
            Some(transition) => transition.timestamp().as_second() + shift,
            // Nothing follows in a fixed zone; nothing can be said beyond what was shifted.
            None if shift == 0 => FAR,
            None => unix + 1,
        };
        let after = Timestamp::from_second(unix - shift + 1).unwrap_or(Timestamp::MAX);
        self.start = match self.zone.preceding(after).next() {
            Some(transition) => transition.timestamp().as_second() + shift,
            None if shift == 0 => i64::MIN,
            None => unix,
        };
    }

    /// Returns the local date and time at an instant.
    pub(super) fn civil(&mut self, unix: i64) -> Civil {
        let local = unix + self.offset(unix);
        let days = local.div_euclid(DAY);
        let (year, month, day) = date_of(days);
        Civil { days, year, month, day, second_of_day: local.rem_euclid(DAY) }
    }

    /// Returns the instant of a local time, as Go's `time.Date` does where the time is skipped or repeated.
    pub(super) fn instant(&mut self, days: i64, second_of_day: i64) -> i64 {
        let local = days * DAY + second_of_day;
        let guess = local - self.offset(local);
        local - self.offset(guess)
    }
}

impl Local<'_> {
    /// Returns the instants at which the clock shows a local time: none where a change skips it, two where it comes twice,
    /// the earlier first. Beyond the year 9999 there are none.
    pub(super) fn instants(&self, days: i64, second_of_day: i64) -> [Option<i64>; 2] {
        let local = days * DAY + second_of_day;
        let (year, month, day) = date_of(days);
        let (hour, minute) = (second_of_day / 3600, second_of_day / 60 % 60);
        let civil = i16::try_from(year).ok().and_then(|year| {
            DateTime::new(
                year,
                month as i8,
                day as i8,
                hour as i8,
                minute as i8,
                (second_of_day % 60) as i8,
                0,
            )
            .ok()
        });
        let at = |offset: Offset| Some(local - i64::from(offset.seconds()));
        match civil.map(|civil| self.zone.to_ambiguous_timestamp(civil).offset()) {
            Some(AmbiguousOffset::Unambiguous { offset }) => [at(offset), None],
            Some(AmbiguousOffset::Fold { before, after }) => [at(before), at(after)],
            Some(AmbiguousOffset::Gap { .. }) | None => [None, None],
        }
    }
}

/// Sunday is 0.
pub(super) fn weekday(days: i64) -> u32 {
    (days + 4).rem_euclid(7) as u32
}

/// Returns days since 1970-01-01 of a Gregorian date; `day` may be beyond the end of the month.
pub(super) fn days_of(year: i64, month: u32, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last day.
    let year = if month <= 2 { year - 1 } else { year };
    let shifted_month = i64::from((month + 9) % 12);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Returns the Gregorian date of days since 1970-01-01.
pub(super) fn date_of(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * shifted_month + 2) / 5 + 1) as u32;
    let month = (if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 }) as u32;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}
