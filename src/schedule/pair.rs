//! The two cron expressions of a window, and how one is made from the other.

use std::iter;
use std::sync::LazyLock;

use super::cron::{CronExpr, Fields};
use super::field::{self, Bounds, DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, STAR};
use super::local::{date_of, days_of, weekday};

/// What the CronJobs of a window get as `schedule`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CronPair {
    /// Fires when the window opens.
    pub open: CronExpr,
    /// Fires when the window closes.
    pub close: CronExpr,
}

/// Which of the two expressions of a pair is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    Open,
    Close,
}

/// Why no single cron expression fires so much later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotOne {
    /// The minutes and hours don't form one list of minutes in one list of hours.
    Times,
    /// Some of the times fall on another day than others.
    DaysApart,
    /// The days after the ones that match can't be written as one day rule.
    Days,
}

/// Minutes of a day that match, as one flag a minute.
type Times = [bool; 1440];

/// The civil days on which two day rules are compared: 28 years hold every weekday with every date.
fn all_days() -> std::ops::Range<i64> {
    days_of(2001, 1, 1)..days_of(2029, 1, 1)
}

/// Makes the expression that fires `minutes` of local time after every firing of `fields`.
///
/// The result is compared with `fields` on every day of 28 years before it is given out.
pub(super) fn shifted(expr: &CronExpr, fields: &Fields, minutes: i64) -> Result<CronExpr, NotOne> {
    let every_day = all_days().all(|day| matches(fields, day));
    let mut times = [false; 1440];
    let mut day_shift = None;
    for minute in (0..1440).filter(|&minute| time_matches(fields, minute)) {
        let later = minute + minutes;
        times[later.rem_euclid(1440) as usize] = true;
        let shift = later.div_euclid(1440);
        if !every_day && day_shift.is_some_and(|known| known != shift) {
            return Err(NotOne::DaysApart);
        }
        day_shift = Some(shift);
    }
    let (minute, hour) = as_lists(&times).ok_or(NotOne::Times)?;
    let words: Vec<&str> = expr.as_str().split_whitespace().collect();
    let written = |index: usize, bits: u64, same_as: u64, bounds: &Bounds| match words.get(index) {
        // What the user wrote stays as it is where it still says the right thing.
        Some(word) if words.len() == 5 && bits == same_as & !STAR => (*word).to_owned(),
        _ => field::render(bits, bounds),
    };
    let minute = written(0, minute, fields.minute, &MINUTE);
    let hour = written(1, hour, fields.hour, &HOUR);
    let shift = if every_day { 0 } else { day_shift.unwrap_or(0) };
    for days in day_rules(fields, &words, shift, every_day) {
        let text = format!("{minute} {hour} {days}");
        let Ok(candidate) = CronExpr::parse(&text) else { continue };
        let same = |later: &Fields| {
            shift == 0 && later.has_days_of(fields)
                || all_days().all(|day| matches(later, day + shift) == matches(fields, day))
        };
        if candidate.fields().is_some_and(same) {
            return Ok(candidate);
        }
    }
    Err(NotOne::Days)
}

pub(super) fn time_matches(fields: &Fields, minute_of_day: i64) -> bool {
    fields.hour & (1 << (minute_of_day / 60)) != 0 && fields.minute & (1 << (minute_of_day % 60)) != 0
}

/// Returns whether a day matches in month, day of month and day of week.
pub(super) fn matches(fields: &Fields, days: i64) -> bool {
    let (month, day) = known_date(days);
    fields.month & (1 << month) != 0 && fields.day_matches(day, weekday(days))
}

/// Returns the month and the day of the month.
fn known_date(days: i64) -> (u32, u32) {
    let known = usize::try_from(days - all_days().start).ok().and_then(|index| DATES.get(index));
    known.copied().unwrap_or_else(|| month_and_day(days))
}

/// Month and day of each of [`all_days`]: a fleet asks for them with every window.
static DATES: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| all_days().map(month_and_day).collect());

fn month_and_day(days: i64) -> (u32, u32) {
    let (_, month, day) = date_of(days);
    (month, day)
}

/// Writes times of day as minutes in hours; `None` where they are not all of those minutes in all of those
/// hours.
fn as_lists(times: &Times) -> Option<(u64, u64)> {
    let (mut minutes, mut hours) = (0_u64, 0_u64);
    for at in (0..1440).filter(|&at| times[at]) {
        minutes |= 1 << (at % 60);
        hours |= 1 << (at / 60);
    }
    let product =
        (0..1440).all(|at| times[at] == (hours & (1 << (at / 60)) != 0 && minutes & (1 << (at % 60)) != 0));
    product.then_some((minutes, hours))
}

/// Lists the day rules (day of month, month, day of week) that may match `shift` days after `fields` does,
/// the simplest first. Those of days of the month, for which all days are gone through, are made where none before does.
fn day_rules(fields: &Fields, words: &[&str], shift: i64, every_day: bool) -> impl Iterator<Item = String> {
    let mut rules = Vec::new();
    if every_day {
        rules.push("* * *".to_owned());
    }
    if let (0, [_, _, day_of_month, month, day_of_week]) = (shift, words) {
        rules.push(format!("{day_of_month} {month} {day_of_week}"));
    }
    let months = if fields.month & STAR != 0 { "*".into() } else { field::render(fields.month, &MONTH) };
    let weekdays: u64 = (0..7)
        .filter(|day| fields.day_of_week & (1 << day) != 0)
        .map(|day| 1 << (day + shift).rem_euclid(7))
        .sum();
    let weekdays = field::render(weekdays, &DAY_OF_WEEK);
    // Weekdays alone, then days of the month alone, then both.
    if !weekdays.is_empty() {
        rules.push(format!("* {months} {weekdays}"));
    }
    rules.into_iter().chain(iter::once_with(move || dates_of(fields, weekdays, shift)).flatten())
}

/// Lists the day rules that name days of the month, alone and with days of the week.
fn dates_of(fields: &Fields, weekdays: String, shift: i64) -> Vec<String> {
    let mut rules = Vec::new();
    let (mut dates, mut dates_months) = (0_u64, 0_u64);
    for days in all_days() {
        let (month, day) = known_date(days);
        let by_date = fields.day_of_month & (1 << day) != 0;
        if by_date && fields.month & (1 << month) != 0 {
            let (month, day) = known_date(days + shift);
            dates |= 1 << day;
            dates_months |= 1 << month;
        }
    }
    if dates != 0 {
        let dates = field::render(dates, &DAY_OF_MONTH);
        let all_months = field::render(dates_months, &MONTH);
        let months = if all_months == "1-12" { "*" } else { &all_months };
        rules.push(format!("{dates} {months} *"));
        if !weekdays.is_empty() {
            rules.push(format!("{dates} {months} {weekdays}"));
        }
    }
    rules
}

/// Returns the shortest local time between two firings, in minutes, or `None` for fewer than two in 28 years.
pub(super) fn shortest_distance(fields: &Fields) -> Option<i64> {
    let times: Vec<i64> = (0..1440).filter(|&minute| time_matches(fields, minute)).collect();
    let (first, last) = (*times.first()?, *times.last()?);
    let within = times.windows(2).map(|pair| pair[1] - pair[0]).min();
    let mut between = None;
    let mut previous = None;
    for day in all_days().filter(|&day| matches(fields, day)) {
        if let Some(previous) = previous {
            let distance = (day - previous) * 1440 + first - last;
            between = Some(between.map_or(distance, |least: i64| least.min(distance)));
        }
        previous = Some(day);
    }
    // Without a day that matches there is no distance within one either.
    previous?;
    within.into_iter().chain(between).min()
}
