//! What clusters get in a tree, held to what they got in another one.
//!
//! What counts is that each cluster gets each object, and the same one. Who applies it may change: that a Flux
//! Kustomization goes, comes or reads another source is no fault where its objects are the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::inventory::is_kept;
use crate::delivery::{Applier, Change, Comparison, Input, Kind, Pair, World, counterparts};
use crate::path::RepoPath;
use crate::proof::{Mismatch, Renames, differences, without_names};
use crate::render::Object;
use crate::repo::flux::is_flux_kustomization;
use crate::repo::manifest::ObjectId;
use crate::verify::adjusted::{is_adjusted, origin};
use crate::verify::note::Note;
use crate::verify::parts::wholes;
use crate::verify::tree::{self, Tree};
use crate::verify::{Check, Difference};

/// An entry point in one cluster.
type Key = (RepoPath, String);

/// What one came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Outcome {
    differences: Vec<(Option<ObjectId>, Difference)>,
    notes: Vec<(ObjectId, Note)>,
}

/// Two trees and what differs.
struct Since<'a> {
    before: Tree<'a>,
    after: Tree<'a>,
    comparison: Comparison<'a>,
    /// The objects that go from one Flux Kustomization and belong to others as before, as these make them.
    still: BTreeMap<tree::Key, Vec<Object>>,
    found: BTreeMap<Key, Outcome>,
}

/// Compares what each cluster applies with what it applied in another tree.
pub fn verify_since(before: &Input<'_>, after: &Input<'_>) -> Vec<Check> {
    let names = counterparts(before.model, after.model);
    let named = |cluster: &str| names.get(cluster).copied().unwrap_or(cluster).to_owned();
    let old = World { snapshot: before.snapshot, model: before.model };
    let new = World { snapshot: after.snapshot, model: after.model };
    let comparison = Comparison::new(old, new, after.renderer);
    let (mut before, mut after) = (Tree::new(before, named), Tree::new(after, str::to_owned));
    after.find_kept_out(&before);
    let folders: BTreeSet<RepoPath> = before.gate_folders().into_iter().chain(after.gate_folders()).collect();
    before.find_gates(&folders);
    after.find_gates(&folders);
    let mut since = Since { before, after, comparison, still: BTreeMap::new(), found: BTreeMap::new() };
    let left = since.comparison.changes.iter().filter_map(|change| since.left(change)).collect();
    since.still = since.after.objects(&left);
    since.find();
    since.checks(named)
}

impl<'a> Since<'a> {
    fn find(&mut self) {
        let mut found: BTreeMap<Key, Outcome> = BTreeMap::new();
        for pair in self.comparison.pairs.iter().filter(|pair| !pair.is_known()) {
            found.entry(self.key_of(pair)).or_default().differences.extend(unknown(pair));
        }
        let renames = self.renames();
        for change in &self.comparison.changes {
            let Some(pair) = self.comparison.pairs.get(change.pair()) else { continue };
            let outcome = found.entry(self.key_of(pair)).or_default();
            self.judge(change, pair, &renames, outcome);
        }
        for (key @ (target, id), positions) in self.after.applied.iter().filter(|(_, all)| all.len() > 1) {
            let was = self.before.applied.get(key).map_or(0, Vec::len);
            let folders = self.after.folders(positions);
            // What is new in a folder that several apply has no owner less than the others there.
            let is_alone = was == 0 && folders.iter().all(|folder| Some(folder) == folders.first());
            if let [first, _, ..] = &folders[..]
                && folders.len() > was
                && !is_alone
            {
                let outcome = found.entry((self.whole(first), target.0.clone())).or_default();
                outcome.differences.push((Some(id.clone()), Difference::Doubled(folders.clone())));
            }
        }
        self.found = found;
        // What does not build in either tree differs in nothing, and is not known.
        for (cluster, folder, error) in self.before.broken.clone() {
            let key = (self.whole(&folder), cluster);
            let is_told = self.found.get(&key).is_some_and(|one| !one.differences.is_empty());
            if !is_told {
                let unknown = Difference::Unknown(folder, error.message);
                self.found.entry(key).or_default().differences.push((None, unknown));
            }
        }
        self.found.retain(|_, one| *one != Outcome::default());
        for one in self.found.values_mut() {
            one.differences.sort();
            one.differences.dedup();
            one.notes.sort();
            one.notes.dedup();
        }
    }

    /// Says what became of one object.
    fn judge(&self, change: &Change, pair: &Pair<'_>, renames: &Renames, outcome: &mut Outcome) {
        let id = &change.live;
        let Some(object) = change.object() else { return };
        if self.is_of_gate(change) {
            // What its own settings keep stays in the cluster.
            if change.kind() != Kind::Deleted || !is_kept(&object.value) {
                outcome.notes.push((id.clone(), Note::Gate(change.kind())));
            }
            return;
        }
        let is_flux = is_flux_kustomization(&object.value);
        if let Some(key) = self.left(change) {
            let other = || self.comparison.pairs.get(change.before.as_ref()?.0);
            match self.still.get(&key) {
                Some(objects) => self.stays(change, objects, renames, outcome),
                None => match other().and_then(|own| self.succession(id, own, false)).filter(|_| is_flux) {
                    Some(note) => outcome.notes.extend(note.map(|note| (id.clone(), note))),
                    None => outcome.differences.push((Some(id.clone()), Difference::Lost)),
                },
            }
            return;
        }
        match change.kind() {
            Kind::Created if self.applied_already(change, pair) => {}
            Kind::Created => match self.succession(id, pair, true).filter(|_| is_flux) {
                Some(note) => outcome.notes.extend(note.map(|note| (id.clone(), note))),
                None => {
                    let folder = pair.after.as_ref().map(|one| one.path.clone()).unwrap_or_default();
                    outcome.differences.push((Some(id.clone()), Difference::Added(folder)));
                }
            },
            Kind::Changed | Kind::Moved | Kind::Deleted => {
                if let Some((_, new)) = &change.after {
                    self.changed(change, new, renames, outcome);
                }
                outcome.differences.extend(self.moved(change).map(|moved| (Some(id.clone()), moved)));
            }
        }
    }

    /// Says what differs of an object that belongs to others from now on, which made it before as well.
    fn stays(&self, change: &Change, objects: &[Object], renames: &Renames, outcome: &mut Outcome) {
        let is_same = |one: &Object| change.before.as_ref().is_some_and(|(_, old)| one.value == old.value);
        if let Some(new) = objects.first().filter(|_| !objects.iter().any(is_same)) {
            self.changed(change, new, renames, outcome);
        }
    }

    /// Says which fields of an object differ from what it was.
    fn changed(&self, change: &Change, new: &Object, renames: &Renames, outcome: &mut Outcome) {
        let Some((from, old)) = &change.before else { return };
        let Some(pair) = self.comparison.pairs.get(*from) else { return };
        let target = pair.before.as_ref().map(Applier::target).unwrap_or_default();
        let was_in = pair.before.as_ref().map(|one| one.cluster).unwrap_or_default();
        let before = || self.before.reached(was_in, &target, &change.live);
        let after = || self.after.reached(&pair.cluster, &target, &change.live);
        let is_flux = is_flux_kustomization(&new.value);
        let renamed = renames.of([pair.cluster.as_str()]);
        let nameless = |object: &Object| without_names(object.clone(), &renamed).value;
        let is_naming = || nameless(old) == nameless(new);
        let mut fields = Vec::new();
        differences(&change.live, &old.value, &new.value, &mut fields);
        outcome.notes.extend(origin(&old.value, &new.value).map(|note| (change.live.clone(), note)));
        for field in fields {
            let Mismatch::Changed { id, field, before: was, after: is } = field else { continue };
            let is_note = if is_flux { is_adjusted(&field, before(), after()) } else { is_naming() };
            if is_note {
                outcome.notes.push((id, Note::Adjusted(field, was, is)));
            } else {
                outcome.differences.push((Some(id), Difference::Changed(field, was, is)));
            }
        }
    }

    /// Returns the object that a Flux Kustomization makes no more, where no other one begins to apply it: it is built
    /// nowhere else, or by something that nobody in Git applies or that Git suspends.
    fn left(&self, change: &Change) -> Option<tree::Key> {
        let of = |side: &Option<(usize, Object)>| self.comparison.pairs.get(side.as_ref()?.0);
        let from = of(&change.before)?;
        let is_left = match (change.kind(), of(&change.after)) {
            (Kind::Moved, Some(to)) => {
                is_pruning(from) && to.after.as_ref().is_some_and(|one| self.after.is_idle(one))
            }
            (kind, _) => kind == Kind::Deleted,
        };
        let target = from.before.as_ref().map(Applier::target).unwrap_or_default();
        is_left.then(|| ((from.cluster.clone(), target), change.live.clone()))
    }

    /// Says from where to where an object went that stays in the cluster, unless a step hands it over.
    fn moved(&self, change: &Change) -> Option<Difference> {
        let of = |side: &Option<(usize, Object)>| self.comparison.pairs.get(side.as_ref()?.0);
        let (from, to) = (of(&change.before)?, of(&change.after)?);
        let (old, new) = (from.before.as_ref()?, to.after.as_ref()?);
        if change.kind() != Kind::Moved {
            return None;
        }
        match (self.before.type_of(&old.path), self.after.type_of(&new.path)) {
            (Some(was), Some(is)) if was != is => {
                return Some(Difference::Moved(was.to_owned(), is.to_owned()));
            }
            _ => {}
        }
        let is_handed = self.whole(&old.path) == self.whole(&new.path);
        let stand = from.after.is_some() && to.before.is_some();
        (stand && !is_handed).then(|| Difference::Moved(name_of(old), name_of(new)))
    }

    /// Says who applies what a Flux Kustomization applied that is gone, or whose objects a new one applies; `None` where it
    /// is no such, or an object is lost with it or comes with it.
    fn succession(&self, id: &ObjectId, own: &Pair<'_>, is_new: bool) -> Option<Option<Note>> {
        let is_it = |applier: &Applier<'_>| {
            let (_, namespace, name) = applier.key();
            name == id.name && (namespace == id.namespace || id.namespace.is_empty())
        };
        let mut pairs = self.comparison.pairs.iter().enumerate().filter(|(_, pair)| {
            let (one, other) = if is_new { (&pair.after, &pair.before) } else { (&pair.before, &pair.after) };
            pair.cluster == own.cluster && other.is_none() && one.as_ref().is_some_and(is_it)
        });
        let (position, pair) = pairs.next()?;
        if !pair.is_known() {
            return None;
        }
        let (mut names, mut is_of_gate, mut are_gone) = (BTreeSet::new(), false, true);
        for change in &self.comparison.changes {
            let (one, other) =
                if is_new { (&change.after, &change.before) } else { (&change.before, &change.after) };
            if one.as_ref().is_none_or(|(built_by, _)| *built_by != position) {
                continue;
            }
            match other {
                Some((other, _)) => {
                    if self.left(change).is_some_and(|key| !self.still.contains_key(&key)) {
                        return None;
                    }
                    let other = self.comparison.pairs.get(*other)?;
                    are_gone &= other.after.is_none();
                    let other = if is_new { &other.before } else { &other.after };
                    names.extend(other.as_ref().map(name_of));
                }
                None if self.is_of_gate(change) => is_of_gate = true,
                None if change.object().is_some_and(|one| is_flux_kustomization(&one.value)) => {}
                None if is_new && self.applied_already(change, pair) => {}
                None if !is_new && self.left(change).is_some_and(|key| self.still.contains_key(&key)) => {}
                None => return None,
            }
        }
        let names: Vec<String> = names.into_iter().collect();
        Some(match (is_new, is_of_gate && names.is_empty()) {
            (true, true) => Some(Note::Gate(Kind::Created)),
            (false, true) => Some(Note::Gate(Kind::Deleted)),
            // It is told with them.
            (true, false) if are_gone && !names.is_empty() => None,
            (true, false) => Some(Note::Successor(names)),
            (false, false) => Some(Note::Succeeded(names)),
        })
    }

    /// Returns whether an object that one Flux Kustomization begins to make belongs to another one already.
    fn applied_already(&self, change: &Change, pair: &Pair<'_>) -> bool {
        let target = pair.after.as_ref().map(Applier::target).unwrap_or_default();
        self.before.applies(&((pair.cluster.clone(), target), change.live.clone()))
    }

    fn is_of_gate(&self, change: &Change) -> bool {
        let of = |side: &Option<(usize, Object)>| self.comparison.pairs.get(side.as_ref()?.0);
        let was = of(&change.before).and_then(|pair| pair.before.as_ref());
        let is = of(&change.after).and_then(|pair| pair.after.as_ref());
        was.is_some_and(|one| self.before.is_of_gate(one, &change.id))
            || is.is_some_and(|one| self.after.is_of_gate(one, &change.id))
    }

    /// Returns the Flux Kustomizations that go and come.
    fn renames(&self) -> Renames {
        let mut renames = Renames::default();
        let key = |pair: &Pair<'_>, one: &Applier<'_>| {
            let (_, namespace, name) = one.key();
            (pair.cluster.clone(), namespace.to_owned(), name.to_owned())
        };
        for pair in &self.comparison.pairs {
            match (&pair.before, &pair.after) {
                (Some(old), None) => _ = renames.gone.insert(key(pair, old)),
                (None, Some(new)) => _ = renames.come.insert(key(pair, new)),
                _ => {}
            }
        }
        for cluster in &self.after.input.model.delivered.all {
            let names = cluster.kustomizations.iter().map(|one| (one.namespace(), one.name()));
            let named = |(namespace, name): &(&str, &str)| {
                renames.gone.iter().any(|(_, of, other)| of == namespace && other == name)
            };
            let own = names
                .filter(named)
                .map(|(namespace, name)| (cluster.name.clone(), namespace.to_owned(), name.to_owned()));
            renames.stay.extend(own.collect::<Vec<_>>());
        }
        renames
    }

    /// Returns the entry point of which a folder is a side, in either tree.
    fn whole(&self, folder: &RepoPath) -> RepoPath {
        let whole = self.after.whole(folder);
        if whole == *folder { self.before.whole(folder) } else { whole }
    }

    fn key_of(&self, pair: &Pair<'_>) -> Key {
        let folder = pair.latest().map(|one| one.path.clone()).unwrap_or_default();
        (self.whole(&folder), pair.cluster.clone())
    }

    /// Returns the folder of the root by which a cluster gets an entry point; `None` where that is built by itself. What it
    /// holds is compared with all else of the root.
    fn built_by(&self, path: &RepoPath, cluster: &str) -> Option<RepoPath> {
        let key = (path.clone(), cluster.to_owned());
        let trees = [&self.after, &self.before];
        let mut entries = trees.iter().filter_map(|tree| tree.input.model.entry(path));
        let is_built = trees.iter().any(|tree| tree.counts.contains_key(&key));
        entries.find_map(|entry| entry.through.clone()).filter(|_| !is_built)
    }

    /// Returns a check for each entry point that applies apps, and for any other one where something differs. Clusters
    /// that share one are told together where they get the same.
    fn checks(self, named: impl Fn(&str) -> String) -> Vec<Check> {
        let mut all: BTreeMap<RepoPath, BTreeSet<String>> = BTreeMap::new();
        let mut add = |path: RepoPath, cluster: String| {
            let folder = self.built_by(&path, &cluster).unwrap_or(path);
            all.entry(folder).or_default().insert(cluster);
        };
        for (path, appliers) in wholes(&self.before.input) {
            appliers.all.iter().for_each(|cluster| add(path.clone(), named(cluster)));
        }
        for (path, appliers) in wholes(&self.after.input) {
            appliers.all.into_iter().for_each(|cluster| add(path.clone(), cluster));
        }
        for (path, cluster) in self.found.keys() {
            all.entry(path.clone()).or_default().insert(cluster.clone());
        }
        let mut checks: Vec<Check> = Vec::new();
        for (path, clusters) in all {
            let first = checks.len();
            for cluster in clusters {
                let key = (path.clone(), cluster);
                let Outcome { differences, notes } = self.found.get(&key).cloned().unwrap_or_default();
                let of = |tree: &Tree<'_>| tree.counts.get(&key).copied();
                let objects = of(&self.before).or_else(|| of(&self.after)).unwrap_or_default();
                let same = checks[first..].iter_mut();
                let mut same = same.filter(|one| one.differences == differences && one.notes == notes);
                match same.next() {
                    Some(one) => {
                        one.cluster = format!("{}, {}", one.cluster, key.1);
                        one.objects = one.objects.max(objects);
                    }
                    None => checks.push(Check {
                        cluster: key.1,
                        path: path.clone(),
                        objects,
                        is_compared: true,
                        differences,
                        notes,
                    }),
                }
            }
        }
        checks
    }
}

/// Returns whether a Flux Kustomization deletes what it makes no more: what Git suspends does not, nor where it is gone.
fn is_pruning(pair: &Pair<'_>) -> bool {
    let was = pair.before.as_ref().and_then(|applier| applier.kustomization);
    let is = pair.after.as_ref().and_then(|applier| applier.kustomization);
    was.is_some() && is.or(was).is_some_and(|one| !one.is_suspended())
}

/// Says what is not known of a pair.
fn unknown(pair: &Pair<'_>) -> Option<(Option<ObjectId>, Difference)> {
    let (applier, error) = match (&pair.old, &pair.new) {
        (_, Err(error)) => (pair.latest()?, error),
        (Err(error), _) => (pair.before.as_ref().or(pair.after.as_ref())?, error),
        _ => return None,
    };
    let (folder, message) = (applier.path.clone(), error.message.clone());
    let is_broken = pair.old.is_ok() && pair.unsaid.is_none();
    let difference = match is_broken {
        true => Difference::Unbuildable(folder, message),
        false => Difference::Unknown(folder, message),
    };
    Some((None, difference))
}

/// Names a Flux Kustomization, or the folder that nobody in Git applies.
fn name_of(applier: &Applier<'_>) -> String {
    applier.kustomization.map_or_else(|| applier.path.to_string(), |one| one.name().to_owned())
}
