//! Which cluster an entry point belongs to.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::path::RepoPath;
use crate::repo::flux::FluxKustomization;
use crate::repo::homes::Homes;
use crate::repo::model::{Builders, ClusterFolders};
use crate::repo::{EntryPoint, Graph};

/// Finds out which cluster an entry point belongs to.
pub(super) struct Clusters<'a> {
    known: &'a ClusterFolders,
    flux: &'a [FluxKustomization],
    builders: &'a Builders,
    graph: &'a Graph,
    root: &'a RepoPath,
    /// The bootstrap folders.
    ends: Ends<'a>,
    /// By position, the Kustomization that applies each, where it is in Git.
    above: Vec<Option<usize>>,
    /// The folders of Kustomizations that nothing in Git applies.
    homes: Homes,
    /// The names that clusters get from these.
    named: BTreeMap<RepoPath, String>,
}

/// Folders, each as its segments from the last to the first.
type Ends<'a> = BTreeSet<Vec<&'a str>>;

fn backwards(path: &RepoPath) -> Vec<&str> {
    path.segments().rev().collect()
}

impl<'a> Clusters<'a> {
    /// Makes ready to ask for each Kustomization.
    pub(super) fn new(
        known: &'a ClusterFolders,
        flux: &'a [FluxKustomization],
        builders: &'a Builders,
        graph: &'a Graph,
        root: &'a RepoPath,
    ) -> Clusters<'a> {
        let bootstrap = flux.iter().filter(|one| one.applies_itself());
        let ends = bootstrap.filter_map(|one| one.path.as_ref()).map(backwards).collect();
        let (above, homes, named) = Default::default();
        let mut clusters = Clusters { known, flux, builders, graph, root, ends, above, homes, named };
        clusters.above = flux.iter().map(|one| clusters.applier(one)).collect();
        let alone = flux.iter().zip(&clusters.above).filter(|(_, above)| above.is_none());
        let alone = alone.map(|(one, _)| one).filter(|one| !one.applies_itself());
        clusters.homes = Homes::new(alone, graph);
        let all = clusters.homes.all();
        let ends = all.iter().map(|home| backwards(home)).collect();
        clusters.named =
            all.into_iter().filter_map(|home| Some((home.clone(), unlike_name(&ends, home)?))).collect();
        clusters
    }
}

impl Clusters<'_> {
    /// The spec's word first, then who applies the Flux Kustomization at this position, then the path's
    /// own words.
    pub(super) fn of_flux(&self, position: usize) -> String {
        let chain = self.chain(position);
        let one = &self.flux[position];
        let path = one.path.as_ref().unwrap_or(&one.file);
        let top = chain.last().copied().unwrap_or(one);
        let said = |one: &&FluxKustomization| {
            one.path.as_ref().and_then(|path| self.by_spec(path)).or_else(|| self.by_spec(&one.file))
        };
        chain
            .iter()
            .find_map(said)
            .or_else(|| self.by_bootstrap(top))
            .or_else(|| self.below(path, &["clusters"]))
            .or_else(|| one.file.parent().and_then(|folder| self.below(&folder, &["clusters"])))
            .or_else(|| self.by_home(top))
            .or_else(|| self.by_folder_name(path))
            .unwrap_or_else(|| by_last_name(path))
    }

    /// Gives the folder that holds the cluster's own, as [`home`] does, of what applies the Flux Kustomization at this
    /// position in the end: what lies elsewhere belongs to the same cluster.
    pub(super) fn home_of_flux(&self, position: usize, cluster: &str) -> String {
        let one = &self.flux[position];
        let top = self.chain(position).last().copied().unwrap_or(one);
        home(top.path.as_ref().unwrap_or(&top.file), Some(&top.file), cluster)
    }

    fn by_spec(&self, path: &RepoPath) -> Option<String> {
        by_spec(self.known, path)
    }

    /// Gives a Kustomization and those that apply it, up to the last that is in Git: the cluster's
    /// bootstrap one where that is.
    fn chain(&self, position: usize) -> Vec<&FluxKustomization> {
        let mut positions = vec![position];
        let mut last = position;
        while let Some(next) = self.above[last].filter(|next| !positions.contains(next)) {
            positions.push(next);
            last = next;
        }
        positions.into_iter().map(|position| &self.flux[position]).collect()
    }

    /// Gives the Kustomization that applies another, where it is in Git; none for a bootstrap one.
    fn applier(&self, one: &FluxKustomization) -> Option<usize> {
        if one.applies_itself() {
            return None;
        }
        let mut above = one.file.ancestors();
        let nearest = above.find_map(|folder| self.others(&folder, one).next_back());
        nearest.or_else(|| self.by_list(one))
    }

    /// Names the cluster after the folder that its bootstrap Kustomization builds.
    fn by_bootstrap(&self, top: &FluxKustomization) -> Option<String> {
        let path = top.path.as_ref().filter(|_| top.applies_itself())?;
        // `clusters/NAME/flux` says more than its last word.
        self.by_folder_name(path).or_else(|| unlike_name(&self.ends, path))
    }

    /// Names the cluster after the folder of the Kustomization that nothing in Git applies.
    ///
    /// Where something else bootstraps a cluster, as Flux Operator does, what stands in one folder is
    /// applied together, and so is all that it applies in turn. Two of one name never are.
    fn by_home(&self, top: &FluxKustomization) -> Option<String> {
        self.named.get(self.homes.get(top)?).cloned()
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
        by_folder_name(self.root, path)
    }

    /// The folder below the first that has one of these names.
    fn below(&self, path: &RepoPath, names: &[&str]) -> Option<String> {
        below(self.root, path, names)
    }
}

/// Names the cluster of a folder after the spec, or else after its path alone.
pub(super) fn of_path(known: &ClusterFolders, root: &RepoPath, path: &RepoPath) -> String {
    by_spec(known, path).or_else(|| by_folder_name(root, path)).unwrap_or_else(|| by_last_name(path))
}

/// Gives the folder above `clusters/`, by what is applied or else by the file that says so; empty where there is none.
///
/// A folder `cluster` may be anything, as people call databases so. It counts where the folder below it has the name of
/// the cluster and holds both.
pub(super) fn home(path: &RepoPath, file: Option<&RepoPath>, cluster: &str) -> String {
    let above = |path: &RepoPath| {
        let segments: Vec<&str> = path.segments().collect();
        let is_singular = |position: usize| {
            let home = segments[..position].join("/");
            let holds = |file: &RepoPath| RepoPath::parse(&home).is_ok_and(|home| file.is_within(&home));
            segments[position] == "cluster"
                && segments.get(position + 1) == Some(&cluster)
                && file.is_none_or(holds)
        };
        let is_it = |position: &usize| segments[*position] == "clusters" || is_singular(*position);
        (0..segments.len()).find(is_it).map(|position| segments[..position].join("/"))
    };
    above(path).or_else(|| above(file?)).unwrap_or_default()
}

fn by_spec(known: &ClusterFolders, path: &RepoPath) -> Option<String> {
    let owner = |(name, folders): (&String, &Vec<RepoPath>)| {
        let depth =
            folders.iter().filter(|folder| path.is_within(folder)).map(|f| f.segments().count()).max();
        depth.map(|depth| (depth, name.clone()))
    };
    known.iter().filter_map(owner).max_by_key(|(depth, _)| *depth).map(|(_, name)| name)
}

fn by_folder_name(root: &RepoPath, path: &RepoPath) -> Option<String> {
    below(root, path, &["clusters", "cluster"])
}

fn below(root: &RepoPath, path: &RepoPath, names: &[&str]) -> Option<String> {
    let mut segments = path.segments().skip(root.segments().count());
    segments.find(|segment| names.contains(segment))?;
    segments.next().map(str::to_owned)
}

fn by_last_name(path: &RepoPath) -> String {
    path.name().unwrap_or("cluster").to_owned()
}

/// The last word of a folder in which it differs from those that end alike: `kubernetes/main/flux` and
/// `kubernetes/edge/flux` are `main` and `edge`, not one cluster `flux`.
fn unlike_name(ends: &Ends<'_>, path: &RepoPath) -> Option<String> {
    let own: Vec<&str> = path.segments().rev().collect();
    // Those that share most stand beside it.
    let before = ends.range(..own.clone()).next_back();
    let after = ends.range((Bound::Excluded(own.clone()), Bound::Unbounded)).next();
    let shared = [before, after].into_iter().flatten();
    let shared = shared
        .map(|other| own.iter().zip(other).take_while(|(mine, theirs)| mine == theirs).count())
        .max()
        .unwrap_or_default();
    own.get(shared).or_else(|| own.first()).map(|name| (*name).to_owned())
}
