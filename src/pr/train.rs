//! What waits for the same opening already.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::delivery::{Applier, Comparison, Kind, World};
use crate::pr::clock::Clock;
use crate::pr::landing::Landing;
use crate::pr::report::{By, Report};
use crate::render::Renderer;
use crate::repo::manifest::ObjectId;

/// A commit, as people know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
}

/// What was merged since a window closed, and waits for its next opening.
#[derive(Clone, Debug)]
pub struct Train {
    /// The window.
    pub window: String,
    /// When it closed.
    pub since: Timestamp,
    /// When it opens; `None` where it does not again.
    pub opens: Option<Timestamp>,
    /// The clusters, in order.
    pub clusters: BTreeSet<String>,
    /// The commits that change what waits, or may: all that were merged since, the newest first.
    pub commits: Vec<Commit>,
    /// The objects that wait.
    pub waiting: Vec<Waiting>,
}

/// One object that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The cluster.
    pub cluster: String,
    /// What builds it.
    pub by: By,
    /// Its id.
    pub id: ObjectId,
    /// What becomes of it.
    pub kind: Kind,
    /// Whether the pull request changes it too, so that it never lands as it waits now.
    pub is_superseded: bool,
}

/// A closing of which it is asked what was merged since: its instant, with the clusters and the window's names.
pub type Closing = (Timestamp, BTreeMap<String, BTreeSet<String>>);

/// Returns the closings behind which changes of a report wait, each with its clusters by window.
pub fn closings(report: &Report) -> Vec<Closing> {
    let mut found: BTreeMap<Timestamp, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for line in report.changes.iter().filter(|line| line.lands.state.is_windowed()) {
        if let (Some(since), Some(window)) = (line.lands.since, &line.lands.window) {
            found.entry(since).or_default().entry(window.clone()).or_default().insert(line.cluster.clone());
        }
    }
    found.into_iter().collect()
}

/// Compares what was there at a closing with the base of a pull request, and keeps what waits.
pub fn trains(
    clock: &Clock<'_>,
    report: &Report,
    (since, windows): &Closing,
    closed: World<'_>,
    commits: &[Commit],
    renderer: &dyn Renderer,
) -> Vec<Train> {
    let comparison = Comparison::new(closed, clock.before.world, renderer);
    let changed: BTreeSet<(&str, &str, &ObjectId)> =
        report.changes.iter().map(|line| (line.cluster.as_str(), line.by.name(), &line.id)).collect();
    // Many objects have one Flux Kustomization.
    let lands = comparison.pairs.iter().map(|pair| {
        let applier = pair.after.as_ref().filter(|_| pair.before.is_some())?;
        Some((applier, clock.before.applied(applier, clock.now)))
    });
    let lands: Vec<Option<(&Applier<'_>, Landing)>> = lands.collect();
    let mut found = Vec::new();
    for (window, clusters) in windows {
        let mut train = Train {
            window: window.clone(),
            since: *since,
            opens: None,
            clusters: clusters.clone(),
            commits: commits.to_vec(),
            waiting: Vec::new(),
        };
        for change in &comparison.changes {
            let Some((applier, lands)) = lands.get(change.pair()).and_then(Option::as_ref) else { continue };
            if !clusters.contains(applier.cluster) {
                continue;
            }
            if lands.since != Some(*since) || lands.window.as_ref() != Some(window) {
                continue;
            }
            train.opens = lands.earliest;
            let by = By::of(applier);
            let is_superseded = changed.contains(&(applier.cluster, by.name(), &change.live));
            let (cluster, id, kind) = (applier.cluster.to_owned(), change.live.clone(), change.kind());
            train.waiting.push(Waiting { cluster, by, id, kind, is_superseded });
        }
        if !train.waiting.is_empty() {
            found.push(train);
        }
    }
    found
}
