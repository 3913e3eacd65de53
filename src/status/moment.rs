//! Times as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::status::{By, Setter};

/// Writes an instant in a zone: `Sat 2026-11-28 22:00`.
pub fn show(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M").to_string()
}

/// Says who set a field and when, as a sentence without a subject: `resumed Sun 2026-11-29 09:12 by kubectl-edit, by hand`.
pub fn told(verb: &str, setter: &Setter, zone: &TimeZone) -> String {
    let at = setter.at.map(|at| format!(" {}", show(at, zone))).unwrap_or_default();
    let who = match &setter.by {
        By::Job(name) => format!("CronJob {name}"),
        By::Flux => setter.manager.clone(),
        By::Git => format!("{}, as Git says", setter.manager),
        By::Hand => format!("{}, by hand", setter.manager),
    };
    format!("{verb}{at} by {who}")
}
