//! Clusters that got another name in the spec after their gate was written.

use crate::delivery::Input;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::ClusterGate;
use crate::path::RepoPath;
use crate::repo::built;

/// Makes sure that a cluster without a gate in its folder gets none that was written for it under another name: both
/// would be applied, and each would delete the CronJobs of the other when it goes.
///
/// # Errors
///
/// When it does.
pub fn check(input: &Input<'_>, cluster: &ClusterGate) -> Result<(), Error> {
    if input.model.graph.has(&cluster.folder) {
        return Ok(());
    }
    let entries = input.model.entries_of(&cluster.cluster);
    let applied = entries.filter(|entry| input.model.is_applied_to(entry, &cluster.cluster));
    let mut folders = applied.flat_map(|entry| built(&input.model.graph, &entry.path));
    let Some((name, folder)) = folders.find_map(|folder| Some((former(input, &folder)?, folder))) else {
        return Ok(());
    };
    let (now, wanted) = (&cluster.cluster, &cluster.folder);
    Err(Error::new(
        ErrorKind::Conflict,
        Diagnostic::error(format!(
            "cluster `{now}` already has the gate of {folder}. A second gate in {wanted} would be applied beside it"
        ))
        .at(Place::file(input.spec.path.clone()))
        .help(format!(
            "did you mean `{name}`?\nor move {folder} to {wanted}, also where it is listed or applied, and run this again"
        )),
    ))
}

/// Returns the cluster of which a folder would be the gate's, where the spec has none of that name.
fn former(input: &Input<'_>, folder: &RepoPath) -> Option<String> {
    let is_it = |name: &&str| input.spec.gate_folder(name).is_ok_and(|own| own == *folder);
    let is_known = |name: &&str| input.spec.clusters.contains_key(*name);
    // A name may be a part of a segment, as in `reconciliation-windows-{cluster}`.
    let names = folder.segments().flat_map(|segment| {
        let starts = segment.char_indices().map(|(at, _)| at);
        starts.flat_map(move |at| (at + 1..=segment.len()).rev().filter_map(move |end| segment.get(at..end)))
    });
    names.filter(|name| !is_known(name)).find(is_it).map(str::to_owned)
}
