//! What clusters get differently in one tree than in another, object by object.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::delivery::about::owned;
use crate::delivery::alike::told_apart;
use crate::delivery::artifacts::Artifacts;
use crate::delivery::counterpart::{alone, counterparts};
use crate::delivery::difference::{Changes, changes};
use crate::delivery::refused::refusal;
use crate::delivery::withheld::withhold;
use crate::delivery::{Applier, Artifact, Cause, Model, Reached, appliers};
use crate::path::RepoPath;
use crate::render::{Object, Origin, RenderError, Renderer, Request};
use crate::repo::Snapshot;
use crate::repo::manifest::ObjectId;
use crate::text::words;

/// A tree and what it means.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// The files.
    pub snapshot: &'a Snapshot,
    /// What they mean.
    pub model: &'a Model,
}

impl World<'_> {
    /// Returns whether a folder of it is one that Flux could build.
    pub fn stands(&self, folder: &RepoPath) -> bool {
        self.model.graph.stands(self.snapshot, folder)
    }
}

/// What a build came to, as far as it is kept: where its objects come from, of the files that differ. Nothing where
/// nobody makes it.
pub type Outcome = Result<Vec<Origin>, RenderError>;

/// The objects of a build.
pub(super) type Built = Result<Vec<Object>, RenderError>;

/// How many pairs are built before their objects go again, but for those that differ; those of one cluster stay together.
const PART: usize = 128;

/// One Flux Kustomization of one cluster before and after, of which the build may differ.
#[derive(Clone, Debug)]
pub struct Pair<'m> {
    /// The name of the cluster, as it is after.
    pub cluster: String,
    /// As it was.
    pub before: Option<Applier<'m>>,
    /// As it is.
    pub after: Option<Applier<'m>>,
    /// What was built.
    pub old: Outcome,
    /// What is built.
    pub new: Outcome,
    /// Why a side of it is not known although no build fails, and whether that is the side after.
    pub unsaid: Option<(bool, Cause)>,
    /// The part of the change that it stands for.
    pub part: Part,
}

/// The part of what differs that a pair stands for: where a source is held, another spec is there before other files are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    #[default]
    Whole,
    /// What the newer spec makes of the older files.
    Spec,
    /// What the newer files make of the newer spec.
    Files,
    /// As [`Files`](Part::Files), with all that the newer spec does: it does not build the older files.
    All,
}

impl Part {
    /// Returns whether it comes with the files.
    pub fn is_of_files(self) -> bool {
        matches!(self, Part::Files | Part::All)
    }
}

impl<'m> Pair<'m> {
    /// Returns it as it is, or as it was where it is gone.
    pub fn latest(&self) -> Option<&Applier<'m>> {
        self.after.as_ref().or(self.before.as_ref())
    }

    /// Returns it as it was where its objects of before are made.
    pub fn first(&self) -> &Option<Applier<'m>> {
        if self.part == Part::Files { &self.after } else { &self.before }
    }

    /// Returns whether both builds succeed, so that what differs is known.
    pub fn is_known(&self) -> bool {
        self.old.is_ok() && self.new.is_ok()
    }
}

words! {
    /// What becomes of an object in a cluster.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Kind {
        /// It is new.
        Created = "created",
        /// A field of it differs.
        Changed = "changed",
        /// Its Flux Kustomization builds it no more, and no other one of the cluster begins to.
        Deleted = "deleted",
        /// Another Flux Kustomization of the cluster builds it; a field may differ too.
        Moved = "moved",
    }
}

/// One object that a cluster gets differently.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its id, as it is built.
    pub id: ObjectId,
    /// Its id in the cluster, as far as Git tells what `postBuild` puts into it.
    pub live: ObjectId,
    /// Whether kustomize builds the same: only what `postBuild.substitute` puts in tells the difference.
    pub is_substituted: bool,
    /// What the older values of `postBuild`, or of what that names, make of what it is; `None` where that is the same.
    pub between: Option<Object>,
    /// Where it was built, as a position in [`Comparison::pairs`], with what it was.
    pub before: Option<(usize, Object)>,
    /// Where it is built, and what it is.
    pub after: Option<(usize, Object)>,
}

impl Change {
    /// Returns what becomes of it.
    pub fn kind(&self) -> Kind {
        match (&self.before, &self.after) {
            (None, _) => Kind::Created,
            (_, None) => Kind::Deleted,
            (Some((old, _)), Some((new, _))) if old == new => Kind::Changed,
            _ => Kind::Moved,
        }
    }

    /// Returns the pair that builds it, or that built it where it is deleted.
    pub fn pair(&self) -> usize {
        self.after.as_ref().or(self.before.as_ref()).map_or(0, |(pair, _)| *pair)
    }

    /// Returns the object as it is, or as it was where it is deleted.
    pub fn object(&self) -> Option<&Object> {
        self.after.as_ref().or(self.before.as_ref()).map(|(_, object)| object)
    }
}

/// What clusters get differently.
#[derive(Clone, Debug, Default)]
pub struct Comparison<'m> {
    /// The paths that hold something else.
    pub files: BTreeSet<RepoPath>,
    /// The Flux Kustomizations of which a build may differ, in the order of clusters.
    pub pairs: Vec<Pair<'m>>,
    /// The objects as the cluster gets them, with the values of `postBuild.substitute`, in the order of pairs and ids.
    pub changes: Vec<Change>,
    /// What kustomize builds differently and is another change in the cluster, or none: a name that a variable gives.
    pub built: Vec<Change>,
    /// Whether what comes at another time is a pair of its own.
    is_staged: bool,
}

impl<'m> Comparison<'m> {
    /// Compares two trees, and builds only what may differ.
    ///
    /// Variables of which only the cluster knows the value stay text on both sides. What does not build on one side is
    /// withheld on both, with what it would bring.
    pub fn new(before: World<'m>, after: World<'m>, renderer: &dyn Renderer) -> Comparison<'m> {
        Comparison::of(before, after, renderer, false)
    }

    /// As [`new`](Comparison::new), by what comes at one time: a Flux Kustomization that is held at its source builds the files
    /// that it has by its newer spec at once, and the newer files later. Both are pairs of their own.
    pub fn staged(before: World<'m>, after: World<'m>, renderer: &dyn Renderer) -> Comparison<'m> {
        Comparison::of(before, after, renderer, true)
    }

    fn of(before: World<'m>, after: World<'m>, renderer: &dyn Renderer, is_staged: bool) -> Comparison<'m> {
        let files = after.snapshot.differing(before.snapshot);
        let mut artifacts = Artifacts::new(before, after);
        let mut pairs = paired(before, after);
        pairs.retain(|pair| {
            let (Some(old), Some(new)) = (&pair.before, &pair.after) else { return true };
            old.request() != new.request()
                || old.post_build() != new.post_build()
                || artifacts.may_differ(old, new)
        });
        let mut comparison = Comparison { files, is_staged, ..Comparison::default() };
        let mut part: Vec<Pair<'m>> = Vec::new();
        for pair in pairs {
            if part.len() >= PART && part.last().is_some_and(|last| last.cluster != pair.cluster) {
                comparison.add(std::mem::take(&mut part), before, after, renderer);
            }
            part.push(pair);
        }
        comparison.add(part, before, after, renderer);
        renderer.rest();
        comparison
    }

    /// Builds the pairs of some clusters and keeps what differs: an object moves within its cluster only.
    fn add(&mut self, pairs: Vec<Pair<'m>>, before: World<'m>, after: World<'m>, renderer: &dyn Renderer) {
        // Of a root that is no list on one side only that is compared which is known of both.
        let is_unsaid = |pair: &Pair<'_>| {
            let of = |side: &Option<Applier<'_>>, world: World<'_>| {
                // A root of the spec without its folder is told as that.
                let is_missing = |one: &Applier<'_>| one.kustomization.is_none() && !world.stands(&one.path);
                side.as_ref().is_some_and(|one| one.is_unsaid(world.model) || is_missing(one))
            };
            of(&pair.before, before) || of(&pair.after, after)
        };
        let both = pairs.iter().map(|pair| (pair, is_unsaid(pair)));
        let (olds, news): (Vec<_>, Vec<_>) =
            both.map(|(pair, unsaid)| ((&pair.before, unsaid), (&pair.after, unsaid))).unzip();
        let (olds, news) = (built(before, &olds, renderer), built(after, &news, renderer));
        let mut all: Vec<(Pair<'m>, [Built; 2])> =
            pairs.into_iter().zip(olds.into_iter().zip(news).map(<[Built; 2]>::from)).collect();
        // What nobody in Git applies may be no folder that builds: somebody applies the Flux Kustomizations in it.
        for (pair, sides) in &mut all {
            let is_said = pair.latest().is_some_and(|applier| applier.kustomization.is_some());
            if !is_said && sides.iter().all(Result::is_err) {
                let of = |one: &Option<Applier<'_>>, world: World<'_>| {
                    one.as_ref().map(|one| brought(world.model, one)).unwrap_or_default()
                };
                *sides = [Ok(of(&pair.before, before)), Ok(of(&pair.after, after))];
            }
        }
        if self.is_staged {
            all = staged(all, before, after, renderer);
        }
        let origins = |side: &Built| -> Outcome {
            let origins =
                side.as_ref().map_err(Clone::clone)?.iter().filter_map(|object| object.origin.as_ref());
            Ok(origins.filter(|origin| self.files.contains(&origin.path)).cloned().collect())
        };
        let (mut pairs, sides): (Vec<Pair<'m>>, Vec<[Built; 2]>) = all.into_iter().unzip();
        for (pair, sides) in pairs.iter_mut().zip(&sides) {
            [pair.old, pair.new] = sides.each_ref().map(origins);
        }
        withhold(&mut pairs, before, after);
        let Changes { live, built } = changes(&pairs, &sides, self.pairs.len());
        self.changes.extend(live);
        self.built.extend(built);
        self.pairs.extend(pairs);
    }
}

/// A cluster, and what names a Flux Kustomization in it: the secrets of `kubeConfig` on the way, the namespace and the name.
type Key = (String, [String; 3]);

/// Brings together the Flux Kustomizations of both trees.
fn paired<'m>(before: World<'m>, after: World<'m>) -> Vec<Pair<'m>> {
    let names = counterparts(before.model, after.model);
    // Of equals each is one, in their order.
    let mut olds: BTreeMap<Key, VecDeque<Applier<'m>>> = BTreeMap::new();
    for applier in appliers(before.model) {
        let cluster = names.get(applier.cluster).copied().unwrap_or(applier.cluster);
        olds.entry((cluster.to_owned(), owned(applier.key()))).or_default().push_back(applier);
    }
    let pair = |cluster: String, before, after| Pair {
        cluster,
        before,
        after,
        old: Ok(Vec::new()),
        new: Ok(Vec::new()),
        unsaid: None,
        part: Part::Whole,
    };
    let is_new =
        |name: &str| before.model.delivered.named(name).is_none() && !names.values().any(|now| *now == name);
    let is_gone = |name: &str| after.model.delivered.named(name).is_none() && !names.contains_key(name);
    // Only another folder was guessed of what one cluster of each tree has from the same lines.
    let is_guessed =
        |model: &Model, name: &str| model.delivered.named(name).is_some_and(|own| !own.is_said());
    let mut same: BTreeMap<Key, Key> = BTreeMap::new();
    let now = alone(after.model);
    for (id, old) in alone(before.model) {
        let Some(new) = now.get(&id).filter(|new| new.path == old.path) else { continue };
        let (from, to) = (old.read_in.as_str(), new.read_in.as_str());
        let is_it =
            is_gone(from) && is_new(to) && is_guessed(before.model, from) && is_guessed(after.model, to);
        if let (true, Some(old), Some(new)) = (is_it, before.model.reached(old), after.model.reached(new)) {
            same.insert((to.to_owned(), owned(new.key())), (from.to_owned(), owned(old.key())));
        }
    }
    olds.retain(|(cluster, _), all| {
        let is_it = same.values().any(|(own, _)| own == cluster);
        all.retain(|old| !is_it || old.kustomization.is_some());
        !all.is_empty()
    });
    let mut pairs = Vec::new();
    for applier in appliers(after.model) {
        if applier.kustomization.is_none() && same.keys().any(|(own, _)| *own == applier.cluster) {
            continue;
        }
        let key = (applier.cluster.to_owned(), owned(applier.key()));
        let mut asked = [Some(&key), same.get(&key)].into_iter().flatten();
        let old = asked.find_map(|key| olds.get_mut(key).and_then(VecDeque::pop_front));
        pairs.push(pair(applier.cluster.to_owned(), old, Some(applier)));
    }
    for ((cluster, _), olds) in olds {
        pairs.extend(olds.into_iter().map(|old| pair(cluster.clone(), Some(old), None)));
    }
    pairs.sort_by(|a, b| a.cluster.cmp(&b.cluster));
    pairs
}

/// Builds one side; of what is unsaid, only the Flux Kustomizations count.
fn built(world: World<'_>, appliers: &[(&Option<Applier<'_>>, bool)], renderer: &dyn Renderer) -> Vec<Built> {
    let (mut outcomes, mut said) = (Vec::new(), Vec::new());
    for (position, (applier, is_unsaid)) in appliers.iter().enumerate() {
        let brought = applier.as_ref().filter(|_| *is_unsaid).map(|one| brought(world.model, one));
        outcomes.push(Ok(brought.unwrap_or_default()));
        said.extend(applier.as_ref().filter(|_| !is_unsaid).map(|one| (position, one)));
    }
    let (positions, appliers): (Vec<usize>, Vec<&Applier<'_>>) = said.into_iter().unzip();
    for (position, outcome) in positions.into_iter().zip(build_all(world, &appliers, renderer)) {
        outcomes[position] = outcome;
    }
    outcomes
}

/// Divides pairs by what comes at one time. What another spec makes of the older files is told apart where it builds.
fn staged<'m>(
    pairs: Vec<(Pair<'m>, [Built; 2])>,
    before: World<'m>,
    after: World<'m>,
    renderer: &dyn Renderer,
) -> Vec<(Pair<'m>, [Built; 2])> {
    let apart = |(pair, sides): &(Pair<'m>, [Built; 2])| {
        let (old, new) = (pair.before.clone()?, pair.after.clone()?);
        let is_known = sides.iter().all(Result::is_ok);
        let is_it = is_known && new.rebuilds(after.model, &old, before.model);
        is_it.then_some((old, new))
    };
    let apart: Vec<Option<(Applier<'m>, Applier<'m>)>> = pairs.iter().map(apart).collect();
    let wanted: Vec<(&Applier<'m>, Option<&Artifact>)> =
        apart.iter().flatten().map(|(old, new)| (new, old.artifact())).collect();
    let mut between = build_of(before, &wanted, renderer).into_iter();
    let mut found = Vec::with_capacity(pairs.len() + between.len());
    for ((pair, sides), apart) in pairs.into_iter().zip(&apart) {
        let Some(build) = apart.as_ref().and_then(|_| between.next()) else {
            found.push((pair, sides));
            continue;
        };
        let Ok(build) = build else {
            found.push((Pair { part: Part::All, ..pair }, sides));
            continue;
        };
        let [old, new] = sides;
        found.push((Pair { part: Part::Spec, ..pair.clone() }, [old, Ok(build.clone())]));
        found.push((Pair { part: Part::Files, ..pair }, [Ok(build), new]));
    }
    found
}

/// Returns what builds come to, each of the files that its source fetches.
pub fn build_all(
    world: World<'_>,
    appliers: &[&Applier<'_>],
    renderer: &dyn Renderer,
) -> Vec<Result<Vec<Object>, RenderError>> {
    let appliers: Vec<_> = appliers.iter().map(|applier| (*applier, applier.artifact())).collect();
    build_of(world, &appliers, renderer)
}

/// As [`build_all`], each of the files of an artifact.
fn build_of(
    world: World<'_>,
    appliers: &[(&Applier<'_>, Option<&Artifact>)],
    renderer: &dyn Renderer,
) -> Vec<Built> {
    let mut by_artifact: BTreeMap<Option<&Artifact>, Vec<(usize, Request)>> = BTreeMap::new();
    for (position, (applier, artifact)) in appliers.iter().enumerate() {
        let request = applier.request();
        by_artifact.entry(*artifact).or_default().push((position, request));
    }
    let mut outcomes: Vec<Built> = appliers.iter().map(|_| Ok(Vec::new())).collect();
    for (artifact, wanted) in by_artifact {
        let files = world.model.delivered.files(world.snapshot, artifact);
        let (positions, requests): (Vec<usize>, Vec<Request>) = wanted.into_iter().unzip();
        for (position, outcome) in positions.into_iter().zip(renderer.render(&files, &requests)) {
            let post_build = appliers[position].0.post_build();
            let is_applied = appliers[position].0.kustomization.is_some();
            let refused = |objects: &[Object]| {
                let values = objects.iter().map(|object| &*object.value);
                is_applied.then(|| refusal(post_build, values)).flatten()
            };
            outcomes[position] = outcome.and_then(|objects| told_apart(post_build, objects)).and_then(
                |objects| match refused(&objects) {
                    Some(message) => Err(RenderError { message }),
                    None => Ok(objects),
                },
            );
        }
    }
    outcomes
}

/// Returns the Flux Kustomizations that a root brings which nobody in Git applies.
fn brought(model: &Model, applier: &Applier<'_>) -> Vec<Object> {
    let cluster = model.delivered.named(applier.cluster);
    let own = cluster
        .into_iter()
        .flat_map(|cluster| &cluster.kustomizations)
        .filter(|one| one.applied_by.is_none());
    let object = |one: &Reached| {
        let mut same = model.flux_named(applier.cluster, one.name());
        let written = same.find(|flux| flux.namespace == one.namespace())?;
        let origin = Origin { path: written.file.clone(), generator: None };
        let is_here = written.file.is_within(&applier.path);
        is_here.then(|| Object { value: one.value.clone(), origin: Some(origin) })
    };
    own.filter_map(object).collect()
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
