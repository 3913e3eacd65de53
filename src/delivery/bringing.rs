//! Which Flux Kustomizations bring the CronJobs of gates.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Model;
use crate::path::RepoPath;
use crate::repo::FluxKustomization;
use crate::repo::kustomization::FILE_NAMES;

/// The Flux Kustomizations whose builds take in a file, as positions by file and cluster: all clusters may share a file, so
/// each is looked up once.
pub(super) type Carriers = BTreeMap<RepoPath, BTreeMap<String, Vec<usize>>>;

impl Model {
    /// Returns the Flux Kustomizations of a cluster that bring a job of a gate to it, by its name.
    pub fn bringing(&self, cluster: &str, job: &str) -> Vec<&FluxKustomization> {
        let carriers = self.index.carriers.get_or_init(|| self.carriers());
        let of = |file| carriers.get(file).and_then(|own| own.get(cluster));
        let mut files = self.closings.files(cluster, job).map(|file| of(file).map_or(&[][..], Vec::as_slice));
        let mut found = files.next().unwrap_or_default().to_vec();
        for others in files {
            found.retain(|position| others.contains(position));
        }
        found.into_iter().map(|position| self.flux(position)).collect()
    }

    fn carriers(&self) -> Carriers {
        let is_list = |file: &RepoPath| file.name().is_some_and(|name| FILE_NAMES.contains(&name));
        let files: BTreeSet<&RepoPath> = self.closings.all_files().collect();
        let of = |file: &RepoPath| {
            let folders = match file.parent().filter(|_| is_list(file)) {
                Some(folder) => self.graph.built_by(&folder),
                None => self.graph.taken_in_by(file),
            };
            let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for position in self.positions_at_any(&folders) {
                found.entry(self.flux(position).cluster.clone()).or_default().push(position);
            }
            found
        };
        files.into_iter().map(|file| (file.clone(), of(file))).collect()
    }
}
