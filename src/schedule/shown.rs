//! How people read an instant.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Writes an instant to the minute with the name of its zone: `Sat 2026-11-28 22:00 Europe/Berlin`.
///
/// A time that a change of the clocks makes come twice has its offset too, and so has one of a zone without a name.
///
/// ```
/// use gitops_windows::schedule::{moment, zone};
///
/// let berlin = zone::parse("Europe/Berlin")?;
/// assert_eq!(moment("2026-11-28T21:00:00Z".parse()?, &berlin), "Sat 2026-11-28 22:00 Europe/Berlin");
/// assert_eq!(moment("2026-10-25T01:30:00Z".parse()?, &berlin), "Sun 2026-10-25 02:30 +01:00 Europe/Berlin");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn moment(at: Timestamp, zone: &TimeZone) -> String {
    let local = at.to_zoned(zone.clone());
    let civil: DateTime = local.datetime();
    let is_clear = !zone.to_ambiguous_timestamp(civil).is_ambiguous();
    let name = zone_name(zone);
    match name.filter(|_| is_clear) {
        Some(name) => format!("{} {name}", local.strftime("%a %Y-%m-%d %H:%M")),
        None => {
            let name = name.map(|name| format!(" {name}")).unwrap_or_default();
            format!("{}{name}", local.strftime("%a %Y-%m-%d %H:%M %:z"))
        }
    }
}

/// Writes an instant to the minute, in a zone that is said elsewhere: `Sat 2026-11-28 22:00`.
pub fn minute(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M").to_string()
}

/// Writes an instant for programs, in UTC to the second: `2026-11-28T21:00:00Z`.
pub fn utc(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the name of a zone as people read it; `None` where it has none.
pub fn zone_name(zone: &TimeZone) -> Option<&str> {
    match zone.iana_name() {
        Some("Etc/UTC") => Some("UTC"),
        name => name,
    }
}
