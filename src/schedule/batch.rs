//! The lines of `cron -`: an expression, a zone, a start and a count in, firings out.

use super::cron::CronExpr;
use super::moment::Moment;
use super::zone;

/// The most firings that one line may ask for.
const MOST: u64 = 1_000_000;

/// Answers one line `EXPR⇥ZONE⇥FROM⇥COUNT`, given without its line ending.
///
/// * `error` where the expression is not a CronJob's schedule, the zone not a CronJob's time zone, FROM not
///   RFC 3339 with an offset ([`Moment::parse`]), COUNT not a whole number from 1 to a million, or the line
///   does not have these four parts. So no answer is ever empty;
/// * `never` where the expression does not fire within five years of FROM, further than which Kubernetes does
///   not look;
/// * otherwise the next COUNT firings strictly after FROM, as `2006-01-02T15:04:05Z` in UTC, separated by
///   single spaces; fewer where no more come.
///
/// The rules are those of the API server and of robfig/cron v3.0.1: `TZ=` in the expression is an error, as
/// `timeZone` is there for it, and so are an empty zone and `Local`.
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
    let from = Moment::parse(from)?;
    if !count.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let count: u64 = count.parse().ok().filter(|count| (1..=MOST).contains(count))?;
    let mut out = String::new();
    for moment in expr.moments(from, &zone).take(count as usize) {
        if !out.is_empty() {
            out.push(' ');
        }
        moment.push_utc(&mut out);
    }
    if out.is_empty() {
        out.push_str("never");
    }
    Some(out)
}
