//! The changed files behind an object.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use crate::delivery::{Change, Comparison, Kind, Pair, Part, Source, Sources, World, is_ignore_file};
use crate::diagnostic::line_column;
use crate::path::{RepoPath, below};
use crate::render::Object;
use crate::repo::manifest::ObjectId;
use crate::repo::{Graph, Reference};
use crate::yaml::Node;

/// A file behind a change, with the first line that differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Behind {
    /// The file.
    pub path: RepoPath,
    /// The line, from 1; in the older file where the newer tree has none. `None` where it is no YAML text.
    pub line: Option<usize>,
}

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.path),
            None => self.path.fmt(f),
        }
    }
}

/// Returns whether a file declares an object by this node, whose name a prefix or suffix may have made longer.
fn is_named(node: &Node, id: &ObjectId) -> bool {
    let text = |path: &[&str]| node.get_path(path).and_then(Node::scalar_text);
    text(&["kind"]) == Some(id.kind.as_str())
        && text(&["metadata", "name"]).is_some_and(|name| id.name.contains(name))
}

/// Finds the changed files behind objects.
pub(super) struct Files<'a> {
    before: World<'a>,
    after: World<'a>,
    /// What the files of the two trees hold.
    sources: [Sources<'a>; 2],
    changed: &'a BTreeSet<RepoPath>,
    pairs: &'a [Pair<'a>],
    /// By changed file, the kustomization folders that take it in by a list other than their resources, or that it is
    /// the list of.
    shaping: BTreeMap<RepoPath, BTreeSet<RepoPath>>,
    /// Those of them that only generators read.
    inputs: BTreeSet<RepoPath>,
    /// By file, the kustomization folders whose builds take it in.
    builders: BTreeMap<RepoPath, BTreeSet<RepoPath>>,
    /// The changed files that say what is left out below their folders.
    ignoring: Vec<&'a RepoPath>,
    /// By position of a pair, what its builds may read; `None` where that is not known.
    near: BTreeMap<usize, Option<Near>>,
    /// By file, the kinds that its patches are for; a target that a list does not give is `None`. Of a file that is no patch
    /// alone there is nothing.
    targets: BTreeMap<RepoPath, Option<BTreeSet<Option<String>>>>,
}

/// What the builds of a pair may read.
struct Near {
    /// The files and folders below which all of it lies.
    folders: BTreeSet<RepoPath>,
    /// The files of [`Files::shaping`] among it.
    shaping: BTreeSet<RepoPath>,
}

impl<'a> Files<'a> {
    pub(super) fn new(before: World<'a>, after: World<'a>, comparison: &'a Comparison<'a>) -> Files<'a> {
        let origins: BTreeSet<&RepoPath> = comparison.pairs.iter().flat_map(origins).collect();
        let graphs = [&before.model.graph, &after.model.graph];
        let shaping = comparison.files.iter().filter(|file| !origins.contains(file));
        let shaping = shaping.map(|file| {
            let mut folders: BTreeSet<RepoPath> = BTreeSet::new();
            for graph in graphs {
                folders.extend(graph.referrers(file).cloned());
                folders.extend(
                    file.parent().filter(|folder| graph.get(folder).is_some_and(|list| list.file == *file)),
                );
            }
            (file.clone(), folders)
        });
        let shaping: BTreeMap<RepoPath, BTreeSet<RepoPath>> = shaping.collect();
        let is_input = |file: &RepoPath, folders: &BTreeSet<RepoPath>| {
            let lists = folders.iter().flat_map(|folder| graphs.map(|graph| graph.get(folder)));
            let named = lists.flatten().flat_map(|list| list.references());
            let mut named = named.filter(|one| one.path() == Some(file)).peekable();
            named.peek().is_some() && named.all(Reference::is_generated)
        };
        let inputs = shaping.iter().filter(|(file, folders)| is_input(file, folders));
        let inputs = inputs.map(|(file, _)| file.clone()).collect();
        Files {
            ignoring: comparison.files.iter().filter(|file| is_ignore_file(file)).collect(),
            targets: BTreeMap::new(),
            before,
            after,
            sources: [Sources::new(before.snapshot), Sources::new(after.snapshot)],
            changed: &comparison.files,
            pairs: &comparison.pairs,
            shaping,
            inputs,
            builders: BTreeMap::new(),
            near: BTreeMap::new(),
        }
    }

    /// Returns the changed files from which an object comes, or that shape it on the way.
    pub(super) fn behind(&mut self, change: &Change) -> Vec<Behind> {
        let values = self.values(change);
        let files = self.paths(change, &values);
        let line = |path: &RepoPath| match values.iter().find(|(file, _)| file == path) {
            Some((_, id)) => self.line(path, Some(id)),
            None => self.line(path, self.is_declared(path, change).then_some(&change.id)),
        };
        files.into_iter().map(|path| Behind { line: line(&path), path }).collect()
    }

    /// Returns whether a file declares an object that differs.
    fn is_declared(&self, path: &RepoPath, change: &Change) -> bool {
        let objects = [&change.before, &change.after].into_iter().flatten();
        let mut origins = objects.filter_map(|(_, object)| object.origin.as_ref());
        origins.any(|origin| origin.path == *path && origin.generator.is_none())
    }

    /// Returns the first line that differs, of the object where the file declares one, else of the file; the first line of
    /// what is the same.
    fn line(&self, path: &RepoPath, declared: Option<&ObjectId>) -> Option<usize> {
        let [old, new] = &self.sources;
        let (old, new) = (old.get(path), new.get(path));
        let part = |source: &Source| {
            let own = source.objects.iter().filter(|node| declared.is_some_and(|id| is_named(node, id)));
            own.map(|node| node.span.clone()).next().unwrap_or(0..source.text.len())
        };
        let (latest, other) = if new.is_some() { (new?, old) } else { (old?, None) };
        let span = part(&latest);
        let first = line_column(&latest.text, span.start).0;
        let Some(other) = other else { return Some(first) };
        let (was, now) = (other.text.get(part(&other))?, latest.text.get(span)?);
        if was == now {
            return Some(first);
        }
        let is_comment = |line: &str| line.trim_start().starts_with('#');
        let is_same = |(was, now): &(&str, &str)| was == now || is_comment(was) && is_comment(now);
        let same = was.lines().zip(now.lines()).take_while(is_same).count();
        Some(first + same.min(now.lines().count().saturating_sub(1)))
    }

    fn paths(&mut self, change: &Change, values: &[(RepoPath, ObjectId)]) -> Vec<RepoPath> {
        // What another spec, or other values, make of the same files.
        let is_of_same = change.is_substituted && change.before.is_some() && change.after.is_some();
        if is_of_same || self.pairs.get(change.pair()).is_some_and(|pair| pair.part == Part::Spec) {
            let own =
                self.substituting(change).into_iter().chain(values.iter().map(|(file, _)| file.clone()));
            let own: BTreeSet<RepoPath> = own.collect();
            if !own.is_empty() {
                return own.into_iter().collect();
            }
        }
        let objects = [&change.before, &change.after].into_iter().flatten();
        let origins: BTreeSet<RepoPath> =
            objects.clone().filter_map(|(_, object)| Some(object.origin.as_ref()?.path.clone())).collect();
        let mut found: BTreeSet<RepoPath> =
            origins.iter().filter(|file| self.changed.contains(*file)).cloned().collect();
        let generated = objects.clone().filter_map(|(_, object)| object.origin.as_ref());
        let generated: BTreeSet<RepoPath> = generated
            .filter(|origin| origin.generator.is_some())
            .filter_map(|one| one.path.parent())
            .collect();
        let mut inputs = BTreeSet::new();
        let candidates = self.candidates(change);
        for origin in &origins {
            let (before, after) = (&self.before.model.graph, &self.after.model.graph);
            let builders = self.builders.entry(origin.clone()).or_insert_with(|| {
                let of = |graph: &Graph| -> BTreeSet<RepoPath> {
                    let list = origin
                        .parent()
                        .filter(|folder| graph.get(folder).is_some_and(|list| list.file == *origin));
                    let above = list.iter().flat_map(|folder| graph.above(folder)).collect::<BTreeSet<_>>();
                    above.into_iter().chain(graph.builders(origin)).collect()
                };
                of(before).into_iter().chain(of(after)).collect()
            });
            for file in &candidates {
                let Some(folders) = self.shaping.get(file).filter(|one| !one.is_disjoint(builders)) else {
                    continue;
                };
                // What a generator reads shapes other objects only by the hash in a name.
                if self.inputs.contains(file) && folders.is_disjoint(&generated) {
                    inputs.insert((*file).clone());
                } else {
                    found.insert((*file).clone());
                }
            }
        }
        let mut substituting = if change.is_substituted { self.substituting(change) } else { Vec::new() };
        substituting.extend(values.iter().map(|(file, _)| file.clone()));
        if found.is_empty() && substituting.is_empty() {
            found = inputs;
        }
        self.keep_own(change, &mut found);
        self.keep_shaping(change, &mut found);
        if found.is_empty() && matches!(change.kind(), Kind::Created | Kind::Deleted) {
            // What comes or goes and stays in its file is fetched, or no more.
            let is_above = |file: &&&RepoPath| {
                file.parent().is_some_and(|folder| origins.iter().any(|origin| origin.is_within(&folder)))
            };
            found.extend(self.ignoring.iter().filter(is_above).map(|file| (*file).clone()));
        }
        // No build reads the Flux Kustomizations whose values are put in afterwards.
        found.extend(substituting);
        if found.is_empty() { origins.into_iter().collect() } else { found.into_iter().collect() }
    }
}

impl Files<'_> {
    /// Returns the changed files that may shape an object on the way: those that its builds read, as far as that is known.
    fn candidates(&mut self, change: &Change) -> Vec<RepoPath> {
        // What moves is read by another one before.
        let is_moved = change.kind() == Kind::Moved;
        match self.near(change.pair()).filter(|_| !is_moved) {
            Some(near) => near.shaping.iter().cloned().collect(),
            None => self.shaping.keys().cloned().collect(),
        }
    }

    /// Returns what the builds of a pair may read; `None` where that is not known.
    fn near(&mut self, pair: usize) -> Option<&Near> {
        let (pairs, worlds, all) = (self.pairs, [self.before, self.after], &self.shaping);
        let near = self.near.entry(pair).or_insert_with(|| {
            let pair = pairs.get(pair)?;
            let sides = [&pair.before, &pair.after].into_iter().zip(worlds);
            let sides = sides.filter_map(|(applier, world)| Some((applier.as_ref()?, world)));
            let near = sides.map(|(applier, world)| applier.surroundings(&world.model.graph));
            let folders: BTreeSet<RepoPath> =
                near.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
            let own = |path| all.get_key_value(path).into_iter().chain(below(all, path));
            let shaping = folders.iter().flat_map(own).map(|(file, _)| file.clone()).collect();
            Some(Near { folders, shaping })
        });
        near.as_ref()
    }

    /// Leaves out what the builds of an object do not read, such as the patch of another cluster, and what patches another
    /// object where some file patches this one.
    fn keep_own(&mut self, change: &Change, found: &mut BTreeSet<RepoPath>) {
        let is_moved = change.kind() == Kind::Moved;
        if let Some(near) = self.near(change.pair()).filter(|_| !is_moved) {
            found.retain(|file| file.ancestors().any(|above| near.folders.contains(&above)));
        }
        if found.iter().any(|file| self.names(file, &change.id) == Some(true)) {
            found.retain(|file| self.names(file, &change.id) != Some(false));
        }
        let own: BTreeSet<RepoPath> =
            found.iter().filter(|file| !self.patches_another(file, &change.id)).cloned().collect();
        if !own.is_empty() {
            *found = own;
        }
    }

    /// Leaves out lists that only list other resources than before, where an object stays in its file and another file shapes
    /// it: these bring other objects, and take them away.
    fn keep_shaping(&self, change: &Change, found: &mut BTreeSet<RepoPath>) {
        let origin =
            |side: &Option<(usize, Object)>| side.as_ref().and_then(|(_, object)| object.origin.clone());
        let origins = origin(&change.before).zip(origin(&change.after));
        let stays = origins.is_some_and(|(was, is)| was == is && is.generator.is_none());
        if change.kind() != Kind::Changed || !stays {
            return;
        }
        let own: BTreeSet<RepoPath> = found.iter().filter(|file| !self.only_lists(file)).cloned().collect();
        if !own.is_empty() {
            *found = own;
        }
    }

    /// Returns whether a file is a list that differs in its resources alone.
    fn only_lists(&self, file: &RepoPath) -> bool {
        let fields = |graph: &Graph| -> Option<BTreeMap<String, Value>> {
            let list = graph.get(&file.parent()?).filter(|list| list.file == *file)?;
            let others =
                list.keys().filter(|key| !["resources", "bases"].contains(&key.to_lowercase().as_str()));
            Some(others.filter_map(|key| Some((key.to_owned(), list.field(key)?.to_json()))).collect())
        };
        let [was, is] = [&self.before, &self.after].map(|world| fields(&world.model.graph));
        was.is_some() && was == is
    }

    /// Returns whether a file is a patch of other objects alone: by the kind of the target that a list gives it, else by what
    /// it says itself (kustomize, `PatchTransformer`). The kind of a target is a regular expression.
    fn patches_another(&mut self, file: &RepoPath, id: &ObjectId) -> bool {
        if !self.targets.contains_key(file) {
            self.targets.insert(file.clone(), self.targets_of(file));
        }
        let targets = self.targets.get(file).and_then(Option::as_ref);
        targets.is_some_and(|kinds| {
            kinds.iter().all(|kind| match kind {
                Some(kind) => *kind != id.kind && kind.chars().all(char::is_alphanumeric),
                None => self.names(file, id) == Some(false),
            })
        })
    }

    /// Returns the kinds that the patches of a file are for, as [`targets`](Files::targets) has them.
    fn targets_of(&self, file: &RepoPath) -> Option<BTreeSet<Option<String>>> {
        let graphs = [&self.before.model.graph, &self.after.model.graph];
        let lists = graphs.map(|graph| graph.referrers(file).collect::<Vec<_>>());
        let is_patch = graphs.iter().zip(&lists).all(|(graph, own)| own.is_empty() || graph.is_patch(file));
        if !is_patch || lists.iter().all(Vec::is_empty) {
            return None;
        }
        let mut kinds = BTreeSet::new();
        for (graph, folder) in
            graphs.iter().zip(&lists).flat_map(|(graph, own)| own.iter().map(move |one| (graph, one)))
        {
            let items = graph.get(folder)?.field("patches").map(Node::items).unwrap_or_default();
            let path = |item: &&Node| Some(folder.join(item.get("path")?.scalar_text()?).ok()? == *file);
            kinds.extend(items.iter().filter(|item| path(item) == Some(true)).map(|item| {
                let target = item.get("target")?;
                Some(target.get("kind").and_then(Node::scalar_text).unwrap_or(".*").to_owned())
            }));
        }
        Some(kinds)
    }

    /// Returns whether a file has a manifest of an object; `None` where it has none of any.
    fn names(&self, file: &RepoPath, id: &ObjectId) -> Option<bool> {
        let latest = self.sources.iter().rev().find_map(|sources| sources.get(file))?;
        let has_name = |node: &Node| {
            node.get_path(&["kind"]).is_some() && node.get_path(&["metadata", "name"]).is_some()
        };
        let mut named = latest.objects.iter().filter(|node| has_name(node)).peekable();
        named.peek()?;
        Some(named.any(|node| is_named(node, id)))
    }

    /// Returns the changed files with the objects from which other values come into an object.
    fn values(&self, change: &Change) -> Vec<(RepoPath, ObjectId)> {
        let pair = self.pairs.get(change.pair()).filter(|_| change.between.is_some());
        let brought = pair.and_then(|pair| {
            let (old, new) = (pair.before.as_ref()?, pair.after.as_ref()?);
            let cluster = self.after.model.delivered.named(new.cluster)?;
            let older = self.before.model.delivered.named(old.cluster);
            Some(cluster.brought_otherwise(new.kustomization?, older, old.kustomization))
        });
        let files = brought.into_iter().flatten().flat_map(|brought| {
            let text = |node: &Node, path: &[&str]| {
                node.get_path(path).and_then(Node::scalar_text).map(str::to_owned)
            };
            let is_it = |node: &Node| {
                text(node, &["kind"]).as_ref() == Some(&brought.id.kind)
                    && text(node, &["metadata", "name"]).as_ref() == Some(&brought.id.name)
            };
            let of = |file: &&RepoPath| {
                let mut sources = self.sources.iter().filter_map(|source| source.get(file));
                sources.any(|source| source.objects.iter().any(is_it))
            };
            self.changed.iter().filter(of).map(|file| (file.clone(), brought.id.clone())).collect::<Vec<_>>()
        });
        files.collect()
    }

    /// Returns the changed files of the Flux Kustomizations that put their values into an object.
    fn substituting(&self, change: &Change) -> Vec<RepoPath> {
        let sides = [(&change.before, &self.before), (&change.after, &self.after)];
        let sides = sides.into_iter().filter_map(|(side, world)| Some((side.as_ref()?.0, world)));
        let files = sides.filter_map(|(pair, world)| {
            let pair = self.pairs.get(pair)?;
            let one = pair.latest()?.kustomization?;
            let mut named = world.model.flux_named(&pair.cluster, one.name());
            Some(named.find(|flux| flux.namespace == one.namespace())?.file.clone())
        });
        files.filter(|file| self.changed.contains(file)).collect()
    }
}

/// Returns the changed files from which the objects of a pair are read; a generated object comes from none.
fn origins<'p>(pair: &'p Pair<'_>) -> impl Iterator<Item = &'p RepoPath> {
    let origins = [&pair.old, &pair.new].into_iter().flatten().flatten();
    origins.filter(|origin| origin.generator.is_none()).map(|origin| &origin.path)
}
