//! Where gates are: the folders of their base and of each cluster's patches.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::error::Error;
use crate::path::RepoPath;
use crate::plan::gate::carrier;
use crate::repo::built;

/// For each entry point that applies a gate or will, the gate's folder.
pub type Carriers = BTreeMap<RepoPath, RepoPath>;

/// Gives, for each entry point that applies a gate or will, the gate's folder.
///
/// # Errors
///
/// When the layout gives no folder.
pub fn carriers(input: &Input<'_>) -> Result<Carriers, Error> {
    let mut found = Carriers::new();
    let sides = input.sides();
    for cluster in input.spec.clusters.keys() {
        let folder = input.spec.gate_folder(cluster)?;
        if let Some(entry) = carrier::carrier_of(input, &sides, cluster, &folder) {
            found.insert(entry.path.clone(), folder);
        }
    }
    Ok(found)
}

/// Returns the folders of all clusters' gates, whether or not they stand.
///
/// # Errors
///
/// When the layout gives no folder.
pub fn cluster_folders(input: &Input<'_>) -> Result<Vec<RepoPath>, Error> {
    input.spec.clusters.keys().map(|cluster| input.spec.gate_folder(cluster)).collect()
}

/// The folders of gates, with the entry points that apply them or will: found once, as it takes time.
#[derive(Debug, Default)]
pub struct GateFolders {
    carriers: Carriers,
    /// The folder of the base and those of all clusters.
    all: BTreeSet<RepoPath>,
}

impl GateFolders {
    /// Finds them.
    ///
    /// # Errors
    ///
    /// When the layout gives no folder.
    pub fn of(input: &Input<'_>) -> Result<GateFolders, Error> {
        let base = input.spec.gate_base()?;
        // Those that the spec no longer wants may be on their way out.
        let former = input.model.closings.clusters().filter_map(|one| input.spec.gate_folder(one).ok());
        let all = cluster_folders(input)?.into_iter().chain([base]).chain(former).collect();
        Ok(GateFolders { carriers: carriers(input)?, all })
    }

    /// Returns the folders of gates that an entry point applies or will, or that it is: gates change with
    /// the spec, whoever takes them in.
    pub fn free(&self, input: &Input<'_>, entry: &RepoPath) -> Vec<RepoPath> {
        let mut free: BTreeSet<RepoPath> = self.carriers.get(entry).cloned().into_iter().collect();
        let reach = built(&input.model.graph, entry).into_iter().chain([entry.clone()]);
        free.extend(reach.filter(|folder| self.all.contains(folder)));
        free.into_iter().collect()
    }
}
