//! What begins to wait once the gates of a spec have reached the clusters.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::fleet::Schedules;
use crate::delivery::{Held, Hold, Holds, Model};
use crate::diagnostic::{Diagnostic, clean};
use crate::spec::Spec;

/// Says in a sentence from when on what waits for what, beside what waited before.
///
/// # Errors
///
/// When the spec has a window without openings and closings; one that was read has none.
pub fn begins(spec: &Spec, model: &Model, before: &Held, now: Timestamp) -> Result<String, Vec<Diagnostic>> {
    let after = Holds::new(model, Some(spec)).all();
    let new: Held = after.iter().filter(|(id, _)| !before.contains_key(id)).map(cloned).collect();
    if new.is_empty() {
        return Ok(match after.len() {
            0 if !spec.gate.enabled => "Nothing waits: the gates are switched off.".to_owned(),
            0 => "Nothing waits yet: `gitops-windows split --all` divides what is to wait.".to_owned(),
            1 => "Nothing changes: 1 Flux Kustomization waits for its window as before.".to_owned(),
            count => {
                format!("Nothing changes: {count} Flux Kustomizations wait for their windows as before.")
            }
        });
    }
    let schedules = Schedules::new(spec)?;
    let schedule = |((cluster, ..), hold): (&(String, String, String), &Hold)| match hold {
        Hold::Window(name) => schedules.of(cluster, name),
        _ => None,
    };
    let distinct: BTreeSet<Option<usize>> = new.iter().map(schedule).collect();
    let known = distinct.iter().flatten().map(|position| &schedules.distinct()[*position]);
    let closings = known.filter_map(|schedule| {
        let times = schedule.times(now);
        Some((times.next_close?, schedule.zone(times.closes), schedule))
    });
    let clusters: BTreeSet<&str> = new.keys().map(|(cluster, ..)| cluster.as_str()).collect();
    let waiting = match (new.len(), clusters.len()) {
        (1, _) => "1 Flux Kustomization waits".to_owned(),
        (count, 1) => format!("{count} Flux Kustomizations in 1 cluster wait"),
        (count, several) => format!("{count} Flux Kustomizations in {several} clusters wait"),
    };
    let Some((close, zone, first)) = closings.min_by_key(|(close, ..)| *close) else {
        return Ok(format!("From the next closing, {waiting} for their windows. Nothing else changes."));
    };
    let times = first.times(close);
    let opens = match times.next_open {
        Some(open) if distinct.len() == 1 => told(open, &first.zone(times.opens)),
        _ => "their windows".to_owned(),
    };
    let from = told(close, &zone);
    Ok(format!("From {from}, {waiting} for {opens}. Nothing else changes."))
}

fn cloned((id, hold): (&(String, String, String), &Hold)) -> ((String, String, String), Hold) {
    (id.clone(), hold.clone())
}

fn told(at: Timestamp, zone: &TimeZone) -> String {
    let name = clean(zone.iana_name().unwrap_or("local time"));
    format!("{} {name}", at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M"))
}
