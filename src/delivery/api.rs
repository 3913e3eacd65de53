//! Which API of Flux Kustomizations a cluster gets from Git.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::delivery::{Cluster, Clusters, Model, Root};
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::repo::{FluxApi, Graph, Snapshot};

impl Clusters {
    /// Notes the API of each cluster: that of the CustomResourceDefinition which its builds take in, as its file says it, or
    /// else that of the Flux which its FluxInstance asks for. Where several say it, none counts.
    pub(super) fn take_apis(&mut self, snapshot: &Snapshot, graph: &Graph) {
        let declared = FluxApi::declared(snapshot).into_iter();
        let declared: Vec<(RepoPath, BTreeSet<RepoPath>, Arc<FluxApi>)> = declared
            .map(|(file, api)| {
                let folders = graph.taken_in_by(&file);
                (file, folders, Arc::new(api))
            })
            .collect();
        let api = |cluster: &Cluster| {
            let own = |(file, folders, _): &&(RepoPath, BTreeSet<RepoPath>, Arc<FluxApi>)| {
                cluster.builds_any(folders) && self.is_fetched_by(&cluster.name, file)
            };
            let mut found = declared.iter().filter(own).map(|(.., api)| api);
            match (found.next(), found.next()) {
                (None, _) => cluster.roots.iter().find_map(of_instance).map(Arc::new),
                (only, None) => only.cloned(),
                (Some(_), Some(_)) => None,
            }
        };
        let found: Vec<Option<Arc<FluxApi>>> = self.all.iter().map(api).collect();
        for (cluster, api) in self.all.iter_mut().zip(found) {
            cluster.api = api;
        }
    }
}

impl Cluster {
    /// Returns whether one of some folders is built for the cluster itself.
    fn builds_any(&self, folders: &BTreeSet<RepoPath>) -> bool {
        let own = self.kustomizations.iter().filter(|one| one.target().is_empty());
        let built = own.filter_map(|one| one.path.as_ref());
        let mut all = built.chain(self.roots.iter().map(|root| &root.folder));
        all.any(|folder| folders.contains(folder))
    }
}

impl Cluster {
    /// Returns the API of Flux Kustomizations that it gets, where Git says it.
    pub fn api(&self) -> Option<&Arc<FluxApi>> {
        self.api.as_ref()
    }
}

impl Model {
    /// Returns the `apiVersion` in which a cluster serves a new Flux Kustomization: where Git does not say it, v1. `None`
    /// where its Flux serves none that there is.
    pub fn served_version(&self, cluster: &str) -> Option<&'static str> {
        let api = self.delivered.named(cluster).and_then(Cluster::api);
        api.map_or(Some(crate::repo::flux::API_VERSION), |api| api.newest())
    }

    /// Returns whether a cluster has `spec.deletionPolicy`, as far as Git says.
    pub fn takes_policies(&self, cluster: &str) -> bool {
        let api = self.delivered.named(cluster).and_then(|cluster| cluster.api.as_ref());
        api.is_none_or(|api| api.has(crate::repo::flux::API_VERSION, "deletionPolicy"))
    }
}

fn of_instance(root: &Root) -> Option<FluxApi> {
    FluxApi::of_distribution(root.version.as_ref()?, Place::file(root.file.clone()?))
}
