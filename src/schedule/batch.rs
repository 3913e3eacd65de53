//! The lines of `cron -`: an expression, a zone, a start and a count in, firings out.

use jiff::civil;

use super::cron::CronExpr;
use super::local::{DAY, date_of};
use super::zone;

/// The most firings that one line may ask for.
const MOST: u64 = 1_000_000;

/// Answers one line `EXPR⇥ZONE⇥FROM⇥COUNT`, given without its line ending.
///
/// * `error` where the expression is not a CronJob's schedule, the zone not a CronJob's time zone, FROM not
///   RFC 3339 with an offset (`2026-03-29T00:00:00Z`, `2026-03-29T01:00:00+01:00`), COUNT not a whole number
///   up to a million, or the line does not have these four parts;
/// * `never` where the expression does not fire within five years of FROM;
/// * otherwise the next COUNT firings strictly after FROM, as `2006-01-02T15:04:05Z` in UTC, separated by
///   single spaces; fewer where no more come, none where COUNT is 0.
///
/// # Example
///
/// ```
/// use gitops_windows::schedule::batch_line;
///
/// let line = "0 8 * * MON\tEurope/Berlin\t2026-03-27T00:00:00Z\t2";
/// assert_eq!(batch_line(line), "2026-03-30T06:00:00Z 2026-04-06T06:00:00Z");
/// assert_eq!(batch_line("0 0 31 2 *\tUTC\t2026-03-27T00:00:00Z\t1"), "never");
/// assert_eq!(batch_line("0 0 * * 7\tUTC\t2026-03-27T00:00:00Z\t1"), "error");
/// ```
pub fn batch_line(line: &str) -> String {
    answer(line).unwrap_or_else(|| "error".into())
}

fn answer(line: &str) -> Option<String> {
    let mut parts = line.split('\t');
    let (expr, zone, from, count) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let expr = CronExpr::parse(expr).ok()?;
    let zone = zone::exact(zone)?;
    let from = parse_rfc3339(from)?;
    if count.is_empty() || !count.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let count: u64 = count.parse().ok().filter(|count| *count <= MOST)?;
    let mut out = String::new();
    for second in expr.firing_seconds(from, &zone).take(count as usize) {
        if !out.is_empty() {
            out.push(' ');
        }
        push_utc(&mut out, second);
    }
    if out.is_empty() && count > 0 {
        out.push_str("never");
    }
    Some(out)
}

/// Reads an RFC 3339 time with an offset; gives the second since 1970 that it falls into.
fn parse_rfc3339(text: &str) -> Option<i64> {
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
    let days = super::local::days_of(date.year().into(), date.month() as u32, date.day().into());
    Some(days * DAY + hour * 3600 + minute * 60 + second - offset)
}

/// Writes `2006-01-02T15:04:05Z`.
fn push_utc(out: &mut String, second: i64) {
    let (year, month, day) = date_of(second.div_euclid(DAY));
    let of_day = second.rem_euclid(DAY);
    let (high, low) = (year.div_euclid(100), year.rem_euclid(100));
    if (0..100).contains(&high) {
        push_two(out, high);
    } else {
        out.push_str(&high.to_string());
    }
    for (number, after) in [
        (low, '-'),
        (i64::from(month), '-'),
        (i64::from(day), 'T'),
        (of_day / 3600, ':'),
        (of_day / 60 % 60, ':'),
        (of_day % 60, 'Z'),
    ] {
        push_two(out, number);
        out.push(after);
    }
}

fn push_two(out: &mut String, number: i64) {
    out.push(char::from(b'0' + (number / 10) as u8));
    out.push(char::from(b'0' + (number % 10) as u8));
}
