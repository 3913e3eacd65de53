//! Days and times as a spec writes them, and as people say them on a command line.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

use super::length::Length;

/// The hour of `tonight`.
const TONIGHT: i8 = 22;

/// How many bytes a day and a time of day take, as in `2026-12-18T17:00`.
const CLOCK: usize = 16;

/// How people say a day or a time.
pub const SPOKEN: &str =
    "write 2026-11-28, `2026-11-28 23:00`, 2026-11-28T23:00:00+01:00, today, tonight, tomorrow or now+2h";

/// A day, or a time, that somebody names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// A whole day.
    Day(Date),
    /// A time on the clocks of some zone.
    Clock(DateTime),
    /// An instant, whatever the zone.
    Instant(Timestamp),
}

/// Why what was said is no instant in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreal {
    /// It lies outside of the years that can be reckoned with.
    Beyond,
    /// A change of the clocks skips that time, or brings it twice.
    Clocks(DateTime),
}

impl Said {
    /// Reads a day or a time as a spec has it: `2026-12-18`, `2026-12-18T17:00`, or with an offset from UTC behind it.
    pub fn written(text: &str) -> Option<Said> {
        let Some(local) = text.get(..CLOCK).filter(|local| local.contains('T')) else {
            return text.parse().ok().filter(|_| !text.contains(['T', ':'])).map(Said::Day);
        };
        let clock: DateTime = local.parse().ok()?;
        if text.len() == CLOCK { Some(Said::Clock(clock)) } else { text.parse().ok().map(Said::Instant) }
    }

    /// Reads a day or a time as people say it at `now`, whose day is that of a zone.
    ///
    /// Beside what a spec has: RFC 3339 with an offset, a space in place of the `T`, `now`, `now+2h`, `now-30m`, `today`,
    /// `tomorrow`, each of both with or without a time of day behind it, and `tonight`, which is 22:00, or now where that is
    /// later.
    ///
    /// # Example
    ///
    /// ```
    /// use gitops_windows::schedule::{Said, zone};
    ///
    /// let (now, berlin) = ("2026-11-27T23:30:00Z".parse().unwrap(), zone::parse("Europe/Berlin")?);
    /// let at = |text: &str| Said::spoken(text, now, &berlin)?.instant(&berlin, false).ok().map(|at| at.to_string());
    /// assert_eq!(at("2026-11-28 23:00").as_deref(), Some("2026-11-28T22:00:00Z"));
    /// assert_eq!(at("tonight").as_deref(), Some("2026-11-28T21:00:00Z"));
    /// assert_eq!(at("tomorrow 08:00").as_deref(), Some("2026-11-29T07:00:00Z"));
    /// assert_eq!(at("now+2h").as_deref(), Some("2026-11-28T01:30:00Z"));
    /// assert_eq!(at("soon"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spoken(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Said> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("now") {
            return from_now(rest, now).map(Said::Instant);
        }
        if let Ok(instant) = text.parse() {
            return Some(Said::Instant(instant));
        }
        let today = now.to_zoned(zone.clone()).date();
        if text == "tonight" {
            let tonight = today.at(TONIGHT, 0, 0, 0);
            let is_past = tonight < now.to_zoned(zone.clone()).datetime();
            return Some(if is_past { Said::Instant(now) } else { Said::Clock(tonight) });
        }
        let (day, time) = match text.split_once([' ', 'T']) {
            Some((day, time)) => (day, Some(time)),
            None => (text, None),
        };
        let day = match day {
            "today" => today,
            "tomorrow" => today.tomorrow().ok()?,
            day => day.parse().ok().filter(|_| day.len() == 10)?,
        };
        let Some(time) = time else { return Some(Said::Day(day)) };
        let is_time = time.len() == "23:00".len() && time.as_bytes().get(2) == Some(&b':');
        let time: Time = time.parse().ok().filter(|_| is_time)?;
        Some(Said::Clock(day.to_datetime(time)))
    }

    /// Returns the instant that is meant in a zone: of a day its first one, or, as an end, the first one after it.
    ///
    /// # Errors
    ///
    /// [`Unreal`] when there is no such instant, or there are two.
    pub fn instant(self, zone: &TimeZone, is_end: bool) -> Result<Timestamp, Unreal> {
        match self {
            Said::Instant(instant) => Ok(instant),
            Said::Day(day) => {
                let day = if is_end { day.checked_add(1.day()).map_err(|_| Unreal::Beyond)? } else { day };
                let start = zone.to_ambiguous_zoned(day.at(0, 0, 0, 0)).compatible();
                start.map(|start| start.timestamp()).map_err(|_| Unreal::Beyond)
            }
            Said::Clock(clock) => {
                let found = zone.to_ambiguous_zoned(clock);
                if found.is_ambiguous() {
                    return Err(Unreal::Clocks(clock));
                }
                found.compatible().map(|found| found.timestamp()).map_err(|_| Unreal::Beyond)
            }
        }
    }
}

/// Reads what stands behind `now`.
fn from_now(rest: &str, now: Timestamp) -> Option<Timestamp> {
    let rest = rest.trim_start();
    if rest.is_empty() {
        return Some(now);
    }
    let (sign, length) = rest
        .strip_prefix('+')
        .map_or_else(|| rest.strip_prefix('-').map(|length| (-1, length)), |length| Some((1, length)))?;
    let length: Length = length.parse().ok()?;
    now.checked_add(SignedDuration::from_mins(sign * i64::from(length.minutes()))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::zone;

    /// Says what texts mean in Berlin, in the night in which its clocks go back.
    fn told(texts: &[&str], is_end: bool) -> String {
        let now: Timestamp = "2026-10-24T22:30:20Z".parse().unwrap();
        let berlin = zone::parse("Europe/Berlin").unwrap();
        let say = |text: &&str| match Said::spoken(text, now, &berlin) {
            None => format!("{text:?}: nothing"),
            Some(said) => match said.instant(&berlin, is_end) {
                Ok(at) => format!("{text:?}: {}", at.to_zoned(berlin.clone()).strftime("%a %F %T %:z")),
                Err(unreal) => format!("{text:?}: {unreal:?}"),
            },
        };
        texts.iter().map(say).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn days_and_times_are_understood() {
        insta::assert_snapshot!(told(&[
            "2026-11-28", "2026-11-28 23:00", "2026-11-28T23:00", "2026-11-28T23:00:00Z", "2026-11-28 23:00+09:00",
            "now", "now+2h", "now -1h30m", "today", "today 17:00", "tonight", "tomorrow", "tomorrow 08:00",
            "2026-10-25 02:30", "2027-03-28 02:30", "2026-10-25T02:30+01:00",
        ], false), @r#"
        "2026-11-28": Sat 2026-11-28 00:00:00 +01:00
        "2026-11-28 23:00": Sat 2026-11-28 23:00:00 +01:00
        "2026-11-28T23:00": Sat 2026-11-28 23:00:00 +01:00
        "2026-11-28T23:00:00Z": Sun 2026-11-29 00:00:00 +01:00
        "2026-11-28 23:00+09:00": Sat 2026-11-28 15:00:00 +01:00
        "now": Sun 2026-10-25 00:30:20 +02:00
        "now+2h": Sun 2026-10-25 02:30:20 +02:00
        "now -1h30m": Sat 2026-10-24 23:00:20 +02:00
        "today": Sun 2026-10-25 00:00:00 +02:00
        "today 17:00": Sun 2026-10-25 17:00:00 +01:00
        "tonight": Sun 2026-10-25 22:00:00 +01:00
        "tomorrow": Mon 2026-10-26 00:00:00 +01:00
        "tomorrow 08:00": Mon 2026-10-26 08:00:00 +01:00
        "2026-10-25 02:30": Clocks(2026-10-25T02:30:00)
        "2027-03-28 02:30": Clocks(2027-03-28T02:30:00)
        "2026-10-25T02:30+01:00": Sun 2026-10-25 02:30:00 +01:00
        "#);
    }

    #[test]
    fn tonight_is_never_past() {
        let berlin = zone::parse("Europe/Berlin").unwrap();
        let at = |now: &str| {
            let now: Timestamp = now.parse().unwrap();
            Said::spoken("tonight", now, &berlin)?.instant(&berlin, false).ok().map(|at| at.to_string())
        };
        assert_eq!(at("2026-11-28T20:59:59Z").as_deref(), Some("2026-11-28T21:00:00Z"));
        assert_eq!(at("2026-11-28T22:30:00Z").as_deref(), Some("2026-11-28T22:30:00Z"));
    }

    #[test]
    fn a_day_as_an_end_is_part_of_it() {
        insta::assert_snapshot!(told(&["today", "2026-11-28", "tonight", "9999-12-31"], true), @r#"
        "today": Mon 2026-10-26 00:00:00 +01:00
        "2026-11-28": Sun 2026-11-29 00:00:00 +01:00
        "tonight": Sun 2026-10-25 22:00:00 +01:00
        "9999-12-31": Beyond
        "#);
    }

    #[test]
    fn nothing_else_is() {
        insta::assert_snapshot!(told(&[
            "", "soon", "Tomorrow", "tomorrow 8", "tomorrow 08:00:00", "2026-11-28 25:00", "2026-13-01", "20261128",
            "now+", "now2h", "now+2x", "now+9999999w", "nowhere", "2026-11-28 ", "tonight 23:00",
        ], false), @r#"
        "": nothing
        "soon": nothing
        "Tomorrow": nothing
        "tomorrow 8": nothing
        "tomorrow 08:00:00": nothing
        "2026-11-28 25:00": nothing
        "2026-13-01": nothing
        "20261128": nothing
        "now+": nothing
        "now2h": nothing
        "now+2x": nothing
        "now+9999999w": nothing
        "nowhere": nothing
        "2026-11-28 ": Sat 2026-11-28 00:00:00 +01:00
        "tonight 23:00": nothing
        "#);
    }
}
