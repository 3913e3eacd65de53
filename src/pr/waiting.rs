//! The objects that wait for an opening already, as people are told of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Kind;
use crate::pr::report::By;
use crate::pr::train::Train;
use crate::text::count;

/// The most clusters that are named with an object.
const MOST_CLUSTERS: usize = 6;

/// What stands above them.
pub(super) const WAITING: &str = "What waits";

/// An object that waits in some clusters.
pub(super) struct Waits<'t> {
    /// The clusters.
    pub(super) clusters: BTreeSet<&'t str>,
    /// Its kind, namespace and name.
    pub(super) object: String,
    /// What becomes of it.
    pub(super) word: &'static str,
    /// The Flux Kustomization, else the folder, that builds it, behind the word for it.
    pub(super) by: (&'static str, &'t str),
    /// What the pull request does to it, behind all else.
    pub(super) again: &'static str,
}

impl Waits<'_> {
    /// Names its clusters, or counts them where they are many.
    pub(super) fn place(&self, named: impl Fn(&BTreeSet<&str>) -> String) -> String {
        match self.clusters.len() {
            0..=MOST_CLUSTERS => named(&self.clusters),
            many => count(many, "cluster"),
        }
    }
}

/// Returns the objects that wait, so many at most, and how many more there are; first those that the pull request changes
/// again.
pub(super) fn waiting(train: &Train, most: usize) -> (Vec<Waits<'_>>, usize) {
    let mut alike: BTreeMap<(bool, String, Kind, &By), BTreeSet<&str>> = BTreeMap::new();
    for one in &train.waiting {
        let key = (!one.is_superseded, one.id.to_string(), one.kind, &one.by);
        alike.entry(key).or_default().insert(&one.cluster);
    }
    let more = alike.len().saturating_sub(most);
    let told = |((stays, object, kind, by), clusters)| {
        let kind: Kind = kind;
        let by: &By = by;
        let applier = if by.kustomization.is_some() { "Flux Kustomization" } else { "folder" };
        let again = if stays { "" } else { ", which this pull request changes again" };
        Waits { clusters, object, word: kind.as_str(), by: (applier, by.name()), again }
    };
    (alike.into_iter().take(most).map(told).collect(), more)
}
