//! Where the first gates go: folders that Flux fetches.

use std::collections::BTreeSet;

use crate::delivery::Model;
use crate::path::RepoPath;
use crate::plan::gate;
use crate::repo::kustomization::FILE_NAMES;
use crate::spec::{LayoutTemplates, expand};

/// Puts the folders of gates where Flux fetches them, and where nothing else takes them in.
///
/// Where every cluster fetches one folder around its root, they lie below that. Where clusters fetch folders of their
/// own and some in common, the gates' base lies below one in common, and each cluster's patches below its own. Where
/// there is neither, the layout stays, and the plan is refused.
pub(super) fn settle(
    layout: &mut LayoutTemplates,
    model: &Model,
    root: &RepoPath,
    clusters: &BTreeSet<String>,
) {
    let fetching = Fetching { model, root, clusters };
    let home = fetching.of_all(layout);
    let both = match &home {
        Some(home) => Some((placed(home, &layout.gate), placed(home, &layout.cluster_gate))),
        None => fetching.in_common(&layout.gate).zip(fetching.of_each(&layout.gate)),
    };
    if let Some(both) = both {
        (layout.gate, layout.cluster_gate) = both;
    }
    let is_taken_in = |cluster: &String| {
        let folder = root.join(&expand(&layout.cluster_gate, &[("cluster", cluster)]));
        folder.is_ok_and(|folder| gate::taken_in(model, cluster, &folder).is_some())
    };
    let home = home.unwrap_or_default();
    if clusters.iter().any(is_taken_in) {
        layout.cluster_gate = placed(&home, gate::OUTSIDE);
    }
    if fetching.is_built_whole(&layout.gate) {
        layout.gate = placed(&home, APART);
    }
}

/// Where the base of gates goes where Flux would build it with the folder around it.
const APART: &str = "reconciliation-windows/base";

/// Puts a folder of the layout below another one, unless it lies there already.
fn placed(home: &str, folder: &str) -> String {
    let is_there = folder.strip_prefix(home).is_some_and(|rest| rest.starts_with('/'));
    if ["", "."].contains(&home) || is_there { folder.to_owned() } else { format!("{home}/{folder}") }
}

/// What clusters fetch.
struct Fetching<'a> {
    model: &'a Model,
    /// The folder of the spec.
    root: &'a RepoPath,
    clusters: &'a BTreeSet<String>,
}

impl Fetching<'_> {
    /// Returns whether each cluster fetches the folder that a template makes for it.
    fn fits(&self, template: &str) -> bool {
        self.clusters.iter().all(|cluster| {
            let folder = self.root.join(&expand(template, &[("cluster", cluster)]));
            let file = folder.and_then(|folder| folder.join(FILE_NAMES[0]));
            file.is_ok_and(|file| self.model.delivered.is_fetched_by(cluster, &file))
        })
    }

    /// Returns whether a Flux Kustomization builds all that lies around a folder: Flux lists everything below a folder that has
    /// no list (fluxcd/pkg/kustomize, `scanManifests`), down to the next one that has.
    fn is_built_whole(&self, folder: &str) -> bool {
        let Ok(folder) = self.root.join(folder) else { return false };
        let mut around = folder.parents().take_while(|above| !self.model.graph.has(above));
        around.any(|above| self.model.entry(&above).is_some())
    }

    /// Returns the first folder around the roots of clusters below which each cluster fetches both folders, relative to
    /// that of the spec.
    fn of_all(&self, layout: &LayoutTemplates) -> Option<String> {
        let homes = self.around_roots(|_| true).chain([self.root.clone()]);
        let homes = self.sorted(homes).into_iter();
        homes.map(|home| home.relative_to(self.root)).find(|home| {
            self.fits(&placed(home, &layout.gate)) && self.fits(&placed(home, &layout.cluster_gate))
        })
    }

    /// Returns the folder of the gates' base below the first folder that all clusters fetch, and of which nothing is
    /// built as a whole.
    fn in_common(&self, gate: &str) -> Option<String> {
        let (delivered, graph) = (&self.model.delivered, &self.model.graph);
        let is_free = |home: &RepoPath| {
            let is_whole = |above: &RepoPath| self.model.entry(above).is_some() && !graph.has(above);
            !home.is_top() && delivered.at(home).is_none() && !home.ancestors().any(|above| is_whole(&above))
        };
        let homes = self.sorted(graph.folders().flat_map(RepoPath::parents).filter(is_free));
        homes.into_iter().map(|home| placed(&home.relative_to(self.root), gate)).find(|base| self.fits(base))
    }

    /// Returns the folder of a cluster's patches below the first folder that has the cluster's name, around its root.
    fn of_each(&self, gate: &str) -> Option<String> {
        let homes = self.clusters.first().into_iter().flat_map(|cluster| {
            let homes = self.sorted(self.around_roots(move |name| name == cluster)).into_iter();
            let homes = homes.filter(move |home| home.name() == Some(cluster));
            homes.filter_map(|home| home.parent()).map(|above| above.relative_to(self.root))
        });
        homes.map(|above| placed(&above, &format!("{{cluster}}/{gate}"))).find(|own| self.fits(own))
    }

    /// Returns the folders of the roots of clusters, and those around them.
    fn around_roots(&self, is_meant: impl Fn(&str) -> bool) -> impl Iterator<Item = RepoPath> {
        let clusters = self.model.delivered.all.iter().filter(move |cluster| is_meant(&cluster.name));
        let roots = clusters.flat_map(|cluster| &cluster.roots).map(|one| &one.folder);
        roots.flat_map(|folder| folder.parents().chain([folder.clone()]))
    }

    /// Sorts the folders that lie within that of the spec: those near it first.
    fn sorted(&self, folders: impl Iterator<Item = RepoPath>) -> Vec<RepoPath> {
        let within: BTreeSet<RepoPath> = folders.filter(|folder| folder.is_within(self.root)).collect();
        let mut sorted: Vec<RepoPath> = within.into_iter().collect();
        sorted.sort_by_key(|folder| folder.segments().count());
        sorted
    }
}
