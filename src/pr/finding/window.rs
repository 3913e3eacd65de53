//! Windows, freezes and overrides that a pull request changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::BuiltJob;
use crate::delivery::fleet::window_of;
use crate::diagnostic::Place;
use crate::mechanism::Action;
use crate::pr::clock::Clock;
use crate::pr::finding::exception::exceptions;
use crate::pr::finding::opening::{effects, of_tables};
use crate::pr::finding::{Finding, Topic};
use crate::pr::tree::Tree;
use crate::spec::{Spec, later_words};

/// The windows of a cluster in words, by the name of each; one that has none goes by its type.
type Windows = BTreeMap<String, BTreeSet<String>>;

/// One change of the times at which something is open.
#[derive(Clone, Debug)]
pub(super) struct WindowChange {
    /// What changes.
    pub(super) message: String,
    /// Where the newer spec says it.
    pub(super) place: Option<Place>,
}

/// Finds the windows, freezes and overrides that are others afterwards, and what that makes of the next opening, cluster
/// by cluster. Where nothing closes, nothing of them counts.
pub(super) fn windows(clock: &Clock<'_>) -> Vec<Finding> {
    let clusters = clock.after.world.model.delivered.all.iter().map(|cluster| cluster.name.as_str());
    let closings = [&clock.before, &clock.after].map(|tree| &tree.world.model.closings);
    let mut found = Vec::new();
    for cluster in clusters.filter(|cluster| clock.is_in_both(cluster)) {
        // A gate that comes or goes as a whole changes no window.
        if !closings.iter().all(|closings| closings.closes_any(cluster)) {
            continue;
        }
        let mut changes = match (clock.before.spec, clock.after.spec) {
            (Some(before), Some(after)) => {
                let mut changes = changed(&of_spec(before, cluster), &of_spec(after, cluster));
                changes.extend(exceptions(before, after, cluster, clock.now));
                changes
            }
            _ => {
                let mut changes = changed(&of_jobs(&clock.before, cluster), &of_jobs(&clock.after, cluster));
                changes.extend(of_tables(clock, cluster));
                changes
            }
        };
        if changes.is_empty() {
            continue;
        }
        // What only the spec says, no CronJob knows.
        let is_stale = clock.after.spec.is_some() && closings[0].of(cluster) == closings[1].of(cluster);
        if !is_stale {
            changes.extend(effects(clock, cluster));
        }
        let (stale, help) = match is_stale {
            true => (", once its CronJobs say so", "run `gitops-windows sync`; commit its files"),
            false => ("", "look at the openings that this makes: `gitops-windows calendar`"),
        };
        let file = clock.after.spec.map(|spec| spec.path.clone());
        found.extend(changes.into_iter().map(|change| Finding {
            topic: Topic::Windows,
            cluster: cluster.to_owned(),
            message: change.message + stale,
            from: Some(clock.now),
            help: help.to_owned(),
            zone: clock.after.zone_of(cluster),
            line: change.place.as_ref().and_then(Place::line),
            file: change.place.map(|place| place.path).or_else(|| file.clone()),
            ..Finding::default()
        }));
    }
    found
}

/// Names types in a sentence.
pub(super) fn types_words(types: &BTreeSet<String>) -> String {
    let names: Vec<String> = types.iter().map(|name| format!("`{name}`")).collect();
    format!("{} {}", if names.len() == 1 { "type" } else { "types" }, names.join(" and "))
}

fn changed(before: &Windows, after: &Windows) -> Vec<WindowChange> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let words = |windows: &Windows, name: &String| {
        let of = windows.get(name)?;
        Some(of.iter().map(String::as_str).collect::<Vec<_>>().join(" and "))
    };
    let change = |name: &String| {
        let what = match (words(before, name), words(after, name)) {
            (old, new) if old == new => return None,
            (Some(old), Some(new)) => format!("changes: {old} → {new}"),
            (None, Some(new)) => format!("is new: {new}"),
            (old, _) => format!("goes: {}", old.unwrap_or_default()),
        };
        Some(WindowChange { message: format!("window {name} {what}"), place: None })
    };
    names.into_iter().filter_map(change).collect()
}

fn of_spec(spec: &Spec, cluster: &str) -> Windows {
    let mut windows = Windows::new();
    let later = later_words(spec.later(cluster));
    for change_type in spec.gated_types() {
        let of_type = &change_type.name.value;
        let names = spec.window_names(cluster, of_type);
        for (name, def) in names.into_iter().zip(spec.windows_of(cluster, of_type)) {
            let name = name.map_or_else(|| format!("of type {of_type}"), str::to_owned);
            // One that is wrong is told by `check`.
            let words = def.value.schedule().map(|window| format!("{window}{later}"));
            windows.entry(name).or_default().extend(words.ok());
        }
    }
    windows
}

fn of_jobs(tree: &Tree<'_>, cluster: &str) -> Windows {
    let closings = &tree.world.model.closings;
    let closing =
        closings.of(cluster).iter().filter(|job| job.action == Action::Close && job.table.is_none());
    let pairs = closing.filter_map(|job| closings.pair(cluster, &job.name));
    let words = |(open, close): (&BuiltJob, &BuiltJob)| {
        let window = window_of(open, close)?.to_string();
        Some((format!("of CronJob {}", close.name), BTreeSet::from([window])))
    };
    pairs.filter_map(words).collect()
}
