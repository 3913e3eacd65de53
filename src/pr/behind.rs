//! The changed files behind an object.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::delivery::{Change, Comparison, Kind, Pair, Source, Sources, World, is_ignore_file};
use crate::diagnostic::line_column;
use crate::path::RepoPath;
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

/// Tells whether a file declares an object by this node, whose name a prefix or suffix may have made longer.
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
    shaping: BTreeMap<&'a RepoPath, BTreeSet<RepoPath>>,
    /// Those of them that only generators read.
    inputs: BTreeSet<&'a RepoPath>,
    /// By file, the kustomization folders whose builds take it in.
    builders: BTreeMap<RepoPath, BTreeSet<RepoPath>>,
    /// By position of a pair, the files and folders below which all lies that its builds may read; `None` where that is
    /// not known.
    near: BTreeMap<usize, Option<BTreeSet<RepoPath>>>,
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
            (file, folders)
        });
        let shaping: BTreeMap<&RepoPath, BTreeSet<RepoPath>> = shaping.collect();
        let is_input = |file: &RepoPath, folders: &BTreeSet<RepoPath>| {
            let lists = folders.iter().flat_map(|folder| graphs.map(|graph| graph.get(folder)));
            let named = lists.flatten().flat_map(|list| list.references());
            let mut named = named.filter(|one| one.path() == Some(file)).peekable();
            named.peek().is_some() && named.all(Reference::is_generated)
        };
        let inputs = shaping.iter().filter(|(file, folders)| is_input(file, folders));
        let inputs = inputs.map(|(file, _)| *file).collect();
        Files {
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
        let files = self.paths(change);
        files.into_iter().map(|path| Behind { line: self.line(&path, change), path }).collect()
    }

    /// Returns the first line that differs: of the object where the file declares it, else of the file.
    fn line(&self, path: &RepoPath, change: &Change) -> Option<usize> {
        let [old, new] = &self.sources;
        let (old, new) = (old.get(path), new.get(path));
        let objects = [&change.before, &change.after].into_iter().flatten();
        let mut origins = objects.filter_map(|(_, object)| object.origin.as_ref());
        let is_declared = origins.any(|origin| origin.path == *path && origin.generator.is_none());
        let part = |source: &Source| {
            let own = source.objects.iter().filter(|_| is_declared);
            let own = own.filter(|node| is_named(node, &change.id)).map(|node| node.span.clone()).next();
            own.unwrap_or(0..source.text.len())
        };
        let (latest, other) = if new.is_some() { (new?, old) } else { (old?, None) };
        let span = part(&latest);
        let first = line_column(&latest.text, span.start).0;
        let Some(other) = other else { return Some(first) };
        let (was, now) = (other.text.get(part(&other))?, latest.text.get(span)?);
        let is_comment = |line: &str| line.trim_start().starts_with('#');
        let is_same = |(was, now): &(&str, &str)| was == now || is_comment(was) && is_comment(now);
        let same = was.lines().zip(now.lines()).take_while(is_same).count();
        Some(first + same.min(now.lines().count().saturating_sub(1)))
    }

    fn paths(&mut self, change: &Change) -> Vec<RepoPath> {
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
            let shapes = self.shaping.iter().filter(|(_, folders)| !folders.is_disjoint(builders));
            for (file, folders) in shapes {
                // What a generator reads shapes other objects only by the hash in a name.
                if self.inputs.contains(*file) && folders.is_disjoint(&generated) {
                    inputs.insert((*file).clone());
                } else {
                    found.insert((*file).clone());
                }
            }
        }
        let substituting = if change.is_substituted { self.substituting(change) } else { Vec::new() };
        if found.is_empty() && substituting.is_empty() {
            found = inputs;
        }
        self.keep_own(change, &mut found);
        if found.is_empty() && matches!(change.kind(), Kind::Created | Kind::Deleted) {
            // What comes or goes and stays in its file is fetched, or no more.
            let is_above = |file: &&RepoPath| {
                let folder = file.parent().filter(|_| is_ignore_file(file));
                folder.is_some_and(|folder| origins.iter().any(|origin| origin.is_within(&folder)))
            };
            found.extend(self.changed.iter().filter(is_above).cloned());
        }
        // No build reads the Flux Kustomizations whose values are put in afterwards.
        found.extend(substituting);
        if found.is_empty() { origins.into_iter().collect() } else { found.into_iter().collect() }
    }
}

impl Files<'_> {
    /// Leaves out what the builds of an object do not read, such as the patch of another cluster, and what patches another
    /// object where some file patches this one.
    fn keep_own(&mut self, change: &Change, found: &mut BTreeSet<RepoPath>) {
        let (pair, pairs, worlds) = (change.pair(), self.pairs, [self.before, self.after]);
        let near = self.near.entry(pair).or_insert_with(|| {
            let pair = pairs.get(pair)?;
            let sides = [&pair.before, &pair.after].into_iter().zip(worlds);
            let sides = sides.filter_map(|(applier, world)| Some((applier.as_ref()?, world)));
            let near = sides.map(|(applier, world)| applier.surroundings(&world.model.graph));
            Some(near.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
        });
        // What moves is read by another one before.
        if let Some(near) = near.as_ref().filter(|_| change.kind() != Kind::Moved) {
            found.retain(|file| file.ancestors().any(|above| near.contains(&above)));
        }
        if found.iter().any(|file| self.names(file, &change.id) == Some(true)) {
            found.retain(|file| self.names(file, &change.id) != Some(false));
        }
        if found.iter().any(|file| !self.patches_another(file, &change.id)) {
            found.retain(|file| !self.patches_another(file, &change.id));
        }
    }

    /// Tells whether a file is a patch of other objects alone: by the kind of the target that a list gives it, else by what
    /// it says itself (kustomize, `PatchTransformer`). The kind of a target is a regular expression.
    fn patches_another(&self, file: &RepoPath, id: &ObjectId) -> bool {
        let graphs = [&self.before.model.graph, &self.after.model.graph];
        let is_other = |graph: &Graph, folder: &RepoPath| {
            let Some(list) = graph.get(folder) else { return false };
            let items = list.field("patches").map(Node::items).unwrap_or_default();
            let path = |item: &&Node| Some(folder.join(item.get("path")?.scalar_text()?).ok()? == *file);
            let mut kinds = items.iter().filter(|item| path(item) == Some(true)).map(|item| {
                let target = item.get("target")?;
                Some(target.get("kind").and_then(Node::scalar_text).unwrap_or(".*").to_owned())
            });
            kinds.all(|kind| match kind {
                Some(kind) => kind != id.kind && kind.chars().all(char::is_alphanumeric),
                None => self.names(file, id) == Some(false),
            })
        };
        let lists = |graph: &&Graph| graph.referrers(file).cloned().collect::<Vec<_>>();
        graphs.iter().all(|graph| lists(graph).is_empty() || graph.is_patch(file))
            && graphs.iter().any(|graph| !lists(graph).is_empty())
            && graphs.iter().all(|graph| lists(graph).iter().all(|folder| is_other(graph, folder)))
    }

    /// Tells whether a file has a manifest of an object; `None` where it has none of any.
    fn names(&self, file: &RepoPath, id: &ObjectId) -> Option<bool> {
        let latest = self.sources.iter().rev().find_map(|sources| sources.get(file))?;
        let has_name = |node: &Node| {
            node.get_path(&["kind"]).is_some() && node.get_path(&["metadata", "name"]).is_some()
        };
        let mut named = latest.objects.iter().filter(|node| has_name(node)).peekable();
        named.peek()?;
        Some(named.any(|node| is_named(node, id)))
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
