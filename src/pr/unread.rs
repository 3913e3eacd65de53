//! What a pull request may change that nobody here looks at.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::{Applier, Cause, Comparison, Kind, Model, Reached, World, appliers, foreign};
use crate::path::RepoPath;
use crate::pr::report::{By, Line};
use crate::pr::withheld::Withheld;
use crate::repo::flux::{artifact_path, is_yaml};
use crate::repo::manifest::{manifests, objects};
use crate::repo::{Graph, Snapshot};

/// Where the Flux project publishes its own manifests with each release.
const FLUX: [&str; 2] = ["oci://ghcr.io/fluxcd/flux-manifests", "oci://docker.io/fluxcd/flux-manifests"];

/// By cluster, the secrets of `kubeConfig` on the way, namespace and name.
type Unbuilt<'m> = BTreeMap<[&'m str; 4], &'m Reached>;

/// Finds the Flux Kustomizations that build from what is not looked at and that a pull request may reach, and those that
/// no cluster gets; where Git holds none at all, that is said.
pub(super) fn unread(
    before: World<'_>,
    after: World<'_>,
    comparison: &Comparison<'_>,
    changes: &[Line],
) -> Vec<Withheld> {
    if comparison.files.is_empty() {
        return Vec::new();
    }
    if !has_flux(before.model) && !has_flux(after.model) {
        return vec![Withheld {
            cluster: String::new(),
            by: By { path: RepoPath::top(), kustomization: None },
            cause: Cause::NoFlux,
            is_head: true,
            is_new: false,
            reason: "no Flux Kustomization is in Git, so nobody knows what reaches a cluster".to_owned(),
        }];
    }
    let (olds, news) = (unbuilt(before.model), unbuilt(after.model));
    let mut found = Vec::new();
    let mut push = |key: &[&str; 4], one: &Reached, is_head: bool| {
        found.extend(foreign(one).map(|(cause, reason)| Withheld {
            cluster: key[0].to_owned(),
            by: By {
                path:
                    artifact_path(one.value["spec"]["path"].as_str().unwrap_or_default()).unwrap_or_default(),
                kustomization: Some((one.namespace().to_owned(), one.name().to_owned())),
            },
            cause,
            is_head,
            is_new: false,
            reason,
        }));
    };
    let reach = Reach::new(before, after, comparison, changes);
    for (key, new) in &news {
        let is_touched = match olds.get(key) {
            Some(old) => old.value["spec"] != new.value["spec"] || reach.touches(key[0], new),
            // What began to read another source is withheld with its other side.
            None => !is_paired(comparison, key),
        };
        if is_touched {
            push(key, new, true);
        }
    }
    for (key, old) in olds.iter().filter(|(key, _)| !news.contains_key(*key) && !is_paired(comparison, key)) {
        push(key, old, false);
    }
    found.extend(unreached(after.model, &reach));
    found.extend(unapplied(after.model, comparison, &reach, &found));
    found
}

fn has_flux(model: &Model) -> bool {
    model.delivered.all.iter().any(|cluster| !cluster.kustomizations.is_empty()) || !model.unlisted.is_empty()
}

fn unbuilt(model: &Model) -> Unbuilt<'_> {
    let all = model.delivered.all.iter();
    let all = all.flat_map(|cluster| cluster.kustomizations.iter().map(move |one| (cluster, one)));
    let all = all.filter(|(_, one)| one.path.is_none());
    all.map(|(cluster, one)| ([cluster.name.as_str(), &one.remote, one.namespace(), one.name()], one))
        .collect()
}

fn is_paired(comparison: &Comparison<'_>, [cluster, remote, namespace, name]: &[&str; 4]) -> bool {
    let is_it = |applier: &Applier<'_>| applier.key() == (remote, namespace, name);
    let mut pairs = comparison.pairs.iter().filter(|pair| pair.cluster == *cluster);
    pairs.any(|pair| pair.latest().is_some_and(is_it))
}

/// Returns the Flux Kustomizations that no cluster gets and whose folder holds a changed file that no build reads.
fn unreached(model: &Model, reach: &Reach<'_>) -> Vec<Withheld> {
    let touched = model.unlisted.iter().filter_map(|one| {
        let path = one.path.as_ref().filter(|path| !path.is_top())?;
        let is_touched = reach.unread.iter().any(|file| file.is_within(path));
        is_touched.then(|| Withheld {
            cluster: String::new(),
            by: By { path: path.clone(), kustomization: Some((one.namespace.clone(), one.name.clone())) },
            cause: Cause::Unreached,
            is_head: true,
            is_new: false,
            reason: format!(
                "no cluster gets Flux Kustomization {} of {}, as far as Git says",
                one.name, one.file
            ),
        })
    });
    touched.collect()
}

/// Returns the roots without a list in Git that hold a changed file, of which nothing is taken but Flux Kustomizations.
fn unapplied(
    model: &Model,
    comparison: &Comparison<'_>,
    reach: &Reach<'_>,
    told: &[Withheld],
) -> Vec<Withheld> {
    let origins = comparison.pairs.iter().flat_map(|pair| [&pair.old, &pair.new]).flatten().flatten();
    let origins: BTreeSet<&RepoPath> = origins.map(|origin| &origin.path).collect();
    let mut roots = appliers(model);
    // What reads what is not looked at may read such a file; a path with variables says at least in which folder.
    let may_read =
        |one: &Withheld, root: &Applier<'_>| one.cluster == root.cluster && one.cause != Cause::Path;
    roots.retain(|root| root.is_unsaid(model) && !told.iter().any(|one| may_read(one, root)));
    let withheld = |root: &Applier<'_>| {
        let mut own = reach.unread.iter().filter(|file| file.is_within(&root.path));
        let file = own.find(|file| !origins.contains(**file))?;
        Some(Withheld {
            cluster: root.cluster.to_owned(),
            by: By::of(root),
            cause: Cause::Unreached,
            is_head: true,
            is_new: false,
            reason: format!("no Flux Kustomization in Git applies {file} to {}", root.cluster),
        })
    };
    roots.iter().filter_map(withheld).collect()
}

/// What the changes of a pull request may be read by.
struct Reach<'a> {
    worlds: [World<'a>; 2],
    changes: &'a [Line],
    files: &'a BTreeSet<RepoPath>,
    /// The changed files that may hold or make objects and that no build reads.
    unread: Vec<&'a RepoPath>,
    /// What ArtifactGenerators copy, by the name of the artifact.
    copied: BTreeMap<String, Vec<RepoPath>>,
}

impl<'a> Reach<'a> {
    fn new(
        before: World<'a>,
        after: World<'a>,
        comparison: &'a Comparison<'_>,
        changes: &'a [Line],
    ) -> Reach<'a> {
        let files = &comparison.files;
        let is_of_tools = |file: &RepoPath| file.segments().next().is_some_and(|name| name.starts_with('.'));
        let worlds = [before, after];
        let is_listed =
            |file: &RepoPath| worlds.iter().any(|world| world.model.graph.referrers(file).next().is_some());
        let may_make = |file: &&RepoPath| is_yaml(file) && !is_of_tools(file) || is_listed(file);
        let mut unread: Vec<&RepoPath> = files.iter().filter(may_make).collect();
        for world in worlds {
            // Of a root without a list nothing is taken but its Flux Kustomizations.
            let readers = appliers(world.model).into_iter().filter(|one| !one.is_unsaid(world.model));
            for applier in readers {
                if unread.is_empty() {
                    break;
                }
                let known = applier.surroundings(&world.model.graph);
                let known = known.unwrap_or_else(|| BTreeSet::from([applier.path.clone()]));
                unread.retain(|file| !file.ancestors().any(|path| known.contains(&path)));
            }
        }
        let mut copied = copies(before.snapshot);
        for (name, folders) in copies(after.snapshot) {
            copied.entry(name).or_default().extend(folders);
        }
        Reach { worlds, changes, files, unread, copied }
    }

    /// Returns whether a pull request may change what a Flux Kustomization reads that nobody here builds.
    fn touches(&self, cluster: &str, one: &Reached) -> bool {
        let source = one.source();
        let is_source = |line: &&Line| {
            line.cluster == cluster
                && line.kind != Kind::Deleted
                && (line.id.kind.as_str(), line.id.name.as_str()) == (&source.kind, &source.name)
        };
        if self.changes.iter().any(|line| is_source(&line)) {
            return true;
        }
        if let Some(path) = one.read_elsewhere() {
            return self.is_read_at(cluster, one, &path);
        }
        match source.kind.as_str() {
            // One of another repository, unless only its path is not known.
            "GitRepository" => matches!(foreign(one), Some((Cause::Path, _))) && self.may_fit(cluster, one),
            "ExternalArtifact" => match self.copied.get(&source.name) {
                Some(folders) => folders.iter().any(|folder| {
                    // What it copies from may be pushed from any folder of this repository.
                    let is_below = |file: &RepoPath| file.ancestors().any(|above| is_end(&above, folder));
                    self.files.iter().any(|file| is_below(file) || folder.is_within(file))
                }),
                None => true,
            },
            // What is pushed to a registry or a bucket may come from here, below any folder.
            _ if self.is_of_flux(&source.name) => false,
            _ => !self.unread.is_empty() || self.may_hold(cluster, one),
        }
    }

    /// Returns whether every OCIRepository of a name fetches Flux's own manifests, which hold nothing of this repository.
    fn is_of_flux(&self, name: &str) -> bool {
        let all = self.worlds.iter().flat_map(|world| written(world.snapshot, "OCIRepository", name));
        let own: Vec<Value> = all.filter(|one| one["metadata"]["name"] == name).collect();
        let is_flux = |one: &Value| FLUX.iter().any(|url| one["spec"]["url"] == *url);
        !own.is_empty() && own.iter().all(is_flux)
    }

    /// Returns whether a folder that may be the one of an artifact reads a changed file: one whose path ends as the path
    /// within the artifact.
    fn may_hold(&self, cluster: &str, one: &Reached) -> bool {
        let path = artifact_path(one.value["spec"]["path"].as_str().unwrap_or_default());
        let Some(path) = path.filter(|path| !path.is_top()) else { return false };
        self.is_read_in(cluster, one, |folder| is_end(folder, &path))
    }

    /// Returns whether a folder of which the path fits one with variables reads a changed file.
    fn may_fit(&self, cluster: &str, one: &Reached) -> bool {
        let text = one.value["spec"]["path"].as_str().unwrap_or_default();
        let (begin, _) = text.split_once('$').unwrap_or_default();
        let (_, end) = text.rsplit_once('}').unwrap_or_default();
        // A variable may be a part of a name, and may hold more names than one.
        let begin = begin.rsplit_once('/').map_or("", |(above, _)| above);
        let end = end.split_once('/').map_or("", |(_, below)| below);
        let (Some(begin), Some(end)) = (artifact_path(begin), artifact_path(end)) else { return true };
        let fits = |folder: &RepoPath| folder.is_within(&begin) && is_end(folder, &end);
        // Where a folder has no list, Flux makes one of what it holds.
        self.files.iter().any(|file| file.parents().any(|folder| fits(&folder)))
            || self.is_read_in(cluster, one, fits)
    }

    /// Returns whether one of some folders with a list reads a changed file.
    fn is_read_in(&self, cluster: &str, one: &Reached, is_wanted: impl Fn(&RepoPath) -> bool) -> bool {
        self.worlds.iter().any(|world| {
            let graph = &world.model.graph;
            let mut folders = graph.iter().map(|list| &list.folder).filter(|folder| is_wanted(folder));
            folders.any(|folder| self.is_read_by(cluster, one, folder, graph))
        })
    }

    /// Returns whether a folder reads a changed file, before or after.
    fn is_read_at(&self, cluster: &str, one: &Reached, folder: &RepoPath) -> bool {
        self.worlds.iter().any(|world| self.is_read_by(cluster, one, folder, &world.model.graph))
    }

    fn is_read_by(&self, cluster: &str, one: &Reached, folder: &RepoPath, graph: &Graph) -> bool {
        let applier = Applier { cluster, path: folder.clone(), kustomization: Some(one) };
        let known = applier.surroundings(graph).unwrap_or_else(|| BTreeSet::from([folder.clone()]));
        self.files.iter().any(|file| file.ancestors().any(|path| known.contains(&path)))
    }
}

/// Returns whether a path ends as another one, name by name.
fn is_end(path: &RepoPath, end: &RepoPath) -> bool {
    let above = path.as_str().strip_suffix(end.as_str());
    above.is_some_and(|above| end.is_top() || above.is_empty() || above.ends_with('/'))
}

/// Returns the folders and files from which ArtifactGenerators copy, by the names of their artifacts, as far as their
/// patterns say it plainly (source-watcher, `spec.artifacts[].copy[].from`: `@alias/path/**`).
fn copies(snapshot: &Snapshot) -> BTreeMap<String, Vec<RepoPath>> {
    let mut found: BTreeMap<String, Vec<RepoPath>> = BTreeMap::new();
    for generator in written(snapshot, "ArtifactGenerator", "") {
        for artifact in generator["spec"]["artifacts"].as_array().into_iter().flatten() {
            let copied = artifact["copy"].as_array().into_iter().flatten();
            let folders = copied.filter_map(|copy| plain_part(&copy["from"]));
            found
                .entry(artifact["name"].as_str().unwrap_or_default().to_owned())
                .or_default()
                .extend(folders);
        }
    }
    found
}

/// Returns the objects of a kind as they stand in the files that hold a word.
fn written<'s>(snapshot: &'s Snapshot, kind: &'s str, word: &'s str) -> impl Iterator<Item = Value> + 's {
    let files = snapshot.entries().filter(|(path, _)| is_yaml(path));
    let files = files.filter_map(|(path, _)| snapshot.file(path));
    let holds = move |text: &str| text.contains(kind) && text.contains(word);
    let files = files.filter(move |file| file.text().is_some_and(holds));
    let all = files.flat_map(|file| manifests(file).unwrap_or_default());
    let all = all.flat_map(|manifest| objects(&manifest.value).into_iter().cloned().collect::<Vec<_>>());
    all.filter(move |value| value["kind"] == kind)
}

/// Returns the part of a pattern before its first wildcard.
fn plain_part(from: &Value) -> Option<RepoPath> {
    let (_, path) = from.as_str()?.split_once('/')?;
    let is_plain = |part: &&str| !part.contains(['*', '?', '[', '{']);
    let parts: Vec<&str> = path.split('/').take_while(is_plain).collect();
    artifact_path(&parts.join("/"))
}
