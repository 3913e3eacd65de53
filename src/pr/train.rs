//! What waits for the same opening already.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::delivery::fleet::reached_by;
use crate::delivery::{Applier, Comparison, Kind, Part, Readers, World};
use crate::path::RepoPath;
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
    /// The paths that it changed; `None` where the clone does not tell.
    pub paths: Option<BTreeSet<RepoPath>>,
}

/// What was merged since a window closed, and waits for its next opening.
#[derive(Clone, Debug)]
pub struct Train {
    /// The window.
    pub window: String,
    /// Its time zone.
    pub zone: Option<String>,
    /// When it closed.
    pub since: Timestamp,
    /// When it opens; `None` where it does not again.
    pub opens: Option<Timestamp>,
    /// The clusters, in order.
    pub clusters: BTreeSet<String>,
    /// The commits merged since that change what waits, or may, the newest first.
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
    let comparison = Comparison::staged(closed, clock.before.world, renderer);
    let changed: BTreeSet<(&str, &str, &ObjectId)> =
        report.changes.iter().map(|line| (line.cluster.as_str(), line.by.name(), &line.id)).collect();
    // Many objects have one Flux Kustomization.
    let lands = comparison.pairs.iter().map(|pair| {
        // Another spec is there already.
        let is_there = pair.before.is_none() || pair.part == Part::Spec;
        let applier = pair.after.as_ref().filter(|_| !is_there)?;
        Some((applier, clock.before.applied(applier, clock.now)))
    });
    let lands: Vec<Option<(&Applier<'_>, Landing)>> = lands.collect();
    let readers = [closed, clock.before.world].map(|world| (world, Readers::of(world.model)));
    let mut found = Vec::new();
    for (window, clusters) in windows {
        let mut appliers: BTreeMap<usize, &Applier<'_>> = BTreeMap::new();
        let mut is_by_values = false;
        let mut train = Train {
            window: window.clone(),
            zone: None,
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
            (train.opens, train.zone) = (lands.earliest, lands.zone.clone());
            appliers.insert(change.pair(), applier);
            is_by_values |= change.between.is_some();
            let by = By::of(applier);
            let is_superseded = changed.contains(&(applier.cluster, by.name(), &change.live));
            let (cluster, id, kind) = (applier.cluster.to_owned(), change.live.clone(), change.kind());
            train.waiting.push(Waiting { cluster, by, id, kind, is_superseded });
        }
        if !train.waiting.is_empty() {
            // Who changed a value that others put in is not followed.
            if !is_by_values {
                let above = with_parents(clock, appliers.into_values());
                keep_changing(&mut train.commits, &comparison.files, &above, &readers);
            }
            found.push(train);
        }
    }
    found
}

/// What tells Flux Kustomizations of all clusters apart: the cluster, then its own key.
type Key = [String; 4];

fn key(one: &Applier<'_>) -> Key {
    let (remote, namespace, name) = one.key();
    [one.cluster, remote, namespace, name].map(str::to_owned)
}

/// Returns the keys of some Flux Kustomizations, and of those that apply them.
fn with_parents<'k>(clock: &Clock<'_>, all: impl Iterator<Item = &'k Applier<'k>>) -> BTreeSet<Key> {
    let mut found = BTreeSet::new();
    for one in all {
        let (mut is_new, mut above) = (found.insert(key(one)), clock.before.parent(one));
        while let Some(next) = above.filter(|_| is_new) {
            is_new = found.insert(key(&next));
            above = clock.before.parent(&next);
        }
    }
    found
}

/// Leaves out the commits of which no file differs that one of these Flux Kustomizations reads, then or now; none where
/// nothing would be left.
fn keep_changing(
    commits: &mut Vec<Commit>,
    differing: &BTreeSet<RepoPath>,
    all: &BTreeSet<Key>,
    readers: &[(World<'_>, Readers<'_>)],
) {
    let is_one = |one: &Applier<'_>| all.contains(&key(one));
    let reads = |file: &RepoPath| {
        readers.iter().any(|(world, readers)| {
            let mut known = readers.reading(file).peekable();
            match known.peek() {
                Some(_) => known.any(is_one),
                // What a generator or a link reads, no list says.
                None => {
                    let reached = reached_by(world.model, world.snapshot, file);
                    readers.all.iter().any(|one| reached.contains(&one.path) && is_one(one))
                }
            }
        })
    };
    let read: BTreeSet<&RepoPath> = differing.iter().filter(|file| reads(file)).collect();
    let changes = |one: &Commit| match &one.paths {
        Some(paths) => paths.iter().any(|path| read.contains(path)),
        None => true,
    };
    if commits.iter().any(changes) {
        commits.retain(changes);
    }
}
