//! What lands at once although objects there have a window, or may have one.

use std::collections::BTreeSet;

use crate::delivery::{EntryPoint, Input};
use crate::mechanism::GateTarget;
use crate::path::RepoPath;
use crate::plan::gate::unsuspended;
use crate::plan::split::divisible;

/// Returns the folders of these clusters, of all where none is named, that stay undivided and that no gate suspends; and
/// those of this repository that an ArtifactGenerator copies elsewhere.
pub fn at_once(input: &Input<'_>, clusters: &[String]) -> BTreeSet<RepoPath> {
    let is_meant = |cluster: &str| {
        input.spec.clusters.contains_key(cluster)
            && (clusters.is_empty() || clusters.iter().any(|one| one == cluster))
    };
    let model = input.model;
    let undivided = divisible(input).into_iter();
    let undivided = undivided.filter(|entry: &&EntryPoint| entry.clusters().any(is_meant));
    let open = unsuspended(input);
    let open = open.iter().filter(|(cluster, _)| is_meant(cluster)).flat_map(|(cluster, targets)| {
        let own = model.flux_of_cluster(cluster);
        own.filter(|one| targets.contains(&GateTarget::of(input, one))).filter_map(|one| one.path.clone())
    });
    let unmapped = model.foreign().filter(|(one, _)| one.unmapped.is_some() && is_meant(&one.cluster));
    let undivided = undivided.map(|entry| entry.path.clone());
    undivided.chain(open).chain(unmapped.map(|(_, folder)| folder)).collect()
}
