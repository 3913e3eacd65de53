//! The lists for people.

use jiff::Timestamp;

use crate::diagnostic::clean;
use crate::schedule::{Interval, minute, zone_name};
use crate::spec::Spec;
use crate::spec::exceptions::about::words;
use crate::spec::exceptions::json::state;
use crate::spec::exceptions::{UNTIL_REMOVED, is_endless};
use crate::text::table;

/// How many digits of a hash are shown; the lists for services have all.
const SHOWN: usize = 12;

/// Writes every freeze as a line of a table, in the zone of the spec.
pub fn freezes_text(spec: &Spec, now: Timestamp) -> String {
    let rows = spec.freezes.iter().map(|freeze| {
        let types: Vec<&str> = freeze.types.iter().map(|name| name.value.as_str()).collect();
        let types = if types.is_empty() { "all".to_owned() } else { types.join(", ") };
        let name = freeze.name.value.clone();
        let times = times(spec, freeze.interval, now);
        let from = freeze.calendar.as_ref().map(|file| {
            let hash = file.sha256.get(..SHOWN).unwrap_or_default();
            format!(" ({}, sha256 {hash})", clean(file.path.as_str()))
        });
        let reason = format!("{}{}", clean(&freeze.reason), from.unwrap_or_default());
        let rest = [types, words(&freeze.clusters), reason];
        std::iter::once(name).chain(times).chain(rest).collect()
    });
    list(spec, &["FREEZE"], rows.collect(), &["TYPES", "CLUSTERS", "REASON"], "no freezes")
}

/// Writes every override as a line of a table, in the zone of the spec.
pub fn overrides_text(spec: &Spec, now: Timestamp) -> String {
    let rows = spec.overrides.iter().map(|given| {
        let first = [words(&given.clusters), given.type_name.value.clone()];
        let times = times(spec, given.interval, now);
        first.into_iter().chain(times).chain([clean(&given.reason)]).collect()
    });
    list(spec, &["CLUSTERS", "TYPE"], rows.collect(), &["REASON"], "no overrides")
}

fn list(spec: &Spec, before: &[&str], rows: Vec<Vec<String>>, behind: &[&str], none: &str) -> String {
    if rows.is_empty() {
        return format!("{} has {none}.\n", spec.path);
    }
    let zone = spec.told_zone();
    let zone = zone_name(&zone).unwrap_or("UTC");
    let times = ["STATE".to_owned(), format!("FROM ({zone})"), format!("UNTIL ({zone})")];
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let head: Vec<String> = own(before).into_iter().chain(times).chain(own(behind)).collect();
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn times(spec: &Spec, interval: Interval, now: Timestamp) -> [String; 3] {
    let zone = spec.told_zone();
    let until = if is_endless(interval) { UNTIL_REMOVED.to_owned() } else { minute(interval.close, &zone) };
    [state(interval, now).to_owned(), minute(interval.open, &zone), until]
}
