//! Reads clusters as Flux does: from their roots, through builds.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::delivery::clusters::{Cluster, Clusters, Fetched, Known, Reached};
use crate::delivery::fetched::{Artifact, Ignore};
use crate::delivery::former::Former;
use crate::delivery::naming;
use crate::delivery::propose::{is_kept, propose};
use crate::delivery::repository::Readers;
use crate::delivery::root::{Reason, Root};
use crate::delivery::source::SourceId;
use crate::delivery::variables;
use crate::delivery::view::View;
use crate::delivery::walk::Walk;
use crate::path::RepoPath;
use crate::render::Renderer;
use crate::repo::flux::{WrittenSource, WrittenSources, artifact_path, written_sources};
use crate::repo::made::holds_others;
use crate::repo::{FluxKustomization, Graph, Snapshot};

impl Clusters {
    /// Reads every cluster.
    ///
    /// `flux` has the Flux Kustomizations that stand in files, in any order that stays.
    pub fn read(
        snapshot: &Snapshot,
        graph: &Graph,
        flux: &[FluxKustomization],
        known: &Known,
        scope: &RepoPath,
        renderer: &dyn Renderer,
    ) -> Clusters {
        let mut by_file: BTreeMap<&RepoPath, Vec<usize>> = BTreeMap::new();
        for (position, one) in flux.iter().enumerate() {
            by_file.entry(&one.file).or_default().push(position);
        }
        let names = Arc::new(&variables::wanted(snapshot) | &known.values);
        let top = Arc::new(View::new(snapshot.clone(), graph.clone(), names.clone()));
        let mut reader = Reader {
            flux,
            by_file,
            renderer,
            sources: top.with_held_sources(written_sources(snapshot)),
            pushed: known.pushed.clone(),
            named: known.named.clone(),
            former: &known.former,
            components: &known.components,
            snapshot,
            scope,
            views: BTreeMap::new(),
            top,
            names,
            ignored: BTreeMap::new(),
            ignores: BTreeMap::new(),
            by_hand: BTreeMap::new(),
            read_here: OnceCell::new(),
            taken_down: BTreeSet::new(),
            left: BTreeSet::new(),
            readers: OnceCell::new(),
            urls: BTreeSet::new(),
        };
        let mut all = reader.certain(known);
        let left = |all: &[Cluster]| {
            let mut reached = written(all);
            reached.extend(of_other_revisions(flux, graph, all));
            (0..flux.len()).filter(|position| !reached.contains(position)).collect::<BTreeSet<usize>>()
        };
        let roots: Vec<Root> = all.iter().flat_map(|cluster| &cluster.roots).cloned().collect();
        // Whoever names roots names all that Git does not.
        if known.roots.is_empty() {
            let mut proposed = propose(flux, &left(&all), &reader.top.clone(), &known.paths, &roots);
            proposed.retain(|root| {
                !reader.taken_down.contains(&root.folder) && !reader.left.contains(&root.folder)
            });
            if !proposed.is_empty() {
                let roots = all.into_iter().flat_map(|cluster| cluster.roots).chain(proposed);
                all = reader.clusters(roots.collect(), known);
            }
            // A patch or a variable may have made a path that no file has.
            let brought = brought_proposals(&all, known);
            if !brought.is_empty() {
                let roots = all.into_iter().flat_map(|cluster| cluster.roots);
                let is_brought =
                    |root: &Root| root.reason == Reason::Proposed && brought.contains(&root.folder);
                all = reader.clusters(roots.filter(|root| !is_brought(root)).collect(), known);
            }
        }
        reader.by_hand = by_hand(flux, &all);
        if !reader.by_hand.is_empty() {
            let roots = all.into_iter().flat_map(|cluster| cluster.roots).collect();
            all = reader.clusters(roots, known);
        }
        let not_alive = left(&all);
        let unread = unread(&reader.top, flux, &all);
        let taken_down = reader.taken_down;
        let mut clusters = Clusters { all, not_alive, unread, taken_down, ignored: reader.ignored };
        clusters.take_apis(snapshot, graph);
        clusters
    }
}

/// Returns the folders of proposed roots that another cluster builds, which is none of these, and of which the spec says
/// nothing.
fn brought_proposals(clusters: &[Cluster], known: &Known) -> BTreeSet<RepoPath> {
    let mut builders: BTreeMap<&RepoPath, BTreeSet<usize>> = BTreeMap::new();
    for (position, cluster) in clusters.iter().enumerate() {
        for folder in cluster.kustomizations.iter().filter_map(|one| one.path.as_ref()) {
            builders.entry(folder).or_default().insert(position);
        }
    }
    let brought = |without: &BTreeSet<RepoPath>| {
        let is_whole =
            |other: usize| !clusters[other].roots.iter().all(|root| without.contains(&root.folder));
        let mut found = BTreeSet::new();
        for (position, cluster) in clusters.iter().enumerate() {
            let is_brought = |root: &&Root| {
                let mut others =
                    builders.get(&root.folder).into_iter().flatten().filter(|other| **other != position);
                root.reason == Reason::Proposed
                    && naming::by_spec(&known.paths, &root.folder).is_none()
                    && others.any(|other| is_whole(*other))
            };
            found.extend(cluster.roots.iter().filter(is_brought).map(|root| root.folder.clone()));
        }
        found
    };
    brought(&brought(&BTreeSet::new()))
}

/// What all clusters are read from.
pub(super) struct Reader<'a> {
    /// The Flux Kustomizations that stand in files.
    pub flux: &'a [FluxKustomization],
    by_file: BTreeMap<&'a RepoPath, Vec<usize>>,
    pub renderer: &'a dyn Renderer,
    /// The sources that stand in files, by kind and name.
    pub sources: WrittenSources,
    /// What the spec says to be made of a folder of this repository, with that.
    pub pushed: Option<(SourceId, RepoPath)>,
    /// The GitRepository that the spec names.
    pub named: Option<SourceId>,
    /// What clusters have of an older state.
    pub former: &'a Former,
    /// The files with controllers that the older state had.
    pub components: &'a BTreeSet<RepoPath>,
    pub snapshot: &'a Snapshot,
    /// The folder of the spec.
    scope: &'a RepoPath,
    views: BTreeMap<Artifact, Arc<View>>,
    pub top: Arc<View>,
    /// The names that a `substituteFrom` may have.
    names: Arc<BTreeSet<String>>,
    ignored: BTreeMap<Artifact, Fetched>,
    /// What sources leave out, whatever is copied of them.
    ignores: BTreeMap<Artifact, Ignore>,
    /// By the folder of a root, the positions of those that nothing brings.
    pub by_hand: BTreeMap<RepoPath, Vec<usize>>,
    /// By kind and name, the namespaces of the sources from which a Flux Kustomization in a file reads a folder of this
    /// repository.
    read_here: OnceCell<BTreeMap<(String, String), BTreeSet<String>>>,
    /// The folders of roots that delete themselves with all that they applied.
    pub taken_down: BTreeSet<RepoPath>,
    /// The folders that roots built in an older state, and build no more.
    pub left: BTreeSet<RepoPath>,
    /// How many read which repository here.
    pub readers: OnceCell<Readers>,
    /// The URLs of the GitRepositories of all roots.
    pub urls: BTreeSet<String>,
}

impl Reader<'_> {
    /// Reads the clusters of some roots.
    pub(super) fn clusters(&mut self, mut roots: Vec<Root>, known: &Known) -> Vec<Cluster> {
        self.urls = self.urls_of(&roots);
        roots.sort_by(|a, b| (&a.folder, a.reason).cmp(&(&b.folder, b.reason)));
        let of_all: BTreeSet<usize> = roots.iter().filter_map(|root| root.written).collect();
        part(&mut roots);
        let mut groups: BTreeMap<(Option<String>, RepoPath), Vec<Root>> = BTreeMap::new();
        for root in roots {
            let said = naming::by_root(&known.roots, &root.folder);
            let said = said.or_else(|| naming::by_spec(&known.paths, &root.folder));
            let group = if said.is_some() { RepoPath::top() } else { root.group.clone() };
            groups.entry((said, group)).or_default().push(root);
        }
        let mut clusters: Vec<(Option<String>, RepoPath, Cluster)> = Vec::new();
        for ((said, prefix), roots) in groups {
            let cluster = Walk::over(self, roots, &of_all);
            if cluster.concerns(self.scope) {
                clusters.push((said, prefix, cluster));
            }
        }
        let unnamed =
            clusters.iter().filter(|(said, ..)| said.is_none()).map(|(_, prefix, _)| prefix.clone());
        let said: BTreeSet<&str> = clusters.iter().filter_map(|(said, ..)| said.as_deref()).collect();
        let of_spec = known.gates.keys().map(String::as_str).filter(|name| !said.contains(name)).collect();
        let mut names = naming::names(&unnamed.collect::<Vec<_>>(), &of_spec).into_iter();
        // A name is that of one cluster.
        let free = |name: String, folder: &RepoPath| match said.contains(name.as_str()) {
            true => folder.segments().collect::<Vec<_>>().join("-"),
            false => name,
        };
        let names: Vec<String> = clusters
            .iter()
            .map(|(said, folder, _)| match said {
                Some(name) => name.clone(),
                None => free(names.next().unwrap_or_default(), folder),
            })
            .collect();
        let named = clusters.into_iter().zip(names).map(|((.., cluster), name)| Cluster { name, ..cluster });
        let mut named: Vec<Cluster> = named.collect();
        named.sort_by(|a, b| a.name.cmp(&b.name));
        named
    }

    /// Returns the files of an artifact.
    pub(super) fn view(&mut self, artifact: &Artifact) -> Arc<View> {
        if let Some(view) = self.views.get(artifact) {
            return view.clone();
        }
        let source = artifact.source();
        let of_source = self
            .ignores
            .entry(source)
            .or_insert_with_key(|source| Ignore::read(self.snapshot, source))
            .clone();
        let ignore = artifact.copied.as_ref().map_or(of_source.clone(), |copied| of_source.of_copied(copied));
        let is_whole = || {
            let built = self.flux.iter().filter_map(|one| one.path.as_ref());
            ignore.is_unseen(self.snapshot, &self.top.graph, built)
        };
        let (is_whole, view) = if artifact.top.is_top() && is_whole() {
            (true, self.top.clone())
        } else {
            let snapshot = ignore.applied(self.snapshot);
            let graph = Graph::read(&snapshot);
            (false, Arc::new(View::new(snapshot, graph, self.names.clone())))
        };
        self.ignored.insert(artifact.clone(), Fetched { ignore, is_whole, view: view.clone() });
        self.views.insert(artifact.clone(), view.clone());
        view
    }

    /// Returns whether a Flux Kustomization reads a source that stands in no file.
    pub(super) fn is_of_unsaid_source(&self, one: &FluxKustomization) -> bool {
        one.has_source() && self.written_source(one).is_none_or(|_| one.source_kind() != "GitRepository")
    }

    /// Returns whether a folder stands here that may tell of a source that it is this repository: every one has a top, and
    /// what the tool writes makes no other repository to this one.
    pub(super) fn is_here(&self, folder: &RepoPath) -> bool {
        !folder.is_top() && holds_others(self.snapshot, &self.top.graph, folder)
    }

    /// Returns whether a Flux Kustomization in a file reads a folder of this repository from a source.
    pub(super) fn is_read_here(&self, id: &SourceId) -> bool {
        let all = self.read_here.get_or_init(|| self.sources_read_here());
        let found = all.get(&(id.kind.clone(), id.name.clone()));
        found.is_some_and(|found| {
            id.namespace.is_empty() || found.contains("") || found.contains(&id.namespace)
        })
    }

    fn sources_read_here(&self) -> BTreeMap<(String, String), BTreeSet<String>> {
        let mut found: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
        for one in self.flux {
            let path = one.spec("path").as_str().and_then(artifact_path);
            if path.is_some_and(|path| self.is_here(&path)) {
                let SourceId { kind, namespace, name } = SourceId::of(&one.value["spec"], &one.namespace);
                found.entry((kind, name)).or_default().insert(namespace);
            }
        }
        found
    }

    /// Returns the sources of the kind and the name that a Flux Kustomization reads, with their files.
    pub(super) fn written_source(&self, one: &FluxKustomization) -> Option<&Vec<WrittenSource>> {
        self.sources.get(&(one.source_kind().to_owned(), one.source_name().to_owned()))
    }

    /// Returns the `spec` of a source that stands in a file.
    pub(super) fn source_in(&self, file: &RepoPath, kind: &str, name: &str) -> Option<&Value> {
        let all = self.sources.get(&(kind.to_owned(), name.to_owned()))?;
        all.iter().find(|own| own.file == *file).map(|own| &own.spec)
    }

    /// Finds the Flux Kustomization of a file that became one of these names.
    pub(super) fn written(&self, file: &RepoPath, namespace: &str, name: &str) -> Option<usize> {
        let all = self.by_file.get(file)?;
        let is = |position: &&usize| self.flux[**position].name == name;
        let exact = all.iter().find(|at| is(at) && self.flux[**at].namespace == namespace);
        // What applies it may have given it another name: prefixes, suffixes and variables.
        let alike = || {
            all.iter().find(|at| {
                let own = &self.flux[**at].name;
                name.contains(own.as_str()) || own.contains("${")
            })
        };
        exact.or_else(|| all.iter().find(is)).or_else(alike).copied()
    }
}

/// Parts roots that one folder below `clusters` holds and that are of several clusters: a cluster has one Flux
/// Kustomization of a name.
fn part(roots: &mut [Root]) {
    let mut named: BTreeMap<(RepoPath, String), BTreeSet<RepoPath>> = BTreeMap::new();
    for root in roots.iter() {
        if let Some(value) = &root.kustomization {
            let metadata = &value["metadata"];
            let id = json!([metadata["namespace"], metadata["name"]]).to_string();
            named.entry((root.group.clone(), id)).or_default().insert(root.folder.clone());
        }
    }
    let several = named.into_iter().filter(|(_, folders)| folders.len() > 1).map(|((group, _), _)| group);
    let several: BTreeSet<RepoPath> = several.collect();
    for root in roots.iter_mut().filter(|root| several.contains(&root.group)) {
        root.group = root.folder.clone();
    }
}

/// Returns the positions of the Flux Kustomizations of clusters that stand in files.
pub(super) fn written(clusters: &[Cluster]) -> BTreeSet<usize> {
    clusters.iter().flat_map(|cluster| &cluster.kustomizations).filter_map(|one| one.written).collect()
}

/// Returns the positions of those that folders hold which another revision of this repository is read at: whether a cluster
/// gets them that revision says.
fn of_other_revisions(flux: &[FluxKustomization], graph: &Graph, clusters: &[Cluster]) -> BTreeSet<usize> {
    let others =
        clusters.iter().flat_map(|cluster| &cluster.kustomizations).filter_map(Reached::read_elsewhere);
    let others: BTreeSet<RepoPath> = others.filter(|folder| !folder.is_top()).collect();
    let is_taken =
        |one: &FluxKustomization| graph.taken_in_by(&one.file).iter().any(|path| others.contains(path));
    let all = flux.iter().enumerate().filter(|_| !others.is_empty());
    all.filter(|(_, one)| is_taken(one)).map(|(position, _)| position).collect()
}

/// Finds the Flux Kustomizations that no build brings and that build something of a root of which Git does not say what
/// applies it: people apply those file by file. By root, their positions.
fn by_hand(flux: &[FluxKustomization], clusters: &[Cluster]) -> BTreeMap<RepoPath, Vec<usize>> {
    let brought = written(clusters);
    let roots: Vec<&Root> = clusters.iter().flat_map(|cluster| &cluster.roots).collect();
    let built =
        || clusters.iter().flat_map(|cluster| &cluster.kustomizations).filter_map(|one| one.path.as_ref());
    let mut found: BTreeMap<RepoPath, Vec<usize>> = BTreeMap::new();
    for (position, one) in flux.iter().enumerate() {
        let Some(path) = one.path.as_ref().filter(|_| one.has_source() && !brought.contains(&position))
        else {
            continue;
        };
        // What stands where something is built and was not brought is switched off.
        let mut around = roots.iter().map(|root| &root.folder).chain(built().filter(|path| !path.is_top()));
        if is_kept(&one.file) || around.any(|folder| one.file.is_within(folder)) {
            continue;
        }
        let own = roots.iter().filter(|root| root.kustomization.is_none() && path.is_within(&root.folder));
        if let Some(root) = own.max_by_key(|root| root.folder.segments().count()) {
            found.entry(root.folder.clone()).or_default().push(position);
        }
    }
    found
}

/// Finds the files that speak of Flux, can't be read, and lie where people apply what Git says of no root: in the folder of
/// such a root, or beside a Flux Kustomization that nothing brings.
fn unread(view: &View, flux: &[FluxKustomization], clusters: &[Cluster]) -> BTreeSet<RepoPath> {
    let roots =
        clusters.iter().flat_map(|cluster| &cluster.roots).filter(|root| root.kustomization.is_none());
    let roots: BTreeSet<&RepoPath> = roots.map(|root| &root.folder).collect();
    let brought = clusters.iter().flat_map(|cluster| &cluster.kustomizations);
    let by_hand = brought.filter(|one| one.applied_by.is_none()).filter_map(|one| one.written);
    let beside: BTreeSet<RepoPath> = by_hand.filter_map(|position| flux[position].file.parent()).collect();
    let is_applied = |file: &&RepoPath| {
        let is_beside = file.parent().is_some_and(|folder| beside.contains(&folder));
        let root = file.parents().find(|above| roots.contains(above));
        // What a list leaves out is switched off, and what it has is told with the list.
        let is_free_here = || file.parent().is_some_and(|folder| !view.graph.has(&folder));
        !is_kept(file)
            && (root.is_some_and(|root| view.graph.is_loose(file, &root)) || is_beside && is_free_here())
    };
    view.unread().filter(is_applied).cloned().collect()
}

#[cfg(test)]
#[path = "reading_tests.rs"]
pub(super) mod tests;
