//! What a new freeze takes from overrides.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::diagnostic::{Diagnostic, clean};
use crate::schedule::moment;
use crate::spec::{Freeze, Override, Spec};

/// Says of each override that is not over which part of it a freeze takes: a freeze always wins.
pub(super) fn taken(spec: &Spec, freeze: &Freeze, zone: &TimeZone, now: Timestamp) -> Vec<Diagnostic> {
    let name = &freeze.name.value;
    let told = |given: &Override| {
        let interval = given.interval;
        let lost = freeze.interval.clip(interval.open.max(now), interval.close)?;
        let is_taken = |cluster: &&String| {
            let mut own = spec.freezes_of(cluster, &given.type_name).into_iter();
            spec.is_one_of(cluster, &given.clusters) && own.any(|own| own.name.value == *name)
        };
        let clusters: BTreeSet<&str> = spec.clusters.keys().filter(is_taken).map(String::as_str).collect();
        if clusters.is_empty() {
            return None;
        }
        let at = |at: Timestamp| moment(at, zone);
        let what = match (lost.open <= now, lost.open <= interval.open, lost.close >= interval.close) {
            (true, _, true) => "ends at once".to_owned(),
            (_, true, true) => "does not count".to_owned(),
            (true, _, false) | (_, true, false) => format!("counts only from {}", at(lost.close)),
            (_, false, true) => format!("ends {}", at(lost.open)),
            (_, false, false) => format!("pauses from {} to {}", at(lost.open), at(lost.close)),
        };
        let message = format!(
            "the override of type {} until {} ({}) {what} in cluster {}: freeze `{name}` wins",
            given.type_name.value,
            at(interval.close),
            clean(&given.reason),
            clusters.into_iter().collect::<Vec<_>>().join(", "),
        );
        Some(Diagnostic::warning(message))
    };
    spec.overrides.iter().filter_map(|given| told(given)).collect()
}
