//! Times of a command line as the spec writes them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::schedule::{Interval, SPOKEN, Said, moment, zone};
use crate::spec::exceptions::usage;
use crate::spec::{Spec, TableDef};

/// The zone of a new freeze or override.
pub(super) struct Zone {
    /// The zone.
    pub(super) zone: TimeZone,
    /// What is to be written; `None` where the spec says it already.
    pub(super) written: Option<String>,
}

impl Zone {
    /// Chooses the zone: its own, that of the spec, the one that all of its windows name, or UTC where no time on a clock
    /// is given.
    pub(super) fn new(spec: &Spec, own: Option<&TimeZone>, given: &[Option<&str>]) -> Result<Zone, Error> {
        let known = spec.time_zone.as_ref().map(|name| name.value.as_str());
        if let Some(zone) = own {
            let name = zone.iana_name().unwrap_or("UTC");
            let written = (known != Some(name)).then(|| name.to_owned());
            return Ok(Zone { zone: zone.clone(), written });
        }
        if let Some(zone) = known.and_then(|name| zone::parse(name).ok()) {
            return Ok(Zone { zone, written: None });
        }
        if let Some(zone) = spec.zone_of_windows() {
            let written = zone.iana_name().map(ToOwned::to_owned);
            return Ok(Zone { zone, written });
        }
        let said = |text: &str| Said::spoken(text, Timestamp::UNIX_EPOCH, &TimeZone::UTC);
        let is_on_a_clock = |text: &&str| !matches!(said(text), Some(Said::Instant(_)));
        if let Some(text) = given.iter().flatten().copied().find(is_on_a_clock) {
            let message = format!("`{text}` has no time zone");
            return Err(usage(message, "add --time-zone, for example `--time-zone Europe/Berlin`"));
        }
        Ok(Zone { zone: TimeZone::UTC, written: Some("UTC".to_owned()) })
    }

    /// Returns the zone in which a spec's times are told.
    pub(super) fn told(spec: &Spec) -> Zone {
        Zone { zone: spec.told_zone(), written: None }
    }

    /// Returns its name.
    pub(super) fn name(&self) -> &str {
        self.zone.iana_name().unwrap_or("UTC")
    }

    /// Writes as the spec does what somebody said at `now`; what counts from `now` moves to a run of the gate's jobs, and
    /// what a spec can have stays as it is.
    pub(super) fn written(&self, text: &str, now: Timestamp, run: impl Fn(Timestamp) -> Timestamp) -> String {
        let is_as_written = match Said::written(text) {
            Some(Said::Instant(_)) => text.len() == "2026-10-25T02:30+01:00".len(),
            other => other.is_some(),
        };
        match Said::spoken(text, now, &self.zone) {
            _ if is_as_written => text.to_owned(),
            Some(Said::Day(day)) => day.to_string(),
            Some(Said::Clock(clock)) => clock.strftime("%Y-%m-%dT%H:%M").to_string(),
            Some(Said::Instant(at)) if text.trim_start().starts_with("now") => self.text(run(at)),
            Some(Said::Instant(at)) if at.as_second() % 60 == 0 => self.text(at),
            // What it is not, whoever reads the spec says.
            _ => text.to_owned(),
        }
    }

    /// As [`Zone::written`], but that a day is written as its first minute, or, as an end, as the first one after it.
    pub(super) fn minute(
        &self,
        text: &str,
        now: Timestamp,
        is_end: bool,
        run: impl Fn(Timestamp) -> Timestamp,
    ) -> String {
        let day = Said::spoken(text, now, &self.zone).filter(|said| matches!(said, Said::Day(_)));
        match day.and_then(|day| day.instant(&self.zone, is_end).ok()) {
            Some(at) => self.text(at),
            None => self.written(text, now, run),
        }
    }

    /// Writes an instant to the minute; with its offset where the clock shows that time twice.
    pub(super) fn text(&self, at: Timestamp) -> String {
        let local = at.to_zoned(self.zone.clone());
        let is_once = self.zone.to_ambiguous_zoned(local.datetime()).unambiguous().is_ok();
        local.strftime(if is_once { "%Y-%m-%dT%H:%M" } else { "%Y-%m-%dT%H:%M%:z" }).to_string()
    }
}

/// Makes sure that what somebody gave options are days or times, whatever else is wrong.
pub(super) fn are_times(given: &[(&str, Option<&str>)]) -> Result<(), Error> {
    let is_none = |text: &str| {
        let spoken = Said::spoken(text, Timestamp::UNIX_EPOCH, &TimeZone::UTC);
        spoken.or_else(|| Said::written(text)).is_none()
    };
    let given = given.iter().filter_map(|(option, text)| Some((option, (*text)?)));
    let wrong = given.filter(|(_, text)| is_none(text));
    let told = wrong.map(|(option, text)| {
        Diagnostic::error(format!("{option}: `{text}` is no day and no time")).help(SPOKEN)
    });
    let diagnostics: Vec<Diagnostic> = told.collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Usage, diagnostics }) }
}

/// Returns the run of the gate's jobs at an instant or the last one before it, as an exact end of open time needs.
pub(super) fn run_before(table: &TableDef, at: Timestamp) -> Timestamp {
    let tick = i64::from(table.every) * 60;
    Timestamp::from_second(at.as_second().div_euclid(tick) * tick).unwrap_or(at)
}

/// Returns the run of the gate's jobs at an instant or the next one after it.
pub(super) fn run_after(table: &TableDef, at: Timestamp) -> Timestamp {
    let tick = i64::from(table.every) * 60;
    let before = run_before(table, at);
    if before == at { at } else { Timestamp::from_second(before.as_second() + tick).unwrap_or(at) }
}

/// Makes sure that an end is not over, in the words of the spec; what else is wrong with it is for whoever reads that.
pub(super) fn is_not_over(
    what: &str,
    end: &str,
    zone: &Zone,
    told: &TimeZone,
    now: Timestamp,
) -> Result<(), Error> {
    let end = Said::written(end).and_then(|said| said.instant(&zone.zone, true).ok());
    end.map_or(Ok(()), |end| before(what, end, told, now))
}

/// Makes sure that an end lies ahead.
fn before(what: &str, end: Timestamp, zone: &TimeZone, now: Timestamp) -> Result<(), Error> {
    if end > now {
        return Ok(());
    }
    let message = format!("{what} would end on {}, which is over", moment(end, zone));
    Err(usage(message, format!("give it an end after {}", moment(now, zone))))
}

/// Makes sure that a time is not over, and did not begin on a day before today, which is a mistake of the year mostly.
pub(super) fn is_ahead(
    what: &str,
    interval: Interval,
    is_from_given: bool,
    zone: &TimeZone,
    now: Timestamp,
) -> Result<(), Error> {
    let told = |at: Timestamp| moment(at, zone);
    before(what, interval.close, zone, now)?;
    let day = |at: Timestamp| at.to_zoned(zone.clone()).date();
    if is_from_given && day(interval.open) < day(now) {
        let message = format!("{what} would have begun on {}, before today", told(interval.open));
        return Err(usage(message, format!("begin on {} or later", day(now))));
    }
    Ok(())
}
