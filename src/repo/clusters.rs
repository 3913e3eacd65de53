//! Which cluster an entry point belongs to.

use std::collections::BTreeSet;
use std::ops::Bound;

use crate::repo::flux::FluxKustomization;
use crate::repo::model::{Builders, ClusterFolders};
use crate::repo::{EntryPoint, Graph, RepoPath};

/// Finds out which cluster an entry point belongs to.
pub(super) struct Clusters<'a> {
    pub(super) known: &'a ClusterFolders,
    pub(super) flux: &'a [FluxKustomization],
    pub(super) builders: &'a Builders,
    pub(super) graph: &'a Graph,
    pub(super) root: &'a RepoPath,
    pub(super) ends: Ends<'a>,
}

/// The bootstrap folders, each as its segments from the last to the first.
pub(super) type Ends<'a> = BTreeSet<Vec<&'a str>>;

/// Gives the bootstrap folders.
pub(super) fn ends(flux: &[FluxKustomization]) -> Ends<'_> {
    let paths = flux.iter().filter_map(|one| Some((one, one.path.as_ref()?)));
    paths
        .filter(|(one, path)| one.file.is_within(path))
        .map(|(_, path)| path.segments().rev().collect())
        .collect()
}

impl Clusters<'_> {
    /// The spec's word first, then who applies the Flux Kustomization, then the path's own words.
    pub(super) fn of_flux(&self, kustomization: &FluxKustomization, path: &RepoPath) -> String {
        self.by_spec(path)
            .or_else(|| self.by_spec(&kustomization.file))
            .or_else(|| self.by_applier(kustomization, 0))
            .or_else(|| self.by_folder_name(path))
            .or_else(|| self.by_folder_name(&kustomization.file))
            .unwrap_or_else(|| self.by_last_name(path))
    }

    pub(super) fn of_path(&self, path: &RepoPath) -> String {
        self.by_spec(path).or_else(|| self.by_folder_name(path)).unwrap_or_else(|| self.by_last_name(path))
    }

    fn by_spec(&self, path: &RepoPath) -> Option<String> {
        let owner = |(name, folders): (&String, &Vec<RepoPath>)| {
            let depth =
                folders.iter().filter(|folder| path.is_within(folder)).map(|f| f.segments().count()).max();
            depth.map(|depth| (depth, name.clone()))
        };
        self.known.iter().filter_map(owner).max_by_key(|(depth, _)| *depth).map(|(_, name)| name)
    }

    /// Follows the Kustomizations that apply this one up to the cluster's bootstrap one, which
    /// lies within the folder that it builds.
    fn by_applier(&self, kustomization: &FluxKustomization, depth: usize) -> Option<String> {
        if let Some(path) = &kustomization.path
            && kustomization.file.is_within(path)
        {
            // `clusters/NAME/flux` says more than its last word.
            return self.by_folder_name(path).or_else(|| self.by_unlike_name(path));
        }
        if depth > self.flux.len() {
            return None;
        }
        let mut above = std::iter::successors(Some(kustomization.file.clone()), RepoPath::parent);
        let nearest = above.find_map(|folder| self.others(&folder, kustomization).next_back());
        let nearest = nearest.or_else(|| self.by_list(kustomization)).map(|index| &self.flux[index])?;
        self.by_applier(nearest, depth + 1)
    }

    /// The first Kustomization whose build lists the file of this one.
    fn by_list(&self, kustomization: &FluxKustomization) -> Option<usize> {
        let folders = self.graph.builders(&kustomization.file);
        folders.iter().flat_map(|folder| self.others(folder, kustomization)).min()
    }

    /// The Kustomizations other than this one that build a folder.
    fn others(
        &self,
        folder: &RepoPath,
        this: &'_ FluxKustomization,
    ) -> impl DoubleEndedIterator<Item = usize> {
        let builders = self.builders.get(folder).map(Vec::as_slice).unwrap_or_default();
        builders.iter().copied().filter(move |index| {
            let other = &self.flux[*index];
            (&other.file, &other.name) != (&this.file, &this.name)
        })
    }

    /// What a bootstrap folder applies belongs to its cluster, unless the spec says otherwise.
    pub(super) fn of_bootstrap(&self, path: &RepoPath, bootstrap: &EntryPoint) -> String {
        self.by_spec(path).unwrap_or_else(|| bootstrap.cluster.clone())
    }

    /// `clusters/NAME/…`, wherever it stands below the root.
    pub(super) fn by_folder_name(&self, path: &RepoPath) -> Option<String> {
        let skipped = self.root.segments().count();
        let segments: Vec<&str> = path.segments().skip(skipped).collect();
        let position = segments.iter().position(|segment| matches!(*segment, "clusters" | "cluster"))?;
        segments.get(position + 1).map(|name| (*name).to_owned())
    }

    /// The last word of a bootstrap folder in which it differs from those that end alike:
    /// `kubernetes/main/flux` and `kubernetes/edge/flux` are `main` and `edge`, not one cluster `flux`.
    fn by_unlike_name(&self, path: &RepoPath) -> Option<String> {
        let own: Vec<&str> = path.segments().rev().collect();
        // Those that share most stand beside it.
        let before = self.ends.range(..own.clone()).next_back();
        let after = self.ends.range((Bound::Excluded(own.clone()), Bound::Unbounded)).next();
        let shared = [before, after].into_iter().flatten();
        let shared = shared
            .map(|other| own.iter().zip(other).take_while(|(mine, theirs)| mine == theirs).count())
            .max()
            .unwrap_or_default();
        own.get(shared).or_else(|| own.first()).map(|name| (*name).to_owned())
    }

    fn by_last_name(&self, path: &RepoPath) -> String {
        path.name().unwrap_or("cluster").to_owned()
    }
}
