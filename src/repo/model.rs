//! What the repository means: clusters, entry points, apps and gates.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::repo::clusters::{self, Clusters};
use crate::repo::flux::{FluxKustomization, flux_kustomizations, git_repositories};
use crate::repo::gate::{Gate, Jobs, LooseJob, jobs};
use crate::repo::unlisted::take_unlisted;
use crate::repo::{Graph, Kustomization, Snapshot, Target, namespaces};

/// A folder that a Flux Kustomization builds, or would build where none stands in Git.
#[derive(Clone, Debug)]
pub struct EntryPoint {
    /// The folder.
    pub path: RepoPath,
    /// The cluster that applies it; of several the first.
    pub cluster: String,
    /// Further clusters that apply the same folder.
    pub also: BTreeSet<String>,
    /// The Flux Kustomizations that name it, as positions in [`Model::flux`].
    pub flux: Vec<usize>,
    /// Why it is what it is.
    pub role: Role,
    /// The cluster's bootstrap folder that applies it, where it has no Flux Kustomization of its own.
    pub through: Option<RepoPath>,
}

impl EntryPoint {
    /// Gives the clusters that apply it.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.cluster.as_str()).chain(self.also.iter().map(String::as_str))
    }

    /// Tells whether a cluster applies it.
    pub fn is_of(&self, cluster: &str) -> bool {
        self.clusters().any(|own| own == cluster)
    }
}

/// What an entry point is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It applies apps: the one that a split divides.
    Apps,
    /// It carries a gate, so it must stay real-time.
    Gate,
    /// It applies the cluster's Flux Kustomizations and nothing else, or itself too.
    Bootstrap,
}

/// The repository, understood.
#[derive(Clone, Debug)]
pub struct Model {
    /// The folder that holds the spec, and the scope of this model.
    pub root: RepoPath,
    /// Every kustomization folder.
    pub graph: Graph,
    /// Every Flux Kustomization below the root that may be applied.
    pub flux: Vec<FluxKustomization>,
    /// Those that are not: Flux builds the folder around them, and nothing there lists them.
    pub unlisted: Vec<FluxKustomization>,
    /// The entry points in the order of their paths.
    pub entry_points: Vec<EntryPoint>,
    /// The gates that already stand there.
    pub gates: Vec<Gate>,
    /// CronJobs that suspend or resume Flux Kustomizations and are no part of these.
    pub loose_jobs: Vec<LooseJob>,
    /// The files of CronJobs that suspend some, gates' or not.
    pub closing_jobs: BTreeSet<RepoPath>,
    known: ClusterFolders,
    /// Those outside of the root, once they were asked for.
    outside: OnceLock<Vec<FluxKustomization>>,
    /// What could not be placed or read.
    pub remarks: Vec<Diagnostic>,
}

/// Folders that a cluster is known to own, by cluster name.
pub type ClusterFolders = BTreeMap<String, Vec<RepoPath>>;

/// The Flux Kustomizations that build a folder, as positions in [`Model::flux`].
pub(super) type Builders = BTreeMap<RepoPath, Vec<usize>>;

impl Model {
    /// Understands a snapshot.
    ///
    /// `root` is the folder of the spec: Flux Kustomizations outside of it belong to another spec.
    /// `known` names folders of clusters where the spec says so; everything else is found.
    pub fn read(snapshot: &Snapshot, root: &RepoPath, known: &ClusterFolders) -> Model {
        let graph = Graph::read(snapshot);
        let (mut flux, mut remarks) = flux_kustomizations(snapshot, root);
        leave_foreign(&mut flux, snapshot);
        let unlisted = take_unlisted(&mut flux, &graph, known);
        let appliers = namespaces::settle(&mut flux, &graph);
        let Jobs { gates, loose: loose_jobs, closing: closing_jobs } = jobs(snapshot, &graph, &flux, root);
        let mut builders = Builders::new();
        for (index, kustomization) in flux.iter().enumerate() {
            if let Some(path) = &kustomization.path {
                builders.entry(path.clone()).or_default().push(index);
            }
        }
        let clusters = Clusters::new(known, &flux, &builders, &graph, root);
        let owners: Vec<String> = (0..flux.len()).map(|position| clusters.of_flux(position)).collect();
        let homes = owners.iter().enumerate().map(|(position, owner)| clusters.home_of_flux(position, owner));
        let homes: Vec<String> = homes.collect();
        let mut by_path: BTreeMap<RepoPath, EntryPoint> = BTreeMap::new();
        for (index, kustomization) in flux.iter().enumerate() {
            let Some(path) = &kustomization.path else {
                remarks.push(unplaced(kustomization));
                continue;
            };
            if !graph.has(path) && !snapshot.is_dir(path) {
                remarks.push(
                    Diagnostic::warning(format!(
                        "Flux Kustomization {} names the path {path}, which is not in this repository",
                        kustomization.name
                    ))
                    .at(kustomization.place("path"))
                    .help("mend spec.path; it is relative to the top of the source, not to the file"),
                );
                continue;
            }
            let entry = by_path.entry(path.clone()).or_insert_with(|| EntryPoint {
                path: path.clone(),
                cluster: owners[index].clone(),
                flux: Vec::new(),
                role: Role::Apps,
                also: BTreeSet::new(),
                through: None,
            });
            if owners[index] != entry.cluster {
                entry.also.insert(owners[index].clone());
            }
            entry.flux.push(index);
        }
        for (path, above) in applied_by_bootstrap(&by_path, &graph, &flux) {
            let cluster = clusters.of_bootstrap(&path, &by_path[&above]);
            by_path.entry(path.clone()).or_insert(EntryPoint {
                path,
                cluster,
                flux: Vec::new(),
                role: Role::Apps,
                also: BTreeSet::new(),
                through: Some(above),
            });
        }
        let mut covered = BTreeSet::new();
        // What an unlisted one would apply is no entry point either.
        let disabled = unlisted.iter().filter_map(|one| one.path.as_ref());
        for path in by_path.keys().chain(disabled) {
            covered.extend(built(&graph, path));
        }
        let has_flux = !by_path.is_empty();
        let roots: Vec<RepoPath> = graph
            .roots()
            .filter(|root_folder| {
                root_folder.folder.is_within(root) && !covered.contains(&root_folder.folder)
            })
            .filter(|root_folder| !root_folder.is_component())
            .map(|root_folder| root_folder.folder.clone())
            .collect();
        // What a split left empty inside of an entry point stands there for whoever joins it again.
        let tops: BTreeSet<RepoPath> = by_path.keys().chain(&roots).cloned().collect();
        let inside = |path: &RepoPath| path.parents().any(|above| tops.contains(&above));
        // An umbrella over parts of its own is an entry point that was divided.
        let is_left = |path: &RepoPath| {
            graph.get(path).is_some_and(Kustomization::is_umbrella)
                && !graph.children(path).iter().all(|part| part.is_within(path))
        };
        let roots: Vec<RepoPath> =
            roots.into_iter().filter(|path| !(is_left(path) && inside(path))).collect();
        // A gate that this tool put into `clusters/` does not make that folder the home of the apps.
        let is_gate = |path: &RepoPath| gates.iter().any(|gate| graph.reach(path).contains(&gate.base));
        let is_chosen = |path: &RepoPath| clusters.by_folder_name(path).is_some();
        let has_folders = has_flux || roots.iter().any(|path| is_chosen(path) && !is_gate(path));
        let chosen: Vec<&RepoPath> = roots
            .iter()
            .filter(|path| is_chosen(path) || (!has_folders && !graph.children(path).is_empty()))
            .collect();
        for path in chosen {
            let cluster = clusters::of_path(known, root, path);
            by_path.entry(path.clone()).or_insert_with(|| EntryPoint {
                path: path.clone(),
                cluster,
                flux: Vec::new(),
                role: Role::Apps,
                also: BTreeSet::new(),
                through: None,
            });
        }
        let mut entry_points: Vec<EntryPoint> = by_path.into_values().collect();
        let files: BTreeSet<&RepoPath> = flux.iter().map(|kustomization| &kustomization.file).collect();
        for entry in &mut entry_points {
            entry.role = role(entry, &graph, &flux, &files, &gates);
        }
        for (position, appliers) in appliers.into_iter().enumerate() {
            let clusters: BTreeSet<&String> = appliers.into_iter().map(|applier| &owners[applier]).collect();
            if clusters.len() > 1 {
                let others = clusters.into_iter().filter(|cluster| **cluster != owners[position]);
                flux[position].elsewhere = others.cloned().collect();
            }
        }
        for ((kustomization, cluster), home) in flux.iter_mut().zip(owners).zip(homes) {
            (kustomization.cluster, kustomization.home) = (cluster, home);
        }
        Model {
            root: root.clone(),
            graph,
            flux,
            unlisted,
            entry_points,
            gates,
            loose_jobs,
            closing_jobs,
            known: known.clone(),
            outside: OnceLock::new(),
            remarks,
        }
    }

    /// Gives the Flux Kustomizations that stand outside of the folder of the spec and may be applied.
    ///
    /// They belong to another spec, or to none; what they apply may lie here all the same.
    pub fn outside(&self, snapshot: &Snapshot) -> &[FluxKustomization] {
        self.outside.get_or_init(|| {
            if self.root.is_top() {
                return Vec::new();
            }
            let (mut all, _) = flux_kustomizations(snapshot, &RepoPath::top());
            leave_foreign(&mut all, snapshot);
            take_unlisted(&mut all, &self.graph, &self.known);
            all.retain(|one| !one.file.is_within(&self.root));
            all
        })
    }

    /// Gives the folders that clusters are known to own.
    pub fn known(&self) -> &ClusterFolders {
        &self.known
    }

    /// Gives the cluster names in order.
    pub fn clusters(&self) -> BTreeSet<&str> {
        self.entry_points.iter().map(|entry| entry.cluster.as_str()).collect()
    }

    /// Gives the Flux Kustomizations that build an entry point.
    pub fn flux_of(&self, entry: &EntryPoint) -> impl Iterator<Item = &FluxKustomization> {
        entry.flux.iter().map(|index| &self.flux[*index])
    }

    /// As [`flux_of`](Model::flux_of), those of one cluster.
    pub fn flux_in<'m, 'c>(
        &'m self,
        entry: &'m EntryPoint,
        cluster: &'c str,
    ) -> impl Iterator<Item = &'m FluxKustomization> + use<'m, 'c> {
        self.flux_of(entry).filter(move |one| one.cluster == cluster)
    }

    /// Gives the cluster that applies a Flux Kustomization.
    pub fn cluster_of(&self, kustomization: &FluxKustomization) -> String {
        kustomization.cluster.clone()
    }

    /// Gives the folder that holds the folders of clusters of which a Flux Kustomization has one; empty where that is the
    /// top or not known.
    pub fn home_of<'m>(&self, kustomization: &'m FluxKustomization) -> &'m str {
        &kustomization.home
    }

    /// As [`home_of`](Model::home_of), of an entry point without one.
    pub fn home_of_entry(&self, entry: &EntryPoint) -> String {
        clusters::home(&entry.path, None, &entry.cluster)
    }

    /// Gives the cluster that a folder is named after, whether anything applies it or not.
    pub fn cluster_of_folder(&self, folder: &RepoPath) -> String {
        clusters::of_path(&self.known, &self.root, folder)
    }

    /// Understands another state of the same repository.
    pub fn again(&self, snapshot: &Snapshot) -> Model {
        Model::read(snapshot, &self.root, &self.known)
    }

    /// Gives the name that an entry point's Flux Kustomization has in one of its clusters, or would have.
    pub fn name_in<'a>(&'a self, entry: &'a EntryPoint, cluster: &str) -> &'a str {
        let own = self.flux_of(entry).find(|kustomization| self.cluster_of(kustomization) == cluster);
        own.map_or_else(|| self.name_of(entry), |kustomization| kustomization.name.as_str())
    }

    /// Gives the name that an entry point's Flux Kustomization has, or would have.
    pub fn name_of<'a>(&'a self, entry: &'a EntryPoint) -> &'a str {
        let first = self.flux_of(entry).next().map(|kustomization| kustomization.name.as_str());
        first.or_else(|| entry.path.name()).unwrap_or("apps")
    }
}

fn role(
    entry: &EntryPoint,
    graph: &Graph,
    flux: &[FluxKustomization],
    files: &BTreeSet<&RepoPath>,
    gates: &[Gate],
) -> Role {
    if entry.flux.iter().any(|index| flux[*index].applies_itself()) || is_of_flux(&entry.path, graph) {
        return Role::Bootstrap;
    }
    let reach = built(graph, &entry.path);
    if gates.iter().any(|gate| reach.contains(&gate.base)) {
        return Role::Gate;
    }
    if holds_only_flux(&reach, graph, files) { Role::Bootstrap } else { Role::Apps }
}

/// Gives the folders that bootstrap folders apply by themselves, each with the bootstrap folder.
///
/// A folder of the cluster that the bootstrap one lists, or that Flux lists in its place, is an
/// entry point without a Flux Kustomization of its own.
fn applied_by_bootstrap(
    by_path: &BTreeMap<RepoPath, EntryPoint>,
    graph: &Graph,
    flux: &[FluxKustomization],
) -> Vec<(RepoPath, RepoPath)> {
    let is_bootstrap = |entry: &&EntryPoint| entry.flux.iter().any(|index| flux[*index].applies_itself());
    let mut found = Vec::new();
    for entry in by_path.values().filter(is_bootstrap) {
        let children = if graph.has(&entry.path) {
            graph.children(&entry.path)
        } else {
            generated_children(graph, &entry.path)
        };
        let own = children.into_iter().filter(|child| child.is_within(&entry.path));
        found.extend(
            own.filter(|child| !by_path.contains_key(child)).map(|child| (child, entry.path.clone())),
        );
    }
    found
}

/// Tells whether a folder is the one that `flux bootstrap` writes.
fn is_of_flux(folder: &RepoPath, graph: &Graph) -> bool {
    graph.get(folder).is_some_and(|kustomization| {
        kustomization.resources().iter().any(|reference| reference.text.ends_with("gotk-components.yaml"))
    })
}

/// Tells whether all that a build takes in are files of Flux Kustomizations, and at least one.
fn holds_only_flux(reach: &BTreeSet<RepoPath>, graph: &Graph, files: &BTreeSet<&RepoPath>) -> bool {
    let mut found = false;
    for reference in reach.iter().filter_map(|folder| graph.get(folder)).flat_map(Kustomization::resources) {
        match &reference.target {
            Target::Path(path) if files.contains(path) => found = true,
            Target::Path(path) if graph.has(path) => {}
            _ => return false,
        }
    }
    found
}

/// Gives the kustomization folders that Flux's generated kustomization.yaml lists: the topmost
/// ones below a folder that has none of its own (fluxcd/pkg/kustomize, `scanManifests`).
pub fn generated_children(graph: &Graph, folder: &RepoPath) -> Vec<RepoPath> {
    let is_topmost = |path: &RepoPath| {
        let mut above = path.parents();
        above.by_ref().take_while(|above| above != folder).all(|above| !graph.has(&above))
    };
    graph.below(folder).filter(|path| is_topmost(path)).cloned().collect()
}

/// Gives every folder that Flux builds with this one, itself included where it has a kustomization of its
/// own; where it has none, what the generated one lists.
pub fn built(graph: &Graph, folder: &RepoPath) -> BTreeSet<RepoPath> {
    if graph.has(folder) {
        return graph.reach(folder);
    }
    generated_children(graph, folder).iter().flat_map(|child| graph.reach(child)).collect()
}

/// Takes the path from Kustomizations whose GitRepository is known to be another repository: its
/// URL stands in Git, beside that of the one that bootstraps a cluster, and differs.
///
/// Every file lies within the top of the repository, so a Kustomization that builds the top bootstraps
/// a cluster only where nothing else does. A source that does not stand in Git is the one that
/// `flux bootstrap` made, and then a URL for the top is that of another repository.
fn leave_foreign(flux: &mut [FluxKustomization], snapshot: &Snapshot) {
    let urls = git_repositories(snapshot);
    let urls_where = |wanted: &dyn Fn(&RepoPath) -> bool| -> BTreeSet<String> {
        let is_own = |kustomization: &&FluxKustomization| {
            kustomization.applies_itself() && kustomization.path.as_ref().is_some_and(wanted)
        };
        let own = flux.iter().filter(is_own);
        own.filter_map(|kustomization| urls.get(kustomization.source_name()).cloned()).collect()
    };
    let is_unlisted = |kustomization: &FluxKustomization| {
        kustomization.path.as_ref().is_some_and(|path| !path.is_top())
            && !urls.contains_key(kustomization.source_name())
    };
    let mut own = urls_where(&|path| !path.is_top());
    let top_is_foreign = own.is_empty() && flux.iter().any(is_unlisted);
    if own.is_empty() && !top_is_foreign {
        own = urls_where(&RepoPath::is_top);
    }
    for kustomization in flux.iter_mut() {
        let Some(url) = urls.get(kustomization.source_name()) else { continue };
        let builds_top = kustomization.path.as_ref().is_some_and(RepoPath::is_top);
        if (!own.is_empty() && !own.contains(url)) || (top_is_foreign && builds_top) {
            kustomization.path = None;
        }
    }
}

fn unplaced(kustomization: &FluxKustomization) -> Diagnostic {
    let (name, kind) = (&kustomization.name, kustomization.source_kind());
    let place = kustomization.place("path");
    if kind == "GitRepository" {
        Diagnostic::warning(format!(
            "Flux Kustomization {name} names a path that leaves this repository, or builds from another one"
        ))
        .at(place)
        .help("its entry point is not touched")
    } else {
        Diagnostic::warning(format!(
            "Flux Kustomization {name} builds from {kind} {}, whose paths are not those of this repository",
            kustomization.source_name()
        ))
        .at(place)
        .help("its entry point is not touched: split it where the artifact is made")
    }
}
