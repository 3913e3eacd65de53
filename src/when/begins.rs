//! What begins to wait once the gates of a spec have reached the clusters.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::fleet::Schedules;
use crate::delivery::{Held, Hold, Holds, Model};
use crate::diagnostic::{Diagnostic, clean};
use crate::schedule::moment;
use crate::spec::Spec;

/// What a split of everything would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// How many entry points it divides.
    pub divided: usize,
    /// How many it can't divide.
    pub refused: usize,
    /// The clusters of the Flux Kustomizations that wait after the hand-over, one for each.
    pub waiting: Vec<String>,
    /// The Flux Kustomizations that these replace, by cluster, namespace and name.
    pub replaced: BTreeSet<(String, String, String)>,
}

/// Says in sentences from when on what waits for what, beside what waited before, and what will after a split.
///
/// # Errors
///
/// When the spec has a window without openings and closings; one that was read has none.
pub fn begins(
    spec: &Spec,
    model: &Model,
    before: &Held,
    ahead: &Ahead,
    now: Timestamp,
) -> Result<String, Vec<Diagnostic>> {
    let after = Holds::new(model, Some(spec)).all();
    let mut told = vec![today(spec, model, &after, before, ahead, now)?];
    let is_off = spec.clusters.keys().all(|cluster| !spec.gate_enabled(cluster));
    if !ahead.waiting.is_empty() {
        let held: Vec<&String> =
            after.keys().filter(|id| !ahead.replaced.contains(id)).map(|(cluster, ..)| cluster).collect();
        let count = held.len() + ahead.waiting.len();
        let clusters: BTreeSet<&String> = held.iter().copied().chain(&ahead.waiting).collect();
        let waiting = counted(count, clusters.len());
        let its = if count == 1 { "its window" } else { "their windows" };
        let first = if is_off { "`enabled: true` in windows.yaml, " } else { "" };
        told.push(format!(
            "After {first}`gitops-windows split --all` and `gitops-windows migrate`, {waiting} for {its}."
        ));
    }
    if ahead.refused > 0 {
        let them = match ahead.refused {
            1 => "1 entry point as it is".to_owned(),
            several => format!("{several} entry points as they are"),
        };
        told.push(format!("`split --all` leaves {them}: `gitops-windows split --all --dry-run` says why."));
    }
    Ok(told.join("\n"))
}

fn counted(waiting: usize, clusters: usize) -> String {
    match (waiting, clusters) {
        (1, _) => "1 Flux Kustomization waits".to_owned(),
        (count, 1) => format!("{count} Flux Kustomizations in 1 cluster wait"),
        (count, several) => format!("{count} Flux Kustomizations in {several} clusters wait"),
    }
}

fn today(
    spec: &Spec,
    model: &Model,
    after: &Held,
    before: &Held,
    ahead: &Ahead,
    now: Timestamp,
) -> Result<String, Vec<Diagnostic>> {
    let new: Held = after.iter().filter(|(id, _)| !before.contains_key(id)).map(cloned).collect();
    let is_off = spec.clusters.keys().all(|cluster| !spec.gate_enabled(cluster));
    if new.is_empty() {
        let has_flux = |cluster: &String| model.flux_of_cluster(cluster).next().is_some();
        return Ok(match after.len() {
            0 if is_off && !spec.clusters.keys().any(has_flux) => {
                "Nothing waits: without a Flux Kustomization in Git the gates are switched off.".to_owned()
            }
            0 if is_off => "Nothing waits: the gates are switched off.".to_owned(),
            0 if ahead.divided + ahead.refused == 0 => {
                "Nothing waits, and a split would divide nothing: `gitops-windows split --all --dry-run` says why.".to_owned()
            }
            0 => "Nothing waits yet.".to_owned(),
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
    let waiting = counted(new.len(), clusters.len());
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
    clean(&moment(at, zone))
}
