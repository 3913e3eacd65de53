//! Windows that a pull request changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::BuiltJob;
use crate::mechanism::Action;
use crate::pr::clock::Clock;
use crate::pr::finding::{Finding, Topic};
use crate::pr::tree::{Tree, window_of};
use crate::spec::{Spec, later_words};

/// The windows of a cluster in words, by the name of each; one that has none goes by its type.
type Windows = BTreeMap<String, BTreeSet<String>>;

/// Finds the windows that are others afterwards, cluster by cluster.
pub(super) fn windows(clock: &Clock<'_>) -> Vec<Finding> {
    let clusters = clock.after.world.model.delivered.all.iter().map(|cluster| cluster.name.as_str());
    let mut found = Vec::new();
    for cluster in clusters.filter(|cluster| clock.is_in_both(cluster)) {
        let (before, after) = match (clock.before.spec, clock.after.spec) {
            (Some(before), Some(after)) => (of_spec(before, cluster), of_spec(after, cluster)),
            _ => (of_jobs(&clock.before, cluster), of_jobs(&clock.after, cluster)),
        };
        // A gate that comes or goes as a whole changes no window.
        if before.is_empty() || after.is_empty() {
            continue;
        }
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names.into_iter().filter(|name| before.get(*name) != after.get(*name)) {
            let words = |windows: &Windows| {
                let of = windows.get(name)?;
                Some(of.iter().map(String::as_str).collect::<Vec<_>>().join(" and "))
            };
            let what = match (words(&before), words(&after)) {
                (Some(old), Some(new)) => format!("changes: {old} → {new}"),
                (None, Some(new)) => format!("is new: {new}"),
                (old, _) => format!("goes: {}", old.unwrap_or_default()),
            };
            found.push(Finding {
                topic: Topic::Check,
                cluster: cluster.to_owned(),
                message: format!("window {name} {what}"),
                from: Some(clock.now),
                help: "look at the openings that this makes: `gitops-windows calendar`".to_owned(),
                file: clock.after.spec.map(|spec| spec.path.clone()),
                ..Finding::default()
            });
        }
    }
    found
}

fn of_spec(spec: &Spec, cluster: &str) -> Windows {
    let mut windows = Windows::new();
    let later = later_words(spec.later(cluster));
    for change_type in spec.types.iter().filter(|one| !one.is_real_time()) {
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
