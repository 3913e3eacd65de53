//! What the repository means: clusters, entry points, apps and gates.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::gate::{Gate, Jobs, LooseJob, jobs};
use crate::delivery::lookup::Index;
use crate::delivery::made::made;
use crate::delivery::naming;
use crate::delivery::suggested::suggested;
use crate::delivery::unplaced::{of_other_revisions, unknown_paths, unmapped, unplaced};
use crate::delivery::{
    Closings, Cluster, ClusterFolders, Clusters, EntryPoint, Known, Reached, Reason, Role,
};
use crate::diagnostic::{Diagnostic, Place};
use crate::path::{RepoPath, below};
use crate::render::Renderer;
use crate::repo::flux::{FluxKustomization, flux_kustomizations};
use crate::repo::{Graph, Kustomization, Reference, Snapshot, Target, built, built_any, generated_children};

/// The repository, understood.
#[derive(Clone, Debug)]
pub struct Model {
    /// The folder that holds the spec, and the scope of this model.
    pub root: RepoPath,
    /// Every kustomization folder.
    pub graph: Graph,
    /// The clusters, as their roots make them.
    pub delivered: Clusters,
    /// Every Flux Kustomization below the root that some cluster gets, once for each cluster.
    pub(super) flux: Vec<FluxKustomization>,
    /// Those that FluxInstances make.
    pub(super) made: Vec<FluxKustomization>,
    /// Those that none gets.
    pub unlisted: Vec<FluxKustomization>,
    /// The entry points in the order of their paths.
    pub(super) entry_points: Vec<EntryPoint>,
    /// The gates that already stand there.
    pub gates: Vec<Gate>,
    /// CronJobs that suspend or resume Flux Kustomizations and are no part of these.
    pub loose_jobs: Vec<LooseJob>,
    /// The folders that hold a gate which no kustomization.yaml lists.
    pub unlisted_gates: BTreeSet<RepoPath>,
    /// What the CronJobs open and close that each cluster gets.
    pub closings: Closings,
    /// The files of these.
    pub(super) turning: BTreeSet<RepoPath>,
    pub(super) known: Known,
    pub(super) index: Index,
    /// The names of folders that no Flux Kustomization in Git applies, where those of the folders would not tell them apart.
    pub(super) names: BTreeMap<RepoPath, String>,
    /// The Flux Kustomizations outside of the root.
    pub(super) outside: Vec<FluxKustomization>,
    /// What could not be placed or read.
    pub remarks: Vec<Diagnostic>,
}

impl Model {
    /// Understands a snapshot.
    ///
    /// `root` is the folder of the spec: Flux Kustomizations outside of it belong to another spec.
    /// `known` says of clusters what the spec does; everything else is found.
    pub fn read(snapshot: &Snapshot, root: &RepoPath, known: &Known, renderer: &dyn Renderer) -> Model {
        let graph = Graph::read(snapshot);
        let (written, mut remarks) = flux_kustomizations(snapshot);
        remarks.retain(|remark| remark.place.as_ref().is_none_or(|place| place.path.is_within(root)));
        let delivered = Clusters::read(snapshot, &graph, &written, known, root, renderer);
        let (flux, outside) = alive(&delivered, &written, &known.paths, &graph)
            .into_iter()
            .partition(|one| one.file.is_within(root));
        let flux: Vec<FluxKustomization> = flux;
        let unlisted = delivered.not_alive.iter().map(|position| written[*position].clone());
        let is_whole = |one: &FluxKustomization| one.has_source() && !graph.is_patch(&one.file);
        let unlisted: Vec<FluxKustomization> =
            unlisted.filter(|one| is_whole(one) && one.file.is_within(root)).collect();
        // The former folder of a root stays until its cluster has learned of the new one; nothing of it is alive any more.
        let is_same = |one: &FluxKustomization, root: &FluxKustomization| {
            (&one.namespace, &one.name, &one.path) == (&root.namespace, &root.name, &root.path)
        };
        let own: Vec<&FluxKustomization> = flux.iter().filter(|one| one.applies_itself()).collect();
        let former = unlisted.iter().filter(|one| own.iter().any(|root| is_same(one, root)));
        let former: Vec<RepoPath> =
            former.filter_map(|one| Some(naming::prefix(&one.file.parent()?))).collect();
        let Jobs { gates, loose: loose_jobs, following, unlisted: unlisted_gates, turning } =
            jobs(snapshot, &graph, &flux, root);
        let mut by_path: BTreeMap<RepoPath, EntryPoint> = BTreeMap::new();
        remarks.extend(unknown_paths(&flux, &delivered));
        remarks.extend(unmapped(&flux));
        remarks.extend(of_other_revisions(&flux));
        for (index, kustomization) in flux.iter().enumerate() {
            let Some(path) = &kustomization.path else {
                remarks.extend(unplaced(kustomization));
                continue;
            };
            if !graph.stands(snapshot, path) {
                remarks.push(
                    Diagnostic::warning(format!(
                        "Flux Kustomization {} names the path {path}, which is not in this repository",
                        kustomization.name
                    ))
                    .at(kustomization.place("path"))
                    .help("correct spec.path; it is relative to the top of the source, not to the file"),
                );
                continue;
            }
            let entry = by_path
                .entry(path.clone())
                .or_insert_with(|| EntryPoint::new(path.clone(), kustomization.cluster.clone(), None));
            if kustomization.cluster != entry.cluster {
                entry.also.insert(kustomization.cluster.clone());
            }
            entry.flux.push(index);
        }
        let tops = roots(&delivered);
        for (folder, cluster) in tops.iter().filter(|(folder, _)| folder.is_within(root)) {
            let new = || EntryPoint::new(folder.clone(), (*cluster).to_owned(), Some(folder.clone()));
            by_path.entry(folder.clone()).or_insert_with(new);
        }
        for (path, above) in applied_by_roots(&by_path, &tops, &graph) {
            let cluster = by_path[&above].cluster.clone();
            by_path.entry(path.clone()).or_insert_with(|| EntryPoint::new(path, cluster, Some(above)));
        }
        // What an unlisted one would apply is no entry point either.
        let disabled = unlisted.iter().filter_map(|one| one.path.as_ref());
        // Nor is what another revision of this repository is read at.
        let elsewhere = delivered.all.iter().flat_map(|cluster| &cluster.kustomizations);
        let elsewhere: Vec<RepoPath> = elsewhere.filter_map(Reached::read_elsewhere).collect();
        let covered = built_any(&graph, by_path.keys().chain(disabled).chain(&elsewhere));
        // What other clusters build on is a base of theirs and no cluster, wherever it lies.
        let built_on = built_any(&graph, by_path.keys());
        let is_base = |path: &RepoPath| {
            let home = naming::prefix(path);
            !known.speaks_of(root, path)
                && built_on.iter().any(|built| built.is_within(&home))
                && !by_path.keys().any(|own| own.is_within(&home))
        };
        // What lies in a folder that a Flux Kustomization builds is its own, as new sides are; and what was divided is of
        // the cluster that gets its sides.
        let is_own = |path: &RepoPath| {
            let is_applied = |entry: &EntryPoint| !entry.flux.is_empty();
            let mut above = path.parents().filter(|above| !above.is_top());
            let name = naming::of_path(&known.paths, root, path);
            above.any(|above| by_path.get(&above).is_some_and(is_applied))
                || below(&by_path, path)
                    .any(|(other, entry)| other != path && is_applied(entry) && entry.cluster != name)
        };
        let has_flux = !by_path.is_empty();
        let roots: Vec<RepoPath> = graph
            .roots()
            .filter(|root_folder| {
                root_folder.folder.is_within(root)
                    && !covered.contains(&root_folder.folder)
                    && !former.iter().any(|folder| root_folder.folder.is_within(folder))
            })
            .filter(|root_folder| !root_folder.is_component())
            .map(|root_folder| root_folder.folder.clone())
            .collect();
        // What a split left empty inside of an entry point stands there for whoever joins it again.
        let above: BTreeSet<RepoPath> = by_path.keys().chain(&roots).cloned().collect();
        let inside = |path: &RepoPath| path.parents().any(|folder| above.contains(&folder));
        // An umbrella over parts of its own is an entry point that was divided.
        let is_left = |path: &RepoPath| {
            graph.get(path).is_some_and(Kustomization::is_umbrella)
                && !graph.children(path).iter().all(|part| part.is_within(path))
        };
        // What lies in an entry point of which Flux applies the sides is an app's, in use or not.
        let divided = flux.iter().filter_map(|one| Some((one.path.as_ref()?, one.cluster.as_str())));
        let divided: BTreeSet<RepoPath> =
            divided.flat_map(|(side, cluster)| known.wholes(root, cluster, side)).collect();
        let is_side = |path: &RepoPath, whole: &RepoPath| {
            let named = naming::of_path(&known.paths, root, path);
            known.wholes(root, &named, path).contains(whole)
        };
        let is_app =
            |path: &RepoPath| path.parents().any(|above| divided.contains(&above) && !is_side(path, &above));
        // A gate that this tool put into `clusters/` does not make that folder the home of the apps.
        let bases: BTreeSet<&RepoPath> = gates.iter().map(|gate| &gate.base).chain(&following).collect();
        let is_gate =
            |path: &RepoPath| !bases.is_empty() && graph.reach(path).iter().any(|one| bases.contains(one));
        // Beside Flux Kustomizations of its cluster that don't, what its roots don't bring reaches no cluster.
        let every = delivered.all.iter().flat_map(|cluster| &cluster.roots).map(|root| &root.folder);
        let brought = built_any(&graph, every);
        let is_apart = |path: &RepoPath| delivered.is_managed(path) && !brought.contains(path);
        let is_elsewhere =
            |path: &RepoPath| delivered.is_read_from_git(path) || is_apart(path) || is_own(path);
        let is_chosen = |path: &RepoPath| {
            // A gate that is switched on where nothing applies it is worth telling.
            naming::by_folder_name(root, path).is_some()
                && (!is_elsewhere(path) && !is_base(path) || is_gate(path))
        };
        let roots: Vec<RepoPath> = roots
            .into_iter()
            .filter(|path| !(is_left(path) && inside(path)) && (!is_app(path) || is_gate(path)))
            .collect();
        let has_folders = has_flux || roots.iter().any(|path| is_chosen(path) && !is_gate(path));
        // That a list builds others tells nothing of clusters: an operator's `config/default` does too.
        let is_said = |path: &RepoPath| !graph.children(path).is_empty() && known.speaks_of(root, path);
        // What would bring Flux Kustomizations that no cluster gets is the root of none, as a template of clusters.
        let kept: BTreeSet<RepoPath> = unlisted.iter().flat_map(|one| graph.taken_in_by(&one.file)).collect();
        let chosen: Vec<&RepoPath> = roots
            .iter()
            .filter(|path| is_chosen(path) || (!has_folders && is_said(path)))
            .filter(|path| !kept.contains(*path) || is_gate(path))
            .collect();
        let left_out: BTreeSet<RepoPath> = roots
            .iter()
            .filter(|path| {
                naming::by_folder_name(root, path).is_some() && !is_elsewhere(path) && is_base(path)
            })
            .map(naming::prefix)
            .collect();
        remarks.extend(left_out.into_iter().map(|base| {
            Diagnostic::note(format!("{base} is taken for a base, as other clusters build on it"))
                .at(Place::file(base.clone()))
                .help("if it is a cluster, name it under `clusters` in windows.yaml")
        }));
        for path in chosen {
            let named = || naming::of_path(&known.paths, root, path);
            let cluster = delivered.at(path).map_or_else(named, str::to_owned);
            by_path.entry(path.clone()).or_insert_with(|| EntryPoint::new(path.clone(), cluster, None));
        }
        let mut entry_points: Vec<EntryPoint> = by_path.into_values().collect();
        // With a FluxInstance, Flux's own installation lies beside it.
        let synced = delivered.all.iter().flat_map(|cluster| &cluster.roots);
        let synced = synced.filter(|root| root.reason == Reason::FluxInstance);
        let instances: BTreeSet<&RepoPath> = synced.filter_map(|root| root.file.as_ref()).collect();
        let is_instance = |list: &Kustomization| {
            list.resources()
                .iter()
                .any(|one| matches!(&one.target, Target::Path(path) if instances.contains(path)))
        };
        let files: BTreeSet<&RepoPath> = flux.iter().map(|kustomization| &kustomization.file).collect();
        for entry in &mut entry_points {
            let is_flux = tops.contains_key(&entry.path)
                || delivered.is_bringing(&entry.path)
                || entry.through.is_some() && graph.get(&entry.path).is_some_and(is_instance);
            entry.role = if is_flux { Role::Bootstrap } else { role(entry, &graph, &flux, &files, &bases) };
        }
        let index = Index::new(&entry_points, &flux);
        let names = suggested(known, root, &entry_points, &flux, &gates);
        let mut model = Model {
            root: root.clone(),
            graph,
            made: made(&delivered, snapshot),
            delivered,
            flux,
            unlisted,
            entry_points,
            gates,
            loose_jobs,
            unlisted_gates,
            closings: Closings::default(),
            turning,
            known: known.clone(),
            index,
            names,
            outside,
            remarks,
        };
        model.closings = Closings::read(snapshot, &model, renderer);
        model
    }
}

fn role(
    entry: &EntryPoint,
    graph: &Graph,
    flux: &[FluxKustomization],
    files: &BTreeSet<&RepoPath>,
    gates: &BTreeSet<&RepoPath>,
) -> Role {
    let reach = built(graph, &entry.path);
    // Its file may lie anywhere, as in a base that the folder lists.
    let brings = |one: &FluxKustomization| graph.referrers(&one.file).any(|list| reach.contains(list));
    let mut own = entry.flux.iter().map(|index| &flux[*index]);
    if own.any(|one| one.applies_itself() || brings(one)) || is_of_flux(&entry.path, graph) {
        return Role::Bootstrap;
    }
    if reach.iter().any(|folder| gates.contains(folder)) {
        return Role::Gate;
    }
    if holds_only_flux(&reach, graph, files) { Role::Bootstrap } else { Role::Apps }
}

/// Returns the Flux Kustomizations that stand in files and that clusters get, once for each cluster, in the order of files.
fn alive(
    clusters: &Clusters,
    written: &[FluxKustomization],
    paths: &ClusterFolders,
    graph: &Graph,
) -> Vec<FluxKustomization> {
    let is_brought = |one: &FluxKustomization, reached: &Reached| {
        let is_own = |(namespace, name): &(String, String)| {
            (namespace.as_str(), name.as_str()) == (reached.namespace(), reached.name())
        };
        let is_left_out =
            |path: &&RepoPath| one.file.is_within(path) && !graph.taken_in_by(&one.file).contains(*path);
        reached.applied_by.as_ref().is_some_and(|above| !is_own(above))
            && reached.path.as_ref().filter(is_left_out).is_some()
    };
    let mut by_position: BTreeMap<usize, Vec<(String, &Cluster, String, &Reached)>> = BTreeMap::new();
    for cluster in &clusters.all {
        let home = cluster.home();
        for one in &cluster.kustomizations {
            if let Some(position) = one.written {
                // The spec's word counts first: a hub applies what goes by `kubeConfig` to other clusters.
                let said = |path: &RepoPath| naming::by_spec(paths, path);
                let own = one.path.as_ref().and_then(said).or_else(|| said(&written[position].file));
                let name = own.unwrap_or_else(|| cluster.name.clone());
                by_position.entry(position).or_default().push((name, cluster, home.clone(), one));
            }
        }
    }
    let mut found = Vec::new();
    for (position, all) in by_position {
        let all_apis = all.iter().filter(|(.., one)| one.remote.is_empty());
        let apis: Vec<_> = all_apis
            .filter_map(|(cluster, reader, ..)| Some((cluster.clone(), reader.api.clone()?)))
            .collect();
        for (cluster, reader, home, one) in &all {
            found.push(FluxKustomization {
                // What a prefix makes of a name no edit of the file can say.
                name: if written[position].name.contains("${") {
                    one.name()
                } else {
                    &written[position].name
                }
                .to_owned(),
                namespace: one.namespace().to_owned(),
                effective: one.value.clone(),
                post_build: one.post_build.clone(),
                is_certain: one.is_certain,
                path: one.path.clone(),
                top: one.artifact.top.clone(),
                unmapped: one.unmapped.clone(),
                other: one.other.clone(),
                cluster: cluster.clone(),
                remote: one.remote.clone(),
                home: home.clone(),
                read_in: reader.name.clone(),
                is_brought: is_brought(&written[position], one),
                apis: apis.clone(),
                ..written[position].clone()
            });
        }
    }
    found
}

/// Returns the folders that Git says to be the roots of clusters.
fn roots(clusters: &Clusters) -> BTreeMap<RepoPath, &str> {
    let all = clusters.all.iter().flat_map(|cluster| cluster.roots.iter().map(move |root| (cluster, root)));
    let said = all.filter(|(_, root)| matches!(root.reason, Reason::AppliesItself | Reason::FluxInstance));
    said.map(|(cluster, root)| (root.folder.clone(), cluster.name.as_str())).collect()
}

/// Returns the folders that roots apply by themselves, each with the root.
///
/// A folder that the root lists, or that Flux lists in its place, is an entry point without a Flux Kustomization of its
/// own where it lies in the root's folder.
fn applied_by_roots(
    by_path: &BTreeMap<RepoPath, EntryPoint>,
    roots: &BTreeMap<RepoPath, &str>,
    graph: &Graph,
) -> Vec<(RepoPath, RepoPath)> {
    let mut found = Vec::new();
    for root in roots.keys().filter(|root| by_path.contains_key(*root)) {
        let children = if graph.has(root) { graph.children(root) } else { generated_children(graph, root) };
        let own = children.into_iter().filter(|child| child.is_within(root));
        found.extend(own.filter(|child| !by_path.contains_key(child)).map(|child| (child, root.clone())));
    }
    found
}

/// Returns whether a folder is the one that `flux bootstrap` writes.
fn is_of_flux(folder: &RepoPath, graph: &Graph) -> bool {
    graph.get(folder).is_some_and(|list| list.resources().iter().any(Reference::is_components))
}

/// Returns whether all that a build takes in are files of Flux Kustomizations, and at least one.
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

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
