//! Windows that open and close so much later, as far as a pair of CronJobs can say that.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::cron::CronExpr;
use super::deadline::reference;
use super::firing::floor;
use super::interval::last_at_or_before;
use super::length::Length;
use super::local::DAY;
use super::pair::{CronPair, shifted};
use super::recurrence::Recurrence;
use super::resolve::{show, years_after};

/// The years in which each firing must come as much later.
const YEARS: i64 = 10;

impl CronPair {
    /// Returns the pair that fires so much later, at each firing of ten years.
    ///
    /// # Errors
    ///
    /// A sentence without a full stop, where no such expression is found, or a change of the clocks lies between a firing
    /// and the later one.
    pub fn later(&self, length: Length, zone: &TimeZone) -> Result<CronPair, String> {
        Ok(CronPair { open: later(&self.open, length, zone)?, close: later(&self.close, length, zone)? })
    }
}

fn later(expr: &CronExpr, length: Length, zone: &TimeZone) -> Result<CronExpr, String> {
    let minutes = i64::from(length.minutes());
    let found = expr.fields().and_then(|fields| shifted(expr, fields, minutes).ok());
    let found = found.ok_or_else(|| format!("no cron expression fires {length} after each `{expr}`"))?;
    let (from, to) = (reference(), years_after(reference(), YEARS));
    for change in zone.following(from).take_while(|change| change.timestamp() < to) {
        // Away from the changes, the time between two local times is that between two instants.
        let at = floor(change.timestamp());
        let (start, end) = (at - 2 * DAY - minutes * 60, at + 2 * DAY + minutes * 60);
        let wanted: BTreeSet<i64> =
            firings(expr, zone, start, end).map(|firing| firing + minutes * 60).collect();
        let (start, end) = (start + minutes * 60, end + minutes * 60);
        let real: BTreeSet<i64> = firings(&found, zone, start, end).collect();
        if let Some(other) = wanted.symmetric_difference(&real).next() {
            let local =
                Timestamp::from_second(*other).map(|at| show(zone.to_datetime(at))).unwrap_or_default();
            return Err(format!(
                "around {local} the clocks change, so `{found}` does not fire {length} after each `{expr}`"
            ));
        }
    }
    Ok(found)
}

fn firings<'a>(
    expr: &'a CronExpr,
    zone: &'a TimeZone,
    start: i64,
    end: i64,
) -> impl Iterator<Item = i64> + use<'a> {
    let before = Timestamp::from_second(start - 1).unwrap_or(Timestamp::MIN);
    let last = last_at_or_before(&Recurrence::Cron(expr.clone()), before, zone).map_or(start - 1, floor);
    expr.firing_seconds(last, zone).skip_while(move |at| *at < start).take_while(move |at| *at < end)
}
