//! Windows whose local times must come true: `for`, and `from` and `to`, across changes of the clocks.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::cron::CronExpr;
use super::dst::{ClockEffect, ClockHit, clock_hits};
use super::interval::{Timeline, next_in_chain};
use super::length::Length;
use super::month_day::TimeOfDay;
use super::pair::shifted;
use super::recurrence::{Recurrence, WindowEdges};
use super::week_time::WeekTime;
use super::window::{Window, WindowError, WindowForm, WindowKey};

/// The years over which a window is followed.
const YEARS: i64 = 10;

/// The steps by which another time is tried, and how far, in minutes.
const STEP: i64 = 30;
const FARTHEST: i64 = 24 * 60;

/// The minutes of a week.
const WEEK: i64 = 7 * 24 * 60;

/// All 24 hours in the bits of the hour field.
const EVERY_HOUR: u64 = (1 << 24) - 1;

/// The first date on which a pair does not do what its window says.
struct Fault {
    /// Whether it is the closing that goes wrong.
    closes: bool,
    hit: ClockHit,
}

impl Window {
    /// Returns when the window opens and closes, and makes sure that a window of `for` or of `from` and `to` opens and closes at its local times in the ten years after an instant.
    ///
    /// A closing that comes twice, as the clocks go back, changes nothing and is accepted; so is an opening.
    /// `open` and `close` are taken as they are; the lints speak about them.
    ///
    /// # Errors
    ///
    /// Those of [`Window::edges`], and a time that a change of the clocks skips or moves. The message names the
    /// date and what would happen, the help another time that has been tried and works.
    ///
    /// # Example
    ///
    /// ```
    /// use gitops_windows::schedule::{CronExpr, Window, WindowForm, zone};
    ///
    /// let form = WindowForm::OpenFor { open: CronExpr::parse("0 22 * * SAT")?, length: "4h".parse()? };
    /// let window = Window { zone: Some(zone::parse("Europe/Berlin")?), form };
    /// // 02:00 does not exist on the last Sunday of March.
    /// let error = window.resolve("2026-11-01T00:00:00Z".parse()?).unwrap_err();
    /// assert!(error.message.contains("2027-03-28"));
    /// assert!(error.help.contains("for: 5h"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve(&self, from: Timestamp) -> Result<WindowEdges, WindowError> {
        let edges = self.edges()?;
        if matches!(self.form, WindowForm::OpenClose { .. }) {
            return Ok(edges);
        }
        let zone = self.zone_or_utc();
        match fault(&edges, &zone, from) {
            None => Ok(edges),
            Some(fault) => Err(self.refusal(&edges, &zone, from, &fault)),
        }
    }

    /// As [`resolve`](Window::resolve), for a gate that asks a table: an end that the clocks skip in some night comes as long
    /// after each opening as `for` says, in true time. No cron expression says that.
    ///
    /// # Errors
    ///
    /// As [`resolve`](Window::resolve), but for such an end.
    ///
    /// # Example
    ///
    /// ```
    /// use gitops_windows::schedule::{CronExpr, OpenTimes, Window, WindowForm, zone};
    ///
    /// let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
    /// let (form, zone) = (CronExpr::parse("0 22 * * SAT")?, zone::parse("Europe/Berlin")?);
    /// let form = WindowForm::OpenFor { open: form, length: "4h".parse()? };
    /// let edges = Window { zone: Some(zone.clone()), form }.resolve_in_table(at("2026-11-01T00:00:00Z"))?;
    /// let times = OpenTimes::new([(edges, zone)], Vec::new(), Vec::new());
    /// // In that night 02:00 does not exist, and four hours after 22:00 it is 03:00.
    /// assert_eq!(times.next_close(at("2027-03-27T12:00:00Z")), Some(at("2027-03-28T01:00:00Z")));
    /// assert_eq!(times.next_close(at("2027-04-03T12:00:00Z")), Some(at("2027-04-04T00:00:00Z")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve_in_table(&self, from: Timestamp) -> Result<WindowEdges, WindowError> {
        let own = self.resolve(from);
        let length = match &self.form {
            WindowForm::OpenFor { length, .. } | WindowForm::Monthly { length, .. } => length.minutes(),
            WindowForm::OpenClose { .. } | WindowForm::FromTo { .. } => return own,
        };
        if own.as_ref().map_or_else(|error| error.key != WindowKey::For, |_| true) {
            return own;
        }
        let open = self.edges()?.open;
        let edges = WindowEdges { close: Recurrence::Later(Box::new(open.clone()), length), open };
        let zone = self.zone_or_utc();
        match fault(&edges, &zone, from) {
            None => Ok(edges),
            Some(fault) => Err(self.refusal(&edges, &zone, from, &fault)),
        }
    }

    fn refusal(&self, edges: &WindowEdges, zone: &TimeZone, from: Timestamp, fault: &Fault) -> WindowError {
        let (open_key, close_key) = self.keys();
        let edge = if fault.closes { &edges.close } else { &edges.open };
        let consequence = match (fault.closes, fault.hit.effect) {
            (true, ClockEffect::Extra) => "the window would also close then".to_owned(),
            (true, ClockEffect::Repeated) | (false, ClockEffect::Repeated) => {
                "the window would open and close twice".to_owned()
            }
            (true, _) => match next_in_chain(edge, fault.hit.transition, zone) {
                Some(next) => {
                    let next = zone.to_datetime(next);
                    format!("the window would stay open until {}", show(next))
                }
                None => "the window would stay open".to_owned(),
            },
            (false, ClockEffect::Extra) => "the window would also open then".to_owned(),
            (false, _) => "the window would not open".to_owned(),
        };
        let zone_name = zone.iana_name().unwrap_or("UTC");
        let reason = match fault.hit.effect {
            ClockEffect::Skipped => format!("the clocks in {zone_name} skip that time"),
            ClockEffect::Repeated => format!("the clocks in {zone_name} show that time twice"),
            ClockEffect::Missed => {
                format!("the clocks in {zone_name} change that day, and Kubernetes then passes over the time")
            }
            ClockEffect::Extra => {
                format!("the clocks in {zone_name} change that day, and Kubernetes then stops on a wrong day")
            }
        };
        let edge = if fault.closes { "closing" } else { "opening" };
        let message = format!("{edge} at {}: {reason}, so {consequence}", show(fault.hit.local));
        let help = self
            .alternative(fault.closes, zone, from)
            .unwrap_or_else(|| "write the times for `timeZone: UTC`, whose clocks never change".into());
        WindowError { message, key: if fault.closes { close_key } else { open_key }, help }
    }

    /// Finds the nearest other time of one edge with which the whole window comes true, a later one first.
    fn alternative(&self, closes: bool, zone: &TimeZone, from: Timestamp) -> Option<String> {
        for both in [false, true] {
            for minutes in nearest_first() {
                let Some((window, text)) = self.moved(closes, both, minutes) else { continue };
                if window.edges().is_ok_and(|edges| fault(&edges, zone, from).is_none()) {
                    return Some(text);
                }
            }
        }
        None
    }

    /// Moves one edge, or both, and says how that is written.
    pub(super) fn moved(&self, closes: bool, both: bool, minutes: i64) -> Option<(Window, String)> {
        let (form, text) = match &self.form {
            WindowForm::FromTo { from, to } => {
                let moved = |time: &WeekTime| {
                    let minute = (i64::from(time.minute_of_week()) + minutes).rem_euclid(WEEK);
                    WeekTime::from_minute_of_week(minute as u32)
                };
                let length = i64::from(to.minute_of_week()) - i64::from(from.minute_of_week());
                let change = if closes { minutes } else { -minutes };
                if both {
                    let (from, to) = (moved(from), moved(to));
                    (WindowForm::FromTo { from, to }, format!("write `from: {from}` and `to: {to}`"))
                } else if !(1..WEEK).contains(&(length.rem_euclid(WEEK) + change)) {
                    // Beyond the other edge it would be the rest of the week.
                    return None;
                } else if closes {
                    let to = moved(to);
                    (WindowForm::FromTo { from: *from, to }, format!("write `to: {to}`"))
                } else {
                    let from = moved(from);
                    (WindowForm::FromTo { from, to: *to }, format!("write `from: {from}`"))
                }
            }
            WindowForm::OpenFor { open, length } if closes && !both => {
                let minutes = u32::try_from(i64::from(length.minutes()) + minutes).ok()?;
                let length = Length::from_minutes(minutes)?;
                (WindowForm::OpenFor { open: open.clone(), length }, format!("write `for: {length}`"))
            }
            WindowForm::OpenFor { open, length } => {
                let open: CronExpr = shifted(open, open.fields()?, minutes).ok()?;
                let text = format!("write `open: {open}`");
                (WindowForm::OpenFor { open, length: *length }, text)
            }
            WindowForm::OpenClose { open, close } => {
                let moved = |expr: &CronExpr| shifted(expr, expr.fields()?, minutes).ok();
                let (open, close, text) = match (both, closes) {
                    (true, _) => {
                        let (open, close) = (moved(open)?, moved(close)?);
                        let text = format!("write `open: {open}` and `close: {close}`");
                        (open, close, text)
                    }
                    (false, true) => {
                        let close = moved(close)?;
                        let text = format!("write `close: {close}`");
                        (open.clone(), close, text)
                    }
                    (false, false) => {
                        let open = moved(open)?;
                        let text = format!("write `open: {open}`");
                        (open, close.clone(), text)
                    }
                };
                (WindowForm::OpenClose { open, close }, text)
            }
            WindowForm::Monthly { on, from, length } if closes && !both => {
                let minutes = u32::try_from(i64::from(length.minutes()) + minutes).ok()?;
                let length = Length::from_minutes(minutes)?;
                (WindowForm::Monthly { on: *on, from: *from, length }, format!("write `for: {length}`"))
            }
            WindowForm::Monthly { on, from, length } => {
                let from = TimeOfDay::from_minutes(from.minutes() + minutes)?;
                let text = format!("write `from: {from}`");
                (WindowForm::Monthly { on: *on, from, length: *length }, text)
            }
        };
        Some((Window { zone: self.zone.clone(), form }, text))
    }
}

/// Returns by how many minutes a time is moved to try another one: the nearest first, later before earlier.
pub(super) fn nearest_first() -> impl Iterator<Item = i64> {
    let steps = || (1..=FARTHEST / STEP).map(|step| step * STEP);
    steps().take(6).chain(steps().flat_map(|minutes| [-minutes, minutes]))
}

/// Finds the first date in ten years on which a pair does not come true; a closing before an opening, as the
/// gate that stays open does the harm.
fn fault(edges: &WindowEdges, zone: &TimeZone, from: Timestamp) -> Option<Fault> {
    let to = years_after(from, YEARS);
    let close = clock_hits(&edges.close, zone, from, to);
    let open = clock_hits(&edges.open, zone, from, to);
    // What comes every hour of the day is as right with an hour more or less.
    let hourly =
        |edge: &Recurrence| edge.fields().is_some_and(|fields| fields.hour & EVERY_HOUR == EVERY_HOUR);
    if hourly(&edges.open) && hourly(&edges.close) {
        return None;
    }
    let wrong = |hit: &&ClockHit| hit.effect != ClockEffect::Repeated;
    let timeline = Timeline::of_pairs([(edges.clone(), zone.clone())]);
    let harms = |hit: &&ClockHit| hit.effect == ClockEffect::Extra || timeline.is_open(instant(hit, zone));
    if let Some(hit) = close.iter().filter(wrong).find(harms) {
        return Some(Fault { closes: true, hit: *hit });
    }
    if let Some(hit) = open.iter().find(wrong) {
        return Some(Fault { closes: false, hit: *hit });
    }
    // Only where both edges come twice in one night does the gate open again.
    let twice = open.iter().find(|hit| close.iter().any(|close| close.transition == hit.transition));
    twice.map(|hit| Fault { closes: false, hit: *hit })
}

/// Returns the instant of a local time after the change of the clocks, or of the change that skips it.
fn instant(hit: &ClockHit, zone: &TimeZone) -> Timestamp {
    let offset = zone.to_offset(hit.transition);
    offset.to_timestamp(hit.local).map_or(hit.transition, |at| at.max(hit.transition))
}

/// Returns the instant so many years later, or the last there is.
pub(super) fn years_after(from: Timestamp, years: i64) -> Timestamp {
    from.checked_add(Span::new().hours(years * 8766)).unwrap_or(Timestamp::MAX)
}

/// Writes `2027-03-28 02:30`.
pub(super) fn show(local: DateTime) -> String {
    format!("{} {:02}:{:02}", local.date(), local.hour(), local.minute())
}
