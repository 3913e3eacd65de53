//! Reads clusters as Flux does: from their roots, through builds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::Value;

use crate::delivery::ClusterFolders;
use crate::delivery::fetched::Ignore;
use crate::delivery::naming;
use crate::delivery::naming::home;
use crate::delivery::propose::{is_kept, propose};
use crate::delivery::root::{Reason, Root, applying_themselves, of_instances};
use crate::delivery::secure_join::secure_join;
use crate::delivery::source::{SourceId, bare_url};
use crate::delivery::view::{Built, View, ViewKey, Views};
use crate::path::RepoPath;
use crate::render::{Object, Renderer, Request};
use crate::repo::flux::{GROUP, git_repositories, holds_variable};
use crate::repo::post_build::substitute;
use crate::repo::{FluxKustomization, Graph, Snapshot};
use crate::spec::{self, Placed, Spec};

/// What is known of clusters before anything is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The folders that each cluster owns.
    pub paths: ClusterFolders,
    /// The folders that are applied to each cluster before anything else.
    pub roots: ClusterFolders,
}

impl Known {
    /// Returns what a spec says of each cluster's folders and roots.
    pub fn of(spec: &Spec) -> Known {
        let folders = |of: &dyn Fn(&spec::Cluster) -> &[Placed<String>]| {
            let joined = |cluster: &spec::Cluster| -> Vec<RepoPath> {
                of(cluster).iter().filter_map(|path| spec.folder().join(path).ok()).collect()
            };
            let all = spec.clusters.iter().map(|(name, cluster)| (name.clone(), joined(cluster)));
            all.filter(|(_, folders)| !folders.is_empty()).collect()
        };
        Known { paths: folders(&|cluster| &cluster.paths), roots: folders(&|cluster| &cluster.roots) }
    }
}

/// A cluster as its roots make it.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The name: what the spec says, or else what tells its root from those of others.
    pub name: String,
    /// The roots, in the order of their folders.
    pub roots: Vec<Root>,
    /// The Flux Kustomizations that Flux applies to it, in the order in which they are reached.
    pub kustomizations: Vec<Reached>,
    /// The artifacts of this repository that its Flux Kustomizations read: where each begins, and what it leaves out.
    artifacts: BTreeSet<Artifact>,
}

/// Where an artifact begins, and the `spec.ignore` of its source.
type Artifact = (RepoPath, Option<String>);

/// A Flux Kustomization that a cluster gets.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The object, as the build that applies it makes it, with the variables of that one's `postBuild` as far as Git
    /// tells them.
    pub value: Value,
    /// The file that it comes from, and its position among the Flux Kustomizations that stand in files; `None` where it
    /// stands in none.
    pub written: Option<usize>,
    /// `spec.path` as a folder of the repository; `None` where the source is no artifact of this repository, or only
    /// the cluster knows the path.
    pub path: Option<RepoPath>,
    /// Where the artifact begins that `path` is a part of.
    pub artifact: RepoPath,
    /// Namespace and name of the one that applies it; `None` for a root that Git does not say more of.
    pub applied_by: Option<(String, String)>,
    /// The secrets of `kubeConfig` on the way, where it is applied to another cluster than that of its root.
    pub remote: String,
    /// Why its build fails; then what its files list is taken for what it applies.
    pub error: Option<String>,
    /// Whether all builds on the way to it succeed; otherwise `value` is what its file says.
    pub is_certain: bool,
}

impl Cluster {
    /// Tells whether something of it lies in a folder.
    fn concerns(&self, folder: &RepoPath) -> bool {
        let roots = self.roots.iter().map(|root| &root.folder);
        let paths = self.kustomizations.iter().filter_map(|one| one.path.as_ref());
        roots.chain(paths).any(|path| path.is_within(folder))
    }

    /// Returns the folder above `clusters` that holds its first root; empty where there is none.
    pub(crate) fn home(&self) -> String {
        self.roots.first().map(|root| home(&root.folder, None, &self.name)).unwrap_or_default()
    }
}

impl Reached {
    /// Returns `metadata.namespace`, as it is built; empty where Git does not say it.
    pub fn namespace(&self) -> &str {
        self.value["metadata"]["namespace"].as_str().unwrap_or_default()
    }

    /// Returns `metadata.name`, as it is built.
    pub fn name(&self) -> &str {
        self.value["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Returns the source that it reads.
    pub fn source(&self) -> SourceId {
        SourceId::of(&self.value["spec"], self.namespace())
    }
}

/// The clusters of a repository.
#[derive(Clone, Debug, Default)]
pub struct Clusters {
    /// In the order of their names.
    pub all: Vec<Cluster>,
    /// The positions of the Flux Kustomizations that stand in files and that no cluster gets.
    pub not_alive: BTreeSet<usize>,
    /// What artifacts leave out.
    ignored: BTreeMap<Artifact, Ignore>,
}

impl Clusters {
    /// Tells whether some root was found in Git or named by the spec, so that what no root reaches is not alive.
    pub fn are_known(&self) -> bool {
        self.all.iter().flat_map(|cluster| &cluster.roots).any(|root| root.reason != Reason::Proposed)
    }

    /// Returns the name of the cluster in the folder of which a path lies.
    pub(crate) fn at(&self, path: &RepoPath) -> Option<&str> {
        let roots = self.all.iter().flat_map(|cluster| cluster.roots.iter().map(move |root| (cluster, root)));
        let own = roots.filter(|(_, root)| !root.group.is_top() && path.is_within(&root.group));
        let nearest = own.max_by_key(|(_, root)| root.group.segments().count());
        nearest.map(|(cluster, _)| cluster.name.as_str())
    }

    /// Tells whether a folder lies where a cluster is read from what Git says of its roots.
    pub(crate) fn is_read_from_git(&self, folder: &RepoPath) -> bool {
        let roots = self.all.iter().flat_map(|cluster| &cluster.roots);
        let mut said = roots.filter(|root| root.kustomization.is_some());
        said.any(|root| folder.is_within(&root.group))
    }

    /// Tells whether Flux fetches a file for some cluster, as far as Git says what Flux fetches.
    pub fn is_fetched(&self, file: &RepoPath) -> bool {
        let mut clusters = self.all.iter().filter(|cluster| !cluster.artifacts.is_empty()).peekable();
        clusters.peek().is_none() || clusters.any(|cluster| self.has_fetched(cluster, file))
    }

    /// As [`is_fetched`](Clusters::is_fetched), for one cluster.
    pub fn is_fetched_by(&self, name: &str, file: &RepoPath) -> bool {
        let mut own = self.all.iter().filter(|cluster| cluster.name == name);
        own.all(|cluster| cluster.artifacts.is_empty() || self.has_fetched(cluster, file))
    }

    fn has_fetched(&self, cluster: &Cluster, file: &RepoPath) -> bool {
        let is_left_out =
            |artifact: &Artifact| self.ignored.get(artifact).is_some_and(|ignore| ignore.leaves_out(file));
        cluster.artifacts.iter().any(|artifact| file.is_within(&artifact.0) && !is_left_out(artifact))
    }

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
        let top = Arc::new(View::new(snapshot.clone(), graph.clone()));
        let mut reader = Reader {
            flux,
            by_file,
            renderer,
            written_sources: git_repositories(snapshot),
            snapshot,
            scope: scope.clone(),
            views: Views::from([((RepoPath::top(), None), top.clone())]),
            top,
            ignored: BTreeMap::new(),
            by_hand: BTreeMap::new(),
        };
        let mut all = reader.certain(known);
        let left = |all: &[Cluster]| {
            let reached = written(all);
            (0..flux.len()).filter(|position| !reached.contains(position)).collect::<BTreeSet<usize>>()
        };
        let folders: Vec<RepoPath> =
            all.iter().flat_map(|cluster| &cluster.roots).map(|root| root.folder.clone()).collect();
        // Whoever names roots names all that Git does not.
        if known.roots.is_empty() {
            let proposed = propose(flux, &left(&all), &reader.top.clone(), &known.paths, &folders);
            let mut roots: Vec<Root> = all.into_iter().flat_map(|cluster| cluster.roots).collect();
            roots.extend(proposed);
            all = reader.clusters(roots, known);
        }
        reader.by_hand = by_hand(flux, &all);
        if !reader.by_hand.is_empty() {
            let roots = all.into_iter().flat_map(|cluster| cluster.roots).collect();
            all = reader.clusters(roots, known);
        }
        let not_alive = left(&all);
        Clusters { all, not_alive, ignored: reader.ignored }
    }
}

struct Reader<'a> {
    flux: &'a [FluxKustomization],
    by_file: BTreeMap<&'a RepoPath, Vec<usize>>,
    renderer: &'a dyn Renderer,
    /// The `spec` of the GitRepositories that stand in files, by name.
    written_sources: BTreeMap<String, Value>,
    snapshot: &'a Snapshot,
    /// The folder of the spec.
    scope: RepoPath,
    views: Views,
    top: Arc<View>,
    ignored: BTreeMap<Artifact, Ignore>,
    /// By root, the positions of those that nothing brings.
    by_hand: BTreeMap<RepoPath, Vec<usize>>,
}

/// A build that is to be made.
struct Step {
    /// The position of its Flux Kustomization among those that are reached; `None` for a folder that nothing in Git
    /// applies.
    by: Option<usize>,
    folder: RepoPath,
    artifact: RepoPath,
    spec: Value,
    remote: String,
}

/// A cluster while it is read.
struct Progress {
    cluster: Cluster,
    /// The sources that builds bring, with their values.
    sources: Vec<(SourceId, Value)>,
    /// The positions of those that are reached, by cluster, namespace and name.
    seen: BTreeMap<(String, String, String), Vec<usize>>,
    queue: VecDeque<Step>,
}

impl Reader<'_> {
    /// Reads the clusters of which the spec or Git says the roots.
    fn certain(&mut self, known: &Known) -> Vec<Cluster> {
        let mut roots = of_instances(self.snapshot);
        let found = applying_themselves(self.snapshot, self.flux);
        let (of_top, mut own): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(_, root)| root.folder.is_top());
        // Every file lies within the top, so what builds it is a root only where nothing else is.
        let is_foreign = |one: &FluxKustomization| {
            let is_unsaid = |other: &FluxKustomization| {
                other.has_source()
                    && other.path.as_ref().is_some_and(|path| !path.is_top())
                    && !self.written_sources.contains_key(other.source_name())
            };
            self.written_sources.contains_key(one.source_name()) && self.flux.iter().any(is_unsaid)
        };
        if own.is_empty() && roots.is_empty() {
            own = of_top.into_iter().filter(|(position, _)| !is_foreign(&self.flux[*position])).collect();
        }
        // What another root brings is none, unless each brings the other.
        if own.len() + roots.len() > 1 {
            let mut reach = |root: &Root| Reach::of(&self.clusters(vec![root.clone()], known));
            let of_roots: Vec<Reach> = roots.iter().map(&mut reach).collect();
            let of_own: Vec<Reach> = own.iter().map(|(_, root)| reach(root)).collect();
            let is_brought = |index: usize| {
                let (position, root) = &own[index];
                let others = (0..own.len()).filter(|other| own[*other].1.folder != root.folder);
                // One whose own folder leaves it out stands there switched off where another builds that folder.
                let takes = |reach: &Reach| {
                    reach.written.contains(position)
                        || !of_own[index].brought.contains(position) && reach.paths.contains(&root.folder)
                };
                let mut by_own = others.filter(|other| takes(&of_own[*other]));
                let mut by_roots =
                    roots.iter().zip(&of_roots).filter(|(other, _)| other.folder != root.folder);
                by_own.any(|other| !of_own[index].written.contains(&own[other].0))
                    || by_roots.any(|(_, reach)| takes(reach))
            };
            let brought: Vec<bool> = (0..own.len()).map(is_brought).collect();
            own = own.into_iter().zip(brought).filter(|(_, brought)| !brought).map(|(one, _)| one).collect();
        }
        roots.extend(own.into_iter().map(|(_, root)| root));
        // What Git says of a root is more.
        let named = known.roots.values().flatten();
        let named: Vec<RepoPath> =
            named.filter(|folder| !roots.iter().any(|root| root.folder == **folder)).cloned().collect();
        roots.extend(named.iter().map(|folder| Root::folder(folder, Reason::Spec)));
        self.clusters(roots, known)
    }

    /// Reads the clusters of some roots.
    fn clusters(&mut self, mut roots: Vec<Root>, known: &Known) -> Vec<Cluster> {
        roots.sort_by(|a, b| (&a.folder, a.reason).cmp(&(&b.folder, b.reason)));
        let mut groups: BTreeMap<(Option<String>, RepoPath), Vec<Root>> = BTreeMap::new();
        for root in roots {
            let said =
                said(&known.roots, &root.folder, true).or_else(|| said(&known.paths, &root.folder, false));
            let group = if said.is_some() { RepoPath::top() } else { root.group.clone() };
            groups.entry((said, group)).or_default().push(root);
        }
        let mut clusters: Vec<(Option<String>, RepoPath, Cluster)> = Vec::new();
        for ((said, prefix), roots) in groups {
            let cluster = self.cluster(roots);
            if !cluster.concerns(&self.scope) {
                continue;
            }
            clusters.push((said, prefix, cluster));
        }
        let unnamed =
            clusters.iter().filter(|(said, ..)| said.is_none()).map(|(_, prefix, _)| prefix.clone());
        let mut names = naming::names(&unnamed.collect::<Vec<_>>()).into_iter();
        let named = clusters.into_iter().map(|(said, _, cluster)| {
            let name = said.or_else(|| names.next()).unwrap_or_default();
            Cluster { name, ..cluster }
        });
        let mut named: Vec<Cluster> = named.collect();
        named.sort_by(|a, b| a.name.cmp(&b.name));
        named
    }

    fn cluster(&mut self, roots: Vec<Root>) -> Cluster {
        let mut progress = Progress {
            sources: Vec::new(),
            seen: BTreeMap::new(),
            queue: VecDeque::new(),
            cluster: Cluster {
                name: String::new(),
                roots: Vec::new(),
                kustomizations: Vec::new(),
                artifacts: BTreeSet::new(),
            },
        };
        for root in roots {
            let own = root.source.clone();
            if let Some((id, value)) = &own
                && !value.is_null()
            {
                progress.sources.push((id.clone(), value.clone()));
            }
            match &root.kustomization {
                Some(value) => {
                    let one = Built { value: value.clone(), file: None };
                    progress.cluster.roots.push(root.clone());
                    self.reach(&mut progress, one, None, "");
                }
                None => {
                    progress.queue.push_back(Step {
                        by: None,
                        folder: root.folder.clone(),
                        artifact: root.artifact.clone(),
                        spec: Value::Null,
                        remote: String::new(),
                    });
                    progress.cluster.roots.push(root.clone());
                    for position in self.by_hand.get(&root.folder).cloned().unwrap_or_default() {
                        let one = &self.flux[position];
                        let one = Built { value: one.value.clone(), file: Some(one.file.clone()) };
                        self.reach(&mut progress, one, None, "");
                    }
                }
            }
        }
        while !progress.queue.is_empty() {
            self.level(&mut progress);
        }
        // Whatever applied a root first, it is that which stands in its file.
        for root in &progress.cluster.roots {
            let is_root =
                |one: &&mut Reached| one.written.is_none() && root.kustomization.as_ref() == Some(&one.value);
            if let Some(one) = progress.cluster.kustomizations.iter_mut().find(is_root) {
                one.written = root.written;
            }
        }
        progress.cluster
    }

    /// Makes the builds that are wanted and takes in what they bring.
    fn level(&mut self, progress: &mut Progress) {
        let steps: Vec<Step> = progress.queue.drain(..).collect();
        let mut answers: Vec<(Vec<Built>, Option<String>)> = Vec::with_capacity(steps.len());
        let mut wanted: BTreeMap<ViewKey, Vec<(usize, Request)>> = BTreeMap::new();
        for (index, step) in steps.iter().enumerate() {
            let key = self.view_key(progress, step);
            if step.by.is_some() && step.remote.is_empty() {
                progress.cluster.artifacts.insert(key.clone());
            }
            let view = self.view(&key);
            if !view.may_bring(&step.folder, &step.spec) {
                answers.push((Vec::new(), None));
            } else if let Some(listed) = view.listed(&step.folder, &step.spec) {
                answers.push((listed, None));
            } else {
                answers.push((Vec::new(), None));
                wanted.entry(key).or_default().push((index, View::request(&step.folder, &step.spec)));
            }
        }
        for (key, requests) in wanted {
            let view = self.view(&key);
            let (indexes, requests): (Vec<usize>, Vec<Request>) = requests.into_iter().unzip();
            let results = self.renderer.render(&view.snapshot, &requests);
            for (index, result) in indexes.into_iter().zip(results) {
                answers[index] = match result {
                    Ok(objects) => (objects.into_iter().map(built).collect(), None),
                    Err(error) => {
                        (view.written(&steps[index].folder, &steps[index].spec), Some(error.message))
                    }
                };
            }
        }
        for (step, (_, error)) in steps.iter().zip(&answers) {
            if let (Some(by), Some(_)) = (step.by, error) {
                progress.cluster.kustomizations[by].error.clone_from(error);
            }
        }
        // A source may come with what reads it.
        for (step, (objects, _)) in steps.iter().zip(&answers) {
            for one in objects.iter().filter(|one| one.value["kind"] == "GitRepository") {
                let metadata = &one.value["metadata"];
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let id = SourceId {
                    kind: "GitRepository".to_owned(),
                    namespace: text(&metadata["namespace"]),
                    name: text(&metadata["name"]),
                };
                if step.remote.is_empty() && !progress.sources.iter().any(|(other, _)| *other == id) {
                    progress.sources.push((id, one.value.clone()));
                }
            }
        }
        for (step, (objects, _)) in steps.into_iter().zip(answers) {
            let flux = objects.into_iter().filter(|one| {
                let group = one.value["apiVersion"].as_str().unwrap_or_default().split('/').next();
                one.value["kind"] == "Kustomization" && group == Some(GROUP)
            });
            for mut one in flux {
                substitute(&step.spec["postBuild"], &mut one.value);
                self.reach(progress, one, step.by, &step.remote);
            }
        }
    }

    /// Takes in a Flux Kustomization that a cluster gets.
    fn reach(&mut self, progress: &mut Progress, one: Built, by: Option<usize>, remote: &str) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (namespace, name) =
            (text(&one.value["metadata"]["namespace"]), text(&one.value["metadata"]["name"]));
        let applied_by = by.map(|by| {
            let by = &progress.cluster.kustomizations[by];
            (by.namespace().to_owned(), by.name().to_owned())
        });
        let written = one.file.as_ref().and_then(|file| self.written(file, &namespace, &name));
        let key = (remote.to_owned(), namespace, name);
        let known = progress.seen.get(&key).into_iter().flatten().copied();
        for position in known.collect::<Vec<_>>() {
            let known = &mut progress.cluster.kustomizations[position];
            // A root's own build says more of it than its file does.
            if known.applied_by.is_none() && known.written.is_none() {
                (known.written, known.applied_by) = (written, applied_by);
                let is_same = known.value["spec"] == one.value["spec"];
                known.value = one.value;
                if !is_same {
                    self.resolve(progress, position);
                }
                return;
            }
            // Two files may fight over one name.
            if known.written == written {
                return;
            }
        }
        let position = progress.cluster.kustomizations.len();
        let above = by.map(|by| &progress.cluster.kustomizations[by]);
        let is_certain = above.is_none_or(|above| above.is_certain && above.error.is_none());
        progress.seen.entry(key).or_default().push(position);
        progress.cluster.kustomizations.push(Reached {
            value: one.value,
            written,
            path: None,
            artifact: RepoPath::top(),
            applied_by,
            remote: remote.to_owned(),
            error: None,
            is_certain,
        });
        self.resolve(progress, position);
    }

    /// Finds out which folder one builds, and asks for that build.
    fn resolve(&mut self, progress: &mut Progress, position: usize) {
        let one = &progress.cluster.kustomizations[position];
        let spec = one.value["spec"].clone();
        let Some(artifact) = self.artifact(progress, one) else { return };
        let path = Some(&spec["path"]).filter(|path| !holds_variable(path));
        let path =
            path.and_then(|path| secure_join(self.snapshot, &artifact, path.as_str().unwrap_or_default()));
        let secret = spec["kubeConfig"]["secretRef"]["name"].as_str();
        let secret =
            secret.or_else(|| spec["kubeConfig"]["configMapRef"]["name"].as_str()).unwrap_or_default();
        let remote = format!("{}{secret}", one.remote);
        let one = &mut progress.cluster.kustomizations[position];
        (one.path, one.artifact) = (path.clone(), artifact.clone());
        if let Some(folder) = path {
            progress.queue.push_back(Step { by: Some(position), folder, artifact, spec, remote });
        }
    }

    /// Returns where the artifact begins that a Flux Kustomization reads; `None` where it is none of this repository.
    ///
    /// That is so for the source of the root, for another one with the same URL, and for one that does not stand in
    /// Git: `flux bootstrap` and Flux Operator made that.
    fn artifact(&self, progress: &Progress, one: &Reached) -> Option<RepoPath> {
        let id = one.source();
        let roots = || progress.cluster.roots.iter();
        let own = roots().find(|root| root.source.as_ref().is_some_and(|(own, _)| own.is(&id)));
        if let Some(root) = own {
            return Some(root.artifact.clone());
        }
        if id.kind != "GitRepository" {
            return None;
        }
        let Some(url) = self.url(progress, &id) else { return Some(RepoPath::top()) };
        let known: Vec<String> = roots()
            .filter_map(|root| root.source.as_ref())
            .filter_map(|(own, _)| self.url(progress, own))
            .collect();
        if known.is_empty() {
            // Beside a source that Git does not say, one with a URL is another repository where it could be any.
            let path = secure_join(self.snapshot, &RepoPath::top(), one.value["spec"]["path"].as_str()?)?;
            let is_here = !path.is_top() && self.snapshot.is_dir(&path);
            let is_only = !self
                .flux
                .iter()
                .any(|other| other.has_source() && !self.written_sources.contains_key(other.source_name()));
            return (is_here || is_only).then(RepoPath::top);
        }
        known.contains(&url).then(RepoPath::top)
    }

    /// Returns the URL of a source: as builds bring it, or else as it stands in a file.
    fn url(&self, progress: &Progress, id: &SourceId) -> Option<String> {
        let url = self.source(progress, id)?["url"].as_str()?;
        (!url.contains("${")).then(|| bare_url(url))
    }

    /// Returns the `spec` of a source: as builds bring it, or else as it stands in a file.
    fn source<'s>(&'s self, progress: &'s Progress, id: &SourceId) -> Option<&'s Value> {
        let built = progress.sources.iter().find(|(other, _)| other.is(id)).map(|(_, value)| &value["spec"]);
        let written = || self.written_sources.get(&id.name).filter(|_| id.kind == "GitRepository");
        built.or_else(written)
    }

    /// Names what a build sees: the artifact's top, and what its source leaves out.
    fn view_key(&self, progress: &Progress, step: &Step) -> Artifact {
        let id = match step.by {
            Some(by) => progress.cluster.kustomizations[by].source(),
            None => return (step.artifact.clone(), None),
        };
        let ignore = self.source(progress, &id).and_then(|spec| spec["ignore"].as_str());
        (step.artifact.clone(), ignore.map(str::to_owned))
    }

    fn view(&mut self, key: &Artifact) -> Arc<View> {
        if let Some(view) = self.views.get(key) {
            return view.clone();
        }
        let (artifact, spec_ignore) = key;
        let ignore = Ignore::read(self.snapshot, artifact, spec_ignore.as_deref());
        let view = if ignore.is_empty() && artifact.is_top() {
            self.top.clone()
        } else {
            let snapshot = ignore.applied(self.snapshot);
            let graph = Graph::read(&snapshot);
            self.ignored.insert(key.clone(), ignore);
            Arc::new(View::new(snapshot, graph))
        };
        self.views.insert(key.clone(), view.clone());
        view
    }

    /// Finds the Flux Kustomization of a file that became one of these names.
    fn written(&self, file: &RepoPath, namespace: &str, name: &str) -> Option<usize> {
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

/// What a root brings.
struct Reach {
    /// The positions of the Flux Kustomizations that stand in files, its own included.
    written: BTreeSet<usize>,
    /// Those that a build brings.
    brought: BTreeSet<usize>,
    /// The folders that they build.
    paths: BTreeSet<RepoPath>,
}

impl Reach {
    fn of(clusters: &[Cluster]) -> Reach {
        let all = || clusters.iter().flat_map(|cluster| &cluster.kustomizations);
        let brought = all().filter(|one| one.applied_by.is_some());
        Reach {
            written: written(clusters),
            brought: brought.filter_map(|one| one.written).collect(),
            paths: all().filter_map(|one| one.path.clone()).collect(),
        }
    }
}

/// Returns the positions of the Flux Kustomizations of clusters that stand in files.
fn written(clusters: &[Cluster]) -> BTreeSet<usize> {
    clusters.iter().flat_map(|cluster| &cluster.kustomizations).filter_map(|one| one.written).collect()
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

fn built(object: Object) -> Built {
    Built { value: Arc::unwrap_or_clone(object.value), file: object.origin.map(|origin| origin.path) }
}

/// Returns the cluster that is said to own a folder, or what lies around it.
pub(super) fn said(folders: &ClusterFolders, folder: &RepoPath, is_exact: bool) -> Option<String> {
    let depth = |folders: &Vec<RepoPath>| {
        let is_own = |own: &&RepoPath| if is_exact { *own == folder } else { folder.is_within(own) };
        folders.iter().filter(is_own).map(|own| own.segments().count()).max()
    };
    let found = folders.iter().filter_map(|(name, folders)| Some((depth(folders)?, name)));
    found.max_by_key(|(depth, _)| *depth).map(|(_, name)| name.clone())
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
